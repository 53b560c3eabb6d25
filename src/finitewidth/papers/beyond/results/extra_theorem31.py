"""What our figure on Theorem 3.1 of beyond shows: how far its printed limit is off."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from finitewidth.common.number_words import listed
from finitewidth.papers.beyond.results.words import CLEAR, LAMBDA, at_largest, fixed, span

PHASES = {
    "ordered": "below the edge of chaos",
    "critical": "at the edge of chaos",
    "chaotic": "in the chaotic phase",
}


def result(rows: pd.DataFrame, settings: Mapping[str, Any]) -> str:
    """Say how far the printed limit is off, and what the networks drawn in full agree with."""
    curves = rows[rows["panel"] == "curves"]
    last = at_largest(curves, "depth_over_width")
    end = last["depth_over_width"].iloc[0]
    corrected = last[last["curve"] == "corrected_limit"]
    ratios = []
    for row in corrected.itertuples():
        ratios.append(f"{fixed(row.over_printed)} {PHASES[row.phase]}")
    exact = at_largest(last[last["curve"] == "exact"], "width")
    return (
        f"At {LAMBDA} = {end:g} the corrected limit of the NTK's dispersion over the limit that "
        f"Theorem 3.1 prints is {listed(ratios)}, and the exact dispersion at width "
        f"{exact['width'].iloc[0]:g} over it {span(exact['over_printed'])}; {crossing(curves)}. "
        f"{networks(rows[rows['panel'] == 'small'])}"
    )


def crossing(curves: pd.DataFrame) -> str:
    """From which depth over width on the lower bound exceeds the printed limit."""
    bounds = curves[curves["curve"] == "lower_bound"]
    starts = []
    for _, line in bounds.groupby("phase", sort=False):
        above = line[line["over_printed"] > 1]
        if len(above):
            starts.append(fixed(above["depth_over_width"].min()))
    if not starts:
        return "the lower bound of the limit does not exceed the printed one"
    return f"a lower bound of the limit exceeds the printed one from {LAMBDA} = {listed(starts)} on"


def networks(small: pd.DataFrame) -> str:
    """Count the depths at which networks drawn in full agree with exact values, and with sums."""
    table = small.pivot(index="depth", columns="curve", values="dispersion")
    drawn = small[small["curve"] == "networks"].set_index("depth")
    error = drawn["standard_error"]
    near = (drawn["dispersion"] - table["exact"]).abs() <= CLEAR * error
    above = drawn["dispersion"] - table["printed_sums"] > CLEAR * error
    count = int(drawn["networks"].max())
    return (
        f"Networks of width {drawn['width'].iloc[0]:g} drawn in full, {count:,} at each depth, are "
        f"within two standard errors of the exact value at {int(near.sum())} of {len(drawn)} "
        f"depths, and more than two above the sums of Theorem 3.2 at {int(above.sum())}."
    )
