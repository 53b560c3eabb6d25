"""Random streams by block of draws, so that a result depends on its seed and not on the chunking.

Draws are numbered; a block of fixed size has its own stream, derived from the seed and the block's
number. A memory budget decides how many blocks are worked on at once, never how they are drawn:
the same seed gives the same numbers whatever the budget, and fewer draws are a prefix of more.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import torch

from finitewidth.errors import ConfigError
from finitewidth.kernels.ntk_init.initialisation import checked_count, refuse

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


class Normals:
    """Standard normal numbers for a group of blocks, each block from its own stream.

    On a CPU the numbers are numpy's (faster there), on another device torch's: the laws are the
    same, the numbers are not.
    """

    def __init__(self, seed: int, blocks: range, block: int, device: torch.device):
        self._block, self._device = block, device
        self.draws = len(blocks) * block
        if device.type == "cpu":
            self._streams = [generator(seed, number) for number in blocks]
        else:
            self._streams = []
            for number in blocks:
                state = np.random.SeedSequence(seed, spawn_key=(number,)).generate_state(
                    1, np.uint64
                )
                stream = torch.Generator(device)
                self._streams.append(stream.manual_seed(int(state[0] >> 1)))

    def __call__(self, *shape: int) -> torch.Tensor:
        """Independent standard normals, float64, of shape (draws, ``*shape``)."""
        out = torch.empty((self.draws, *shape), dtype=torch.float64, device=self._device)
        view = out.numpy() if self._device.type == "cpu" else None
        for place, stream in enumerate(self._streams):
            part = slice(place * self._block, (place + 1) * self._block)
            if view is None:
                out[part].normal_(generator=stream)
            else:
                stream.standard_normal(out=view[part])
        return out


def checked_device(device: str | torch.device) -> torch.device:
    """The torch device.

    Raises:
        ConfigError: unknown, or not on this machine.
    """
    try:
        found = torch.device(device)
        torch.empty(1, dtype=torch.float64, device=found)
    except (RuntimeError, AssertionError, TypeError, NotImplementedError) as error:
        raise refuse("device", str(device), "a torch device of this machine", str(error)) from error
    return found
