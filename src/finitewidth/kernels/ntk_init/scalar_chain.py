"""Sampler of the tangent kernel of a ReLU network at one input, in O(L) time for every width.

The kernel depends on a layer only through four numbers: the squared norm X_l of its activations,
the number K_l of its active units, the squared norm D_l of its errors, and u_l = <h_l, delta_l>.
Given those of the layer below (forward pass) or above (backward pass), they are chi-square,
binomial and normal variables. The joint law of Theta_W, Theta_b and f is exact. Source:
docs/theory.md, section 2.
"""

import numpy as np

from finitewidth.common.shapes import Float, Num
from finitewidth.kernels.ntk_init import streams
from finitewidth.kernels.ntk_init.draws import Growth, NtkDraws, concatenated, growth_of
from finitewidth.kernels.ntk_init.initialisation import Initialisation, checked_number, refuse
from finitewidth.kernels.ntk_init.streams import half_chi_square, half_units_on

BLOCK = streams.LARGEST_BLOCK


def _block(rng: np.random.Generator, init: Initialisation, norm2: float) -> NtkDraws:
    """Draw one block of kernels at an input with |x|^2 = ``norm2``."""
    growth = growth_of(init, relu=True)
    gains = init.weight_gains
    depth = init.depth
    norms, halves_on = _forward(rng, init, growth, norm2)
    signal = init.sigma_w2 / init.widths[-1] * norms[-1]
    u = rng.standard_normal(BLOCK) * np.sqrt(signal + growth.bias_variance(depth - 1))
    output = growth.output_factor * u
    error = np.ones(BLOCK)  # D_l, scaled
    theta_w = gains[-1] * norms[-1]
    theta_b = np.full(BLOCK, growth.theta_b_factor(depth))
    for layer in range(depth - 1, 0, -1):
        norm = norms[layer]
        half_on = halves_on[layer]
        rate = init.sigma_w2 / init.widths[layer]
        if init.sigma_b2 > 0:
            noise = growth.bias_variance(layer)
            share = rate * norm / (rate * norm + noise)
            u = share * u + np.sqrt(error * share * noise) * rng.standard_normal(BLOCK)
        error *= (2 * rate / growth.layer) * half_chi_square(rng, half_on - 0.5)
        alive = half_on > 0
        error += np.divide(u * u, growth.layer * norm, out=np.zeros(BLOCK), where=alive)
        if not alive.all():
            u = u * alive
            error = error * alive
        theta_w += gains[layer - 1] * error * norms[layer - 1]
        theta_b += growth.theta_b_factor(layer) * error
    theta_w *= growth.theta_w_factor
    return NtkDraws(theta_w, init.bias_gain * theta_b, output, growth.log_growth, depth)


def _forward(
    rng: np.random.Generator, init: Initialisation, growth: Growth, norm2: float
) -> tuple[list[Num[np.ndarray, "block"]], list[Float[np.ndarray, "block"]]]:
    """Draw X_l / g^l, with g as in `Growth`, and K_l / 2, for l = 0..L-1; K_0 is not used."""
    norms = [np.full(BLOCK, norm2)]
    halves_on = [np.zeros(BLOCK)]
    for layer, width in enumerate(init.widths[1:], start=1):
        variance = (init.sigma_w2 / init.widths[layer - 1] / growth.layer) * norms[-1]
        variance += growth.bias_variance(layer)  # of a pre-activation
        half_on = half_units_on(rng, width, BLOCK)
        if init.sigma_b2 == 0:
            half_on[variance == 0] = 0.0  # above a dead layer all h are 0, and ReLU'(0) = 0
        norms.append(variance * (2 * half_chi_square(rng, half_on)))
        halves_on.append(half_on)
    return norms, halves_on


def checked_scalar(init: Initialisation, input_norm2: float) -> float:
    """Return the squared input norm; refuse several outputs and norms that are not positive."""
    if init.outputs != 1:
        raise refuse("outputs", init.outputs, "1 here", "for several outputs use sample_kernels")
    return checked_number("input_norm2", input_norm2, above=0)


def sample_scalar_chain(
    init: Initialisation, draws: int, seed: int, *, input_norm2: float = 1.0
) -> NtkDraws:
    """Draw Theta(x, x) of ReLU networks with one output from its exact law.

    The law depends on x only through |x|^2 = ``input_norm2`` > 0. A smaller number of draws gives
    the first of the same draws.

    Cost: O(L) per draw, about 50 ns per layer without biases. Memory: 24 bytes per draw and 32 KiB
    per layer.

    Raises:
        ConfigError: an argument is out of range, or there are too many draws.
    """
    norm2 = checked_scalar(init, input_norm2)
    plan = streams.planned(draws, BLOCK, 16 * (init.depth + 8), 24)
    blocks = range(-(-plan.draws // BLOCK))
    parts = [_block(streams.generator(seed, number), init, norm2) for number in blocks]
    return concatenated(parts).first(plan.draws)
