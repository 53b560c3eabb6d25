"""Reference sampler, which draws all weight matrices. The other samplers are tested against it."""

from typing import Any

import torch

from finitewidth.kernels.ntk_init import streams
from finitewidth.kernels.ntk_init.activations import Activation, TensorMap, activation_of
from finitewidth.kernels.ntk_init.draws import NtkDraws, checked_finite, joined
from finitewidth.kernels.ntk_init.given_network import tangent_kernel
from finitewidth.kernels.ntk_init.initialisation import Initialisation, checked_inputs
from finitewidth.kernels.ntk_init.normals import Normals


def drawn_network(
    init: Initialisation, normals: Normals
) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    """Draw random networks.

    Returns:
        Weights (draws, n_l, n_(l-1)) and biases (draws, n_l), one tensor per layer each.
    """
    weights, biases = [], []
    for fan_in, width in zip(init.widths, init.layer_widths[1:], strict=True):
        weights.append(normals(width, fan_in) * (init.sigma_w2 / fan_in) ** 0.5)
        if init.sigma_b2 > 0:
            biases.append(normals(width) * init.sigma_b2**0.5)
        else:
            biases.append(torch.zeros_like(weights[-1][..., 0]))
    return weights, biases


def sample_by_brute_force(
    init: Initialisation,
    inputs: Any,
    draws: int,
    seed: int,
    *,
    activation: "str | Activation | TensorMap",
) -> NtkDraws:
    """Draw the S C x S C tangent kernel of random networks whose matrices are drawn in full.

    Args:
        init: the law of the network, with any number of outputs C.
        inputs: (S, n_0) with S >= 1; no input may have norm zero.
        draws: number of draws, >= 1. A smaller number gives the first of the same draws.
        seed: from `finitewidth.common.provenance.seed_for`.
        activation: "relu", "tanh", "erf", an `Activation` or an elementwise torch callable.

    Cost: sum of n_l n_(l-1) normal variables per draw, and as many multiplications per input.
    Memory: 8 bytes per weight and per draw held at the same time. Use one of the other samplers if
    it applies.

    Raises:
        ConfigError: an argument is out of range, there are too many draws, or a number overflows.
    """
    activation, array = activation_of(activation), checked_inputs(inputs, init.widths[0])
    errors = len(array) * init.outputs
    sizes = zip(init.widths, init.layer_widths[1:], strict=True)
    numbers = sum((fan_in + 1) * width for fan_in, width in sizes)
    work = 16 * (numbers + errors * sum(init.layer_widths))
    result = 8 * (2 * errors**2 + errors)
    plan = streams.planned(draws, streams.block_size(numbers), work, result)
    x, parts = torch.as_tensor(array), []
    for blocks in plan.groups():
        weights, biases = drawn_network(init, Normals(seed, blocks, plan.block, x.device))
        theta_w, theta_b, output = tangent_kernel(
            weights, biases, x,
            activation=activation, weight_gains=init.weight_gains, bias_gain=init.bias_gain,
        )  # fmt: skip
        found = (part.numpy() for part in (theta_w, theta_b.contiguous(), output))
        drawn = NtkDraws(*found, log_growth=0.0, depth=init.depth)
        parts.append(drawn.first(plan.kept(blocks)))
    return checked_finite(joined(parts))
