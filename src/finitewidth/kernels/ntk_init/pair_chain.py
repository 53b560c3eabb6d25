"""Sampler of the tangent kernel of a ReLU network at two inputs, for all depths and variances.

The network has no random biases, one output and hidden layers of the same width M. In each layer
the units form four groups: active for both inputs, for one of them, or for none. In the forward
pass, 2 M normal variables give the Gram matrix of the pre-activations of each group. In the
backward pass, the errors of a group of n units are determined by the activations in 2 directions.
In the other n - 2 directions they are independent noise, whose Gram matrix has a Wishart law. The
backward pass therefore costs O(1) per layer, and the backward passes of all depths share one
forward pass. The law of each depth is exact. Depths, cosines and variances share random numbers.
Source: docs/theory.md, section 2.
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
    """Draws of Theta(x, x) and Theta(x, x~) at one depth and cosine, for all variances.

    The first axis of each array is the pair of inputs, (x, x) and (x, x~).

    Attributes:
        depth: L.
        width: M.
        cosine: cosine of the unit vectors x and x~.
        first: (2, draws), part of the first layer in Theta_W at sigma_w2 = 2.
        above: (2, draws), part of the other layers in Theta_W at sigma_w2 = 2 and n_0 = M.
        errors: (2, L, draws), <delta^l, delta~^l> at sigma_w2 = 2.
    """

    depth: int
    width: int
    cosine: float
    first: np.ndarray
    above: np.ndarray
    errors: np.ndarray

    def scaled_theta(self, sigma_w2: float, input_width: int) -> np.ndarray:
        """Return Theta(x, x) and Theta(x, x~), divided by max(1, sigma_w2 / 2)^(L - 1), (2, draws).

        Activations and errors are homogeneous in the weights: with a = sigma_w2 / 2, |x^l|^2 is
        proportional to a^l M / n_0 for l >= 1, and |delta^l|^2 is proportional to a^(L-l).

        Args:
            sigma_w2: variance of a weight times its fan-in.
            input_width: n_0.

        Raises:
            ConfigError: an argument is out of range.
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
    """Draw the kernel at pairs of unit vectors for many depths and cosines, block by block.

    Args:
        width: width M >= 1 of all hidden layers.
        depths: depths L >= 2.
        cosines: <x, x~>, each in (-1, 1).
        draws: number of draws, >= 1. A smaller number gives the first of the same draws.
        seed: from `finitewidth.common.provenance.seed_for`.

    Yields:
        {(depth, cosine): draws} for one block after the other.

    Cost per draw: O(max depth x M) for the forward pass, whose 2 M normal variables per layer are
    shared by all cosines, and O(1) per layer, depth and cosine for the backward pass.

    Raises:
        ConfigError: an argument is out of range.
    """
    width, draws = checked_count("width", width), checked_count("draws", draws)
    wanted = sorted({checked_count("depths", depth, least=2) for depth in depths})
    angles = np.array([checked_cosine(value) for value in cosines])
    if not wanted or not len(angles) or (np.abs(angles) == 1).any():
        raise refuse("depths, cosines", (depths, cosines), "not empty, with all cosines in (-1, 1)")
    block = max(8, min(256, UNITS_PER_BLOCK // width))
    plan = streams.Blocks(draws, block, 1)
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
    """Return `PairDraws.first`, ``above`` and ``errors`` of one block for each depth.

    Their axes are (2, C, draws) and (2, L, C, draws), where C is the number of cosines.
    """
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
