"""Sampler of the tangent kernel for any activation at many depths and weight variances.

Let x be the activations of a layer. The error vector below the next weight matrix is
delta = c1 u + c2 v with u = slope * z, v = slope * x and independent standard normal z
(docs/theory.md, section 2, equation 1). Its squared norm and its product with the weights of the
layer need only inner products of u, v, x and z. These do not depend on the position of the output
layer or on other layers. Hence one forward pass computes all of them, and the errors of every depth
follow from two numbers per layer.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import torch

from finitewidth.kernels.ntk_init import streams
from finitewidth.kernels.ntk_init.activations import Activation, ActivationLike, activation_of
from finitewidth.kernels.ntk_init.depth_sweep import Cell
from finitewidth.kernels.ntk_init.draws import NtkDraws, checked_finite
from finitewidth.kernels.ntk_init.initialisation import Initialisation
from finitewidth.kernels.ntk_init.normals import Normals

LARGEST_GROUP = 64  # draws whose errors are computed together, which saves calls of wide networks


def sweep_vectors(
    init: Initialisation,
    depths: Sequence[int],
    draws: int,
    seed: int,
    *,
    activation: ActivationLike,
    sigma_w2: Sequence[float],
    input_norm2: float,
    dtype: torch.dtype = torch.float64,
) -> Iterator[dict[Cell, NtkDraws]]:
    """Draw Theta(x, x) for many depths and weight variances, block by block, on the CPU.

    Arguments are as for `depth_sweep.sample_depths`. The law is exact for each pair of depth and
    variance. All pairs share random numbers, so differences between them have less noise. The
    growth with depth is not removed; for deep ReLU networks use `sample_depths`.

    The ``dtype`` is that of the units of a layer. With float32 they take a third of the time. Inner
    products are then known to some 1e-6, and what follows from them is computed in float64; the
    random numbers are the same. Draws of deep networks change by about 1e-5 of their size.

    Cost: three normal variables per unit and draw, one evaluation of phi and phi' per unit, draw
    and variance, and O(depth) for each depth.

    Raises:
        ConfigError: a number overflows.
    """
    variances = [float(value) for value in sigma_w2]
    init = init.cut(max(depths))
    descending = sorted(set(depths), reverse=True)
    activation = activation_of(activation)
    sigma = torch.tensor(variances, dtype=torch.float64)[:, None]
    fans = [sigma / width for width in init.widths]  # variances of weights, by the layer below
    # a layer for a few dozen variances stays in the cache of the processor: twice as fast
    block = streams.block_size(128 * max(init.widths))
    plan = streams.Blocks(draws, block, -(-LARGEST_GROUP // block))
    for blocks in plan.groups():
        parts = []
        for number in blocks:
            normals = Normals(seed, range(number, number + 1), block, torch.device("cpu"))
            layers = _forward(init, fans, normals, activation, input_norm2, dtype)
            # the normal variables of the output layer's row and bias
            parts.append((*layers, normals(), normals()))
        *layers, row, bias = (torch.cat(same, -1) for same in zip(*parts, strict=True))
        theta_w, theta_b = _backward(init, descending, fans, layers, row)
        cells = {}
        for d, depth in enumerate(descending):
            signal = fans[depth - 1] * layers[depth - 1][0]
            output = signal.sqrt() * row + init.sigma_b2**0.5 * bias  # (variances, draws)
            for v, variance in enumerate(variances):
                cell = NtkDraws(
                    theta_w[d, v].numpy(),
                    theta_b[d, v].numpy(),
                    output[v].numpy(),
                    log_growth=0.0,
                    depth=depth,
                )
                cells[depth, variance] = checked_finite(cell.first(plan.draws_of(blocks)))
        yield cells


def _forward(
    init: Initialisation,
    fans: Sequence[torch.Tensor],
    normals: Normals,
    activation: Activation,
    norm2: float,
    dtype: torch.dtype,
) -> list[torch.Tensor]:
    """Return inner products of layers 0 to L - 1, each (7, variances, draws); 1 for layer 0.

    They are |x|^2, <z, x>, <u, u>, <u, v>, <v, v>, and the products of u and of v with the standard
    normal variables of W x^(l-1) / |x^(l-1)|. Layer 0 is the input, which has only the first.
    """
    norm = normals().fill_(norm2).expand(len(fans[0]), -1)
    layers = [norm[None]]
    for fan, width in zip(fans, init.widths[1:], strict=False):
        along = normals(width).to(dtype)  # W x / |x| over its standard deviation, (draws, width)
        z = normals(width).to(dtype)
        scale = (fan * norm).sqrt().to(dtype)[..., None]  # (variances, draws, 1)
        if init.sigma_b2 > 0:
            noise = (normals(width) * init.sigma_b2**0.5).to(dtype)
            h = torch.addcmul(noise, scale, along)
        else:
            h = scale * along
        x = activation.value(h)
        if activation.slope_of_value is None:
            slope = activation.slope(h)
        else:
            slope = activation.slope_of_value(x)
        u = slope * z
        v = slope.mul_(x)
        products = [
            _inner(x, x),
            _inner(z, x),
            _inner(u, u),
            _inner(u, v),
            _inner(v, v),
            _inner(along, u),
            _inner(along, v),
        ]
        layers.append(torch.stack(products).double())
        norm = layers[-1][0]
    return layers


def _inner(first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
    """Return inner products along the last axis; numpy is twice as fast as torch."""
    return torch.from_numpy(np.vecdot(first.numpy(), second.numpy()))


def _backward(
    init: Initialisation,
    depths: Sequence[int],
    fans: Sequence[torch.Tensor],
    layers: Sequence[torch.Tensor],
    row: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return Theta_W and Theta_b, (depths, variances, draws), for depths in descending order.

    ``error`` is |delta|^2 and ``known`` the product of delta and W x / |x| in a layer.
    """
    shape = (len(depths), *layers[0].shape[1:])
    error = row.new_ones(shape)
    known = row.new_zeros(shape)
    theta_w = row.new_zeros(shape)
    theta_b = row.new_ones(shape)
    ntk = init.parametrisation == "ntk"
    for layer in range(max(depths), 0, -1):
        norm_below = layers[layer - 1][0]
        fan_below = fans[layer - 1]
        gained = norm_below * fan_below if ntk else norm_below
        started = sum(depth >= layer for depth in depths)
        active = slice(0, sum(depth > layer for depth in depths))
        if active.stop:
            norm, zx, uu, uv, vv, wu, wv = layers[layer]
            c1 = (fans[layer] * error[active]).sqrt()
            along = known[active] * norm.sqrt() - c1 * zx
            c2 = torch.where(norm > 0, along / norm, 0.0)
            error[active] = c1 * c1 * uu + 2 * c1 * c2 * uv + c2 * c2 * vv
            known[active] = fan_below.sqrt() * (c1 * wu + c2 * wv)
            theta_b[active] += error[active]
        known[active.stop : started] = fan_below.sqrt() * row  # output layers: delta = 1
        theta_w[:started] += gained * error[:started]
    return theta_w, init.bias_gain * theta_b
