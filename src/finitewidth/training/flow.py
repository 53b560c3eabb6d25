"""Gradient flow of tanh networks, by a stabilised explicit method of Runge, Kutta and Chebyshev.

The flow dw/dt = -rate grad L, with time counted in steps of gradient descent, is what small steps
come near to. It is used where rate lambda_max <= 1/4, and only after the first steps
(`DescentPlan.flow_from`), which are graded steps: the fast modes, which the flow would treat
differently, have decayed by then, and a mode that still matters has rate lambda of about 1/128 or
less.
The slopes of ReLU jump, which the estimate of the error does not bear. Networks whose rate
lambda_max grows above the limit go on with graded steps.

The method is RKC of order 2 [B. P. Sommeijer, L. F. Shampine, J. G. Verwer, RKC: an explicit solver
for parabolic PDEs, J. Comput. Appl. Math. 88 (1998) 315-326]. One step of s stages takes s
gradients and is stable up to rate lambda_max h = 0.65 (s^2 - 1). Each network has its own step h,
its own number of stages and its own stage; the gradients of all are computed together. Steps h are
whole numbers, so that clocks stay whole. Stages are kept as differences from the last point, since
stages of float32 weights would lose the small changes of late times.
"""

from functools import cache
from math import acosh, cosh, sinh, sqrt
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from finitewidth.training.fully_connected import Passes, per_network

if TYPE_CHECKING:
    from finitewidth.training.descent import DescentRun

DAMPING = 2 / 13
SAFETY = 1.2  # factor on lambda_max, whose estimate is never too large
MOST_STAGES = 60
FIRST_STEP = 5.0
STEP_FACTORS = (0.1, 5.0)  # by which a step may shrink and grow


@cache
def coefficients(stages: int) -> np.ndarray:
    """Coefficients of the stages, (stages, 4), of which there are at least 2.

    Row j - 1 holds mu_j, nu_j, mu~_j and gamma~_j of the paper's recursion. With differences
    Z_j = Y_j - Y_0 it reads Z_j = mu_j Z_(j-1) + nu_j Z_(j-2) + h mu~_j F_(j-1) + h gamma~_j F_0;
    the first stage is Z_1 = h mu~_1 F_0, whose coefficient stands in the last column.
    """
    w0 = 1 + DAMPING / stages**2
    t, d, dd = _chebyshev(stages, w0)
    w1 = d[stages] / dd[stages]
    b = np.empty(stages + 1)
    b[2:] = dd[2:] / d[2:] ** 2
    b[:2] = b[2]
    a = 1 - b * t
    table = np.zeros((stages, 4))
    table[0, 3] = b[1] * w1
    for j in range(2, stages + 1):
        mu = 2 * b[j] / b[j - 1]
        table[j - 1] = mu * w0, -b[j] / b[j - 2], mu * w1, -a[j - 1] * mu * w1
    return table


def _chebyshev(degree: int, x: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Chebyshev polynomials of degrees 0 to ``degree`` and two derivatives, at x > 1."""
    n, angle = np.arange(degree + 1), acosh(x)
    t = np.array([cosh(k * angle) for k in n])
    d = np.array([k * sinh(k * angle) / sinh(angle) for k in n])
    dd = (n**2 * t - x * d) / (x * x - 1)  # the differential equation of the polynomials
    return t, d, dd


def stages_for(h: np.ndarray, eta_lambda: np.ndarray) -> np.ndarray:
    """Number of stages, at least 2, with which a step h is stable."""
    wanted = 1 + np.floor(np.sqrt(1 + 1.54 * h * SAFETY * eta_lambda))
    return np.clip(wanted, 2, MOST_STAGES).astype(np.int64)


class Flow:
    """The flow of the networks that descend; the state of the method is kept in ``run.solver``.

    ``start``, ``force``: last accepted point and F there. ``near``, ``far``: Z_(j-1) and Z_(j-2).
    ``stage`` counts finished stages out of ``stages``; ``h`` is the step and ``proposal`` the next
    one before it is cut; ``moved`` is the length of the way from the initial weights. ``here`` is F
    at the present weights.
    """

    tracked = 10  # gradients between two iterations of the power iteration

    def __init__(self, run: "DescentRun"):
        self.run, self.of, self.here = run, run.solver, []
        if self.of:
            return
        parameters, size = run.stack.parameters, run.places.size
        self.of["start"] = [tensor.clone() for tensor in parameters]
        for name in ("force", "near", "far"):
            self.of[name] = [torch.zeros_like(tensor) for tensor in parameters]
        for name in ("stage", "stages", "h"):
            self.of[name] = np.zeros(size, dtype=np.int64)
        self.of["proposal"] = np.full(size, FIRST_STEP)
        initial = run.initial.select(run.places).parameters
        self.of["moved"] = _norms([a - b for a, b in zip(parameters, initial, strict=True)])

    def arrive(self, passes: Passes) -> np.ndarray:
        """Accept or reject the steps that are complete, and plan the next ones.

        Return for each network of ``passes``, after `Passes.forward`, whether it leaves the flow.
        """
        of, run = self.of, self.run
        force = self.here = passes.gradient(-run.rates[run.places])
        leaving = np.zeros(run.places.size, dtype=bool)
        done = np.flatnonzero(of["stage"] == of["stages"])
        if not done.size:
            return leaving
        errors, lengths = self._errors(done, force)
        good = (errors <= 1) | (of["h"][done] <= 1)
        self._adapt(done, errors, good)
        accepted = done[good]
        if accepted.size:
            of["moved"][accepted] += lengths[good]
            self._accept(accepted, force)
            ended = run.arrive(accepted, passes.losses()[accepted])
            steep = ~ended & ~(run.clocks.eta_lambda[run.places[accepted]] <= run.plan.steepest)
            run.park(accepted[steep], "graded")
            leaving[accepted[ended | steep]] = True
        self._plan(done)
        return leaving

    def _errors(self, done: np.ndarray, force: list[Tensor]) -> tuple[np.ndarray, np.ndarray]:
        """Estimated errors in units of what is allowed, and lengths of the steps."""
        of, run = self.of, self.run
        index = torch.from_numpy(done)
        h = torch.from_numpy(of["h"][done])
        moves = [near[index] for near in of["near"]]
        estimates = [
            -0.8 * move + per_network(0.4 * h, move) * (before[index] + now[index])
            for move, before, now in zip(moves, of["force"], force, strict=True)
        ]
        lengths = _norms(moves)
        errors = _norms(estimates) / (run.plan.tolerance * (of["moved"][done] + lengths))
        begins = of["stages"][done] == 0
        return np.where(begins, 0.0, errors), np.where(begins, 0.0, lengths)

    def _adapt(self, done: np.ndarray, errors: np.ndarray, good: np.ndarray) -> None:
        """Propose the next steps from the errors of the last ones."""
        of = self.of
        with np.errstate(divide="ignore", invalid="ignore"):
            factor = np.clip(0.8 * errors ** (-1 / 3), *STEP_FACTORS)
        factor = np.where(np.isfinite(errors), factor, STEP_FACTORS[0])
        h = of["h"][done]
        # a step that was cut says nothing against the longer one that was proposed
        kept = np.where(h < of["proposal"][done], of["proposal"][done], 0)
        accepted = np.maximum(h * factor, np.where(factor >= 1, kept, 0))
        proposal = np.where(good, accepted, h * np.minimum(factor, 0.5))
        of["proposal"][done] = np.where(of["stages"][done] == 0, FIRST_STEP, proposal)

    def _accept(self, accepted: np.ndarray, force: list[Tensor]) -> None:
        of, run = self.of, self.run
        index = torch.from_numpy(accepted)
        for kind, new in (("start", run.stack.parameters), ("force", force)):
            for old, tensor in zip(of[kind], new, strict=True):
                old[index] = tensor[index]
        places, h = run.places[accepted], of["h"][accepted]
        run.advance(places, h)
        run.clocks.flowed[places] += h

    def _plan(self, done: np.ndarray) -> None:
        """Choose steps and stages, and start the first stage."""
        of, run = self.of, self.run
        places = run.places[done]
        eta_lambda = run.clocks.eta_lambda[places]
        stable = 0.65 * (MOST_STAGES**2 - 1) / (SAFETY * eta_lambda)
        gaps = np.maximum(run.gaps(places), 1)
        h = np.maximum(np.floor(np.minimum(of["proposal"][done], stable)), 1)
        # two equal steps rather than a long and a very short one
        h = np.where(h >= gaps, gaps, np.where(2 * h > gaps, np.ceil(gaps / 2), h))
        of["h"][done] = h.astype(np.int64)
        of["stages"][done] = stages_for(h, eta_lambda)
        of["stage"][done] = 0
        index = torch.from_numpy(done)
        for tensor in (*of["near"], *of["far"]):
            tensor[index] = 0

    def step(self, passes: Passes) -> None:
        """Make the next stage of every network, after `arrive`."""
        of, run = self.of, self.run
        rows = [coefficients(s)[j] for s, j in zip(of["stages"], of["stage"], strict=True)]
        mu, nu, mu_f, gamma_f = torch.from_numpy(np.array(rows)).T
        h = torch.from_numpy(of["h"])
        groups = zip(
            run.stack.parameters,
            of["start"],
            of["force"],
            of["near"],
            of["far"],
            self.here,
            strict=True,
        )
        for weight, start, first, near, far, now in groups:
            far.mul_(per_network(nu, far)).addcmul_(near, per_network(mu, near))
            far.addcmul_(now, per_network(h * mu_f, now)).addcmul_(
                first, per_network(h * gamma_f, first)
            )
            torch.add(start, far, out=weight)
        of["near"], of["far"] = of["far"], of["near"]
        of["stage"] += 1


def _norms(tensors: list[Tensor]) -> np.ndarray:
    """Norm of all tensors (R, ...) of a network together, (R,) in float64."""
    squares = sum(t.flatten(1).double().square().sum(dim=1) for t in tensors)
    return np.array([sqrt(value) for value in squares.tolist()])
