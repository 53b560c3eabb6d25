"""The tangent kernel of a ReLU network at two inputs, all depths and variances from one pass.

No biases, one output, hidden layers of one width M. Per layer the units fall into four groups by
which of the two inputs switch them on. Forward, 2 M normal variables give each group's Gram matrix
of pre-activations. Backward, a group of n units has 2 directions in which its errors are tied to
the activations; the other n - 2 are fresh noise, whose Gram matrix is Wishart. So going back costs
O(1) a layer, and the backward passes of all depths share one forward pass. The law of each depth
is exact; depths, cosines and variances share random numbers. Derivation: docs/theory.md, section 2.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from finitewidth.kernels.ntk_init import streams
from finitewidth.kernels.ntk_init.initialisation import checked_count, checked_number, refuse
from finitewidth.kernels.ntk_init.off_diagonal import checked_cosine
from finitewidth.kernels.ntk_init.pair_layers import Errors, Layer, first_gram

UNITS_PER_BLOCK = 2**16


@dataclass(frozen=True)
class PairDraws:
    """Draws of Theta(x, x) and Theta(x, x~) at one depth and cosine, for every variance.

    Attributes:
        depth, width, cosine: of the network and of the pair of unit vectors.
        first: (2, draws): the first layer's part of Theta_W at sigma_w2 = 2, for (x, x), (x, x~).
        above: (2, draws): that of the other layers, for n_0 = M.
        errors: (2, L, draws): <delta^l, delta~^l> at sigma_w2 = 2.
    """

    depth: int
    width: int
    cosine: float
    first: np.ndarray
    above: np.ndarray
    errors: np.ndarray

    def scaled_theta(self, sigma_w2: float, input_width: int) -> np.ndarray:
        """(2, draws): Theta(x, x) and Theta(x, x~), divided by max(1, sigma_w2 / 2)^(L - 1).

        Activations and errors are homogeneous in the weights: |x^l|^2 ~ a^l M / n_0 for l >= 1 and
        |delta^l|^2 ~ a^(L-l) with a = sigma_w2 / 2.
        """
        log_a = np.log(checked_number("sigma_w2", sigma_w2, above=0) / 2)
        log_growth = (self.depth - 1) * max(log_a, 0.0)
        layers = np.arange(1, self.depth + 1)
        powers = np.exp((self.depth - layers) * log_a - log_growth)
        weights = self.first + self.width / checked_count("input_width", input_width) * self.above
        weights = np.exp((self.depth - 1) * log_a - log_growth) * weights
        return weights + np.einsum("l,kln->kn", powers, self.errors)


def sample_pairs(
    width: int, depths: Sequence[int], cosines: Sequence[float], draws: int, seed: int
) -> Iterator[dict[tuple[int, float], PairDraws]]:
    """Blocks of draws for each depth and cosine; the caller sums or stores them.

    Args:
        width: M >= 1 of all hidden layers.
        depths: L >= 2.
        cosines: <x, x~> of unit vectors, each in (-1, 1).
        draws: how many, >= 1; fewer draws are a prefix of more.
        seed: of `finitewidth.common.provenance.seed_for`.

    Cost per draw: O(max depth x M) with 2 M normals a layer shared by the cosines, and O(1) for
    each layer, depth and cosine going back.

    Raises:
        ConfigError: an argument out of range.
    """
    width, draws = checked_count("width", width), checked_count("draws", draws)
    wanted = sorted({checked_count("depths", depth, least=2) for depth in depths})
    angles = np.array([checked_cosine(value) for value in cosines])
    if not wanted or not len(angles) or (np.abs(angles) == 1).any():
        raise refuse("depths, cosines", (depths, cosines), "not empty, cosines in (-1, 1)")
    block = max(8, min(256, UNITS_PER_BLOCK // width))
    plan = streams.Plan(draws, block, 1)
    for blocks in plan.groups():
        rng = streams.generator(seed, blocks.start)
        kept = plan.kept(blocks)
        yield {
            (depth, float(cosines[c])): PairDraws(
                depth, width, float(cosines[c]), first[:, c, :kept], above[:, c, :kept],
                errors[:, :, c, :kept],
            )
            for depth, (first, above, errors) in _block(rng, width, wanted, angles, block).items()
            for c in range(len(angles))
        }  # fmt: skip


def _block(
    rng: np.random.Generator, width: int, wanted: list[int], angles: np.ndarray, size: int
) -> dict[int, tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """First layer's part, other layers' part, errors, per depth; axes (2, [layers,] C, draws)."""
    grams, layers = [first_gram(angles, size)], []
    for _ in range(wanted[-1] - 1):
        layers.append(Layer(rng, width, grams[-1]))
        grams.append(layers[-1].activations)
    found = {}
    shape = (len(angles), size)
    for depth in wanted:
        found[depth] = [np.zeros((2, *shape)), np.zeros((2, *shape)), np.zeros((2, depth, *shape))]
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
            part = np.stack([errors.gram[0][place], errors.gram[1][place]])
            found[depth][2][:, layer - 1] = part
            found[depth][0 if layer == 1 else 1] += part * np.stack([gram[0], gram[1]])
    return {depth: tuple(parts) for depth, parts in found.items()}
