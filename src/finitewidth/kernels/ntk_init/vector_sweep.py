"""Sampler of the tangent kernel for any activation at many depths and weight variances.

Let x be the activations of a layer. The error vector below the next weight matrix is
delta = c1 u + c2 v with u = slope * z, v = slope * x and independent standard normal z
(docs/theory.md, section 2, equation 1). Its squared norm and its product with the weights of the
layer need only inner products of u, v, x and z. These do not depend on the position of the output
layer or on other layers. Hence one forward pass computes all of them, and the errors of every depth
follow from two numbers per layer.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields

import numpy as np
import torch

from finitewidth.kernels.ntk_init import streams
from finitewidth.kernels.ntk_init.activations import Activation, TensorMap, activation_of
from finitewidth.kernels.ntk_init.depth_sweep import Cell, checked_grid
from finitewidth.kernels.ntk_init.draws import NtkDraws, checked_finite
from finitewidth.kernels.ntk_init.initialisation import Initialisation, checked_count
from finitewidth.kernels.ntk_init.normals import Normals, checked_device
from finitewidth.kernels.ntk_init.scalar_chain import checked_scalar

LARGEST_GROUP = 64  # draws whose errors are computed together, which saves calls of wide networks


@dataclass(frozen=True)
class _Layer:
    """Inner products of a layer from which its errors are computed, each (variances, draws).

    Attributes:
        norm: |x|^2.
        fan: (variances, 1), sigma_w2 / n_l, the variance of the weights that act on x.
        zx: <z, x>.
        uu: <u, u>.
        uv: <u, v>.
        vv: <v, v>.
        wu: product of u and the standard normal variables of W x^(l-1) / |x^(l-1)|.
        wv: product of v and the same variables.
    """

    norm: torch.Tensor
    fan: torch.Tensor
    zx: torch.Tensor
    uu: torch.Tensor
    uv: torch.Tensor
    vv: torch.Tensor
    wu: torch.Tensor
    wv: torch.Tensor


def sweep_vectors(
    init: Initialisation,
    depths: Sequence[int],
    draws: int,
    seed: int,
    *,
    activation: "str | Activation | TensorMap",
    sigma_w2: Sequence[float] | None = None,
    input_norm2: float = 1.0,
    device: str | torch.device = "cpu",
    dtype: torch.dtype = torch.float64,
) -> Iterator[dict[Cell, NtkDraws]]:
    """Draw Theta(x, x) for many depths and weight variances, block by block.

    The law is exact for each pair of depth and variance. All pairs share random numbers, so
    differences between them have less noise.

    Args:
        init: the law of the deepest network. The network of depth d has its first d - 1 hidden
            layers.
        depths: depths between 1 and init.depth.
        draws: number of draws, >= 1. A smaller number gives the first of the same draws.
        seed: from `finitewidth.common.provenance.seed_for`.
        activation: as for `sample_vectors`. The growth with depth is not removed; for deep ReLU
            networks use `sample_depths`.
        sigma_w2: weight variances; None for that of ``init``.
        input_norm2: |x|^2 > 0.
        device: "cpu" or a CUDA device.
        dtype: of the units of a layer. With float32 they take a third of the time. Inner products
            are then known to some 1e-6, and what follows from them is computed in float64; the
            random numbers are the same. Draws of deep networks change by about 1e-5 of their size.

    Yields:
        {(depth, sigma_w2): draws} for one block after the other.

    Cost: three normal variables per unit and draw, one evaluation of phi and phi' per unit, draw
    and variance, and O(depth) for each depth.

    Raises:
        ConfigError: an argument is out of range, or a number overflows.
    """
    depths, variances = checked_grid(init, depths, sigma_w2)
    init = init.cut(max(depths))
    norm2 = checked_scalar(init, input_norm2)
    activation, device = activation_of(activation), checked_device(device)
    # a layer for a few dozen variances stays in the cache of the processor: twice as fast
    block = streams.block_size(128 * max(init.widths))
    plan = streams.Blocks(checked_count("draws", draws), block, -(-LARGEST_GROUP // block))
    for blocks in plan.groups():
        parts = []
        for number in blocks:
            normals = Normals(seed, range(number, number + 1), block, device)
            layers = _forward(init, variances, normals, activation, norm2, dtype)
            parts.append((layers, normals(), normals()))
        found = _networks(init, depths, variances, *_joined(parts))
        kept = plan.kept(blocks)
        yield {cell: checked_finite(found[cell].first(kept)) for cell in found}


Part = tuple[list[_Layer], torch.Tensor, torch.Tensor]


def _joined(parts: Sequence[Part]) -> Part:
    """Join blocks of draws: layers, and the normal variables of the output's row and bias."""
    if len(parts) == 1:
        return parts[0]
    names = [field.name for field in fields(_Layer) if field.name != "fan"]
    layers = [
        _Layer(fan=same[0].fan, **{n: torch.cat([getattr(o, n) for o in same], -1) for n in names})
        for same in zip(*(part[0] for part in parts), strict=True)
    ]
    return layers, torch.cat([part[1] for part in parts]), torch.cat([part[2] for part in parts])


def _networks(
    init: Initialisation,
    depths: Sequence[int],
    variances: Sequence[float],
    layers: Sequence[_Layer],
    row: torch.Tensor,
    bias: torch.Tensor,
) -> dict[Cell, NtkDraws]:
    order = sorted(set(depths), reverse=True)
    theta_w, theta_b = (part.cpu().numpy() for part in _backward(init, order, layers, row))
    cells = {}
    for place, depth in enumerate(order):
        last = layers[depth - 1]
        output = (last.fan * last.norm).sqrt() * row + init.sigma_b2**0.5 * bias
        output = output.cpu().numpy()
        for number, variance in enumerate(variances):
            cells[depth, variance] = NtkDraws(
                theta_w[place, number], theta_b[place, number], output[number], 0.0, depth
            )
    return cells


def _forward(
    init: Initialisation,
    variances: Sequence[float],
    normals: Normals,
    activation: Activation,
    norm2: float,
    dtype: torch.dtype,
) -> list[_Layer]:
    """Return layers 0 to L - 1; layer 0 is the input, which has only ``norm`` and ``fan``."""
    norm = normals().fill_(norm2).expand(len(variances), -1)
    sigma = norm.new_tensor(variances)[:, None]
    fan = sigma / init.widths[0]
    layers = [_Layer(norm, fan, *6 * (torch.zeros_like(norm),))]
    for width in init.widths[1:]:
        along, z = normals(width).to(dtype), normals(width).to(dtype)
        scale = (fan * norm).sqrt().to(dtype)[..., None]
        if init.sigma_b2 > 0:
            noise = (normals(width) * init.sigma_b2**0.5).to(dtype)
            h = torch.addcmul(noise, scale, along)
        else:
            h = scale * along
        x = activation.value(h)
        v = activation.slope(h) if activation.slope_of_value is None else (
            activation.slope_of_value(x))  # fmt: skip
        u = v * z
        v *= x
        norm, fan = _products(x, x), sigma / width
        products = ((z, x), (u, u), (u, v), (v, v), (along, u), (along, v))
        layers.append(_Layer(norm, fan, *(_products(*pair) for pair in products)))
    return layers


def _products(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Inner products over the last axis, in float64."""
    if a.device.type != "cpu":
        return torch.linalg.vecdot(a, b).double()
    return torch.from_numpy(np.vecdot(a.numpy(), b.numpy())).double()  # twice as fast as torch


def _backward(
    init: Initialisation, depths: Sequence[int], layers: Sequence[_Layer], row: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return Theta_W and Theta_b, (depths, variances, draws), for depths in descending order."""
    shape = (len(depths), *layers[0].norm.shape)
    error, known = row.new_ones(shape), row.new_zeros(shape)
    theta_w, theta_b = row.new_zeros(shape), row.new_ones(shape)
    ntk = init.parametrisation == "ntk"
    for layer in range(max(depths), 0, -1):
        below = layers[layer - 1]
        gained = below.norm * below.fan if ntk else below.norm
        started = sum(depth >= layer for depth in depths)
        active = slice(0, sum(depth > layer for depth in depths))
        if active.stop:
            one = layers[layer]
            c1 = (one.fan * error[active]).sqrt()
            along = known[active] * one.norm.sqrt() - c1 * one.zx
            c2 = torch.where(one.norm > 0, along / one.norm, 0.0)
            error[active] = c1 * c1 * one.uu + 2 * c1 * c2 * one.uv + c2 * c2 * one.vv
            known[active] = below.fan.sqrt() * (c1 * one.wu + c2 * one.wv)
            theta_b[active] += error[active]
        known[active.stop : started] = below.fan.sqrt() * row  # output layers: delta = 1
        theta_w[:started] += gained * error[:started]
    return theta_w, init.bias_gain * theta_b
