"""Torch's optimisers on stacked weights, with a step size of each replica's own."""

from collections.abc import Sequence
from itertools import groupby

import torch
from torch import Tensor

# Keras' defaults, with which the authors trained: epsilon 1e-7, rho 0.9
KERAS_EPSILON = 1e-7
KERAS_RHO = 0.9
FLOATS_IN_CACHE_LINE = 16  # torch shares a fused step out among threads in these units


class StackedOptimiser:
    """A torch optimiser over weights whose first axis counts replicas.

    Torch knows one step size per parameter group, so replicas with equal neighbouring step sizes
    form a group of views into the stacked tensors; a step updates them in place.
    """

    def __init__(self, kind: str, weights: Sequence[Tensor], step_sizes: Sequence[float]):
        """Take ``weights`` (R, …), a step size per replica; ``kind``: sgd, adam or rmsprop."""
        self._parts = [part for part, _ in _runs(step_sizes)]
        groups = [
            {"params": _pieces([weight.detach() for weight in weights], part), "lr": step_size}
            for part, step_size in _runs(step_sizes)
        ]
        self._torch = _make(kind, groups)

    def step(self, gradients: Sequence[Tensor]) -> None:
        """Update the weights in place from gradients of the same shapes."""
        for part, group in zip(self._parts, self._torch.param_groups, strict=True):
            for view, gradient in zip(group["params"], _pieces(gradients, part), strict=True):
                view.grad = gradient
        self._torch.step()

    def state(self) -> dict:
        """What a checkpoint needs to go on exactly; loads with ``weights_only=True``."""
        return self._torch.state_dict()

    def restore(self, state: dict) -> None:
        """Go on from what `state` returned."""
        self._torch.load_state_dict(state)


def _runs(step_sizes: Sequence[float]) -> list[tuple[slice, float]]:
    parts, start = [], 0
    for step_size, group in groupby(step_sizes):
        length = len(list(group))
        parts.append((slice(start, start + length), step_size))
        start += length
    return parts


def _pieces(tensors: Sequence[Tensor], part: slice) -> list[Tensor]:
    """Views of the replicas ``part`` of all tensors, one a tensor where that changes no number.

    On a CPU the fused steps round the last few numbers of a tensor, those that fill no vector
    register, otherwise than the rest. Weights that are no multiple of it are therefore handed over
    one replica at a time, so that a number is treated the same whatever stack it stands in.
    """
    pieces: list[Tensor] = []
    for tensor in tensors:
        whole = tensor.is_cuda or tensor[0].numel() % FLOATS_IN_CACHE_LINE == 0
        pieces += [tensor[part]] if whole else tensor[part].unbind()
    return pieces


def _make(kind: str, groups: list[dict]) -> torch.optim.Optimizer:
    if kind == "sgd":
        return torch.optim.SGD(groups, lr=0.0, fused=True)
    if kind == "adam":
        return torch.optim.Adam(groups, eps=KERAS_EPSILON, fused=True)
    return torch.optim.RMSprop(groups, alpha=KERAS_RHO, eps=KERAS_EPSILON, foreach=True)
