"""What trust Figures 1 and 7 show: the dispersion in both phases and at the border."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from finitewidth.common.number_words import listed
from finitewidth.kernels.ntk_init.phases import clear_phase
from finitewidth.papers.trust.figures.heat import EQUAL
from finitewidth.papers.trust.figures.looks import NAMES
from finitewidth.papers.trust.results.words import short, span

MAP = ["activation", "width", "sigma_b2"]
BAND = (1.3, EQUAL)  # ratios at the ends of the transition; ours


def result(rows: pd.DataFrame, settings: Mapping[str, Any]) -> str:
    """Say how large the ratio is at the largest depth, and where the border and the band lie."""
    cells = rows[rows["series"] == "cell"]
    deep = cells[cells["depth"] == cells["depth"].max()]
    borders = rows[(rows["series"] == "border") & (rows["source"] == "ours")]
    edges = borders.set_index(MAP)["sigma_w2"].to_dict()
    maps = {key: part.sort_values("sigma_w2") for key, part in deep.groupby(MAP, sort=False)}
    first = _in_phases(deep, edges)
    if rows["sigma_b2"].nunique() > 1:
        return f"{first} {_bands(maps)}"
    return f"{first} {_at_borders(maps, edges)}"


def _in_phases(deep: pd.DataFrame, edges: Mapping[Any, float]) -> str:
    """The ratio in the ordered and in the chaotic phase."""
    phases = []
    for row in deep.itertuples():
        phases.append(clear_phase(row.sigma_w2, edges[row.activation, row.width, row.sigma_b2]))
    phase = pd.Series(phases, index=deep.index)
    ordered = deep.loc[phase == "ordered", "dispersion"]
    chaotic = deep[phase == "chaotic"]
    above = int((chaotic["dispersion"] > EQUAL).sum())
    vague = int(chaotic["standard_error"].isna().sum())
    return (
        f"At depth {deep['depth'].max():g} the mean square of the kernel is {span(ordered)} times "
        f"its squared mean in the ordered phase (up to 3/4 of the border's weight variance) and "
        f"{span(chaotic['dispersion'])} times in the chaotic phase (from 5/4 on), where the "
        f"standard deviation is above the mean in {above} of {len(chaotic)} cells; {vague} of "
        "these have too few draws for a standard error."
    )


def _at_borders(maps: Mapping[Any, pd.DataFrame], edges: Mapping[Any, float]) -> str:
    """In which maps the standard deviation is below the mean at the border."""
    below = []
    count = 0
    for key, row in maps.items():
        variances = row["sigma_w2"].to_numpy()
        if not variances[0] <= edges[key] <= variances[-1]:
            continue
        count += 1
        log_ratio = np.interp(edges[key], variances, np.log(row["dispersion"]))
        if np.exp(log_ratio) < EQUAL:
            activation, width, _ = key
            below.append(f"{NAMES[activation]} with $M$ = {width:g}")
    where = f" ({listed(below)})" if 0 < len(below) < count else ""
    return (
        "At the border, where the paper has the standard deviation below the mean even for very "
        f"deep networks, this is so in {len(below)} of {count} maps{where}."
    )


def _bands(maps: Mapping[Any, pd.DataFrame]) -> str:
    """The width of the transition at the smallest and the largest bias variance."""
    widths: dict[str, dict[float, float]] = {}
    for (activation, _, bias), row in maps.items():
        widths.setdefault(activation, {})[bias] = band(row)
    changes = []
    narrows = []
    for activation, by_bias in widths.items():
        smallest = by_bias[min(by_bias)]
        largest = by_bias[max(by_bias)]
        if np.isfinite(smallest) and np.isfinite(largest):
            ends = f"{short(largest)} to {short(smallest)}"
            changes.append(f"from {ends} for {NAMES[activation]}")
            narrows.append(smallest < largest)
    ratios = f"a ratio of {BAND[0]:g} to {BAND[1]:g} (limits of ours)"
    if not changes:
        return f"The band of weight variances with {ratios} is not within all of the maps."
    if all(narrows):
        comparison = ": the transition narrows, as the paper observes"
    elif any(narrows):
        comparison = ": the transition narrows, as the paper observes, in one of them"
    else:
        comparison = ": the transition does not narrow, as the paper observes it"
    return (
        f"From the largest to the smallest bias variance, the band of weight variances with "
        f"{ratios} goes {listed(changes)}{comparison}."
    )


def band(row: pd.DataFrame) -> float:
    """Width of the band of weight variances in which the ratio rises through `BAND`."""
    ratios = np.log(row["dispersion"].cummax())
    if ratios.iloc[0] > np.log(BAND[0]) or ratios.iloc[-1] < np.log(BAND[1]):
        return float("nan")
    first, last = np.interp(np.log(BAND), ratios, row["sigma_w2"])
    return float(last - first)
