"""The words of footers: ``3 to 5 runs``; and those of deviations: ``epochs 30 of 300``."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from finitewidth.common.number_words import listed
from finitewidth.pipeline.descriptions import EPOCHS, LAYERS, RUNS, TEST, TRAIN
from finitewidth.pipeline.deviations import Deviation

MOST = 6  # statements shown; a seventh is shown rather than counted
MOST_VALUES = 4  # values of one statement
MOST_CHOICES = 3  # differing choices of our own in one footer
MOST_ENTRIES = 8  # entries of a list
FIRST = (LAYERS, TRAIN, TEST, EPOCHS, RUNS)  # the other statements follow
# A number of these that is smaller than the paper's is written "30 of 300".
COUNTED = frozenset(
    {
        TRAIN,
        TEST,
        EPOCHS,
        RUNS,
        "draws",
        "steps",
        "width",
        "depth",
        "samples",
        "points",
        "images",
        "copies",
        "inputs",
        "datasets",
        "class",
        "shown",
        "sample",
    }
)
NAMED_LAYERS = re.compile(r"(channels|dense layers|hidden layers) ")


# --- deviations ----------------------------------------------------------------------------------


def statements(deviations: Iterable[Deviation], before: Sequence[str] = ()) -> tuple[str, ...]:
    """All deviations as short statements, those of one name as one, after some others.

    Layers, images, epochs and runs come first. Of many statements the last ones are counted.
    """
    values: dict[str, dict[str, None]] = {}  # name -> its texts, each once
    for deviation in deviations:
        values.setdefault(deviation.name, {})[_values_of(deviation)] = None
    result = [*before]
    for name in sorted(values, key=_rank):
        result.append(_statement(name, list(values[name])))
    if len(result) > MOST + 1:
        more = len(result) - MOST
        result = [*result[:MOST], f"and {more} more"]
    return tuple(result)


def own_choices(statements: Sequence[str], most: int = MOST + 1) -> str:
    """Which of our own choices differ from those of preset ``paper``, the first few in words."""
    words = ", ".join(statements[:most])
    more = len(statements) - most
    if more > 0:
        words += f" and {more} more"
    return f"our own choice: {words.replace('(paper ', '(preset paper ')}"


def _rank(name: str) -> int:
    return FIRST.index(name) if name in FIRST else len(FIRST)


def _statement(name: str, values: list[str]) -> str:
    """``epochs 30 of 300 and 20 of 100``; layers have their name in their values."""
    shown = values[:MOST_VALUES]
    if len(values) > MOST_VALUES:
        shown.append(f"{len(values) - MOST_VALUES} more")
    words = listed(shown)
    return words if name == LAYERS else f"{name} {words}".strip()


def _values_of(deviation: Deviation) -> str:
    """``30 of 300``; ``0.02 (paper 0.01)``; empty if the name says all."""
    name = deviation.name
    ours = deviation.ours
    theirs = deviation.theirs
    if ours is None and theirs is None:
        return ""
    if _is_counted(name) and isinstance(ours, int) and isinstance(theirs, int) and ours < theirs:
        return f"{ours:,} of {theirs:,}"
    if _is_part_of(ours, theirs):
        return f"{len(ours)} of {len(theirs)} values"
    if name == LAYERS:
        return f"{ours} (paper {NAMED_LAYERS.sub('', theirs)})"
    missing = "all" if name in (TRAIN, TEST) else "none"
    return f"{_value(ours, missing)} (paper {_value(theirs, missing)})"


def _is_counted(name: str) -> bool:
    last_word = name.rsplit(maxsplit=1)[-1]
    return name in COUNTED or last_word in COUNTED


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple)


def _is_flat(value: Any) -> bool:
    """Whether a value is a list without lists in it."""
    return _is_list(value) and not any(map(_is_list, value))


def _is_part_of(ours: Any, theirs: Any) -> bool:
    """Whether ours are some of the values of a list that is too long to be shown."""
    if not _is_flat(ours) or not _is_flat(theirs):
        return False
    return len(theirs) > MOST_VALUES and set(ours) < set(theirs)


def _value(value: Any, missing: str) -> str:
    if value is None or value in ([], ()):
        return missing
    if isinstance(value, bool):
        return "yes" if value else "no"
    if _is_list(value):
        if len(value) > MOST_ENTRIES or not _is_flat(value):
            return f"{len(value)} values"
        return listed([_value(entry, missing) for entry in value])
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:g}"
    return str(value).replace("_", " ")


# --- parts of a footer ---------------------------------------------------------------------------


def pooled(sections: Iterable[Mapping[str, Any]]) -> list[str]:
    """That images are averaged over squares of pixels, and whether all networks see them so."""
    pools: dict[int, None] = {}
    for section in sections:
        if "dataset" in section or "rows" in section:
            images = section.get("images", section)
            pools[images.get("pool", 1)] = None
    some = " for some networks" if len(pools) > 1 else ""
    return [f"pixels averaged {pool}×{pool}{some}" for pool in pools if pool > 1]


def counted(counts: Mapping[str, Mapping[str, int]]) -> str:
    """``3 to 5 runs``, ``20 runs and 4,000 draws``, or that there are none.

    ``counts`` has unit -> part of what is counted -> number.
    """
    words = []
    for unit, numbers in counts.items():
        if numbers:
            words.append(f"{_range(numbers.values())} {_unit(unit, numbers.values())}")
    return " and ".join(words) or "computed exactly, no draws"


def counted_by_panel(counts: Mapping[str, Mapping[str, Mapping[str, int]]]) -> str:
    """``(a) 3, (c, d) 5 runs``, from panel -> its numbers; as `counted` if all are alike."""
    words = []
    units: dict[str, None] = {}
    for numbers_of in counts.values():
        units |= dict.fromkeys(numbers_of)
    for unit in units:
        amounts: dict[str, list[str]] = {}  # amount in words -> panels
        numbers: list[int] = []
        for panel, numbers_of in counts.items():
            if numbers_of[unit]:
                amounts.setdefault(_range(numbers_of[unit].values()), []).append(panel)
                numbers += numbers_of[unit].values()
        if amounts:
            words.append(f"{_by_panel(amounts)} {_unit(unit, numbers)}")
    return " and ".join(words) or counted({})


def _by_panel(amounts: Mapping[str, Sequence[str]]) -> str:
    if len(amounts) == 1:
        return next(iter(amounts))
    return ", ".join(f"({', '.join(panels)}) {amount}" for amount, panels in amounts.items())


def _range(numbers: Collection[int]) -> str:
    least, most = min(numbers), max(numbers)
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"


def _unit(unit: str, numbers: Collection[int]) -> str:
    """The unit, in the singular for one."""
    return unit.removesuffix("s") if set(numbers) == {1} else unit
