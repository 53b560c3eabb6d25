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

import numpy as np
import torch

from finitewidth.training.descent_state import DescentState
from finitewidth.training.fully_connected import Passes, per_network

TRACKED = 20  # gradients between two iterations of the power iteration
LONGEST_RATIO = 2  # of a step to the last one, up to which the second term is used


def steps_at_once(
    times: np.ndarray, eta_lambda: np.ndarray, gaps: np.ndarray, *, cap: float, share: int
) -> np.ndarray:
    """Return the number of steps that the next gradient of each network makes, at least 1.

    It is k of the module's docstring. ``times`` are steps made, ``eta_lambda`` is rate times
    lambda_max (NaN gives single steps), and ``gaps`` are steps to the next time that must be hit.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        limit = np.minimum(times / share, cap / eta_lambda)
    _, exponent = np.frexp(np.where(np.isfinite(limit), limit, 1.0))
    power = 2 ** np.maximum(exponent - 1, 0).astype(np.int64)
    return np.minimum(power, gaps)


class GradedSteps:
    """Graded steps of the networks that descend.

    The state of the method is in ``descent.solver``, so that it is in checkpoints. Tensors are
    those of all parameters, and the array has an entry for each row:

    ``base``: weights when the phase began;
    ``away``: their change since then;
    ``now``, ``last``: the present and the last gradient, times the rate;
    ``jump``: the last number of steps, 0 before the first.
    """

    def __init__(self, descent: DescentState, until: int | None) -> None:
        """Begin the phase, or go on with it; in the mode ``steps`` they are made one by one.

        ``until`` is the number of steps after which networks are parked: for the flow where it may
        be used, and elsewhere for graded steps. None for no such end.
        """
        self.descent = descent
        self.solver = descent.solver
        self.until = until
        self.cap = 0.0 if descent.plan.mode == "steps" else descent.plan.cap
        self.tracked = TRACKED if self.cap else 0
        if not self.solver:
            parameters = descent.stack.parameters
            self.solver["base"] = [tensor.clone() for tensor in parameters]
            for name in ("away", "now", "last"):
                self.solver[name] = [torch.zeros_like(tensor) for tensor in parameters]
            self.solver["jump"] = np.zeros(descent.active.size, dtype=np.int64)

    def arrive(self, passes: Passes) -> np.ndarray:
        """Take account of the losses of ``passes``; return which networks leave the phase."""
        descent = self.descent
        active = descent.active
        leaving = descent.arrive(np.arange(active.size), passes.losses())
        if self.until is None:
            return leaving
        over = ~leaving & (descent.clocks.time[active] >= self.until)
        flat = descent.clocks.eta_lambda[active] <= descent.plan.steepest
        descent.park(np.flatnonzero(over & flat), "flow")
        descent.park(np.flatnonzero(over & ~flat), "graded")
        return leaving | over

    def step(self, passes: Passes) -> None:
        """Make one or several steps with each network, at the gradients of ``passes``."""
        descent = self.descent
        active = descent.active
        jumps = steps_at_once(
            descent.clocks.time[active],
            descent.clocks.eta_lambda[active],
            descent.gaps(active),
            cap=self.cap,
            share=descent.plan.share,
        )
        self._move(passes, jumps)
        descent.advance(active, jumps)

    def _move(self, passes: Passes, jumps: np.ndarray) -> None:
        """Make k = ``jumps`` steps at once: w - (k + c) g + c g' with c = k (k - 1) / (2 k').

        Gradients g and g' are those times the rate. The coefficient c is 0 after a much shorter
        last step k'.
        """
        descent = self.descent
        solver = self.solver
        passes.gradient(descent.rates[descent.active], out=solver["now"])
        second = np.zeros(jumps.size)  # c
        near = jumps <= LONGEST_RATIO * solver["jump"]
        second[near] = (jumps * (jumps - 1))[near] / (2 * solver["jump"][near])
        # converted once for all tensors
        like = solver["base"][0]
        of_now = torch.from_numpy(-(jumps + second)).to(like)
        of_last = torch.from_numpy(second).to(like)
        all_single = (jumps == 1).all()
        for i, weight in enumerate(descent.stack.parameters):
            away = solver["away"][i]
            now = solver["now"][i]
            last = solver["last"][i]
            if all_single:  # the same numbers in a third of the time
                away.sub_(now)
            else:
                away.addcmul_(now, per_network(of_now, now))
                away.addcmul_(last, per_network(of_last, last))
            torch.add(solver["base"][i], away, out=weight)
        solver["now"], solver["last"] = solver["last"], solver["now"]
        solver["jump"] = jumps
