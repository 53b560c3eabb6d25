"""What Figure 4 of beyond shows: gaps between classes, test losses, and the paper's values."""

import pandas as pd

from finitewidth.common.number_words import listed
from finitewidth.papers.beyond.figures.fig4 import PRINTED, Look
from finitewidth.papers.beyond.results.words import VARIANCE, fixed, span

RATIOS = {
    "same_class_with_diagonal": r"$\Theta_c/\Theta_d$ with the diagonal",
    "other_class": r"$\Theta_n/\Theta_d$",
}


def result(rows: pd.DataFrame, settings: Look) -> str:
    """Say how the gap of classes changes, beside the losses, and what is farthest off."""
    curves = rows[rows["panel"] == "curve"]
    ours = curves[curves["source"] == "ours"]
    gaps = gaps_of(ours).dropna()
    if gaps.empty:
        return "All trainings diverged, so that no kernel can be compared."
    first = gaps.iloc[:, 0]
    last = gaps.iloc[:, -1]
    changes = []
    for variance in gaps.index:
        change = f"from {fixed(first[variance])} to {fixed(last[variance])}"
        changes.append(f"{change} for {VARIANCE} = {variance:g}")
    step = gaps.columns[-1]
    runs = int(ours["runs"].max())
    return (
        r"The gap of classes, $(\Theta_c-\Theta_n)/\Theta_d$, goes "
        f"{listed(changes)} in {step:g} steps (means of {runs} runs); {order(ours, last)}. "
        f"{farthest(curves)}"
    )


def gaps_of(ours: pd.DataFrame) -> pd.DataFrame:
    """Same class less other classes, over the diagonal: weight variances by steps."""
    table = ours.pivot(index=["sigma_w2", "step"], columns="quantity", values="value")
    return (table["same_class"] - table["other_class"]).unstack("step").sort_index(axis=1)


def order(ours: pd.DataFrame, gaps: pd.Series) -> str:
    """Whether a larger gap goes with a smaller median test loss at the last step."""
    tests = ours[(ours["quantity"] == "test_loss") & (ours["step"] == ours["step"].max())]
    losses = tests.set_index("sigma_w2")["value"].reindex(gaps.index).dropna()
    if len(losses) < 2:
        return "one weight variance has no order of gaps and losses"
    by_gap = gaps[losses.index].sort_values(ascending=False).index
    goes = "goes" if losses[by_gap].is_monotonic_increasing else "does not always go"
    ranges = tests.set_index("sigma_w2").loc[losses.index, ["lowest", "highest"]].to_numpy()
    return (
        f"a larger gap, which the paper thinks may be related to better performance, {goes} with a "
        f"smaller median test loss (runs {listed(span(ends, 3) for ends in ranges)})"
    )


def farthest(curves: pd.DataFrame) -> str:
    """The ratio at the last step that is farthest from the paper's."""
    ratios = curves[curves["quantity"].isin(set(PRINTED.values()) & set(RATIOS))]
    keys = ["sigma_w2", "quantity"]
    ours = ratios[ratios["source"] == "ours"]
    ours = ours[ours["step"] == ours["step"].max()].set_index(keys)["value"]
    paper = ratios[ratios["source"] == "paper"]
    data = curves.loc[curves["source"] == "ours", "data"].iloc[0]
    distance = (ours - paper.set_index(keys)["value"]).abs().dropna()
    if distance.empty:
        return "The paper has no value for these weight variances."
    variance, quantity = distance.idxmax()
    row = paper[(paper["sigma_w2"] == variance) & (paper["quantity"] == quantity)].iloc[0]
    return (
        f"Farthest from the paper's values is {RATIOS[quantity]} for {VARIANCE} = {variance:g}: "
        f"{fixed(ours[variance, quantity])} on {data}, and {fixed(row['value'])} ± "
        f"{fixed(row['reading_error'])} after {int(row['step']):,} steps on {row['data']} in the "
        "paper's picture."
    )
