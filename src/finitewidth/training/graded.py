"""Graded steps: gradient descent that makes several steps at once where that is accurate.

After t steps, a gradient makes k of them at once. k is the largest power of two that is at most
t / share and at most cap / (rate lambda_max), and it is cut at times that are recorded. As long as
a mode of curvature lambda matters, t is about 1 / (rate lambda), so that k rate lambda is about
1 / share; modes that have decayed before are kept stable by the cap. Where rate lambda_max is above
cap / 2, k is 1, and the steps are those of gradient descent bit for bit. k is a power of two so
that an estimate of lambda_max that differs in its last bit gives the same steps.

For k equal steps on a quadratic loss, w(t + k) = w - k rate g + rate^2 k (k - 1) / 2 H g + ... The
second term is taken from the last gradient, g' at k' steps before: rate k' H g' = g' - g. What is
left is of second order in k rate lambda. For k = 1 the term is 0. For large k the formula is that
of Adams and Bashforth, which is stable for k rate lambda < 1.

Weights are kept as initial weights plus a difference. A step of float32 weights that changes a
weight by less than half its last digit would be lost; at small rates this stops descents that are
far from a minimum.
"""

from typing import TYPE_CHECKING

import numpy as np
import torch

from finitewidth.training.fully_connected import Passes, per_network

if TYPE_CHECKING:
    from finitewidth.training.descent import DescentRun

TRACKED = 20  # gradients between two iterations of the power iteration
LONGEST_RATIO = 2  # of a step to the last one, up to which the second term is used


def steps_at_once(
    times: np.ndarray, eta_lambda: np.ndarray, gaps: np.ndarray, *, cap: float, share: int
) -> np.ndarray:
    """Number of steps that the next gradient of each network makes, at least 1; see the module.

    ``times`` are steps made, ``eta_lambda`` is rate times lambda_max (NaN gives single steps), and
    ``gaps`` are steps to the next time that must be hit.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        limit = np.minimum(times / share, cap / eta_lambda)
    _, exponent = np.frexp(np.where(np.isfinite(limit), limit, 1.0))
    power = 2 ** np.maximum(exponent - 1, 0).astype(np.int64)
    return np.minimum(power, gaps)


class GradedSteps:
    """Graded steps of the networks that descend; the state is kept in ``run.solver``.

    ``base``: weights when the phase began. ``away``: what was added since. ``now`` and ``last``:
    the present and the last gradient, times the rate. ``jump``: the last number of steps, 0 before
    the first.
    """

    def __init__(self, run: "DescentRun", until: int | None):
        """Begin the phase, or go on with it; in the mode ``steps`` they are made one by one.

        ``until`` is the number of steps after which networks are parked: for the flow where it may
        be used, and elsewhere for graded steps. None for no such end.
        """
        self.run, self.of, self.until = run, run.solver, until
        self.cap = 0.0 if run.plan.mode == "steps" else run.plan.cap
        self.tracked = TRACKED if self.cap else 0
        if not self.of:
            parameters = run.stack.parameters
            self.of["base"] = [tensor.clone() for tensor in parameters]
            for name in ("away", "now", "last"):
                self.of[name] = [torch.zeros_like(tensor) for tensor in parameters]
            self.of["jump"] = np.zeros(run.places.size, dtype=np.int64)

    def arrive(self, passes: Passes) -> np.ndarray:
        """Take account of the losses of ``passes``; return which networks leave the phase."""
        run = self.run
        leaving = run.arrive(np.arange(run.places.size), passes.losses())
        if self.until is None:
            return leaving
        over = ~leaving & (run.clocks.time[run.places] >= self.until)
        flat = run.clocks.eta_lambda[run.places] <= run.plan.steepest
        run.park(np.flatnonzero(over & flat), "flow")
        run.park(np.flatnonzero(over & ~flat), "graded")
        return leaving | over

    def step(self, passes: Passes) -> None:
        """Make some steps with each network, at the gradients of ``passes``."""
        run = self.run
        clocks, places = run.clocks, run.places
        jumps = steps_at_once(
            clocks.time[places],
            clocks.eta_lambda[places],
            run.gaps(places),
            cap=self.cap,
            share=run.plan.share,
        )
        self._move(passes, jumps)
        run.advance(places, jumps)

    def _move(self, passes: Passes, jumps: np.ndarray) -> None:
        of, run = self.of, self.run
        passes.gradient(run.rates[run.places], out=of["now"])
        second = np.zeros(jumps.size)
        near = jumps <= LONGEST_RATIO * of["jump"]
        second[near] = (jumps * (jumps - 1))[near] / (2 * of["jump"][near])
        groups = zip(
            run.stack.parameters, of["base"], of["away"], of["now"], of["last"], strict=True
        )
        single, like = (jumps == 1).all(), of["base"][0]
        # converted once for all tensors
        ahead, back = (torch.from_numpy(each).to(like) for each in (-(jumps + second), second))
        for weight, base, away, now, last in groups:
            if single:  # the same numbers in a third of the time
                away.sub_(now)
            else:
                away.addcmul_(now, per_network(ahead, now))
                away.addcmul_(last, per_network(back, last))
            torch.add(base, away, out=weight)
        of["now"], of["last"], of["jump"] = of["last"], of["now"], jumps
