"""What Figure 6 of beyond shows: which shape has the least dispersion, and where it falls."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from finitewidth.common.number_words import listed
from finitewidth.papers.beyond.results.words import VARIANCE

CURVES = {"printed_sums": "by the sums of Theorem 3.2", "exact": "by exact values"}
OTHERS = ["constant", "shrinking"]


def result(rows: pd.DataFrame, settings: Mapping[str, Any]) -> str:
    """Compare the deepest networks of three shapes; say whether shrinking ones only rise."""
    curves = rows[rows["panel"] == "dispersion"]
    end = curves["depth_over_width"].max()
    return (
        f"At the largest depth, {end:g} of the mean width, the dispersion of the NTK is lowest in "
        f"the network whose widths grow for {least_growing(curves)}; the paper finds it lower in "
        f"networks that grow. In networks that shrink, where the paper finds that it only rises "
        f"with depth, {falls(curves)}."
    )


def least_growing(curves: pd.DataFrame) -> str:
    """For which weight variances the growing network has the least dispersion of all."""
    variances = {}
    for curve, words in CURVES.items():
        rows = curves[curves["curve"] == curve]
        last = rows.groupby(["architecture", "sigma_w2"])["depth_over_width"].transform("max")
        deepest = rows[rows["depth_over_width"] == last]
        table = deepest.pivot(index="sigma_w2", columns="architecture", values="dispersion")
        is_least = table["growing"] < table[OTHERS].min(axis=1)
        variances[words] = where(is_least)
    return same_or_each(variances)


def where(holds: pd.Series) -> str:
    """The weight variances for which something holds, and those for which it does not."""
    if holds.all():
        return f"all {len(holds)} weight variances"
    if not holds.any():
        return f"none of {len(holds)} weight variances"
    yes = listed(f"{variance:g}" for variance in holds.index[holds])
    no = listed(f"{variance:g}" for variance in holds.index[~holds])
    return f"{VARIANCE} = {yes}, not for {no}"


def falls(curves: pd.DataFrame) -> str:
    """For how many weight variances the dispersion of shrinking networks falls at some depth."""
    counts = {}
    for curve, words in CURVES.items():
        rows = curves[(curves["curve"] == curve) & (curves["architecture"] == "shrinking")]
        table = rows.pivot(index="depth_over_width", columns="sigma_w2", values="dispersion")
        falling = (table.sort_index().diff() < 0).any()
        counts[words] = f"{int(falling.sum())} of {len(falling)} weight variances"
    return f"it falls at some depth for {same_or_each(counts)}"


def same_or_each(words: Mapping[str, str]) -> str:
    """What both curves say, once if it is the same."""
    if len(set(words.values())) == 1:
        return f"{next(iter(words.values()))} ({' as '.join(words)})"
    return " and ".join(f"{said} {by}" for by, said in words.items())
