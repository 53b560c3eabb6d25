"""ReLU kernels at many depths and weight variances from one pass of random numbers.

Without biases, layers of equal width are exchangeable, and the kernel obeys a linear recursion from
the output layer down. Hence one pass of L layers contains a network of every depth up to L.
Activations and errors are homogeneous in the weights. Hence one pass at sigma_w2 = 2 contains every
sigma_w2. Source: docs/theory.md, section 2, equation (2).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from finitewidth.common.provenance import seed_for
from finitewidth.kernels.ntk_init import scalar_chain, streams
from finitewidth.kernels.ntk_init.chi_squares import half_chi_square, half_units_on
from finitewidth.kernels.ntk_init.draws import NtkDraws
from finitewidth.kernels.ntk_init.growth import growth_of
from finitewidth.kernels.ntk_init.initialisation import (
    Initialisation,
    checked_count,
    checked_number,
    refuse,
)

BLOCK = scalar_chain.BLOCK
Cell = tuple[int, float]


@dataclass
class _Pass:
    """State of the recursion after some layers, counted from the output down, at sigma_w2 = 2.

    Attributes:
        kernel: T = sum_j w_j D_j |x^(j-1)|^2 / |x^(l-1)|^2.
        error: D = |delta^l|^2.
        ratio: R = f^2 / |x^(l-1)|^2.
        biases: sum_j (a/g)^(L-j) D_j g^(1-l) for each variance, which is Theta_b - 1 divided by its
            growth.
    """

    kernel: np.ndarray
    error: np.ndarray
    ratio: np.ndarray
    biases: np.ndarray


def sample_depths(
    init: Initialisation,
    depths: Sequence[int],
    draws: int,
    seed: int,
    *,
    sigma_w2: Sequence[float] | None = None,
    input_norm2: float = 1.0,
    independent: bool = False,
) -> Iterator[dict[Cell, NtkDraws]]:
    """Draw the kernel at one input for many depths and weight variances, block by block.

    The law is exact for each pair of depth and variance. Unless ``independent`` is set, all pairs
    share random numbers, so differences between them have less noise.

    Args:
        init: the law of the deepest network. The network of depth d has its first d - 1 hidden
            layers.
        depths: depths between 1 and init.depth.
        draws: number of draws, >= 1. A smaller number gives the first of the same draws.
        seed: from `finitewidth.common.provenance.seed_for`.
        sigma_w2: weight variances; None for that of ``init``.
        input_norm2: |x|^2 > 0.
        independent: whether each pair of depth and variance has its own random numbers.

    Yields:
        {(depth, sigma_w2): draws of at most 2,048 networks}.

    Cost: O(max depth x variances) per draw if sigma_b2 = 0 and the hidden widths are equal,
    otherwise O(sum of depths x variances). Random numbers are drawn once for all pairs, unless
    ``independent`` is set.

    Raises:
        ConfigError: an argument is out of range.
    """
    depths, variances = checked_grid(init, depths, sigma_w2)
    norm2 = scalar_chain.checked_scalar(init, input_norm2)
    plan = streams.Blocks(checked_count("draws", draws), BLOCK, 1)
    cells = [(depth, value) for depth in depths for value in variances]
    for blocks in plan.groups():
        if independent:
            block = _independent_cells(init, cells, norm2, seed, blocks.start)
        elif init.sigma_b2 == 0 and len(set(init.widths[1:])) <= 1:
            rng = streams.generator(seed, blocks.start)
            block = _one_pass(rng, init, set(depths), variances, norm2)
        else:
            block = _shared_numbers(init, depths, variances, norm2, seed, blocks.start)
        kept = plan.kept(blocks)
        yield {cell: block[cell].first(kept) for cell in cells}


def checked_grid(
    init: Initialisation, depths: Sequence[int], sigma_w2: Sequence[float] | None
) -> tuple[list[int], list[float]]:
    """Check and return the depths and weight variances of a sweep.

    Args:
        init: the law of the deepest network.
        depths: depths between 1 and init.depth.
        sigma_w2: weight variances; None for that of ``init``.

    Raises:
        ConfigError: a value is out of range.
    """
    found = [checked_count("depths", depth) for depth in depths]
    if not found or max(found) > init.depth:
        raise refuse("depths", found, f"one or more of 1..{init.depth} (the depth of init)")
    variances = [init.sigma_w2] if sigma_w2 is None else list(sigma_w2)
    if not variances:
        raise refuse("sigma_w2", variances, "at least one weight variance")
    return found, [checked_number("sigma_w2", value, above=0) for value in variances]


def _independent_cells(
    init: Initialisation, cells: Sequence[Cell], norm2: float, seed: int, number: int
) -> dict[Cell, NtkDraws]:
    block = {}
    for depth, variance in cells:
        one = replace(init.cut(depth), sigma_w2=variance)
        rng = streams.generator(seed_for("cell", seed, depth, repr(variance)), number)
        forward = scalar_chain.Forward(rng, one, norm2, BLOCK)
        block[depth, variance] = scalar_chain.backward(rng, one, forward, depth)
    return block


@dataclass(frozen=True)
class _Chance:
    """The random numbers of one block. Entry l belongs to layer l; entry 0 is not used.

    Attributes:
        alive: whether layer l and all layers below have an active unit. With random biases, whether
            layer l has one.
        signal: chi-square variables of K_l degrees of freedom.
        noise: chi-square variables of K_l - 1 degrees of freedom.
        normals: standard normal variables; entry 0 belongs to the output.
    """

    alive: list[np.ndarray]
    signal: list[np.ndarray]
    noise: list[np.ndarray]
    normals: list[np.ndarray]


def _chance(rng: np.random.Generator, init: Initialisation) -> _Chance:
    drawn = _Chance([np.ones(BLOCK, bool)], [], [], [rng.standard_normal(BLOCK)])
    drawn.signal.append(np.zeros(BLOCK)), drawn.noise.append(np.zeros(BLOCK))
    for width in init.widths[1:]:
        half_on = half_units_on(rng, width, BLOCK)
        if init.sigma_b2 == 0:
            half_on *= drawn.alive[-1]  # above a dead layer all h are 0, and ReLU'(0) = 0
        drawn.alive.append(half_on > 0)
        drawn.signal.append(2 * half_chi_square(rng, half_on))
        drawn.noise.append(2 * half_chi_square(rng, half_on - 0.5))
        drawn.normals.append(rng.standard_normal(BLOCK) if init.sigma_b2 else np.zeros(1))
    return drawn


def _shared_numbers(
    init: Initialisation,
    depths: Sequence[int],
    variances: Sequence[float],
    norm2: float,
    seed: int,
    number: int,
) -> dict[Cell, NtkDraws]:
    """Run the scalar chain for all depths and variances with the same random numbers."""
    chance = _chance(streams.generator(seed, number), init)
    order = sorted(set(depths), reverse=True)
    block = {}
    for variance in variances:
        one = replace(init, sigma_w2=variance)
        growth, norms = growth_of(one, relu=True), [np.full(BLOCK, norm2)]
        for layer in range(1, max(order)):
            rate = variance / init.widths[layer - 1] / growth.layer
            entry = rate * norms[-1] + growth.bias_variance(layer)
            norms.append(entry * chance.signal[layer])
        theta_w, theta_b, output = _errors(one, order, norms, chance)
        for place, depth in enumerate(order):
            own = growth_of(one, relu=True, depth=depth)
            block[depth, variance] = NtkDraws(
                own.of_theta_w * theta_w[place],
                one.bias_gain * theta_b[place],
                own.of_output * output[place],
                own.log_growth,
                depth,
            )
    return block


def _errors(
    init: Initialisation, depths: Sequence[int], norms: Sequence[np.ndarray], chance: _Chance
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Run the backward pass of `scalar_chain.backward` for several depths, in descending order.

    With ``norms`` |x^l|^2 over the growth, (block,) per layer, it returns Theta_W and Theta_b,
    divided by the growth, and the output, each (depths, block).
    """
    gains, shape = init.weight_gains, (len(depths), BLOCK)
    growths = [growth_of(init, relu=True, depth=depth) for depth in depths]
    growth = growths[0]
    u, error, theta_w, theta_b = np.zeros(shape), np.ones(shape), np.zeros(shape), np.zeros(shape)
    output = np.zeros(shape)
    for layer in range(max(depths), 0, -1):
        active = sum(depth > layer for depth in depths)
        started = sum(depth >= layer for depth in depths)
        if active:
            norm, rate = norms[layer], init.sigma_w2 / init.widths[layer]
            on, noise = u[:active], growth.bias_variance(layer)
            if init.sigma_b2 > 0:
                share = rate * norm / (rate * norm + noise)
                on *= share
                on += np.sqrt(share * noise) * chance.normals[layer] * np.sqrt(error[:active])
            below = error[:active]
            below *= rate / growth.layer * chance.noise[layer]
            alive = chance.alive[layer]
            inverse = np.divide(1.0, growth.layer * norm, out=np.zeros(BLOCK), where=alive)
            below += on * on * inverse
            on *= alive
        if started > active:
            signal = init.sigma_w2 / init.widths[layer - 1] * norms[layer - 1]
            top = np.sqrt(signal + growth.bias_variance(layer - 1)) * chance.normals[0]
            u[active:started] = output[active:started] = top
        theta_w[:started] += (gains[layer - 1] * norms[layer - 1]) * error[:started]
        factors = np.array([own.of_theta_b(layer) for own in growths[:started]])
        theta_b[:started] += factors[:, None] * error[:started]
    return theta_w, theta_b, output


def _one_pass(
    rng: np.random.Generator,
    init: Initialisation,
    depths: set[int],
    variances: Sequence[float],
    norm2: float,
) -> dict[Cell, NtkDraws]:
    a = np.array(variances)[:, None] / 2
    growth = np.maximum(a, 1.0)
    ntk = init.parametrisation == "ntk"
    first, width = init.widths[0], init.widths[-1]
    normal = rng.standard_normal(BLOCK)
    block = {}
    if 1 in depths:
        top = np.full(BLOCK, 2 / first if ntk else 1.0)
        state = _Pass(top, np.ones(BLOCK), 2 / first * normal**2, np.zeros((len(a), BLOCK)))
        block |= _cells(init, 1, state, normal, variances, norm2)
    weight = 2 / width if ntk else 1.0
    state = _Pass(
        np.full(BLOCK, weight), np.ones(BLOCK), 2 / width * normal**2, np.zeros((len(a), BLOCK))
    )
    for depth in range(2, max(depths) + 1):
        half_on = half_units_on(rng, width, BLOCK)
        grown = 4 * half_chi_square(rng, half_on)
        shrink = 4 / width * half_chi_square(rng, half_on - 0.5)
        alive = (half_on > 0).astype(float)
        error = shrink * state.error + alive * state.ratio
        biases = alive * state.biases / growth + (a / growth) ** (depth - 1) * error
        if depth in depths:  # here this layer is the first hidden layer, with fan-in n_0
            bottom = _Pass(
                grown / first * state.kernel + (2 / first if ntk else 1.0) * error,
                error,
                grown / first * state.ratio,
                biases,
            )
            block |= _cells(init, depth, bottom, normal, variances, norm2)
        state = _Pass(
            grown / width * state.kernel + weight * error,
            error,
            grown / width * state.ratio,
            biases,
        )
    return block


def _cells(
    init: Initialisation,
    depth: int,
    state: _Pass,
    normal: np.ndarray,
    variances: Sequence[float],
    norm2: float,
) -> dict[Cell, NtkDraws]:
    block = {}
    for place, variance in enumerate(variances):
        a = variance / 2
        log_growth = (depth - 1) * float(np.log(max(a, 1.0)))
        rest = min(a, 1.0) ** (depth - 1)  # a^(L-1) divided by exp(log_growth)
        own = a if init.parametrisation == "ntk" else 1.0
        bias_gain = 1.0 if init.parametrisation == "standard" else 0.0
        block[depth, variance] = NtkDraws(
            norm2 * rest * own * state.kernel,
            bias_gain * (np.exp(-log_growth) + state.biases[place]),
            np.sign(normal) * np.sqrt(norm2 * rest * a * state.ratio),
            log_growth,
            depth,
        )
    return block
