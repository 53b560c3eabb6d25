"""Gradient descent of a stack of fully connected networks, with the change of their kernels.

A descent can be interrupted and resumed exactly. The result of a network does not depend on the
others of its stack (bit for bit if widths, samples and outputs times samples are multiples of 16;
up to rounding otherwise, as in `finitewidth.training.gated`).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from finitewidth.kernels.trained import FullyConnected
from finitewidth.training.checkpoints import CheckpointStore
from finitewidth.training.descent_run import Clocks, DescentPlan, DescentRun
from finitewidth.training.flow import Flow
from finitewidth.training.fully_connected import Passes
from finitewidth.training.graded import GradedSteps
from finitewidth.training.loop import Training, carry_out, moved
from finitewidth.training.stopping import Stops

KEPT = ("phase", "count", "vectors", "kernels", "snapshots", "ends")  # of a run, as they are
PHASES = {"steps": ("steps",), "graded": ("graded",), "flow": ("start", "flow", "graded")}


@dataclass(frozen=True)
class Descent:
    """The result of a descent.

    Attributes:
        snapshots: one row per network and recorded time that it reached: ``replica`` (its number in
            the stack), ``time``, ``loss``, ``change`` (norm of the change of its tangent kernel
            over that of the kernel at time 0, Frobenius), ``eta_lambda`` (rate times lambda_max).
        ends: one row per network: ``replica``; its ``rate``; ``method`` (``steps``, ``graded``,
            ``flow`` or ``flow, then graded``); ``steps_taken``; ``gradients`` computed;
            ``largest_jump``, the steps made at once; ``first_loss``, ``lowest_loss``,
            ``last_loss``; ``stop_window``, ``stop_each``, the steps at which the two readings of
            the rule stop it, -1 if they did not before it ended; ``eta_lambda_start``,
            ``eta_lambda_end``, ``eta_lambda_max``, the largest at recorded times; ``exceeded``,
            whether this was above 2; ``diverged``, whether its loss became infinite or undefined.
            Its last row of ``snapshots`` is then from before, and ``last_loss`` is not finite.
    """

    snapshots: list[dict[str, Any]]
    ends: list[dict[str, Any]]


def descend(
    stack: FullyConnected,
    x: Tensor,
    y: Tensor,
    plan: DescentPlan,
    checkpoints: CheckpointStore | None = None,
    checkpoint_seconds: float = 60.0,
    title: str = "descent",
) -> Descent:
    """Minimise 1/(2S) sum_s |f(x_s) - y_s|^2 for all networks, from the newest checkpoint.

    Args:
        stack: the initial networks; not changed. The descent takes place on their device.
        x: inputs, (S, n_0), on the same device.
        y: targets, (S, K).
        plan: what is done.
        checkpoints: where to store checkpoints and at last the result, by an identity that
            settings, data and code determine; None for none.
        checkpoint_seconds: time between two checkpoints.
        title: of the progress that is shown, in steps of all networks together.

    Raises:
        ResultError: a checkpoint cannot be written.
    """
    training = _Training(DescentRun(plan, stack, x, y), title)
    return Descent(**carry_out(training, checkpoints, checkpoint_seconds))


class _Training(Training):
    """A descent in progress: its phases, one after the other."""

    def __init__(self, run: DescentRun, title: str):
        self.run, self.title = run, title
        self.total = run.plan.steps * run.initial.count
        self._method: GradedSteps | Flow | None = None  # of the phase
        self._passes: Passes | None = None  # of the networks that descend now

    def done(self) -> int:
        """Return the number of steps of all networks together."""
        return self.run.made()

    def measure(self) -> None:
        """Take account of the losses, until no network leaves; begin the next phase after that."""
        run, phases = self.run, PHASES[self.run.plan.mode]
        while run.places.size or run.phase + 1 < len(phases):
            if not run.places.size:
                run.begin(run.phase + 1, phases[run.phase + 1])
                self._method = self._passes = None
                continue
            self._method = self._method or _method(run, phases[run.phase])
            self._passes = self._passes or Passes(run.stack, run.x, run.y)
            self._passes.forward()
            leaving = self._method.arrive(self._passes)
            if not leaving.any():
                return
            positions = np.flatnonzero(~leaving)
            run.keep(positions)
            self._method.keep(positions)
            self._passes = None

    def step(self) -> None:
        """Compute a gradient of each network that descends now, and move it."""
        self._method.step(self._passes)

    def result(self) -> dict[str, Any]:
        """Return the entries of `Descent`."""
        run = self.run
        run.ends.sort(key=lambda row: row["replica"])
        run.snapshots.sort(key=lambda row: (row["replica"], row["time"]))
        return {"snapshots": run.snapshots, "ends": run.ends}

    def checkpoint(self) -> dict[str, Any]:
        """Return the state of the run as tensors and plain values."""
        run = self.run
        return {
            **{name: getattr(run, name) for name in KEPT},
            "rates": torch.from_numpy(run.rates),
            "places": torch.from_numpy(run.places),
            "stack": run.stack.parameters,
            "waiting": {
                name: [(torch.from_numpy(places), stack.parameters) for places, stack in parked]
                for name, parked in run.waiting.items()
            },
            "stops": _tensors({name: getattr(run.stops, name) for name in Stops.NAMES}),
            "clocks": _tensors(vars(run.clocks)),
            "solver": _tensors(run.solver),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Bring the run into a state that `checkpoint` returned."""
        run, device = self.run, self.run.x.device

        def stack(parameters: list[Tensor]) -> FullyConnected:
            return run.initial.with_parameters(moved(parameters, device))

        for name in KEPT:
            setattr(run, name, moved(state[name], device))
        run.rates = state["rates"].numpy()
        run.places, run.stack = state["places"].numpy(), stack(state["stack"])
        run.waiting = {
            name: [(places.numpy(), stack(parameters)) for places, parameters in parked]
            for name, parked in state["waiting"].items()
        }
        for name, value in state["stops"].items():
            setattr(run.stops, name, value.numpy())
        run.clocks = Clocks(**{name: value.numpy() for name, value in state["clocks"].items()})
        run.solver = {
            name: moved(value, device) if isinstance(value, list) else value.numpy()
            for name, value in state["solver"].items()
        }


def _method(run: DescentRun, phase: str) -> "GradedSteps | Flow":
    if phase == "flow":
        return Flow(run)
    if phase == "start":
        return GradedSteps(run, run.plan.cap, until=run.plan.flow_from)
    return GradedSteps(run, run.plan.cap if phase == "graded" else 0.0)


def _tensors(values: dict[str, Any]) -> dict[str, Any]:
    """Replace numpy arrays by tensors."""
    return {
        name: torch.from_numpy(value) if isinstance(value, np.ndarray) else value
        for name, value in values.items()
    }
