"""What dgn Figure 3 shows: up to which depth convergence gets better."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from finitewidth.common.number_words import listed
from finitewidth.figures.by_depth import DESCENT
from finitewidth.papers.dgn.results.words import count_of_runs, plainly


def result(rows: pd.DataFrame, settings: Mapping[str, Any]) -> str:
    """Name the depth with the lowest error of each width, at the last step that all reach."""
    descent = rows[(rows["panel"] == "errors") & (rows["dynamics"] == DESCENT)]
    if descent.empty:
        return "Gradient descent diverged in all networks: no convergence is seen."
    step = descent.groupby("width")["step"].max().min()
    lowest = []
    ends = []
    for width, of_width in descent[descent["step"] == step].groupby("width"):
        of_depth = of_width.set_index("depth").sort_index()
        best = of_depth["error_ratio"].idxmin()
        lowest.append(f"at depth {best} at width {width:g} ({in_numbers(of_depth)})")
        if best < of_depth.index[-1]:
            ends.append(f"beyond depth {best} at width {width:g}")
    sentence = (
        f"After {step:,.0f} steps of gradient descent with fixed random gates, the mean squared "
        f"error is lowest {listed(lowest)}, relative to that at the start"
    )
    if not ends:
        return f"{sentence}: convergence is best at the largest depth, as the paper observes."
    return (
        f"{sentence}. The paper observes that convergence gets better with depth; here it does not "
        f"{listed(ends)}."
    )


def in_numbers(of_depth: pd.DataFrame) -> str:
    """The lowest error of a width, and that of the deepest networks with the ranges of the runs."""
    best = of_depth.loc[of_depth["error_ratio"].idxmin()]
    last = of_depth.iloc[-1]
    runs = count_of_runs(of_depth["runs"].min())
    lowest = plainly(best["error_ratio"], 2)
    if best.name == last.name:
        return f"{lowest}; {runs}"
    apart = best["greatest"] < last["least"]
    ranges = f"ranges of {runs} {'apart' if apart else 'overlap'}"
    return f"{lowest}, but {plainly(last['error_ratio'], 2)} at depth {last.name}; {ranges}"
