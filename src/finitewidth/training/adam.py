"""Full-batch Adam of a stack of fully connected networks, with what a caller observes at times."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from finitewidth.common.errors import ConfigError
from finitewidth.common.progress import LOG, Progress
from finitewidth.training.checkpoints import CheckpointStore, SavingTimes
from finitewidth.training.finished import newest, result_of, save_result
from finitewidth.training.fully_connected import Passes, Stack

BETAS = (0.9, 0.999)
EPSILON = 1e-8
Observed = dict[str, Any]  # tensors and plain values, so that it can be in a checkpoint


def adam(
    stack: Stack,
    x: Tensor,
    y: Tensor,
    *,
    rate: float,
    times: Sequence[int],
    observe: Callable[[Stack, int], Observed],
    checkpoints: CheckpointStore | None = None,
    checkpoint_seconds: float = 60.0,
    title: str = "steps of Adam",
) -> list[Observed]:
    """Minimise 1/(2S) sum_s |f(x_s) - y_s|^2 by Adam with full batches, from the newest checkpoint.

    Each network is trained as it would be alone: Adam acts on each number by itself.

    Args:
        stack: the initial networks; not changed.
        x: inputs, (S, n_0), on the device of the stack.
        y: targets, (S, K).
        rate: common to all networks.
        times: numbers of steps after which to observe, ascending; the last one ends the training.
        observe: what to keep, of the networks and the number of steps. It must not change them.
        checkpoints: where to store checkpoints, and at last what was observed; None for none.
        checkpoint_seconds: time between two checkpoints.
        title: of the progress that is shown, in steps.

    Returns:
        What was observed, in the order of ``times``.

    Raises:
        ConfigError: ``times`` are negative or not ascending.
        ResultError: a checkpoint cannot be written.
    """
    if not times or list(times) != sorted(set(times)) or times[0] < 0:
        raise ConfigError(f"times = {list(times)}: must be ascending and not negative")
    state = newest(checkpoints)
    if (result := result_of(state)) is not None:
        return result
    stack = stack.copy()
    optimiser = torch.optim.Adam(stack.parameters, lr=rate, betas=BETAS, eps=EPSILON, foreach=True)
    done, observed = _restored(stack, optimiser, state)
    passes = Passes(stack, x, y)
    for tensor in stack.parameters:
        tensor.grad = torch.empty_like(tensor)
    saving, progress = SavingTimes(checkpoint_seconds), Progress(times[-1], title, done)
    for time in range(done, times[-1] + 1):
        if time in times and len(observed) == list(times).index(time):
            observed.append(observe(stack, time))
        if checkpoints and saving.due():
            with saving.saving():
                state = {"parameters": stack.parameters, "optimiser": optimiser.state_dict()}
                checkpoints.save(time, {**state, "time": time, "observed": observed})
        if time < times[-1]:
            passes.forward()
            passes.gradient(out=[tensor.grad for tensor in stack.parameters])
            optimiser.step()
            progress.advance()
    progress.close()
    save_result(checkpoints, times[-1] + 1, observed)
    return observed


def _restored(
    stack: Stack, optimiser: torch.optim.Adam, state: dict[str, Any] | None
) -> tuple[int, list[Observed]]:
    """Restore weights and moments; return the number of steps made and what was observed."""
    if state is None:
        return 0, []
    for tensor, value in zip(stack.parameters, state["parameters"], strict=True):
        tensor.copy_(value)
    optimiser.load_state_dict(state["optimiser"])
    LOG.info("continuing after step %d", state["time"])
    return state["time"], state["observed"]
