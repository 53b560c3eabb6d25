"""What dgn Figure 10 shows: the first step, how fast the error falls, and how the kernel grows."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from finitewidth.figures.by_depth import DESCENT
from finitewidth.papers.dgn.results.words import between, count_of_runs, plainly, share

HUNDREDTH = 0.01  # of the squared error at the start; the mark is ours


def result(rows: pd.DataFrame, settings: Mapping[str, Any]) -> str:
    """Give the ratio of the first step, the steps to a hundredth and the last kernel, by depth."""
    descent = rows[rows["dynamics"] == DESCENT]
    error = curves(descent, "error")
    if error.empty:
        return "All runs diverged: no dynamics are shown."
    growth = curves(descent, "kernel").iloc[-1]
    printed = rows.loc[rows["source"] == "paper", "value"]
    stated = f" (paper: {plainly(printed.iloc[0])})" if len(printed) else ""
    sentence = (
        f"In deep linear networks of depths {error.columns[0]:g} to {error.columns[-1]:g} the first"
        f" step leaves {between(error.loc[1])} of the squared error{stated}, and the kernel ends at"
        f" {between(growth)} times what it was (means of {count_of_runs(descent['runs'].max())})"
    )
    steps = steps_to(error)
    if steps.isna().any():
        left = between(error.iloc[-1])
        return f"{sentence}. After {error.index[-1]:g} steps {left} of the error is left."
    fixed = rows[(rows["quantity"] == "error") & (rows["dynamics"] == "ideal")]
    at_ideal = fixed.loc[(fixed["source"] == "ours") & (fixed["value"] <= HUNDREDTH), "step"].min()
    faster = share(int((steps < at_ideal).sum()), len(steps))
    return (
        f"{sentence}. A hundredth is reached after {steps.iloc[0]:g} steps at depth "
        f"{steps.index[0]:g} and {steps.iloc[-1]:g} at depth {steps.index[-1]:g}, before a kernel "
        f"that stays $d$ ({plainly(at_ideal)} steps) at {faster} depths; the paper calls the "
        "dynamics similar, and faster than with such a kernel."
    )


def curves(rows: pd.DataFrame, quantity: str) -> pd.DataFrame:
    """The curves of a quantity, a row per step and a column per depth."""
    return rows[rows["quantity"] == quantity].pivot_table("value", "step", "depth")


def steps_to(error: pd.DataFrame) -> pd.Series:
    """Depth -> first step at which the mean error is a hundredth, NaN if there is none."""
    reached = error <= HUNDREDTH
    return reached.idxmax().where(reached.any()).astype(float)
