"""Sampler of the tangent kernel of a ReLU network at two inputs, for all depths and variances.

The network has no random biases, one output and hidden layers of the same width M. In each layer
the units form four groups: active for both inputs, for one of them, or for none. In the forward
pass, 2 M normal variables give the Gram matrix of the pre-activations of each group. In the
backward pass, the errors of a group of n units are determined by the activations in 2 directions.
In the other n - 2 directions they are independent noise, whose Gram matrix has a Wishart law. The
backward pass therefore costs O(1) per layer, and the backward passes of all depths share one
forward pass. The law of each depth is exact. Depths, cosines and variances share random numbers.
Source: docs/theory.md, section 2.

Layers are computed at sigma_w2 = 2. Their arrays have the axes (cosines, draws) in the forward pass
and (depths, cosines, draws) in the backward pass. A symmetric 2 x 2 matrix is stored as the triple
of its entries (11, 12, 22). The two inputs are called 1 and 2.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from finitewidth.common.shapes import Float
from finitewidth.kernels.ntk_init import streams
from finitewidth.kernels.ntk_init.streams import half_chi_square

UNITS_PER_BLOCK = 2**16
Triple = tuple[
    Float[np.ndarray, "*shape"], Float[np.ndarray, "*shape"], Float[np.ndarray, "*shape"]
]
SINGULAR = 1e-13
SMALLEST = 1e-150
UNITS_AT_ONCE = 2**13  # of which the groups are in the cache of the processor


@dataclass(frozen=True)
class PairDraws:
    """Draws of Theta(x, x) and Theta(x, x~) at one depth L and cosine, for all variances.

    The first axis of each array is the pair of inputs, (x, x) and (x, x~). At sigma_w2 = 2,
    ``first`` (2, draws) is the part of the first layer in Theta_W, ``above`` (2, draws) that of the
    other layers for n_0 = M, and ``errors`` (2, L, draws) holds <delta^l, delta~^l>.
    """

    width: int
    first: Float[np.ndarray, "2 *draws"]
    above: Float[np.ndarray, "2 *draws"]
    errors: Float[np.ndarray, "2 L *draws"]

    def scaled_theta(self, sigma_w2: float, input_width: int) -> Float[np.ndarray, "2 draws"]:
        """Return Theta(x, x) and Theta(x, x~), divided by max(1, sigma_w2 / 2)^(L - 1), (2, draws).

        Activations and errors are homogeneous in the weights: with a = sigma_w2 / 2, |x^l|^2 is
        proportional to a^l M / n_0 for l >= 1, and |delta^l|^2 is proportional to a^(L-l).
        """
        higher = np.arange(self.errors.shape[1] - 1, -1, -1)  # L - l
        log_a = np.log(sigma_w2 / 2)
        log_growth = higher[0] * max(log_a, 0.0)
        powers = np.exp(higher * log_a - log_growth)
        weights = self.first + self.width / input_width * self.above
        weights = np.exp(higher[0] * log_a - log_growth) * weights
        return weights + np.einsum("l,kln->kn", powers, self.errors)


def sample_pairs(
    width: int, depths: Sequence[int], cosines: Sequence[float], draws: int, seed: int
) -> Iterator[dict[tuple[int, float], PairDraws]]:
    """Draw the kernel at pairs of unit vectors for many depths and cosines, block by block.

    All hidden layers have the width M = ``width``, depths L are at least 2, and ``cosines`` <x, x~>
    lie in (-1, 1). A smaller number of draws gives the first of the same draws. Each block is
    {(depth, cosine): draws}.

    Cost per draw: O(max depth x M) for the forward pass, whose 2 M normal variables per layer are
    shared by all cosines, and O(1) per layer, depth and cosine for the backward pass.
    """
    block = max(8, min(256, UNITS_PER_BLOCK // width))
    plan = streams.Blocks(draws, block, 1)
    for blocks in plan.groups():
        rng = streams.generator(seed, blocks.start)
        by_depth = _block(rng, width, sorted(set(depths)), np.array(cosines), block)
        used = slice(plan.draws_of(blocks))
        cells = {}
        for depth, block_draws in by_depth.items():
            for c, cosine in enumerate(cosines):
                cells[depth, cosine] = PairDraws(
                    width,
                    first=block_draws.first[:, c, used],
                    above=block_draws.above[:, c, used],
                    errors=block_draws.errors[:, :, c, used],
                )
        yield cells


def _block(
    rng: np.random.Generator,
    width: int,
    depths: list[int],
    cosines: Float[np.ndarray, "C"],
    size: int,
) -> dict[int, PairDraws]:
    """Draw one block for all of the sorted depths.

    The arrays of the draws have an axis of the C cosines before that of the draws.
    """
    grams, layers = _forward_pass(rng, width, depths[-1], cosines, size)
    shape = (len(cosines), size)
    by_depth = {}
    for depth in depths:
        by_depth[depth] = PairDraws(
            width,
            first=np.zeros((2, *shape)),
            above=np.zeros((2, *shape)),
            errors=np.zeros((2, depth, *shape)),
        )
    errors: Errors | None = None
    networks: list[int] = []  # depths of the networks with errors in a layer
    for layer in range(depths[-1], 0, -1):
        gram = grams[layer - 1]
        if errors is not None:
            errors = errors.below(rng, layers[layer - 1])
        if layer in depths:  # the output layer of one of the networks
            output = Errors.of_output(rng, width, gram)
            errors = output if errors is None else errors.with_networks_of(output)
            networks.append(layer)
        input_gram = np.stack([gram[0], gram[1]])  # (x, x) and (x, x~), (2, C, draws)
        assert errors is not None  # the highest layer is the output of the deepest network
        for network, depth in enumerate(networks):
            error_gram = np.stack([errors.gram[0][network], errors.gram[1][network]])
            draws = by_depth[depth]
            draws.errors[:, layer - 1] = error_gram
            weights = draws.first if layer == 1 else draws.above
            weights += error_gram * input_gram
    return by_depth


def _forward_pass(
    rng: np.random.Generator, width: int, depth: int, cosines: Float[np.ndarray, "C"], size: int
) -> tuple[list[Triple], list["Layer"]]:
    """Draw the hidden layers of a network.

    Returns the Gram matrices of the inputs and of the activations of each hidden layer, each entry
    (C, draws), and the layers.
    """
    ones = np.ones((len(cosines), size))
    grams: list[Triple] = [(ones, cosines[:, None] * ones, ones.copy())]
    layers: list[Layer] = []
    for _ in range(depth - 1):
        layer = Layer(rng, width, grams[-1])
        layers.append(layer)
        grams.append(layer.activations)
    return grams, layers


def _times(factor: float, gram: Triple) -> Triple:
    """Multiply a matrix by a number."""
    g11, g12, g22 = gram
    return factor * g11, factor * g12, factor * g22


def cholesky(gram: Triple) -> Triple:
    """Return (a, b, c) of the upper triangular factor ((a, b), (0, c)).

    The row of a zero pivot is zero.
    """
    g11, g12, g22 = gram
    a = np.sqrt(np.maximum(g11, 0.0))
    b = np.divide(g12, a, out=np.zeros_like(a), where=a > 0)
    c = np.sqrt(np.maximum(g22 - b * b, 0.0))
    return a, b, c


def _cleared(triple: Triple, count: Float[np.ndarray, "*shape"]) -> Triple:
    """Set the second row of a factor to zero if a group has fewer than 2 units."""
    return triple[0], triple[1], np.where(count >= 2, triple[2], 0.0)


def _group_sums(
    rng: np.random.Generator,
    width: int,
    scale: Float[np.ndarray, "C draws"],
    along: Float[np.ndarray, "C draws"],
    across: Float[np.ndarray, "C draws"],
) -> Float[np.ndarray, "4 3 C draws"]:
    """Draw the units of a layer and sum them up by group.

    A unit has the standard normal numbers z1 and z2 and the pre-activations ``scale`` z1 and
    ``along`` z1 + ``across`` z2. It is active where these are positive. Groups and sums are
    float32, which takes half the time; sums are known to some 1e-7 of their size. All that follows
    is float64.

    The result, (4, 3, cosines, draws), is numbers of units and sums of z1^2, z1 z2 and z2^2, in the
    units that are active for both inputs, for input 1 only and for input 2 only.
    """
    cosines, size = scale.shape
    sums = np.empty((size, 3 * cosines, 4), np.float32)
    with np.errstate(over="ignore"):  # a border beyond float32 is as good as an infinite one
        border = (-along / np.maximum(across, SMALLEST)).astype(np.float32)
    # above a dead layer all gates are off
    alive_1 = (scale > 0)[..., None]
    alive_2 = (along**2 + across**2 > 0)[..., None]
    at_once = min(size, max(1, UNITS_AT_ONCE // width))  # draws
    products = np.ones((at_once, 4, width), np.float32)  # of each unit: 1, z1^2, z1 z2, z2^2
    masks = np.empty((3, cosines, at_once, width), np.float32)  # units of each group
    for start in range(0, size, at_once):
        draws = slice(start, min(start + at_once, size))
        rows = slice(0, draws.stop - start)  # of these draws in the buffers
        z1, z2 = rng.standard_normal((2, rows.stop, width))
        np.multiply(z1, z1, out=products[rows, 1], casting="same_kind")
        np.multiply(z1, z2, out=products[rows, 2], casting="same_kind")
        np.multiply(z2, z2, out=products[rows, 3], casting="same_kind")
        z1 = z1.astype(np.float32)
        z2 = z2.astype(np.float32)
        positive = z1 > 0
        for c in range(cosines):
            both, only_1, only_2 = masks[:, c, rows]
            with np.errstate(invalid="ignore"):
                active = z2 > border[c, draws, None] * z1
            np.copyto(only_1, positive & alive_1[c, draws])
            np.copyto(only_2, active & alive_2[c, draws])
            np.multiply(only_1, only_2, out=both)
            only_1 -= both
            only_2 -= both
        groups = masks[:, :, rows].reshape(3 * cosines, -1, width)
        groups = groups.transpose(1, 0, 2)  # (draws, 3 groups x cosines, width)
        np.matmul(groups, products[rows].mT, out=sums[draws])
    by_group = sums.reshape(size, 3, cosines, 4)
    return np.ascontiguousarray(by_group.transpose(3, 1, 2, 0), float)


class Layer:
    """The results of the forward pass of a hidden layer, with ``rate`` sigma_w2 / M.

    Units form three groups: active for both inputs, for input 1 only and for input 2 only.
    ``counts`` are their numbers; ``both``, ``only_1`` and ``only_2`` are triangular factors of the
    Gram matrices of their pre-activations, for the inputs in the order (1, 2), in ``only_2`` in the
    order (2, 1). ``activations`` is the Gram matrix of the activations.
    """

    def __init__(self, rng: np.random.Generator, width: int, gram: Triple):
        self.rate = 2 / width
        scale, along, across = cholesky(_times(self.rate, gram))
        self.counts, p11, p12, p22 = _group_sums(rng, width, scale, along, across)
        # Gram matrices of h_1 = scale z1 and h_2 = along z1 + across z2, (3 groups, cosines, draws)
        s11 = scale**2 * p11
        s12 = scale * (along * p11 + across * p12)
        s22 = along**2 * p11 + 2 * along * across * p12 + across**2 * p22
        both = cholesky((s11[0], s12[0], s22[0]))
        only_1 = cholesky((s11[1], s12[1], s22[1]))
        only_2 = cholesky((s22[2], s12[2], s11[2]))
        self.both = _cleared(both, self.counts[0])
        self.only_1 = _cleared(only_1, self.counts[1])
        self.only_2 = _cleared(only_2, self.counts[2])
        self.activations = (s11[0] + s11[1], s12[0], s22[0] + s22[2])


@dataclass(frozen=True)
class Errors:
    """Errors of a layer at both inputs.

    Attributes:
        gram: <delta_1, delta_1>, <delta_1, delta_2> and <delta_2, delta_2>, each (depths, cosines,
            draws).
        tied: <h_s, delta_r> at [s - 1, r - 1], the products of pre-activations and errors, which
            determine the component of the errors below in the span of the activations. The shape
            is (2, 2, depths, cosines, draws).
    """

    gram: Triple
    tied: Float[np.ndarray, "2 2 *shape"]

    @classmethod
    def of_output(cls, rng: np.random.Generator, width: int, gram: Triple) -> "Errors":
        """Return the errors of an output layer, which are 1, so that <h_s, delta_r> = f_s."""
        scale, along, across = cholesky(_times(2 / width, gram))
        g1, g2 = rng.standard_normal((2, *scale.shape))
        f1 = (scale * g1)[None]  # (1, cosines, draws)
        f2 = (along * g1 + across * g2)[None]
        one = np.ones_like(f1)
        return cls((one, one, one), np.array([[f1, f1], [f2, f2]]))

    def with_networks_of(self, other: "Errors") -> "Errors":
        """Append the networks of ``other``."""
        g11, g12, g22 = np.concatenate([self.gram, other.gram], axis=1)
        return Errors((g11, g12, g22), np.concatenate([self.tied, other.tied], axis=2))

    def below(self, rng: np.random.Generator, layer: Layer) -> "Errors":
        """Draw the errors of the hidden layer below, ``layer``.

        With the errors Delta of this layer, the activations X below it, U = ``tied`` and Gaussian
        noise Z, W^T Delta = Z + X (X^T X)^+ (U - X^T Z), of which the open gates are kept. Source:
        docs/theory.md, section 2, two inputs.
        """
        factor = cholesky(_times(layer.rate, self.gram))
        noise = _noise(rng, layer, factor)
        errors = _errors_in_span(layer, noise, self.tied)
        rest = _rest(rng, layer, factor)
        return Errors(errors.gram(rest), errors.times_pre_activations(layer))


@dataclass(frozen=True)
class _ErrorsInSpan:
    """Errors of a hidden layer in the two directions of each group that its pre-activations span.

    Each attribute is the pair of components p and q in the directions 1 and 2, both (depths,
    cosines, draws).

    Attributes:
        both_1: at input 1, of the units that are active for both inputs.
        both_2: at input 2, of the same units.
        only_1: at input 1, of the units that are active for input 1 only.
        only_2: at input 2, of the units that are active for input 2 only.
    """

    both_1: tuple[Float[np.ndarray, "*shape"], Float[np.ndarray, "*shape"]]
    both_2: tuple[Float[np.ndarray, "*shape"], Float[np.ndarray, "*shape"]]
    only_1: tuple[Float[np.ndarray, "*shape"], Float[np.ndarray, "*shape"]]
    only_2: tuple[Float[np.ndarray, "*shape"], Float[np.ndarray, "*shape"]]

    def gram(self, rest: Triple) -> Triple:
        """Return the Gram matrix of the errors; ``rest`` is that in all other directions."""
        p1, q1 = self.both_1
        p2, q2 = self.both_2
        only_1_p, only_1_q = self.only_1
        only_2_p, only_2_q = self.only_2
        gram_11 = p1**2 + q1**2 + only_1_p**2 + only_1_q**2 + rest[0]
        gram_12 = p1 * p2 + q1 * q2 + rest[1]
        gram_22 = p2**2 + q2**2 + only_2_p**2 + only_2_q**2 + rest[2]
        return gram_11, gram_12, gram_22

    def times_pre_activations(self, layer: Layer) -> Float[np.ndarray, "2 2 depths C draws"]:
        """Return <h_s, delta_r> at [s - 1, r - 1], (2, 2, depths, cosines, draws)."""
        p1, q1 = self.both_1
        p2, q2 = self.both_2
        only_1_p, only_1_q = self.only_1
        only_2_p, only_2_q = self.only_2
        a1, a12, a2 = layer.both  # h_1 = (a1, 0), h_2 = (a12, a2)
        b1, b12, b2 = layer.only_1  # h_1 = (b1, 0), h_2 = (b12, b2)
        c1, c12, c2 = layer.only_2  # h_2 = (c1, 0), h_1 = (c12, c2)
        h1_delta1 = a1 * p1 + b1 * only_1_p
        h1_delta2 = a1 * p2 + c12 * only_2_p + c2 * only_2_q
        h2_delta1 = a12 * p1 + a2 * q1 + b12 * only_1_p + b2 * only_1_q
        h2_delta2 = a12 * p2 + a2 * q2 + c1 * only_2_p
        return np.array([[h1_delta1, h1_delta2], [h2_delta1, h2_delta2]])


def _noise(
    rng: np.random.Generator, layer: Layer, factor: Triple
) -> Float[np.ndarray, "3 2 2 depths C draws"]:
    """Draw the noise Z = N F of all groups in their two directions, for both inputs.

    F^T F = sigma_w2 / M G, where G is the Gram matrix of the errors above. A group of fewer than 2
    units has fewer directions, in which the noise is 0. The shape is (3 groups, 2 directions,
    2 inputs, depths, cosines, draws), with the groups in the order of `Layer`.
    """
    f1, f12, f2 = factor  # (depths, cosines, draws)
    normal = rng.standard_normal((3, 2, 2, *f1.shape))  # group, direction, column of N
    present = np.stack([layer.counts >= 1, layer.counts >= 2], axis=1)  # group, direction, ...
    normal *= present[:, :, None, None]
    column_1 = normal[:, :, 0]
    column_2 = normal[:, :, 1]
    return np.stack([column_1 * f1, column_1 * f12 + column_2 * f2], axis=2)


def _errors_in_span(
    layer: Layer,
    noise: Float[np.ndarray, "3 2 2 depths C draws"],
    tied: Float[np.ndarray, "2 2 depths C draws"],
) -> _ErrorsInSpan:
    """Return Z + X (X^T X)^+ (U - X^T Z) in the span of the pre-activations, with open gates.

    ``noise`` is Z, see `_noise`, and ``tied`` is U, see `Errors`. Arrays of both inputs are
    (2 inputs, depths, cosines, draws), where the input is that of the errors.
    """
    both_p, both_q = noise[0]  # components in the directions 1 and 2
    only_1_p, only_1_q = noise[1]
    only_2_p, only_2_q = noise[2]
    a1, a12, a2 = layer.both  # x_1 = (a1, 0), x_2 = (a12, a2)
    b1, _, _ = layer.only_1  # x_1 = (b1, 0), x_2 = 0
    c1, _, _ = layer.only_2  # x_1 = 0, x_2 = (c1, 0)
    # U - X^T Z
    missing_1 = tied[0] - a1 * both_p - b1 * only_1_p
    missing_2 = tied[1] - a12 * both_p - a2 * both_q - c1 * only_2_p
    # coefficients (X^T X)^+ (U - X^T Z) of x_1 and x_2
    i11, i12, i22 = _pseudo_inverse(layer.activations)
    k1 = i11 * missing_1 + i12 * missing_2
    k2 = i12 * missing_1 + i22 * missing_2
    # Z + x_1 k_1 + x_2 k_2
    both_p = both_p + a1 * k1 + a12 * k2
    both_q = both_q + a2 * k2
    return _ErrorsInSpan(
        both_1=(both_p[0], both_q[0]),
        both_2=(both_p[1], both_q[1]),
        only_1=(only_1_p[0] + b1 * k1[0], only_1_q[0]),
        only_2=(only_2_p[1] + c1 * k2[1], only_2_q[1]),
    )


def _pseudo_inverse(gram: Triple) -> Triple:
    """Return the pseudo-inverse of symmetric positive semidefinite 2 x 2 matrices G.

    It is the adjugate over the determinant, or G / (tr G)^2 if the rank of G is 1.
    """
    g11, g12, g22 = gram
    determinant = g11 * g22 - g12**2
    regular = determinant > SINGULAR * g11 * g22
    trace2 = (g11 + g22) ** 2
    divisor = np.where(regular, determinant, np.where(trace2 > 0, trace2, 1.0))
    return (
        np.where(regular, g22, g11) / divisor,
        np.where(regular, -g12, g12) / divisor,
        np.where(regular, g11, g22) / divisor,
    )


def _rest(rng: np.random.Generator, layer: Layer, factor: Triple) -> Triple:
    """Draw the Gram matrix of the errors in the n - 2 free directions of each group.

    It is F^T W F, where W follows a Wishart law and is drawn by Bartlett's decomposition. Of the
    units that are active for one input, only its diagonal element at this input is needed.
    """
    f1, f12, f2 = factor  # F = ((f1, f12), (0, f2)), each (depths, cosines, draws)
    counts = np.broadcast_to(layer.counts[:, None], (3, *f1.shape))
    free = np.maximum(counts - 2, 0.0)  # numbers of free directions of the groups
    w11, only_1, only_2 = 2 * half_chi_square(rng, free / 2)
    t12 = rng.standard_normal(f1.shape) * (free[0] > 0)
    w22 = t12 * t12 + 2 * half_chi_square(rng, (free[0] - 1) / 2)
    w12 = np.sqrt(w11) * t12
    gram_11 = f1 * f1 * (w11 + only_1)
    gram_12 = f1 * (f12 * w11 + f2 * w12)
    both_22 = f12 * f12 * w11 + 2 * f12 * f2 * w12 + f2 * f2 * w22
    only_2_22 = (f12 * f12 + f2 * f2) * only_2
    return gram_11, gram_12, both_22 + only_2_22
