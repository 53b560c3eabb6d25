"""Weights of ±sigma (npf Theorem 5.1, dgn Assumption 1): drawn at random, or all there are."""

import itertools
import math
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from finitewidth.errors import ConfigError

MAX_WEIGHTS = 18  # 2^18 networks


def draw_signed(
    sizes: Sequence[int],
    sigma: float,
    replicas: int,
    stream: np.random.Generator,
    dtype: torch.dtype = torch.float64,
) -> list[Tensor]:
    """Independent networks with weights ±sigma, a random byte for eight of them.

    Args:
        sizes: units per layer (n0, w_1, .., w_{L-1}, n_out).
        sigma: size of a weight.
        replicas: number of networks.
        stream: source of random bytes.
        dtype: of the weights.

    Returns:
        For each layer of weights (replicas, fan_in, fan_out).
    """
    return [
        _signs((replicas, *pair), stream).to(dtype).mul_(2 * sigma).sub_(sigma)
        for pair in itertools.pairwise(sizes)
    ]


def every_signed_network(sizes: Sequence[int], sigma: float) -> list[Tensor]:
    """All networks with weights ±sigma, each once: means over them are exact expectations.

    Args:
        sizes: units per layer (n0, w_1, .., w_{L-1}, n_out).
        sigma: size of a weight.

    Returns:
        For each layer of weights (2^N, fan_in, fan_out), N the number of weights.

    Raises:
        ConfigError: there are more than ``MAX_WEIGHTS`` weights.
    """
    shapes = list(itertools.pairwise(sizes))
    counts = [fan_in * fan_out for fan_in, fan_out in shapes]
    number = sum(counts)
    if number > MAX_WEIGHTS:
        raise ConfigError(
            f"sizes: {tuple(sizes)} has {number} weights, more than {MAX_WEIGHTS}; "
            "draw networks with draw_signed instead"
        )
    bits = (torch.arange(2**number)[:, None] >> torch.arange(number)) & 1
    signs = sigma * (2.0 * bits.double() - 1)
    parts = signs.split(counts, dim=1)
    return [part.reshape(-1, *shape) for part, shape in zip(parts, shapes, strict=True)]


def _signs(shape: tuple[int, ...], stream: np.random.Generator) -> Tensor:
    """0 or 1 with probability 1/2 each."""
    count = math.prod(shape)
    taken = np.frombuffer(stream.bytes(-(-count // 8)), dtype=np.uint8)
    return torch.from_numpy(np.unpackbits(taken, count=count)).reshape(shape)
