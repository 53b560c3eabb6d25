"""What dgn Figure 8 shows: at how many epochs nu is below the bound that the paper names."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from finitewidth.common.number_words import listed
from finitewidth.papers.dgn.results.words import count_of_runs, plainly, share, untrained

START = "value at t = 0"
# panel -> series, its bound, and both in words
PAIRS = {
    "gates": ("learnt gates", "unlearnt gates", "with learnt than with unlearnt gates"),
    "adaptable": ("ReLU", "frozen ReLU", "with ReLU than with frozen ReLU"),
    "ka": ("soft-GaLU", START, "for the kernel of the gating weights than at the start"),
    "ka_hat": ("soft-GaLU", START, "for the same kernel over its trace than at the start"),
}


def result(rows: pd.DataFrame, settings: Mapping[str, Any]) -> str:
    """Count the epochs after the start at which the mean of nu is below that of its bound."""
    counts = []
    for panel, (series, bound, words) in PAIRS.items():
        both = with_bound(rows[rows["panel"] == panel], series, bound)
        if both.empty:
            continue
        below = int((both["nu"] < both["bound"]).sum())
        last = both.iloc[-1]
        ends = f"{plainly(last['nu'], 2)} against {plainly(last['bound'], 2)}"
        counts.append(f"{words} at {share(below, len(both))} (at the last {ends})")
    if not counts:
        return r"No kernel of these networks has a value of $\nu_t$ to compare."
    networks = rows[rows["series"] != START]
    runs = count_of_runs(rows["runs"].max())
    return (
        r"At the epochs shown after the start, the mean energy $\nu_t$ of the labels in the "
        f"inverse kernel ({runs}) is smaller {listed(counts)}; in the paper it is at all."
        f"{untrained(networks, settings['trained'])}"
    )


def with_bound(rows: pd.DataFrame, series: str, bound: str) -> pd.DataFrame:
    """The means of nu of a network at the epochs after the start, and those of its bound."""
    curves = rows[rows["epoch"] > 0].pivot_table("nu", "epoch", "series")
    if series not in curves:
        return pd.DataFrame()
    if bound == START:
        limits = rows.loc[rows["series"] == START, "nu"]
        curves[START] = limits.iloc[0] if len(limits) else float("nan")
    if bound not in curves:
        return pd.DataFrame()
    return pd.DataFrame({"nu": curves[series], "bound": curves[bound]}).dropna()
