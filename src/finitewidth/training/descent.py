"""Gradient descent of a stack of fully connected networks, with the change of their kernels.

A descent can be interrupted and resumed exactly. The result of a network does not depend on the
others of its stack (bit for bit if widths, samples and outputs times samples are multiples of 16;
up to rounding otherwise, as in `finitewidth.training.gated`).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from torch import Tensor

from finitewidth.kernels.trained import FullyConnected
from finitewidth.training.checkpoints import CheckpointStore
from finitewidth.training.descent_state import DescentPlan, DescentState, first_vectors
from finitewidth.training.flow import Flow
from finitewidth.training.fully_connected import Passes
from finitewidth.training.graded import GradedSteps
from finitewidth.training.loop import Training, carry_out

RATE_ITERATIONS = 100  # of the power iteration, for a rate that is set by the largest eigenvalue
PHASES = {"steps": ("steps",), "graded": ("graded",), "flow": ("start", "flow", "graded")}


@dataclass(frozen=True)
class Descent:
    """The result of a descent.

    ``snapshots`` has a row per network and recorded time that it reached: ``replica`` (its number
    in the stack), ``time``, ``loss``, ``change`` (norm of the change of its tangent kernel over
    that of the kernel at time 0, Frobenius), ``eta_lambda`` (rate times lambda_max).

    ``ends`` has a row per network: ``replica``; its ``rate``; ``method`` (``steps``, ``graded``,
    ``flow`` or ``flow, then graded``); ``steps_taken``; ``gradients`` computed; ``largest_jump``,
    the steps made at once; ``first_loss``, ``lowest_loss``, ``last_loss``; ``stop_window``,
    ``stop_each``, the steps at which the two readings of the rule stop it, -1 if they did not
    before it ended; ``eta_lambda_start``, ``eta_lambda_end``, ``eta_lambda_max``, the largest at
    recorded times; ``exceeded``, whether this was above 2; ``diverged``, whether its loss became
    infinite or undefined. Its last row of ``snapshots`` is then from before, and ``last_loss`` is
    not finite.
    """

    snapshots: list[dict[str, Any]]
    ends: list[dict[str, Any]]


def descend(
    stack: FullyConnected,
    x: Tensor,
    y: Tensor,
    plan: DescentPlan,
    checkpoints: CheckpointStore | None = None,
    title: str = "descent",
) -> Descent:
    """Minimise 1/(2S) sum_s |f(x_s) - y_s|^2 for all networks, from the newest checkpoint.

    The initial networks do not change. Inputs are (S, n_0) on their device, targets (S, K). The
    ``title`` is that of the progress that is shown, in steps of all networks together.
    """
    run = _DescentRun(DescentState(stack, x, y, plan), title)
    result = carry_out(run, checkpoints)
    return Descent(snapshots=result["snapshots"], ends=result["ends"])


class _DescentRun(Training):
    """A descent in progress: its phases, one after the other."""

    def __init__(self, state: DescentState, title: str) -> None:
        self.title = title
        self.total = state.plan.steps * state.initial.count
        self.descent = state
        self._phases = PHASES[state.plan.mode]
        self._phase = 0  # index of the present phase
        self._gradients = 0  # of each network since the phase began
        self._method: GradedSteps | Flow | None = None  # of the phase
        self._passes: Passes | None = None  # of the networks that descend now

    @property
    def done(self) -> int:
        """Steps that all networks together have made."""
        return self.descent.steps_done()

    def measure(self) -> None:
        """Take account of the losses, until no network leaves; begin the next phase after that."""
        state = self.descent
        while state.active.size or self._phase + 1 < len(self._phases):
            if not state.active.size:
                self._begin_next_phase()
                continue
            if self._method is None:
                self._method = self._method_of_phase()
            if self._passes is None:
                self._passes = Passes(state.stack, state.x, state.y)
            self._passes.forward()
            leaving = self._method.arrive(self._passes)
            if not leaving.any():
                return
            state.keep_rows(np.flatnonzero(~leaving))
            self._passes = None

    def _begin_next_phase(self) -> None:
        self._phase += 1
        self._gradients = 0
        self._method = None
        self._passes = None
        self.descent.begin_phase(self._phases[self._phase])

    def _method_of_phase(self) -> GradedSteps | Flow:
        phase = self._phases[self._phase]
        if phase == "flow":
            return Flow(self.descent)
        until = self.descent.plan.flow_from if phase == "start" else None
        return GradedSteps(self.descent, until)

    def step(self) -> None:
        """Compute a gradient of each network that descends now, and move it."""
        assert self._method is not None  # `measure` comes first
        assert self._passes is not None
        state = self.descent
        tracked = self._method.tracked
        if tracked and self._gradients % tracked == 0:
            state.measure_slope(self._passes, np.arange(state.active.size), 1)
        self._method.step(self._passes)
        state.clocks.gradients[state.active] += 1
        self._gradients += 1

    def result(self) -> dict[str, Any]:
        """Return the entries of `Descent`."""
        state = self.descent
        state.ends.sort(key=lambda row: row["replica"])
        state.snapshots.sort(key=lambda row: (row["replica"], row["time"]))
        return {"snapshots": state.snapshots, "ends": state.ends}

    def checkpoint(self) -> dict[str, Any]:
        """Return the state of the run as tensors and plain values."""
        return {
            "phase": self._phase,
            "gradients": self._gradients,
            "state": self.descent.checkpoint(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Bring the run into a state that `checkpoint` returned."""
        self._phase = state["phase"]
        self._gradients = state["gradients"]
        self.descent.restore(state["state"])


def largest_eigenvalues(stack: FullyConnected, x: Tensor, y: Tensor) -> np.ndarray:
    """Estimate lambda_max of the tangent kernel over S of each network of a stack, (R,).

    Gradient descent is stable up to a rate of 2/lambda_max. The power iteration approaches it from
    below. Inputs are (S, n_0), targets (S, K).
    """
    passes = Passes(stack, x, y)
    passes.forward()
    values, _ = passes.largest_eigenvalue(first_vectors(stack, y), RATE_ITERATIONS)
    return values
