"""Random streams for blocks of draws, and exact draws of active units and chi-square variables.

Draws are numbered and divided into blocks of fixed size. Each block has its own random stream,
which is derived from the seed and the number of the block. Hence the numbers do not depend on how
many blocks are processed at the same time, and a smaller number of draws gives the first of the
same draws.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from finitewidth.common.errors import ConfigError
from finitewidth.common.shapes import Float
from finitewidth.kernels.ntk_init.initialisation import checked_count

MEMORY = 2**30  # bytes that blocks and results take together
LARGEST_BLOCK = 2048
NORMALS_PER_BLOCK = 2**19
LARGEST_TABLE = 4096


def generator(seed: int, block: int) -> np.random.Generator:
    """Return the stream of one block. Streams of different blocks or seeds are independent."""
    sequence = np.random.SeedSequence(seed, spawn_key=(block,))
    return np.random.Generator(np.random.SFC64(sequence))


def block_size(numbers_per_draw: int) -> int:
    """Return the number of draws per block, which depends on the random numbers per draw only."""
    return max(1, min(LARGEST_BLOCK, NORMALS_PER_BLOCK // max(1, numbers_per_draw)))


@dataclass(frozen=True)
class Blocks:
    """The division of draws into blocks, of which ``at_once`` are in memory at the same time."""

    draws: int
    block: int
    at_once: int

    def groups(self) -> Iterator[range]:
        """Yield the ranges of block numbers that are processed together."""
        blocks = -(-self.draws // self.block)
        for first in range(0, blocks, self.at_once):
            yield range(first, min(first + self.at_once, blocks))

    def draws_of(self, blocks: range) -> int:
        """Return how many draws of a group of blocks are used; only the last may be cut."""
        return min(self.draws, blocks.stop * self.block) - blocks.start * self.block


def planned(draws: int, block: int, bytes_per_draw: int, result: int) -> Blocks:
    """Choose how many blocks are processed at the same time, within `MEMORY`.

    ``bytes_per_draw`` is working memory, and ``result`` the bytes per draw of the results.

    Raises:
        ConfigError: one block and the results do not fit.
    """
    draws = checked_count("draws", draws)
    free = MEMORY - result * draws
    if free < block * bytes_per_draw:
        needed = block * bytes_per_draw + result * draws
        raise ConfigError(
            f"draws = {draws}: they need {needed} bytes, which must be at most {MEMORY}; use fewer "
            "draws at a time, with a seed each, or a smaller network"
        )
    return Blocks(draws, block, max(1, free // (block * bytes_per_draw)))


@lru_cache(maxsize=256)
def _alias_table(width: int) -> tuple[Float[np.ndarray, "cells"], Float[np.ndarray, "cells"]]:
    """Return Walker's alias table of Bin(width, 1/2): thresholds, and halves of alternatives."""
    cells = width + 1
    # weights[k] = cells * binomial(width, k) / 2^width, from whole numbers, each rounded once
    weights = []
    binomial = 1
    for k in range(cells):
        weights.append(binomial * cells / 2**width)
        binomial = binomial * (width - k) // (k + 1)
    # cell k gives k with the probability keep[k], and alternative[k] otherwise
    keep = np.ones(cells)
    alternative = np.arange(cells)
    small = [k for k in range(cells) if weights[k] < 1]
    large = [k for k in range(cells) if weights[k] >= 1]
    while small and large:
        low = small.pop()
        high = large[-1]
        keep[low] = weights[low]
        alternative[low] = high
        weights[high] -= 1 - weights[low]
        if weights[high] < 1:
            small.append(large.pop())
    # the threshold of cell k is k + keep[k]; alternatives are halved, as a draw returns K / 2
    return np.arange(cells) + keep, alternative / 2


def half_units_on(rng: np.random.Generator, width: int, size: int) -> Float[np.ndarray, "draws"]:
    """Draw ``size`` numbers K / 2, half the number of active units, with K ~ Bin(``width``, 1/2).

    Up to a width of 4,096 an alias table is used, which is exact to 2^-53 and whose time does not
    depend on the width. Above, numpy's rejection sampler is used.
    """
    if width > LARGEST_TABLE:
        return rng.binomial(width, 0.5, size) * 0.5
    threshold, half_alternative = _alias_table(width)
    uniform = rng.random(size)
    uniform *= width + 1
    cell = uniform.astype(np.int64)
    return np.where(uniform < threshold[cell], 0.5 * cell, half_alternative[cell])


def half_chi_square(
    rng: np.random.Generator, half_freedom: Float[np.ndarray, "*shape"]
) -> Float[np.ndarray, "*shape"]:
    """Draw half a chi-square variable of 2 ``half_freedom`` degrees of freedom.

    The result is 0 if ``half_freedom`` is 0 or negative.
    """
    return rng.standard_gamma(np.maximum(half_freedom, 0.0))
