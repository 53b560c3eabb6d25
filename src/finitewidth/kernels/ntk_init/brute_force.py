"""Reference sampler, which draws all weight matrices. It is used in tests and benchmarks."""

from typing import Any

import torch

from finitewidth.kernels.ntk_init import streams
from finitewidth.kernels.ntk_init.activations import Activation, TensorMap, activation_of
from finitewidth.kernels.ntk_init.draws import NtkDraws, checked_finite, joined
from finitewidth.kernels.ntk_init.given_network import (
    tangent_kernel,
    tangent_kernel_by_definition,
)
from finitewidth.kernels.ntk_init.initialisation import (
    Initialisation,
    checked_choice,
    checked_inputs,
)
from finitewidth.kernels.ntk_init.normals import Normals, checked_device


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
    method: str = "products",
    device: str | torch.device = "cpu",
    memory_bytes: int = streams.DEFAULT_MEMORY,
    progress: streams.Progress | None = None,
) -> NtkDraws:
    """Draw the S C x S C tangent kernel of random networks whose matrices are drawn in full.

    Args:
        init: the law of the network, with any number of outputs C.
        inputs: (S, n_0) with S >= 1; no input may have norm zero.
        draws: number of draws, >= 1. A smaller number gives the first of the same draws.
        seed: from `finitewidth.common.provenance.seed_for`.
        activation: "relu", "tanh", "erf", an `Activation` or an elementwise torch callable.
        method: "products" for a forward and a backward pass by matrix products, "autograd" for
            Jacobians by torch.func, which is the definition.
        device: "cpu" or a CUDA device. The law does not depend on it, but the numbers do.
        memory_bytes: memory budget in bytes, results included. It does not change the numbers.
        progress: called with (draws done, draws wanted).

    Cost: sum of n_l n_(l-1) normal variables per draw, and as many multiplications per input.
    Memory: 8 bytes per weight and per draw held at the same time. Use one of the other samplers if
    it applies.

    Raises:
        ConfigError: an argument is out of range, the budget is too small for one block, or a number
            overflows.
    """
    checked_choice("method", method, ("products", "autograd"))
    activation, device = activation_of(activation), checked_device(device)
    array = checked_inputs(inputs, init.widths[0])
    errors = len(array) * init.outputs
    sizes = zip(init.widths, init.layer_widths[1:], strict=True)
    numbers = sum((fan_in + 1) * width for fan_in, width in sizes)
    work = 16 * (numbers + errors * sum(init.layer_widths))
    result = 8 * (2 * errors**2 + errors)
    plan = streams.planned(draws, streams.block_size(numbers), work, memory_bytes, result)
    x, parts = torch.as_tensor(array, device=device), []
    for blocks in plan.groups():
        normals = Normals(seed, blocks, plan.block, device)
        drawn = _kernels(init, normals, x, activation, method)
        parts.append(drawn.first(plan.kept(blocks)))
        if progress is not None:
            progress(blocks.start * plan.block + len(parts[-1]), plan.draws)
    return checked_finite(joined(parts))


def _kernels(
    init: Initialisation,
    normals: Normals,
    x: torch.Tensor,
    activation: Activation,
    method: str,
) -> NtkDraws:
    weights, biases = drawn_network(init, normals)
    gains = {"weight_gains": init.weight_gains, "bias_gain": init.bias_gain}
    theta_w, theta_b, output = tangent_kernel(weights, biases, x, activation=activation, **gains)
    if method == "autograd":
        pairs = [
            tangent_kernel_by_definition(
                [w[i] for w in weights],
                [b[i] for b in biases],
                x,
                activation=activation.value,
                **gains,
            )
            for i in range(normals.draws)
        ]
        theta_w, theta_b = (torch.stack(parts) for parts in zip(*pairs, strict=True))
    numbers = (part.cpu().numpy() for part in (theta_w, theta_b.contiguous(), output))
    return NtkDraws(*numbers, log_growth=0.0, depth=init.depth)
