"""Full-batch Adam of a stack of fully connected networks, with what a caller observes at times."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from finitewidth.kernels.trained import FullyConnected
from finitewidth.training.checkpoints import CheckpointStore
from finitewidth.training.fully_connected import Passes
from finitewidth.training.loop import Training, carry_out

BETAS = (0.9, 0.999)
EPSILON = 1e-8
Observed = dict[str, Any]  # tensors and plain values, so that it can be in a checkpoint


def adam(
    stack: FullyConnected,
    x: Tensor,
    y: Tensor,
    *,
    rate: float,
    times: Sequence[int],
    observe: Callable[[FullyConnected, int], Observed],
    checkpoints: CheckpointStore | None = None,
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
        title: of the progress that is shown, in steps.

    Returns:
        What was observed, in the order of ``times``.

    Raises:
        ResultError: a checkpoint cannot be written.
    """
    return carry_out(_Training(stack.copy(), x, y, rate, times, observe, title), checkpoints)


class _Training(Training):
    """A training in progress."""

    def __init__(self, stack, x, y, rate, times, observe, title):
        words = {"lr": rate, "betas": BETAS, "eps": EPSILON, "foreach": True}
        optimiser = torch.optim.Adam(stack.parameters, **words)
        super().__init__(title, times[-1], stack.parameters, optimiser, observed=[])
        self.stack, self.times, self.observe = stack, times, observe
        self.passes = Passes(stack, x, y)
        for tensor in stack.parameters:
            tensor.grad = torch.empty_like(tensor)

    def step(self) -> None:
        """Make a step of all networks."""
        self.passes.forward()
        self.passes.gradient(out=[tensor.grad for tensor in self.weights])
        self.optimiser.step()
        self.state.done += 1

    def measure(self) -> None:
        """Observe the networks if it is time to."""
        if self.done in self.times:
            self.state.observed.append(self.observe(self.stack, self.done))

    def result(self) -> list[Observed]:
        """Return what was observed."""
        return self.state.observed
