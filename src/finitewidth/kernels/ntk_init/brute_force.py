"""The reference: matrices drawn, network run forward and backward. For tests and benchmarks."""

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
    """Weights (draws, n_l, n_(l-1)) and biases (draws, n_l) of random networks."""
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
    """Independent draws of the S C x S C tangent kernel from networks drawn in full.

    Args:
        init: the network; any number of outputs C.
        inputs: (S, n_0), S >= 1, none of norm zero.
        draws: how many, >= 1; fewer draws are a prefix of more.
        seed: of `finitewidth.common.provenance.seed_for`.
        activation: "relu", "tanh", "erf", an `Activation` or an elementwise torch callable.
        method: "products" (forward and backward by matrix products) or "autograd" (Jacobians by
            torch.func: the definition).
        device: "cpu" or a CUDA device; the law is the same, the numbers are not.
        memory_bytes: budget, results included; does not change the numbers.
        progress: called with (draws done, draws wanted).

    Cost: sum of n_l n_(l-1) normals per draw and as many products per input; memory 8 bytes per
    weight and draw held at once. Use a sampler instead wherever one applies.

    Raises:
        ConfigError: an argument out of range, a budget below one block, or an overflow.
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
