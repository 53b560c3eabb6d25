"""Networks for the checks of the theory of npf: no biases, one output, sigma = sqrt(2 / w)."""

import math
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

from finitewidth.common.errors import ConfigError
from finitewidth.networks.weights import generator


@contextmanager
def named(section: str, width: int, depth: int) -> Iterator[None]:
    """Add the section to refusals of kernels that are zero or constant, as of a closed network.

    Raises:
        ConfigError: the block raised one.
    """
    try:
        yield
    except ConfigError as error:
        raise ConfigError(f"npf.theory.{section}: in a network of width {width} and depth {depth} "
                          f"{error}; raise the width or lower the depth") from error  # fmt: skip


def points(count: int, n0: int) -> Tensor:
    """Inputs (count, n0), uniform on the unit sphere; the same in all jobs of a run."""
    drawn = torch.randn(
        count, n0, generator=generator("npf/theory/points", count, n0), dtype=torch.float64
    )
    return drawn / drawn.norm(dim=1, keepdim=True)


def sizes_of(n0: int, width: int, depth: int) -> tuple[int, ...]:
    """Units per layer of a network with ``depth`` layers of weights, including input and output."""
    return (n0, *[width] * (depth - 1), 1)


def sigma_of(width: int) -> float:
    """sqrt(2 / w) for every layer including the first (npf 5 and D.1).

    If half of the gates are open, sigma^{2(d-1)} Lambda(s, s) is about 1.
    """
    return math.sqrt(2 / width)
