"""Random networks of the theory of npf and dgn: weights of one variance, gates by chance.

Weights are drawn many networks at once from one stream, or from a stream for each network, which
then is the same however many stand beside it; or all networks of ±sigma are listed.
"""

import itertools
import math
from collections.abc import Sequence
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from finitewidth.common.errors import ConfigError
from finitewidth.common.provenance import seed_for
from finitewidth.networks.weights import generator

# +sigma or -sigma with probability 1/2 (npf Theorem 5.1, dgn Assumption 1), or Gaussian
Law = Literal["signed", "gaussian"]
Purpose = Sequence[str | int]  # of a stream, see `provenance.seed_for`

MAX_WEIGHTS = 18  # 2^18 networks


def draw_weights(
    sizes: Sequence[int],
    sigma: float,
    networks: int,
    stream: np.random.Generator,
    law: Law = "signed",
    dtype: torch.dtype = torch.float64,
) -> list[Tensor]:
    """Independent networks with weights of variance sigma^2 in all layers.

    Args:
        sizes: units per layer (n0, w_1, .., w_{L-1}, n_out).
        sigma: standard deviation of every weight.
        networks: how many.
        stream: source of random numbers.
        law: of a weight.
        dtype: of the weights.

    Returns:
        For each layer of weights (networks, fan_in, fan_out).
    """
    draw = {"signed": _signs, "gaussian": _gaussian}[law]
    shapes = [(networks, *pair) for pair in itertools.pairwise(sizes)]
    return [draw(shape, sigma, stream, dtype) for shape in shapes]


def equal_variance_weights(
    sizes: Sequence[int], sigma: float, networks: Sequence[Purpose], law: Law = "signed"
) -> list[Tensor]:
    """As `draw_weights`, in float64, each network from the stream of its own purpose."""
    drawn = [
        draw_weights(sizes, sigma, 1, np.random.default_rng(seed_for(*purpose)), law)
        for purpose in networks
    ]
    return [torch.cat(layer) for layer in zip(*drawn, strict=True)]


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
            "draw networks with draw_weights instead"
        )
    bits = (torch.arange(2**number)[:, None] >> torch.arange(number)) & 1
    signs = sigma * (2.0 * bits.double() - 1)
    parts = signs.split(counts, dim=1)
    return [part.reshape(-1, *shape) for part, shape in zip(parts, shapes, strict=True)]


def draw_gates(shape: Sequence[int], mu: float, stream: torch.Generator) -> Tensor:
    """External gates, each open with probability ``mu``: float64 zeros and ones of ``shape``."""
    return (torch.rand(*shape, generator=stream) < mu).double()


def bernoulli_gates(
    samples: int, widths: Sequence[int], mu: float, networks: Sequence[Purpose]
) -> list[Tensor]:
    """As `draw_gates`, each network from the stream of its own purpose (npf D, dgn experiment 1).

    Returns:
        For each hidden layer (networks, samples, width).
    """
    drawn = []
    for purpose in networks:
        stream = generator(*purpose)
        drawn.append([draw_gates((samples, width), mu, stream) for width in widths])
    return [torch.stack(layer) for layer in zip(*drawn, strict=True)]


def _signs(
    shape: tuple[int, ...], sigma: float, stream: np.random.Generator, dtype: torch.dtype
) -> Tensor:
    """A random byte gives eight signs."""
    count = math.prod(shape)
    taken = np.frombuffer(stream.bytes(-(-count // 8)), dtype=np.uint8)
    bits = torch.from_numpy(np.unpackbits(taken, count=count)).reshape(shape)
    return bits.to(dtype).mul_(2 * sigma).sub_(sigma)


def _gaussian(
    shape: tuple[int, ...], sigma: float, stream: np.random.Generator, dtype: torch.dtype
) -> Tensor:
    return torch.from_numpy(stream.standard_normal(shape)).to(dtype).mul_(sigma)
