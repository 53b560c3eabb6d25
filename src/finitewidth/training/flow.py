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

from functools import cache, reduce
from math import acosh, cosh, sinh, sqrt

import numpy as np
import torch
from torch import Tensor

from finitewidth.training.descent_state import DescentState
from finitewidth.training.fully_connected import Passes, per_network

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
    t, d, dd = _chebyshev(stages, w0)  # T_j(w0), T'_j(w0), T''_j(w0)
    w1 = d[stages] / dd[stages]
    b = np.empty(stages + 1)
    b[2:] = dd[2:] / d[2:] ** 2
    b[:2] = b[2]
    a = 1 - b * t
    table = np.zeros((stages, 4))
    table[0, 3] = b[1] * w1
    for j in range(2, stages + 1):
        mu = 2 * b[j] / b[j - 1]
        nu = -b[j] / b[j - 2]
        mu_f = mu * w1
        gamma_f = -a[j - 1] * mu * w1
        table[j - 1] = mu * w0, nu, mu_f, gamma_f
    return table


def _chebyshev(degree: int, x: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Chebyshev polynomials of degrees 0 to ``degree`` and two derivatives, at x > 1."""
    n = np.arange(degree + 1)
    angle = acosh(x)
    t = np.array([cosh(k * angle) for k in n])
    d = np.array([k * sinh(k * angle) / sinh(angle) for k in n])
    dd = (n**2 * t - x * d) / (x * x - 1)  # the differential equation of the polynomials
    return t, d, dd


def stages_for(h: np.ndarray, eta_lambda: np.ndarray) -> np.ndarray:
    """Return the number of stages, at least 2, with which a step h is stable."""
    stages = 1 + np.floor(np.sqrt(1 + 1.54 * h * SAFETY * eta_lambda))
    return np.clip(stages, 2, MOST_STAGES).astype(np.int64)


class Flow:
    """The flow of the networks that descend.

    The state of the method is in ``descent.solver``, so that it is in checkpoints. Tensors are
    those of all parameters, and arrays have an entry for each row:

    ``start``, ``force``: last accepted point Y_0, and F_0 there;
    ``near``, ``far``: Z_(j-1) and Z_(j-2);
    ``stages``, ``stage``: number of stages of the step, and of those that are finished;
    ``h``, ``proposal``: the step, and the next one before it is cut;
    ``moved``: length of the way from the initial weights.
    """

    tracked = 10  # gradients between two iterations of the power iteration

    def __init__(self, descent: DescentState) -> None:
        self.descent = descent
        self.solver = descent.solver
        self.force: list[Tensor] = []  # F at the present weights
        if self.solver:
            return
        parameters = descent.stack.parameters
        count = descent.active.size
        self.solver["start"] = [tensor.clone() for tensor in parameters]
        for name in ("force", "near", "far"):
            self.solver[name] = [torch.zeros_like(tensor) for tensor in parameters]
        for name in ("stage", "stages", "h"):
            self.solver[name] = np.zeros(count, dtype=np.int64)
        self.solver["proposal"] = np.full(count, FIRST_STEP)
        initial = descent.initial.select(descent.active).parameters
        changes = [now - first for now, first in zip(parameters, initial, strict=True)]
        self.solver["moved"] = _norms(changes)

    def arrive(self, passes: Passes) -> np.ndarray:
        """Accept or reject the steps that are complete, and plan the next ones.

        Return for each network of ``passes``, after `Passes.forward`, whether it leaves the flow.
        """
        descent = self.descent
        solver = self.solver
        self.force = passes.gradient(-descent.rates[descent.active])
        leaving = np.zeros(descent.active.size, dtype=bool)
        complete = np.flatnonzero(solver["stage"] == solver["stages"])  # rows
        if not complete.size:
            return leaving
        errors, lengths = self._errors(complete)
        good = (errors <= 1) | (solver["h"][complete] <= 1)
        self._propose(complete, errors, good)
        accepted = complete[good]
        if accepted.size:
            solver["moved"][accepted] += lengths[good]
            self._accept(accepted)
            ended = descent.arrive(accepted, passes.losses()[accepted])
            eta_lambda = descent.clocks.eta_lambda[descent.active[accepted]]
            steep = ~ended & ~(eta_lambda <= descent.plan.steepest)  # also if it is not a number
            descent.park(accepted[steep], "graded")
            leaving[accepted[ended | steep]] = True
        self._plan(complete)
        return leaving

    def _errors(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return estimated errors in units of the tolerance, and lengths of the steps.

        The estimate of the error is 0.8 (Y_0 - Y) + 0.4 h (F_0 + F). Before the first step both
        results are 0.
        """
        solver = self.solver
        index = torch.from_numpy(rows)
        h = torch.from_numpy(solver["h"][rows])
        moves = []
        estimates = []
        for near, before, now in zip(solver["near"], solver["force"], self.force, strict=True):
            move = near[index]
            forces = before[index] + now[index]
            moves.append(move)
            estimates.append(-0.8 * move + per_network(0.4 * h, move) * forces)
        lengths = _norms(moves)
        allowed = self.descent.plan.tolerance * (solver["moved"][rows] + lengths)
        errors = _norms(estimates) / allowed
        is_first = solver["stages"][rows] == 0
        return np.where(is_first, 0.0, errors), np.where(is_first, 0.0, lengths)

    def _propose(self, rows: np.ndarray, errors: np.ndarray, good: np.ndarray) -> None:
        """Propose the next steps from the errors of the last ones."""
        solver = self.solver
        smallest, largest = STEP_FACTORS
        with np.errstate(divide="ignore", invalid="ignore"):
            factor = np.clip(0.8 * errors ** (-1 / 3), smallest, largest)
        factor = np.where(np.isfinite(errors), factor, smallest)
        h = solver["h"][rows]
        proposed = solver["proposal"][rows]
        # a step that was cut says nothing against the longer one that was proposed
        longer = np.where((h < proposed) & (factor >= 1), proposed, 0)
        after_good = np.maximum(h * factor, longer)
        after_bad = h * np.minimum(factor, 0.5)
        proposal = np.where(good, after_good, after_bad)
        is_first = solver["stages"][rows] == 0
        solver["proposal"][rows] = np.where(is_first, FIRST_STEP, proposal)

    def _accept(self, rows: np.ndarray) -> None:
        """Make the present weights the start of the next steps."""
        descent = self.descent
        solver = self.solver
        index = torch.from_numpy(rows)
        for start, weight in zip(solver["start"], descent.stack.parameters, strict=True):
            start[index] = weight[index]
        for before, now in zip(solver["force"], self.force, strict=True):
            before[index] = now[index]
        numbers = descent.active[rows]
        h = solver["h"][rows]
        descent.advance(numbers, h)
        descent.clocks.flowed[numbers] += h

    def _plan(self, rows: np.ndarray) -> None:
        """Choose steps and stages, and start the first stage."""
        descent = self.descent
        solver = self.solver
        numbers = descent.active[rows]
        eta_lambda = descent.clocks.eta_lambda[numbers]
        stable = 0.65 * (MOST_STAGES**2 - 1) / (SAFETY * eta_lambda)
        gaps = np.maximum(descent.gaps(numbers), 1)
        h = np.maximum(np.floor(np.minimum(solver["proposal"][rows], stable)), 1)
        # two equal steps rather than a long and a very short one
        halved = np.where(2 * h > gaps, np.ceil(gaps / 2), h)
        h = np.where(h >= gaps, gaps, halved)
        solver["h"][rows] = h.astype(np.int64)
        solver["stages"][rows] = stages_for(h, eta_lambda)
        solver["stage"][rows] = 0
        index = torch.from_numpy(rows)
        for tensor in (*solver["near"], *solver["far"]):
            tensor[index] = 0

    def step(self, passes: Passes) -> None:
        """Make the next stage of every network, after `arrive`.

        Z_j = mu_j Z_(j-1) + nu_j Z_(j-2) + h mu~_j F_(j-1) + h gamma~_j F_0, see `coefficients`.
        """
        solver = self.solver
        stages = zip(solver["stages"], solver["stage"], strict=True)
        table = np.array([coefficients(count)[j] for count, j in stages])  # (rows, 4)
        mu, nu, mu_f, gamma_f = torch.from_numpy(table).T
        h = torch.from_numpy(solver["h"])
        for i, weight in enumerate(self.descent.stack.parameters):
            far = solver["far"][i]  # Z_(j-2), which becomes Z_j
            near = solver["near"][i]
            force = self.force[i]
            first_force = solver["force"][i]
            far.mul_(per_network(nu, far))
            far.addcmul_(near, per_network(mu, near))
            far.addcmul_(force, per_network(h * mu_f, force))
            far.addcmul_(first_force, per_network(h * gamma_f, first_force))
            torch.add(solver["start"][i], far, out=weight)
        solver["near"], solver["far"] = solver["far"], solver["near"]
        solver["stage"] += 1


def _norms(tensors: list[Tensor]) -> np.ndarray:
    """Return the norm of all tensors (R, ...) of a network together, (R,) in float64."""
    squares = [tensor.flatten(1).double().square().sum(dim=1) for tensor in tensors]
    total = reduce(torch.add, squares)
    return np.array([sqrt(value) for value in total.tolist()])
