"""Random networks of the theory of npf and dgn: weights of one variance, gates by chance.

Every replica draws from streams of its own, so that it is the same however many stand beside it.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

import torch
from torch import Tensor

from finitewidth.networks.weights import generator


def equal_variance_weights(
    sizes: Sequence[int],
    sigma: float,
    replicas: Sequence[Sequence[str | int]],
    law: Literal["signed", "normal"] = "signed",
) -> list[Tensor]:
    """Weights of the same variance sigma^2 in all layers.

    Args:
        sizes: units per layer, inputs first.
        sigma: standard deviation of every weight.
        replicas: purpose of each replica's stream (see `provenance.seed_for`).
        law: ``signed``: +sigma or -sigma with probability 1/2 (npf, dgn: Assumption 1); or
            ``normal``.

    Returns:
        A float64 tensor (replicas, fan_in, fan_out) per layer.
    """
    draw = {"signed": _signs, "normal": _normals}[law]
    networks = []
    for purpose in replicas:
        stream = generator(*purpose)
        networks.append([draw(shape, stream) * sigma for shape in pairwise(sizes)])
    return _stacked(networks)


def bernoulli_gates(
    samples: int, widths: Sequence[int], mu: float, replicas: Sequence[Sequence[str | int]]
) -> list[Tensor]:
    """External gates, each open with probability ``mu`` (NPF appendix D, DGN experiment 1).

    Returns:
        A float64 tensor (replicas, samples, width) of zeros and ones per hidden layer.
    """
    networks = []
    for purpose in replicas:
        stream = generator(*purpose)
        draws = [torch.rand(samples, width, generator=stream) for width in widths]
        networks.append([(draw < mu).double() for draw in draws])
    return _stacked(networks)


def _signs(shape: tuple[int, int], stream: torch.Generator) -> Tensor:
    return 2.0 * torch.randint(0, 2, shape, generator=stream, dtype=torch.float64) - 1


def _normals(shape: tuple[int, int], stream: torch.Generator) -> Tensor:
    return torch.randn(shape, generator=stream, dtype=torch.float64)


def _stacked(networks: Sequence[Sequence[Tensor]]) -> list[Tensor]:
    return [torch.stack(layer) for layer in zip(*networks, strict=True)]
