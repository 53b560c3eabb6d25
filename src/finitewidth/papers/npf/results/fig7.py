"""What npf Figure 7 shows: which depth converges best at each width, beside the paper's best."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import pandas as pd

from finitewidth.common.number_words import number
from finitewidth.figures.by_depth import DESCENT
from finitewidth.papers.npf.figures.fig7 import BEST, RUN
from finitewidth.tables.numbers import runs_said


class Ends(NamedTuple):
    """The range of the error of a depth: of its runs, or two standard errors around its mean."""

    low: float
    high: float


def result(rows: pd.DataFrame, settings: Mapping[str, Any]) -> str:
    """Write a sentence for each width."""
    sentences = [_sentence(part) for _, part in rows.groupby("width", sort=True)]
    return " ".join(sentences)


def _sentence(rows: pd.DataFrame) -> str:
    """Say which depth of a width has the lowest error at the last step."""
    width = f"Among networks of width {rows['width'].iloc[0]:g} with fixed random gates"
    means = rows[(rows["panel"] == "errors") & (rows["dynamics"] == DESCENT)]
    if means.empty:
        return f"{width}, all descents diverged."
    step = means["step"].max()
    last = means[means["step"] == step].set_index("depth").sort_index()
    errors = last["geometric_mean"]
    lowest = errors.idxmin()
    start = (
        f"{width}, after {step:,.0f} steps ({runs_said(last['runs'])}), depth {lowest} has the "
        f"lowest error, {number(errors[lowest], 2)} of that at the start (geometric mean)"
    )
    best = rows.loc[rows["panel"] == BEST, "depth"]
    papers = best.iloc[0] if len(best) and best.iloc[0] in errors.index else None
    others = errors.drop(lowest)
    if others.empty:
        return f"{start}; no other depth is left to compare it with."
    if papers is None or papers == lowest:
        second = others.idxmin()
        agrees = ", as the paper says" if papers == lowest else ""
        other = f"{agrees}; the next is depth {second} with {number(errors[second], 2)}"
    else:
        second = papers
        other = f", not depth {papers} as the paper says, which has {number(errors[papers], 2)}"
    return f"{start}{other}{_ranges(rows, last, lowest, second)}."


def _ranges(rows: pd.DataFrame, last: pd.DataFrame, one: int, other: int) -> str:
    """Whether the errors of two depths can be told apart; ``one`` has the lower mean."""
    runs = rows[(rows["panel"] == RUN) & (rows["step"] == last["step"].iloc[0])]
    kind = "their runs" if len(runs) else "their ranges of two standard errors"
    lower, upper = (_ends(runs, last, depth) for depth in (one, other))
    if pd.isna(lower.high) or pd.isna(upper.low):
        return ", each from a single run"
    return f", and {kind} {'overlap' if lower.high >= upper.low else 'do not overlap'}"


def _ends(runs: pd.DataFrame, last: pd.DataFrame, depth: int) -> Ends:
    """The range of the error of a depth."""
    if runs.empty:
        return Ends(last["lowest"][depth], last["highest"][depth])
    errors = runs.loc[runs["depth"] == depth, "error_ratio"]
    if len(errors) < 2:
        return Ends(float("nan"), float("nan"))
    return Ends(errors.min(), errors.max())
