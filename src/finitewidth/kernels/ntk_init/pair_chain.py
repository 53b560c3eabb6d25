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

from finitewidth.kernels.ntk_init import streams
from finitewidth.kernels.ntk_init.streams import half_chi_square

UNITS_PER_BLOCK = 2**16
Triple = tuple[np.ndarray, np.ndarray, np.ndarray]
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
    first: np.ndarray
    above: np.ndarray
    errors: np.ndarray

    def scaled_theta(self, sigma_w2: float, input_width: int) -> np.ndarray:
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
        drawn = _block(rng, width, sorted(set(depths)), np.array(cosines), block)
        kept = plan.kept(blocks)
        yield {
            (depth, cosine): PairDraws(width, *(part[..., c, :kept] for part in parts))
            for depth, parts in drawn.items()
            for c, cosine in enumerate(cosines)
        }


def _block(
    rng: np.random.Generator, width: int, wanted: list[int], angles: np.ndarray, size: int
) -> dict[int, tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Return `PairDraws.first`, ``above`` and ``errors`` of one block for each depth.

    Their axes are (2, C, draws) and (2, L, C, draws), where C is the number of cosines.
    """
    ones = np.ones((len(angles), size))
    grams, layers = [(ones, angles[:, None] * ones, ones.copy())], []
    for _ in range(wanted[-1] - 1):
        layers.append(Layer(rng, width, grams[-1]))
        grams.append(layers[-1].activations)
    shape = (len(angles), size)
    parts = {
        depth: (np.zeros((2, *shape)), np.zeros((2, *shape)), np.zeros((2, depth, *shape)))
        for depth in wanted
    }
    errors: Errors | None = None
    active: list[int] = []
    for layer in range(wanted[-1], 0, -1):
        if layer < wanted[-1]:
            errors = errors.below(rng, layers[layer - 1])
        if layer in wanted:  # the output layer of one of the networks
            fresh = Errors.of_output(rng, width, grams[layer - 1])
            errors = fresh if errors is None else errors.joined(fresh)
            active.append(layer)
        gram = grams[layer - 1]
        for place, depth in enumerate(active):
            first, above, of_layers = parts[depth]
            of_layers[:, layer - 1] = errors.gram[0][place], errors.gram[1][place]
            weights = first if layer == 1 else above
            weights += of_layers[:, layer - 1] * np.stack([gram[0], gram[1]])
    return parts


def cholesky(gram: Triple) -> Triple:
    """Return (a, b, c) of the upper triangular factor ((a, b), (0, c)).

    The row of a zero pivot is zero.
    """
    first = np.sqrt(np.maximum(gram[0], 0.0))
    across = np.divide(gram[1], first, out=np.zeros_like(first), where=first > 0)
    return first, across, np.sqrt(np.maximum(gram[2] - across * across, 0.0))


def _cleared(triple: Triple, count: np.ndarray) -> Triple:
    """Set the second row of a factor to zero if a group has fewer than 2 units."""
    return triple[0], triple[1], np.where(count >= 2, triple[2], 0.0)


def _group_sums(
    rng: np.random.Generator,
    width: int,
    scale: np.ndarray,
    along: np.ndarray,
    across: np.ndarray,
) -> np.ndarray:
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
    alive_1, alive_2 = (scale > 0)[..., None], (along**2 + across**2 > 0)[..., None]
    at_once = min(size, max(1, UNITS_AT_ONCE // width))
    products = np.ones((at_once, 4, width), np.float32)
    masks = np.empty((3, cosines, at_once, width), np.float32)
    for start in range(0, size, at_once):
        part = slice(start, min(start + at_once, size))
        here = slice(0, part.stop - start)
        z1, z2 = rng.standard_normal((2, here.stop, width))
        np.multiply(z1, z1, out=products[here, 1], casting="same_kind")
        np.multiply(z1, z2, out=products[here, 2], casting="same_kind")
        np.multiply(z2, z2, out=products[here, 3], casting="same_kind")
        z1, z2 = z1.astype(np.float32), z2.astype(np.float32)
        positive = z1 > 0
        for c in range(cosines):
            both, one, two = masks[:, c, here]
            with np.errstate(invalid="ignore"):
                active = z2 > border[c, part, None] * z1
            np.copyto(one, positive & alive_1[c, part])
            np.copyto(two, active & alive_2[c, part])
            np.multiply(one, two, out=both)
            one -= both
            two -= both
        groups = masks[:, :, here].reshape(3 * cosines, -1, width).transpose(1, 0, 2)
        np.matmul(groups, products[here].mT, out=sums[part])
    return np.ascontiguousarray(sums.reshape(size, 3, cosines, 4).transpose(3, 1, 2, 0), float)


class Layer:
    """The results of the forward pass of a hidden layer, with ``rate`` sigma_w2 / M.

    Units form three groups: active for both inputs, for input 1 only and for input 2 only.
    ``counts`` are their numbers; ``both``, ``one`` and ``two`` are triangular factors of the Gram
    matrices of their pre-activations, for the inputs in the order (1, 2), in ``two`` in the order
    (2, 1). ``activations`` is the Gram matrix of the activations.
    """

    def __init__(self, rng: np.random.Generator, width: int, gram: Triple):
        self.rate = 2 / width
        scale, along, across = cholesky(tuple(self.rate * part for part in gram))
        count, p11, p12, p22 = _group_sums(rng, width, scale, along, across)
        s11 = scale**2 * p11
        s12 = scale * (along * p11 + across * p12)
        s22 = along**2 * p11 + 2 * along * across * p12 + across**2 * p22
        self.counts = count
        self.both = _cleared(cholesky((s11[0], s12[0], s22[0])), self.counts[0])
        self.one = _cleared(cholesky((s11[1], s12[1], s22[1])), self.counts[1])
        self.two = _cleared(cholesky((s22[2], s12[2], s11[2])), self.counts[2])
        self.activations = (s11[0] + s11[1], s12[0], s22[0] + s22[2])


@dataclass(frozen=True)
class Errors:
    """Errors of a layer at both inputs.

    ``gram`` is <delta_r, delta_s>, with arrays (depths, cosines, draws). ``tied`` is u[s][r] =
    <h_s, delta_r>, the products of pre-activations and errors, which determine the component of the
    errors below in the span of the activations.
    """

    gram: Sequence[np.ndarray]
    tied: Sequence[Sequence[np.ndarray]]

    @classmethod
    def of_output(cls, rng: np.random.Generator, width: int, gram: Triple) -> "Errors":
        """Return the errors of an output layer, which are 1, so that <h_s, delta_r> = f_s."""
        scale, along, across = cholesky(tuple(2 / width * part for part in gram))
        g1, g2 = rng.standard_normal((2, *scale.shape))
        f1, f2 = (scale * g1)[None], (along * g1 + across * g2)[None]
        one = np.ones_like(f1)
        return cls((one, one, one), ((f1, f1), (f2, f2)))

    def joined(self, other: "Errors") -> "Errors":
        """Append the networks of ``other``."""
        gram = np.concatenate([self.gram, other.gram], axis=1)
        return Errors(gram, np.concatenate([self.tied, other.tied], axis=2))

    def below(self, rng: np.random.Generator, layer: Layer) -> "Errors":
        """Draw the errors of the hidden layer below.

        Their component in the span of its activations is given by ``tied``. The component
        orthogonal to it is drawn.
        """
        f1, f12, f2 = cholesky(tuple(layer.rate * part for part in self.gram))
        fresh = rng.standard_normal((3, 2, 2, *f1.shape))  # group, direction, column
        present = np.stack([layer.counts >= 1, layer.counts >= 2], axis=1)
        fresh *= present[:, :, None, None]
        z = np.stack([fresh[:, :, 0] * f1, fresh[:, :, 0] * f12 + fresh[:, :, 1] * f2], axis=2)
        (a1, a12, a2), (b1, b12, b2), (c1, c12, c2) = layer.both, layer.one, layer.two
        missing = [
            [self.tied[0][r] - a1 * z[0, 0, r] - b1 * z[1, 0, r] for r in (0, 1)],
            [
                self.tied[1][r] - a12 * z[0, 0, r] - a2 * z[0, 1, r] - c1 * z[2, 0, r]
                for r in (0, 1)
            ],
        ]
        i11, i12, i22 = _pseudo_inverse(layer.activations)
        k = [
            [i11 * missing[0][r] + i12 * missing[1][r] for r in (0, 1)],
            [i12 * missing[0][r] + i22 * missing[1][r] for r in (0, 1)],
        ]
        # the two determined directions of the groups that are active for both inputs (columns 1
        # and 2), for input 1 only and for input 2 only
        both = [
            [z[0, 0, r] + a1 * k[0][r] + a12 * k[1][r] for r in (0, 1)],
            [z[0, 1, r] + a2 * k[1][r] for r in (0, 1)],
        ]
        one = [z[1, 0, 0] + b1 * k[0][0], z[1, 1, 0]]
        two = [z[2, 0, 1] + c1 * k[1][1], z[2, 1, 1]]
        rest = _rest(rng, layer, (f1, f12, f2))
        gram = (
            both[0][0] ** 2 + both[1][0] ** 2 + one[0] ** 2 + one[1] ** 2 + rest[0],
            both[0][0] * both[0][1] + both[1][0] * both[1][1] + rest[1],
            both[0][1] ** 2 + both[1][1] ** 2 + two[0] ** 2 + two[1] ** 2 + rest[2],
        )
        first = a1 * both[0][0] + b1 * one[0]
        second = a12 * both[0][1] + a2 * both[1][1] + c1 * two[0]
        cross_21 = a12 * both[0][0] + a2 * both[1][0] + b12 * one[0] + b2 * one[1]
        cross_12 = a1 * both[0][1] + c12 * two[0] + c2 * two[1]
        return Errors(gram, ((first, cross_12), (cross_21, second)))


def _pseudo_inverse(gram: Triple) -> Triple:
    determinant = gram[0] * gram[2] - gram[1] ** 2
    regular = determinant > SINGULAR * gram[0] * gram[2]
    trace2 = (gram[0] + gram[2]) ** 2
    safe = np.where(regular, determinant, np.where(trace2 > 0, trace2, 1.0))
    return (
        np.where(regular, gram[2], gram[0]) / safe,
        np.where(regular, -gram[1], gram[1]) / safe,
        np.where(regular, gram[0], gram[2]) / safe,
    )


def _rest(rng: np.random.Generator, layer: Layer, factor: Triple) -> Triple:
    """Draw the Gram matrix of the errors in the n - 2 free directions of each group.

    Its law is a Wishart law, drawn by Bartlett's decomposition.
    """
    f1, f12, f2 = factor
    free = np.maximum(np.broadcast_to(layer.counts[:, None], (3, *f1.shape)) - 2, 0.0)
    w11, one, two = 2 * half_chi_square(rng, free / 2)
    t12 = rng.standard_normal(f1.shape) * (free[0] > 0)
    w22 = t12 * t12 + 2 * half_chi_square(rng, (free[0] - 1) / 2)
    w12 = np.sqrt(w11) * t12
    return (
        f1 * f1 * (w11 + one),
        f1 * (f12 * w11 + f2 * w12),
        f12 * f12 * w11 + 2 * f12 * f2 * w12 + f2 * f2 * w22 + (f12 * f12 + f2 * f2) * two,
    )
