"""ReLU kernels at many depths and weight variances from one pass of random numbers.

Without biases, layers of equal width are exchangeable, and the kernel obeys a linear recursion from
the output layer down. Hence one pass of L layers contains a network of every depth up to L.
Activations and errors are homogeneous in the weights. Hence one pass at sigma_w2 = 2 contains every
sigma_w2. Source: docs/theory.md, section 2, equation (2).
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product

import numpy as np

from finitewidth.common.shapes import Bool, Float, Num
from finitewidth.kernels.ntk_init import streams
from finitewidth.kernels.ntk_init.draws import Growth, NtkDraws, growth_of
from finitewidth.kernels.ntk_init.initialisation import Initialisation
from finitewidth.kernels.ntk_init.streams import LARGEST_BLOCK as BLOCK
from finitewidth.kernels.ntk_init.streams import half_chi_square, half_units_on

Cell = tuple[int, float]  # depth and sigma_w2


def sample_depths(
    init: Initialisation,
    depths: Sequence[int],
    draws: int,
    seed: int,
    *,
    sigma_w2: Sequence[float] | None = None,
    input_norm2: float = 1.0,
) -> Iterator[dict[Cell, NtkDraws]]:
    """Draw the kernel at one input for many depths and weight variances, in blocks of 2,048 draws.

    The law is exact for each pair of depth and variance. All pairs share random numbers, so
    differences between them have less noise. A smaller number of draws gives the first of the same
    draws.

    Cost: O(max depth x variances) per draw if sigma_b2 = 0 and the hidden widths are equal,
    otherwise O(sum of depths x variances).

    Args:
        init: the law of the deepest network. The network of depth d has its first d - 1 hidden
            layers.
        depths: depths between 1 and init.depth.
        draws: number of draws, >= 1.
        seed: from `finitewidth.records.provenance.seed_for`.
        sigma_w2: weight variances; None for that of ``init``.
        input_norm2: |x|^2 > 0.
    """
    variances = [init.sigma_w2] if sigma_w2 is None else [float(value) for value in sigma_w2]
    exchangeable = init.sigma_b2 == 0 and len(set(init.widths[1:])) <= 1
    draw = _one_pass if exchangeable else _shared_numbers
    plan = streams.Blocks(draws, BLOCK, 1)
    for blocks in plan.groups():
        rng = streams.generator(seed, blocks.start)
        block = draw(rng, init, depths, variances, input_norm2)
        count = plan.draws_of(blocks)
        yield {cell: block[cell].first(count) for cell in product(depths, variances)}


def _shared_numbers(
    rng: np.random.Generator,
    init: Initialisation,
    depths: Sequence[int],
    variances: Sequence[float],
    norm2: float,
) -> dict[Cell, NtkDraws]:
    """Run the scalar chain for all depths and variances with the same random numbers."""
    # entry l of these lists belongs to layer l
    alive = [np.ones(BLOCK, bool)]  # the layer and, without random biases, all layers below
    signal = [np.zeros(BLOCK)]  # chi-square variables of K_l degrees of freedom
    noise = [np.zeros(BLOCK)]  # the same of K_l - 1
    normals = [rng.standard_normal(BLOCK)]  # entry 0 belongs to the output
    for width in init.widths[1:]:
        half_on = half_units_on(rng, width, BLOCK)
        if init.sigma_b2 == 0:
            half_on *= alive[-1]  # above a dead layer all h are 0, and ReLU'(0) = 0
        alive.append(half_on > 0)
        signal.append(2 * half_chi_square(rng, half_on))
        noise.append(2 * half_chi_square(rng, half_on - 0.5))
        normals.append(rng.standard_normal(BLOCK) if init.sigma_b2 else np.zeros(1))
    descending = sorted(set(depths), reverse=True)
    block = {}
    for variance in variances:
        law = replace(init, sigma_w2=variance)
        growths = [growth_of(law, relu=True, depth=depth) for depth in descending]
        deepest = growths[0]
        norms = [np.full(BLOCK, norm2)]
        for layer in range(1, deepest.depth):
            rate = variance / init.widths[layer - 1] / deepest.layer
            entry = rate * norms[-1] + deepest.bias_variance(layer)
            norms.append(entry * signal[layer])
        theta_w, theta_b, output = _errors(law, growths, norms, alive, noise, normals)
        for row, growth in enumerate(growths):
            block[growth.depth, variance] = NtkDraws(
                growth.theta_w_factor * theta_w[row],
                law.bias_gain * theta_b[row],
                growth.output_factor * output[row],
                growth.log_growth,
                growth.depth,
            )
    return block


def _errors(
    init: Initialisation,
    growths: Sequence[Growth],
    norms: Sequence[Num[np.ndarray, "block"]],
    alive: Sequence[Bool[np.ndarray, "block"]],
    noise: Sequence[Float[np.ndarray, "block"]],
    normals: Sequence[np.ndarray],
) -> tuple[
    Float[np.ndarray, "depths block"],
    Float[np.ndarray, "depths block"],
    Float[np.ndarray, "depths block"],
]:
    """Run the backward pass of `scalar_chain` for several depths, in descending order.

    With ``norms`` |x^l|^2 over the growth, (block,) per layer, it returns Theta_W and Theta_b,
    divided by the growth, and the output, each (depths, block).
    """
    gains = init.weight_gains
    deepest = growths[0]  # norms are scaled by its growth, which has the same factor per layer
    shape = (len(growths), BLOCK)
    u = np.zeros(shape)  # <h_l, delta_l>
    error = np.ones(shape)  # |delta_l|^2
    theta_w = np.zeros(shape)
    theta_b = np.zeros(shape)
    output = np.zeros(shape)
    for layer in range(deepest.depth, 0, -1):
        active = sum(growth.depth > layer for growth in growths)  # networks with hidden layer l
        started = sum(growth.depth >= layer for growth in growths)  # or with output layer l
        if active:
            norm = norms[layer]
            rate = init.sigma_w2 / init.widths[layer]
            bias_variance = deepest.bias_variance(layer)
            on = u[:active]
            if init.sigma_b2 > 0:
                share = rate * norm / (rate * norm + bias_variance)
                on *= share
                on += np.sqrt(share * bias_variance) * normals[layer] * np.sqrt(error[:active])
            below = error[:active]
            below *= rate / deepest.layer * noise[layer]
            inverse = np.divide(1.0, deepest.layer * norm, out=np.zeros(BLOCK), where=alive[layer])
            below += on * on * inverse
            on *= alive[layer]
        if started > active:
            signal = init.sigma_w2 / init.widths[layer - 1] * norms[layer - 1]
            top = np.sqrt(signal + deepest.bias_variance(layer - 1)) * normals[0]
            u[active:started] = top
            output[active:started] = top
        theta_w[:started] += (gains[layer - 1] * norms[layer - 1]) * error[:started]
        factors = np.array([growth.theta_b_factor(layer) for growth in growths[:started]])
        theta_b[:started] += factors[:, None] * error[:started]
    return theta_w, theta_b, output


def _one_pass(
    rng: np.random.Generator,
    init: Initialisation,
    depths: Sequence[int],
    variances: Sequence[float],
    norm2: float,
) -> dict[Cell, NtkDraws]:
    """Run the recursion from the output layer down, at sigma_w2 = 2.

    Its state in layer l is T = sum_j w_j D_j |x^(j-1)|^2 / |x^(l-1)|^2, D = |delta^l|^2,
    R = f^2 / |x^(l-1)|^2 and, for each variance, sum_j (a/g)^(L-j) D_j g^(1-l), which is
    Theta_b - 1 divided by its growth.
    """
    a = np.array(variances)[:, None] / 2  # (variances, 1)
    growth = np.maximum(a, 1.0)
    ntk = init.parametrisation == "ntk"
    input_width = init.widths[0]
    width = init.widths[-1]
    normal = rng.standard_normal(BLOCK)
    grown: float | np.ndarray = 2.0  # 2 chi-square of the lowest layer
    kernel: float | np.ndarray = 0.0  # T
    error = np.ones(BLOCK)  # D
    ratio = normal**2  # R
    biases = np.zeros((len(a), BLOCK))
    block = {}
    for depth in range(1, max(depths) + 1):
        if depth > 1:
            half_on = half_units_on(rng, width, BLOCK)
            grown = 4 * half_chi_square(rng, half_on)
            shrink = 4 / width * half_chi_square(rng, half_on - 0.5)
            alive = (half_on > 0).astype(float)
            error = shrink * error + alive * ratio
            biases = alive * biases / growth + (a / growth) ** (depth - 1) * error
        if depth in depths:  # in this network the layer is the first one, with fan-in n_0
            first_gain = 2 / input_width if ntk else 1.0
            weights = grown / input_width * kernel + first_gain * error
            square = grown / input_width * ratio  # f^2 at sigma_w2 = 2 and |x| = 1
            for row, variance in enumerate(variances):
                half = variance / 2  # a
                log_growth = (depth - 1) * float(np.log(max(half, 1.0)))
                shrunk = min(half, 1.0) ** (depth - 1)  # a^(L-1) divided by exp(log_growth)
                block[depth, variance] = NtkDraws(
                    norm2 * shrunk * (half if ntk else 1.0) * weights,
                    (0.0 if ntk else 1.0) * (np.exp(-log_growth) + biases[row]),
                    np.sign(normal) * np.sqrt(norm2 * shrunk * half * square),
                    log_growth,
                    depth,
                )
        gain = 2 / width if ntk else 1.0
        kernel = grown / width * kernel + gain * error
        ratio = grown / width * ratio
    return block
