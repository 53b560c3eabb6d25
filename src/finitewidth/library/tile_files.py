"""The tiles of a kernel as files, each written once, and the file of the whole kernel.

This module imports no torch, because the workflow of tiled kernels imports it at every start.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from pathlib import Path

import numpy as np
from numpy.lib import format as npy

from finitewidth.common.errors import ResultError
from finitewidth.records.result_files import atomic

KERNEL = "kernel.npy"
Pair = tuple[slice, slice]


def blocks(count: int, tile: int) -> list[slice]:
    """Return the blocks of ``tile`` inputs, the last with fewer, whose pairs are the tiles."""
    return [slice(start, min(start + tile, count)) for start in range(0, count, tile)]


def named(block: slice) -> str:
    """Return the name of a block: ``250-500``."""
    return f"{block.start}-{block.stop}"


def block_named(name: str) -> slice:
    """Return the block of a name such as ``250-500``."""
    start, stop = name.split("-")
    return slice(int(start), int(stop))


def pairs_of(blocks: Sequence[slice]) -> list[Pair]:
    """Return the tiles, as pairs of blocks, that stand on and above the diagonal.

    Those off the diagonal come first: a budget is refused at the largest tile.
    """
    pairs = list(combinations_with_replacement(blocks, 2))
    return sorted(pairs, key=lambda pair: pair[0] == pair[1])


@dataclass(frozen=True)
class TileFiles:
    """The files of a kernel (N, N) in a folder: ``tiles/0-250_250-500.npy``, and ``kernel.npy``.

    A tile holds the float64 kernel of its rows and columns. All files are written atomically.

    Attributes:
        folder: the folder.
        blocks: consecutive blocks of the N inputs.
    """

    folder: Path
    blocks: Sequence[slice]

    @property
    def kernel(self) -> Path:
        """The file of the whole kernel."""
        return self.folder / KERNEL

    @property
    def count(self) -> int:
        """N, the number of inputs."""
        return self.blocks[-1].stop

    def shape(self, pair: Pair) -> tuple[int, int]:
        """Return the shape of a tile."""
        rows, columns = pair
        return rows.stop - rows.start, columns.stop - columns.start

    def file(self, pair: Pair) -> Path:
        """Return the file of a tile."""
        rows, columns = pair
        return self.folder / "tiles" / f"{named(rows)}_{named(columns)}.npy"

    def write(self, pair: Pair, tile: np.ndarray) -> None:
        """Write a tile.

        Raises:
            ResultError: the file cannot be written.
        """
        with atomic(self.file(pair)) as temporary:
            np.save(temporary, tile)

    def read(self, pair: Pair) -> np.ndarray:
        """Return a tile as a memory map that cannot be written.

        Raises:
            ResultError: the file is missing or damaged.
        """
        return read_kernel(self.file(pair), self.shape(pair))

    def join(self) -> None:
        """Write the whole kernel from all tiles, in the memory of one block of rows.

        Raises:
            ResultError: a tile is missing or damaged, or the file cannot be written.
        """
        header = {"descr": "<f8", "fortran_order": False, "shape": (self.count, self.count)}
        with atomic(self.kernel) as temporary, temporary.open("wb") as stream:
            npy.write_array_header_1_0(stream, header)
            # no memory map: where the disk is full, writing into one kills the process
            for rows in self._rows():
                stream.write(rows.data)

    def _rows(self) -> Iterator[np.ndarray]:
        """Yield the rows of the kernel, one block after the other."""
        for number, block in enumerate(self.blocks):
            rows = np.empty((block.stop - block.start, self.count))
            for other in self.blocks[:number]:
                rows[:, other] = self.read((other, block)).T
            for other in self.blocks[number:]:
                rows[:, other] = self.read((block, other))
            yield rows


def read_kernel(file: Path, shape: tuple[int, int], mode: str = "r") -> np.ndarray:
    """Return a float64 array of a NumPy file as a memory map.

    Args:
        file: the file.
        shape: the shape that it must have.
        mode: of the memory map: "r", or "c" for one whose changes are not written to the file.

    Raises:
        ResultError: the file is missing or damaged, or holds something else.
    """
    try:
        array = npy.open_memmap(file, mode=mode)
    except FileNotFoundError:
        raise ResultError(f"{file} is missing; run again") from None
    except (OSError, ValueError) as error:
        raise ResultError(f"{file} is damaged ({error}); delete it and run again") from error
    if array.shape != shape or array.dtype != np.float64:
        raise ResultError(
            f"{file} is damaged (it has shape {array.shape} and type {array.dtype}, and must have "
            f"{shape} and float64); delete it and run again"
        )
    return array
