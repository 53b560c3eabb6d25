"""Random weights and gates as in the theory of npf and dgn.

All weights have the same variance, and gates are Bernoulli variables. Networks are drawn from one
stream, or each from its own stream, so that it does not depend on the number of networks. All
networks with weights ±sigma can also be enumerated.
"""

import itertools
import math
from collections.abc import Sequence
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from finitewidth.common.errors import ConfigError
from finitewidth.networks.weights import generator
from finitewidth.records.provenance import seed_for

# +sigma or -sigma with probability 1/2 (npf Theorem 5.1, dgn Assumption 1), or Gaussian
Law = Literal["signed", "gaussian"]
Purpose = Sequence[str | int]  # name of a random stream, see `provenance.seed_for`

MAX_WEIGHTS = 18  # there are 2^18 networks with 18 weights


def draw_weights(
    sizes: Sequence[int],
    sigma: float,
    networks: int,
    stream: np.random.Generator,
    law: Law = "signed",
    dtype: torch.dtype = torch.float64,
) -> list[Tensor]:
    """Draw independent networks whose weights have the variance sigma^2 in all layers.

    ``sizes`` are the units per layer, (n0, w_1, .., w_{L-1}, n_out). There is one tensor
    (networks, fan_in, fan_out) per layer.
    """
    weights = []
    for fan_in, fan_out in itertools.pairwise(sizes):
        shape = (networks, fan_in, fan_out)
        if law == "signed":
            weights.append(_signs(shape, sigma, stream, dtype))
        else:
            normal = torch.from_numpy(stream.standard_normal(shape))
            weights.append(normal.to(dtype).mul_(sigma))
    return weights


def equal_variance_weights(
    sizes: Sequence[int], sigma: float, networks: Sequence[Purpose], law: Law = "signed"
) -> list[Tensor]:
    """Draw networks as `draw_weights` does, in float64, each from its own stream.

    ``networks`` are the names of the streams. There is one tensor (networks, fan_in, fan_out) per
    layer.
    """
    drawn = []  # the layers of each network, with one network on the first axis
    for purpose in networks:
        stream = np.random.default_rng(seed_for(*purpose))
        drawn.append(draw_weights(sizes, sigma, 1, stream, law))
    return [torch.cat(layer) for layer in zip(*drawn, strict=True)]


def every_signed_network(sizes: Sequence[int], sigma: float) -> list[Tensor]:
    """Return every network with weights ±sigma once, so that a mean over them is an expectation.

    There is one tensor (2^N, fan_in, fan_out) per layer, where N is the number of weights.

    Raises:
        ConfigError: there are more than ``MAX_WEIGHTS`` weights.
    """
    shapes = list(itertools.pairwise(sizes))
    counts = [fan_in * fan_out for fan_in, fan_out in shapes]
    number = sum(counts)
    if number > MAX_WEIGHTS:
        raise ConfigError(
            f"sizes: a network {tuple(sizes)} has {number} weights; at most {MAX_WEIGHTS} are "
            "allowed; use draw_weights to draw networks instead"
        )
    bits = (torch.arange(2**number)[:, None] >> torch.arange(number)) & 1  # (2^N, N)
    signs = sigma * (2.0 * bits.double() - 1)
    by_layer = signs.split(counts, dim=1)
    return [layer.reshape(-1, *shape) for layer, shape in zip(by_layer, shapes, strict=True)]


def draw_gates(shape: Sequence[int], mu: float, stream: torch.Generator) -> Tensor:
    """Draw external gates, each open with probability ``mu``; float64 zeros and ones."""
    return (torch.rand(*shape, generator=stream) < mu).double()


def bernoulli_gates(
    samples: int, widths: Sequence[int], mu: float, networks: Sequence[Purpose]
) -> list[Tensor]:
    """Draw gates as `draw_gates` does, each network from its own stream, of which this is the name.

    Each hidden layer gives a tensor (networks, samples, width). Source: npf appendix D, dgn
    experiment 1.
    """
    streams = [generator(*purpose) for purpose in networks]
    gates = []
    for width in widths:
        layer = [draw_gates((samples, width), mu, stream) for stream in streams]
        gates.append(torch.stack(layer))
    return gates


def uniform(shape: Sequence[int], networks: Sequence[Purpose]) -> Tensor:
    """Draw numbers uniform on [-1, 1], (networks, *shape), each network's from its own stream."""
    draws = [torch.rand(*shape, generator=generator(*purpose)) for purpose in networks]
    return 2 * torch.stack(draws).double() - 1


def _signs(
    shape: tuple[int, ...], sigma: float, stream: np.random.Generator, dtype: torch.dtype
) -> Tensor:
    """Draw random signs times ``sigma``; each random byte gives eight signs."""
    count = math.prod(shape)
    random_bytes = np.frombuffer(stream.bytes(-(-count // 8)), dtype=np.uint8)
    bits = torch.from_numpy(np.unpackbits(random_bytes, count=count)).reshape(shape)
    return bits.to(dtype).mul_(2 * sigma).sub_(sigma)
