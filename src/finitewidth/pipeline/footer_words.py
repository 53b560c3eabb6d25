"""Parts of the line below a figure or table, in words."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

MOST_CHOICES = 3  # differing choices told in one footer


def pooled(sections: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """That images are averaged over squares of pixels, and whether all networks see them so."""
    pools: dict[int, list[str]] = {}
    for name, settings in sections.items():
        if "dataset" in settings or "rows" in settings:
            pool = settings.get("images", settings).get("pool", 1)
            pools.setdefault(pool, []).append(name)
    return [
        f"pixels averaged {pool}×{pool}" + " for some networks" * (len(pools) > 1)
        for pool in pools if pool > 1
    ]  # fmt: skip


def counted(counts: Mapping[str, Mapping[str, int]]) -> str:
    """``3 to 5 runs``, ``20 runs and 4,000 draws``, or that there are none.

    ``counts`` has unit -> part of what is counted -> number.
    """
    words = [f"{_range(numbers.values())} {_unit(unit, numbers.values())}"
             for unit, numbers in counts.items() if numbers]  # fmt: skip
    return " and ".join(words) or "computed exactly, no draws"


def counted_by_panel(counts: Mapping[str, Mapping[str, Mapping[str, int]]]) -> str:
    """``(a) 3, (c, d) 5 runs``, from the numbers of each panel; as `counted` if all are alike."""
    words = []
    for unit in dict.fromkeys(unit for panel in counts.values() for unit in panel):
        letters: dict[str, list[str]] = {}
        numbers = [number for panel in counts.values() for number in panel[unit].values()]
        for letter, panel in counts.items():
            if panel[unit]:
                letters.setdefault(_range(panel[unit].values()), []).append(letter)
        parts = [f"({', '.join(named)}) {amount}" for amount, named in letters.items()]
        if parts:
            amounts = ", ".join(parts) if len(parts) > 1 else next(iter(letters))
            words.append(f"{amounts} {_unit(unit, numbers)}")
    return " and ".join(words) or counted({})


def _range(numbers: Collection[int]) -> str:
    least, most = min(numbers), max(numbers)
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"


def _unit(unit: str, numbers: Collection[int]) -> str:
    """The unit, in the singular for one."""
    return unit[:-1] if set(numbers) == {1} else unit


def named(choices: Sequence[str]) -> str:
    """Which of our own choices differ, the first few in words."""
    more = len(choices) - MOST_CHOICES
    words = ", ".join(choices[:MOST_CHOICES]) + (f" and {more} more" if more > 0 else "")
    return f"our own choice: {words.replace('(paper ', '(preset paper ')}"
