"""Inputs and sizes of the networks with which the theory of npf is checked.

They have no biases and one output, and sigma = sqrt(2 / w) unless said otherwise.
"""

import math

import torch
from torch import Tensor

from finitewidth.networks.weights import generator

PIECE = 4_000_000  # weights per batch


def points(count: int, n0: int) -> Tensor:
    """Inputs (count, n0), uniform on the unit sphere; the same in all jobs of a run."""
    stream = generator("npf/theory/points", count, n0)
    drawn = torch.randn(count, n0, generator=stream, dtype=torch.float64)
    return drawn / drawn.norm(dim=1, keepdim=True)


def sizes_of(n0: int, width: int, depth: int) -> tuple[int, ...]:
    """Units per layer of a network with ``depth`` layers of weights, including input and output."""
    return (n0, *[width] * (depth - 1), 1)


def sigma_of(width: int) -> float:
    """sqrt(2 / w) for every layer including the first (npf 5 and D.1)."""
    return math.sqrt(2 / width)
