"""Gradient descent of a stack of fully connected networks, with the change of their kernels.

A descent can be interrupted and resumed exactly. The result of a network does not depend on the
others of its stack (bit for bit if widths, samples and outputs times samples are multiples of 16;
up to rounding otherwise, as in `finitewidth.training.loop`).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from finitewidth.common.errors import ConfigError
from finitewidth.common.progress import LOG, Progress
from finitewidth.training.checkpoints import CheckpointStore, SavingTimes
from finitewidth.training.descent_run import Clocks, Kernel, Plan, Run
from finitewidth.training.finished import newest, result_of, save_result
from finitewidth.training.flow import descend_by_flow
from finitewidth.training.fully_connected import Stack
from finitewidth.training.graded import descend_by_steps
from finitewidth.training.stopping import Stops

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
    stack: Stack,
    x: Tensor,
    y: Tensor,
    plan: Plan,
    kernel: Kernel,
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
        kernel: computes the traced kernels (R, S, S) on x of the stack that it is given, in
            float64. It is called at time 0 with all networks, and later with those that are due.
        checkpoints: where to store checkpoints and at last the result, by an identity that
            settings, data and code determine; None for none.
        checkpoint_seconds: time between two checkpoints.
        title: of the progress that is shown, in steps of all networks together.

    Raises:
        ConfigError: the flow is wanted for ReLU networks, or the rates do not match the stack.
        ResultError: a checkpoint cannot be written.
    """
    if plan.mode == "flow" and stack.activation != "tanh":
        raise ConfigError(f"mode: flow is for tanh, not for {stack.activation}; use graded")
    state = newest(checkpoints)
    if (result := result_of(state)) is not None:
        return Descent(**result)
    run = Run(plan, stack, x, y, kernel)
    times = SavingTimes(checkpoint_seconds) if checkpoints else None

    def saved() -> None:
        progress.reach(run.made())
        if times and times.due():
            with times.saving():
                checkpoints.save(int(run.clocks.gradients.sum()), state_of(run))

    if state is not None:
        restore(run, state)
        LOG.info("continuing after %d gradients", int(run.clocks.gradients.sum()))
    progress = Progress(plan.steps * stack.replicas, title, done=run.made())
    phases, resumed = PHASES[plan.mode], None if state is None else run.phase
    for number in range(run.phase, len(phases)):
        if number != resumed:
            run.begin(number, phases[number])
        _carry_out(run, phases[number], saved)
    progress.reach(run.made())
    progress.close()
    run.ends.sort(key=lambda row: row["replica"])
    run.snapshots.sort(key=lambda row: (row["replica"], row["time"]))
    result = Descent(run.snapshots, run.ends)
    save_result(checkpoints, int(run.clocks.gradients.sum()) + 1, vars(result))
    return result


def finished(checkpoints: CheckpointStore | None) -> Descent | None:
    """Return the result of a descent that an earlier run has finished; None if there is none.

    Args:
        checkpoints: those given to `descend`; None for none.
    """
    result = result_of(newest(checkpoints))
    return None if result is None else Descent(**result)


def _carry_out(run: Run, phase: str, saved: Callable[[], None]) -> None:
    if phase == "flow":
        descend_by_flow(run, saved)
    elif phase == "start":
        descend_by_steps(run, run.plan.cap, saved, until=run.plan.flow_from)
    else:
        descend_by_steps(run, run.plan.cap if phase == "graded" else 0.0, saved)


def state_of(run: Run) -> dict[str, Any]:
    """Return the state of a run as tensors and plain values, for a checkpoint."""
    return {
        "rates": torch.from_numpy(run.rates),
        "places": torch.from_numpy(run.places),
        "stack": run.stack.parameters,
        "waiting": {
            name: [(torch.from_numpy(places), stack.parameters) for places, stack in parked]
            for name, parked in run.waiting.items()
        },
        "phase": run.phase,
        "count": run.count,
        "stops": _tensors({name: getattr(run.stops, name) for name in Stops.NAMES}),
        "clocks": _tensors(vars(run.clocks)),
        "vectors": run.vectors,
        "kernels": run.kernels,
        "snapshots": run.snapshots,
        "ends": run.ends,
        "solver": _tensors(run.solver),
    }


def restore(run: Run, state: dict[str, Any]) -> None:
    """Bring a run into a state that `state_of` returned."""
    device = run.x.device

    def stack(parameters: list[Tensor]) -> Stack:
        return run.initial.with_parameters([tensor.to(device) for tensor in parameters])

    run.rates = state["rates"].numpy()
    run.places, run.stack = state["places"].numpy(), stack(state["stack"])
    run.waiting = {
        name: [(places.numpy(), stack(parameters)) for places, parameters in parked]
        for name, parked in state["waiting"].items()
    }
    run.phase, run.count = state["phase"], state["count"]
    for name, value in state["stops"].items():
        setattr(run.stops, name, value.numpy())
    run.clocks = Clocks(**{name: value.numpy() for name, value in state["clocks"].items()})
    kernels = state["kernels"]
    run.vectors = state["vectors"].to(device)
    run.kernels = None if kernels is None else kernels.to(device)
    run.snapshots, run.ends = state["snapshots"], state["ends"]
    run.solver = {
        name: [t.to(device) for t in value] if isinstance(value, list) else value.numpy()
        for name, value in state["solver"].items()
    }


def _tensors(values: dict[str, Any]) -> dict[str, Any]:
    """Replace numpy arrays by tensors."""
    return {
        name: torch.from_numpy(value) if isinstance(value, np.ndarray) else value
        for name, value in values.items()
    }
