"""What trust Figure 2 shows: the ratio in both phases, and what few draws make of it."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from finitewidth.common.number_words import listed, number
from finitewidth.kernels.ntk_init.phases import phase
from finitewidth.papers.trust.figures.fig2 import MANY
from finitewidth.papers.trust.results.words import percent, short, span

PAIR = ["sigma_w2", "sigma_b2"]
LARGE = 3.0  # ratio from which on the few draws are compared


def result(rows: pd.DataFrame, settings: Mapping[str, Any]) -> str:
    """Say what the ratio does in the ordered and chaotic phase, and how far few draws are off."""
    many = rows[rows["series"].isin(MANY)].sort_values("depth")
    ordered = []
    chaotic = []
    for (variance, bias), curves in many.groupby(PAIR, sort=False):
        name = rf"$\sigma_w^2$ = {variance:g}, $\sigma_b^2$ = {bias:g}"
        place = phase("relu", variance)
        if place == "ordered":
            ordered.append(f"{_by_width(curves)} at {name}")
        elif place == "chaotic":
            chaotic.append(f"{_by_depth_over_width(curves)} at {name}")
    parts = []
    if ordered:
        parts.append(f"at the largest depth in the ordered phase it is {listed(ordered)}")
    if chaotic:
        parts.append(f"in the chaotic phase it is {listed(chaotic)}")
    sentence = "; ".join(parts) or "it is shown at the border of the phases only"
    return f"Mean square of the kernel over its squared mean: {sentence}. {_few_draws(rows, many)}"


def _by_width(curves: pd.DataFrame) -> str:
    """The ratio of the narrowest and the widest network at their largest depths."""
    last = curves.groupby("width")["dispersion"].last()
    widths = last.index
    narrow = f"{number(last.iloc[0])} for $M$ = {widths[0]:,g}"
    if len(last) == 1:
        return narrow
    falls = bool((np.diff(last) < 0).all())
    order = "falling from width to width" if falls else "not falling from width to width"
    return f"{narrow} and {number(last.iloc[-1])} for $M$ = {widths[-1]:,g} ({order})"


def _by_depth_over_width(curves: pd.DataFrame) -> str:
    """The ratio of all widths at the largest depth over width that all reach, and at half of it."""
    largest = curves.groupby("width")["depth_over_width"].max().min()
    values: dict[float, list[float]] = {largest / 2: [], largest: []}
    for _, curve in curves.groupby("width"):
        for at, found in values.items():
            log_ratio = np.interp(at, curve["depth_over_width"], np.log(curve["dispersion"]))
            found.append(float(np.exp(log_ratio)))
    half, whole = (f"{span(found)} at $L/M$ = {short(at)}" for at, found in values.items())
    return f"{half} and {whole} over all widths"


def _few_draws(rows: pd.DataFrame, many: pd.DataFrame) -> str:
    """How far the ratios of few draws are from those of many where these are large."""
    keys = [*PAIR, "width", "depth"]
    few = rows[rows["series"] == "few draws"]
    both = few.merge(many[[*keys, "dispersion"]], on=keys, suffixes=("", "_of_many"))
    large = both[both["dispersion_of_many"] > LARGE]
    if large.empty:
        return f"No ratio is above {LARGE:g}."
    share = large["dispersion"] / large["dispersion_of_many"]
    below = int((share < 1).sum())
    return (
        f"As few draws as the paper's give a smaller ratio at {below} of the {len(large)} points "
        f"where it is above {LARGE:g}; in the median they give {percent([share.median()])} of it."
    )
