"""Random streams by block of draws, so that a result depends on its seed and not on the chunking.

Draws are numbered; a block of fixed size has its own stream, derived from the seed and the block's
number. A memory budget decides how many blocks are worked on at once, never how they are drawn:
the same seed gives the same numbers whatever the budget, and fewer draws are a prefix of more.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from finitewidth.common.errors import ConfigError
from finitewidth.kernels.ntk_init.initialisation import checked_count

Progress = Callable[[int, int], None]
DEFAULT_MEMORY = 2**30
LARGEST_BLOCK = 2048
NORMALS_PER_BLOCK = 2**19


def generator(seed: int, block: int) -> np.random.Generator:
    """The stream of one block; streams of different blocks or seeds are independent."""
    sequence = np.random.SeedSequence(seed, spawn_key=(block,))
    return np.random.Generator(np.random.SFC64(sequence))


def block_size(numbers_per_draw: int) -> int:
    """How many draws share a stream: depends on the network, not on the memory budget."""
    return max(1, min(LARGEST_BLOCK, NORMALS_PER_BLOCK // max(1, numbers_per_draw)))


@dataclass(frozen=True)
class Plan:
    """``draws`` draws in blocks of ``block``, ``at_once`` blocks held in memory together."""

    draws: int
    block: int
    at_once: int

    def groups(self) -> Iterator[range]:
        """Ranges of block numbers to be worked on together."""
        blocks = -(-self.draws // self.block)
        for first in range(0, blocks, self.at_once):
            yield range(first, min(first + self.at_once, blocks))

    def kept(self, blocks: range) -> int:
        """How many draws of a group of blocks are wanted: fewer than all in the last one only."""
        return min(self.draws, blocks.stop * self.block) - blocks.start * self.block


def planned(
    draws: int, block: int, bytes_per_draw: int, memory_bytes: int, result: int = 0
) -> Plan:
    """Fit blocks into a memory budget.

    Args:
        draws: draws wanted, >= 1.
        block: draws per block.
        bytes_per_draw: working memory of one draw.
        memory_bytes: the budget, results included.
        result: bytes per draw of what is returned and kept.

    Raises:
        ConfigError: not even one block and the results fit.
    """
    draws = checked_count("draws", draws)
    free = checked_count("memory_bytes", memory_bytes) - result * draws
    if free < block * bytes_per_draw:
        needed = block * bytes_per_draw + result * draws
        raise ConfigError(
            f"memory_bytes = {memory_bytes}: must be at least {needed} for {draws} draws "
            f"({block} at a time with {bytes_per_draw} bytes each, {result * draws} bytes of "
            "results); raise the budget, ask for fewer draws or take the results block by block"
        )
    return Plan(draws, block, max(1, free // (block * bytes_per_draw)))
