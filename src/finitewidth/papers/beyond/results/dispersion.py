"""What Figures 1, 2, 7, 8, 9 and 10 of beyond show: dispersions beside the paper's theory."""

import pandas as pd

from finitewidth.common.number_words import listed
from finitewidth.papers.beyond.figures.dispersion import Look
from finitewidth.papers.beyond.figures.lines import EDGE, samples_of
from finitewidth.papers.beyond.results import off_diagonal
from finitewidth.papers.beyond.results.words import (
    CLEAR,
    LAMBDA,
    at_largest,
    by_phase,
    phases_listed,
    span,
)

POINT = ["width", "alpha_0", "sigma_w2", "depth"]


def result(rows: pd.DataFrame, settings: Look) -> str:
    """Compare the paper's theory with exact values, and estimates with both."""
    if rows["cosine"].notna().any():
        return off_diagonal.result(rows)
    theory = limits(rows) if settings.group == "phases" else sums(rows)
    return f"{theory} {agreement(rows, has_bands=settings.errors == 'bands')}"


def limits(rows: pd.DataFrame) -> str:
    """Say how far the exact dispersions of the widest and deepest network are from Theorem 3.1."""
    exact = at_largest(rows[rows["series"] == "exact"], "width")
    exact = at_largest(exact, "depth_over_width")
    printed = rows[rows["series"] == "printed_limit"].set_index(POINT)["dispersion"]
    printed = printed.reindex(pd.MultiIndex.from_frame(exact[POINT])).to_numpy()
    below = rows.loc[rows["series"] == "ordered_limit", "dispersion"].iloc[0]
    limit = exact["dispersion"].where(exact["sigma_w2"] < EDGE, printed)
    limit = limit.mask(exact["sigma_w2"] < EDGE, below)
    over_limit = exact["dispersion"] / limit
    width = exact["width"].iloc[0]
    end = exact["depth_over_width"].iloc[0]
    return (
        "The exact dispersion of the NTK's diagonal over the limit of Theorem 3.1, which the "
        "paper calls accurate for sufficiently deep and wide networks, is "
        f"{phases_listed(over_limit, by_phase(exact['sigma_w2']))} (width {width:g}, "
        f"{LAMBDA} = {end:g})."
    )


def sums(rows: pd.DataFrame) -> str:
    """Say how far exact dispersions are from Theorem 3.2, and how they fall below the edge."""
    exact = rows[rows["series"] == "exact"].set_index(POINT)["dispersion"]
    printed = rows[rows["series"] == "printed_sums"].set_index(POINT)["dispersion"]
    over_sums = span(exact / printed.reindex(exact.index))
    sentence = (
        f"The exact dispersion of the NTK's diagonal is {over_sums} times the sums of Theorem 3.2 "
        "in the form of its proof, which the paper calls accurate at finite width"
    )
    table = exact.reset_index()
    falls = {}  # input dimension over width -> per cent
    for alpha_0, networks in table[table["sigma_w2"] < EDGE].groupby("alpha_0"):
        lines = [line.sort_values("depth") for _, line in networks.groupby("sigma_w2")]
        falls[f"{alpha_0:g}"] = span([100 * fall(line["dispersion"]) for line in lines], 1)
    if not falls:
        return f"{sentence}."
    return (
        f"{sentence}; below the edge of chaos it falls from its peak to the largest depth by "
        f"{listed(falls.values())} per cent for $\\alpha_0$ = {listed(falls)}."
    )


def fall(dispersions: pd.Series) -> float:
    """The last value below the largest one, as a share of the largest."""
    return float(1 - dispersions.iloc[-1] / dispersions.max())


def agreement(rows: pd.DataFrame, has_bands: bool) -> str:
    """Count the estimates of the larger sample near the exact values, and unknown errors."""
    drawn = rows[rows["series"] == "estimate"]
    kind = "estimates"
    if not has_bands:
        drawn = drawn[drawn["marked"] == 1]
        kind = "marked estimates"
    *smaller, larger = samples_of(drawn)
    last = drawn[drawn["sample"] == larger]
    exact = rows[rows["series"] == "exact"].set_index(POINT)["dispersion"]
    truth = exact.reindex(pd.MultiIndex.from_frame(last[POINT])).to_numpy()
    near = (last["dispersion"] - truth).abs() <= CLEAR * last["standard_error"]
    sentence = (
        f"Of {len(last)} {kind} from {networks_of(last)} networks each, {int(near.sum())} are "
        "within two standard errors of the exact values"
    )
    if last["standard_error"].isna().any():
        sentence += f"; the error of {unknown_errors(last)}"
    for sample in smaller:
        of_sample = drawn[drawn["sample"] == sample]
        sentence += f"; with {networks_of(of_sample)} networks the error of "
        sentence += unknown_errors(of_sample)
    return f"{sentence}."


def networks_of(rows: pd.DataFrame) -> str:
    """The number of networks behind each estimate."""
    return f"{int(rows['networks'].max()):,}"


def unknown_errors(rows: pd.DataFrame) -> str:
    """How many estimates have no known error, after *the error of*."""
    return f"{int(rows['standard_error'].isna().sum())} of {len(rows)} is not known"
