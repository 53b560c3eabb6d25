"""Torch's optimisers for stacked weights, with a separate step size for each replica."""

from collections.abc import Sequence
from itertools import groupby

import torch
from torch import Tensor

# the defaults of Keras, which the authors used
KERAS_EPSILON = 1e-7
KERAS_RHO = 0.9
FLOATS_IN_CACHE_LINE = 16  # unit in which torch divides a fused step among threads


class StackedOptimiser:
    """A torch optimiser for weights whose first axis counts replicas.

    Torch has one step size per parameter group. Consecutive replicas with equal step sizes
    therefore form a group. Its parameters are views into the stacked tensors, so a step updates the
    stacked tensors in place.
    """

    def __init__(self, kind: str, weights: Sequence[Tensor], step_sizes: Sequence[float]):
        """Create the optimiser.

        Args:
            kind: ``sgd``, ``adam`` or ``rmsprop``.
            weights: tensors (R, …).
            step_sizes: one per replica.
        """
        self._parts = [part for part, _ in _runs(step_sizes)]
        groups = [
            {"params": _pieces([weight.detach() for weight in weights], part), "lr": step_size}
            for part, step_size in _runs(step_sizes)
        ]
        self._torch = _make(kind, groups)

    def step(self, gradients: Sequence[Tensor]) -> None:
        """Update the weights in place; ``gradients`` have the shapes of the weights."""
        # torch's fused steps on a CPU read the memory of a gradient in the order of the weights'
        # memory, whatever its strides are; those of convolutions with the channels last differ
        gradients = [gradient.contiguous() for gradient in gradients]
        for part, group in zip(self._parts, self._torch.param_groups, strict=True):
            for view, gradient in zip(group["params"], _pieces(gradients, part), strict=True):
                view.grad = gradient
        self._torch.step()

    def state(self) -> dict:
        """Return the state for a checkpoint; it can be loaded with ``weights_only=True``."""
        return self._torch.state_dict()

    def restore(self, state: dict) -> None:
        """Restore a state returned by `state`."""
        self._torch.load_state_dict(state)


def _runs(step_sizes: Sequence[float]) -> list[tuple[slice, float]]:
    parts, start = [], 0
    for step_size, group in groupby(step_sizes):
        length = len(list(group))
        parts.append((slice(start, start + length), step_size))
        start += length
    return parts


def _pieces(tensors: Sequence[Tensor], part: slice) -> list[Tensor]:
    """Views of the replicas ``part`` of all tensors.

    A tensor gives a single view where this does not change any result. On a CPU the fused steps
    round the last few numbers of a tensor, which do not fill a vector register, differently from
    the rest. Weights whose size is not a multiple of that are passed one replica at a time, so
    that results do not depend on the other replicas. A GPU gets the same pieces, so that a
    training can go on from a checkpoint of the other device.
    """
    pieces: list[Tensor] = []
    for tensor in tensors:
        whole = tensor[0].numel() % FLOATS_IN_CACHE_LINE == 0
        pieces += [tensor[part]] if whole else tensor[part].unbind()
    return pieces


def _make(kind: str, groups: list[dict]) -> torch.optim.Optimizer:
    if kind == "sgd":
        return torch.optim.SGD(groups, lr=0.0, fused=True)
    if kind == "adam":
        return torch.optim.Adam(groups, eps=KERAS_EPSILON, fused=True)
    return torch.optim.RMSprop(groups, alpha=KERAS_RHO, eps=KERAS_EPSILON, foreach=True)
