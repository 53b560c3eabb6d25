"""What trust Figures 5 and 6 show: how kappa depends on the data and on the depth."""

import numpy as np
import pandas as pd

from finitewidth.common.number_words import listed
from finitewidth.papers.trust.figures.kappa import PANEL, KappaLook
from finitewidth.papers.trust.results.words import percent, span

EARLY = 10  # layers: the depth that the largest one is compared with
PLACES = {
    "ordered": "in the ordered phase",
    "border": "at the border",
    "chaotic": "in the chaotic phase",
}


def result(rows: pd.DataFrame, settings: KappaLook) -> str:
    """Compare the largest depth with `EARLY` layers, of inputs with a covariance below 1."""
    curves = rows[(rows["source"] == "ours") & (rows["covariance"] < 1)]
    depths = np.sort(curves["depth"].unique())
    early = depths[np.abs(depths - EARLY).argmin()]
    at = {depth: curves[curves["depth"] == depth] for depth in (early, depths[-1])}
    if len(at) == 1:
        return f"Only depth {depths[-1]:g} is there: nothing is seen of the depth."
    return _differences(at) if settings.show == "kappa_2" else _ratios(at)


def _differences(at: dict[float, pd.DataFrame]) -> str:
    """Largest less smallest kappa_2 over its mean, at both depths."""
    spreads = {}
    for depth, rows in at.items():
        values = rows.groupby(PANEL)["value"]
        spreads[depth] = (values.max() - values.min()) / values.mean()
    parts = []
    for depth, spread in spreads.items():
        by_phase = [
            f"{percent(spread[spread.index.get_level_values('phase') == phase])} {place}"
            for phase, place in _places(spread).items()
        ]
        parts.append(f"at depth {depth:g} by {listed(by_phase)}")
    early, late = spreads.values()
    fall = int((late < early).sum())
    return (
        r"Over covariances of the inputs below 1, $\kappa_2$ of infinitely wide networks differs "
        f"(largest less smallest, over the mean) {', and '.join(parts)}. From the one depth to "
        f"the other the difference falls in {fall} of {len(early)} panels; the paper "
        "has it small, and go to 0 with depth."
    )


def _ratios(at: dict[float, pd.DataFrame]) -> str:
    """kappa_1 over kappa_2 at the largest depth, and how many curves grow."""
    early, late = at.values()
    parts = []
    for phase, place in _places(late.set_index("phase")).items():
        parts.append(f"{span(late.loc[late['phase'] == phase, 'value'])} {place}")
    keys = [*PANEL, "covariance"]
    both = early.merge(late, on=keys, suffixes=("", "_late"))
    others = both[both["phase"] != "ordered"]
    grows = int((others["value_late"] > others["value"]).sum())
    first, last = at
    return (
        rf"At depth {last:g} the ratio $\kappa_1/\kappa_2$ of infinitely wide networks, for inputs "
        f"with a covariance below 1, is {listed(parts)}; the paper's limit of "
        f"the ordered phase is 1. Outside this phase, where the paper has it grow with depth, it "
        f"is larger than at depth {first:g} for {grows} of {len(others)} curves."
    )


def _places(rows: pd.DataFrame | pd.Series) -> dict[str, str]:
    """Phase -> where that is in words, of the phases in the index."""
    phases = set(rows.index.get_level_values("phase"))
    return {phase: place for phase, place in PLACES.items() if phase in phases}
