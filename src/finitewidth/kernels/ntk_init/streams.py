"""Random streams for blocks of draws.

Draws are numbered and divided into blocks of fixed size. Each block has its own random stream,
which is derived from the seed and the number of the block. Hence the numbers do not depend on how
many blocks are processed at the same time, and a smaller number of draws gives the first of the
same draws.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from finitewidth.common.errors import ConfigError
from finitewidth.kernels.ntk_init.initialisation import checked_count

MEMORY = 2**30  # bytes that blocks and results take together
LARGEST_BLOCK = 2048
NORMALS_PER_BLOCK = 2**19


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

    def kept(self, blocks: range) -> int:
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
