"""What trust_extra_scaled shows: whether the order of the phases depends on the rate."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from finitewidth.common.number_words import listed
from finitewidth.papers.trust.results import words

RULES = {"common": "at the common rate", "scaled": "at rates of their own"}
Means = dict[tuple[str, str], pd.Series]  # (activation, rule) -> mean of each phase


def result(rows: pd.DataFrame, settings: Mapping[str, Any]) -> str:
    """Compare the lowest losses and the changes of both phases under both rules of the rate."""
    deep = {}
    for quantity in ("lowest_loss", "change"):
        cells = words.known_cells(rows, quantity)
        deep[quantity] = {
            key: words.deepest(part)
            for key, part in cells.groupby(["activation", "rate_rule"], sort=False)
        }
    losses = _means(deep["lowest_loss"])
    changes = _means(deep["change"])
    if not losses or not changes:
        return "No depth has trained networks of both phases, to be compared."
    parts = []
    for (activation, rule), means in losses.items():
        parts.append(
            f"{words.short(means['ordered'])} and {words.short(means['chaotic'])} for "
            f"{words.names([activation])} {RULES[rule]}"
        )
    return (
        f"Of {words.CONSTANT} the deepest ordered and chaotic networks reach {listed(parts)} "
        f"(means over cells{_overlapping(deep['lowest_loss'])}): {_order(losses)}. "
        f"{_of_changes(changes)}"
    )


def _means(deep: Mapping[Any, pd.DataFrame]) -> Means:
    """Mean over the cells of each phase, where both phases have some."""
    means = {}
    for key, cells in deep.items():
        if len(cells):
            means[key] = cells.groupby("phase")["value"].mean()
    return means


def _order(losses: Means) -> str:
    """Whether ordered networks have the larger loss, as the paper observes, at both rules."""
    worse = {key: bool(means["ordered"] > means["chaotic"]) for key, means in losses.items()}
    common = [holds for (_, rule), holds in worse.items() if rule == "common"]
    scaled = [holds for (_, rule), holds in worse.items() if rule == "scaled"]
    if all(common) and not any(scaled):
        return (
            "ordered ones are worse at the common rate, as the paper observes, but not at rates of "
            "their own"
        )
    if all(common + scaled):
        return "ordered ones are worse at both rates, as the paper observes"
    if not any(common + scaled):
        return "ordered ones are worse at neither rate, against the paper"
    return f"ordered ones are worse, as the paper observes, for {_listed(worse)} only"


def _overlapping(deep: Mapping[Any, pd.DataFrame]) -> str:
    """Where the cells of both phases have losses of the same size."""
    overlaps = {}
    for key, cells in deep.items():
        ordered = words.of_phase(cells, "ordered")
        overlaps[key] = words.overlap(ordered, words.of_phase(cells, "chaotic"))
    if not any(overlaps.values()):
        return ", which do not overlap"
    return f", which overlap for {_listed(overlaps)}"


def _of_changes(changes: Means) -> str:
    """Whether the kernels of chaotic networks change more at both rules."""
    more = {key: bool(means["chaotic"] > means["ordered"]) for key, means in changes.items()}
    if all(more.values()):
        factors = [means["chaotic"] / means["ordered"] for means in changes.values()]
        times = words.span(factors)
        return f"The kernels of chaotic networks change more, {times} times as much, at both rates."
    if not any(more.values()):
        return "The kernels of chaotic networks do not change more at either rate."
    return f"The kernels of chaotic networks change more for {_listed(more)} only."


def _listed(chosen: Mapping[tuple[str, str], bool]) -> str:
    """The activations and rules that are chosen, in words."""
    parts = []
    for rule, where in RULES.items():
        activations = [key[0] for key, holds in chosen.items() if holds and key[1] == rule]
        if activations:
            parts.append(f"{words.names(activations)} {where}")
    return listed(parts)
