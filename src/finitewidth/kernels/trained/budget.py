"""Split work into pieces that fit into a memory budget."""

from collections.abc import Callable, Iterator, Sequence
from math import prod
from typing import TypeVar

import torch

from finitewidth.common.errors import ConfigError
from finitewidth.common.machine import free_memory

T = TypeVar("T")
# Bytes for temporary arrays. The network, the graph of its forward pass and the result are not
# counted.
DEFAULT_BUDGET = 512 * 2**20
SMALL_RESULT = 16 * 2**20  # bytes; to ask for the free memory takes longer than such a kernel


class ShortageError(Exception):
    """Not even one piece fits into its share of the budget; the argument says what it is."""


class BudgetError(ConfigError):
    """The budget is too small for the smallest pieces of the work.

    Attributes:
        what: a piece that does not fit.
        needed: a budget in bytes that suffices.
    """

    def __init__(self, what: str, budget: int, needed: int, remedy: str = "") -> None:
        self.what, self.needed = what, needed
        super().__init__(
            f"budget: {what} does not fit into a budget of {megabytes(budget)}; set "
            f"budget={needed} ({megabytes(needed)}) or more{remedy}"
        )


def free_bytes(device: torch.device) -> int:
    """Return the free memory of a device in bytes; 0 where it is not known, as on macOS."""
    return torch.cuda.mem_get_info(device)[0] if device.type == "cuda" else free_memory()


def check_result(shape: Sequence[int], count: int, device: torch.device) -> None:
    """Check that ``count`` float64 results of a shape fit into the free memory.

    Raises:
        ConfigError: they do not.
    """
    needed = 8 * count * prod(shape)
    if needed <= SMALL_RESULT:
        return
    free = free_bytes(device)
    if 0 < free < needed:
        several = f"{count} kernels" if count > 1 else "a kernel"
        raise ConfigError(
            f"x: {several} of shape {tuple(shape)} take {megabytes(needed)}, and "
            f"{megabytes(free)} are free; use fewer inputs, or traced_kernel or output_norms in "
            "place of the full kernel"
        )


def within_budget(run: Callable[[int], T], device: torch.device, given: int | None) -> T:
    """Do something with the default budget or, if need be, with one that suffices.

    A budget that is ``given`` is never exceeded.

    Raises:
        BudgetError: it does not suffice, or half of the free memory does not.
    """
    try:
        return run(DEFAULT_BUDGET if given is None else given)
    except BudgetError as error:
        if given is not None or error.needed > free_bytes(device) / 2:
            raise
        return run(error.needed)


def fitting(share: int, per_item: int, count: int, what: str, *, fixed: int = 0) -> int:
    """Return how many of ``count`` items fit into ``share`` bytes, a part of the budget.

    Each takes ``per_item`` bytes, and all together ``fixed`` bytes more.

    Raises:
        ShortageError: not even one ``what`` fits.
    """
    if fixed + per_item > share:
        raise ShortageError(what)
    return max(1, min(count, (share - fixed) // max(per_item, 1)))


def pieces(count: int, size: int) -> Iterator[slice]:
    """Yield consecutive slices of at most ``size`` items that cover ``count`` items."""
    for start in range(0, count, size):
        yield slice(start, min(start + size, count))


def megabytes(count: int) -> str:
    """Return a number of bytes in MiB, for messages."""
    return f"{count / 2**20:,.4g} MiB" if count < 2**30 else f"{count / 2**20:,.0f} MiB"
