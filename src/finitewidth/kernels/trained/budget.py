"""Split work into pieces that fit into a memory budget."""

from collections.abc import Iterator

from finitewidth.common.errors import ConfigError

# Bytes for temporary arrays. The network, the graph of its forward pass and the result are not
# counted.
DEFAULT_BUDGET = 512 * 2**20


def fitting(budget: int, per_item: int, count: int, what: str) -> int:
    """Return how many of ``count`` items, each of ``per_item`` bytes, fit into a budget of bytes.

    Raises:
        ConfigError: not even one ``what`` fits.
    """
    if per_item > budget:
        raise ConfigError(
            f"budget: {what} needs {megabytes(per_item)}, but its share of the budget is "
            f"{megabytes(budget)}; raise budget or use fewer inputs"
        )
    return max(1, min(count, budget // max(per_item, 1)))


def pieces(count: int, size: int) -> Iterator[slice]:
    """Yield consecutive slices of at most ``size`` items that cover ``count`` items."""
    for start in range(0, count, size):
        yield slice(start, min(start + size, count))


def megabytes(count: int) -> str:
    """Return a number of bytes in MiB, for messages."""
    return f"{count / 2**20:.3g} MiB"
