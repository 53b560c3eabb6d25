"""What dgn Table 4 shows: how test accuracy depends on beta, and the place of ReLU."""

import pandas as pd

from finitewidth.papers.dgn.results.words import between, plainly, spread_of_runs
from finitewidth.papers.dgn.tables.table4 import Look
from finitewidth.tables.numbers import uncertain


def result(rows: pd.DataFrame, settings: Look) -> str:
    """Rank ReLU among the soft-ReLU networks, and name the best and the largest beta."""
    ours = rows[(rows["source"] == "ours") & (rows["epoch"] == "best_test")]
    paper = rows[(rows["source"] == "paper") & (rows["split"] == "test")]
    relu = ours[(ours["network"] == "relu") & ours["mean"].notna()]
    soft = ours[(ours["network"] == "soft_relu") & ours["mean"].notna()]
    if soft.empty or relu.empty:
        return "Networks diverged: ReLU and soft-ReLU cannot be compared."
    accuracy = uncertain(relu["mean"].iloc[0], relu["standard_deviation"].iloc[0], 3)
    trends = [trend(of_eps, paper[paper["eps"] == eps]) for eps, of_eps in soft.groupby("eps")]
    runs = spread_of_runs(ours["runs"].max())
    return (
        f"On {ours['data'].iloc[0]}, {above_relu(ours)} soft-ReLU networks have a higher mean test "
        f"accuracy than ReLU ({accuracy}, best epochs, {runs}), in the paper {above_relu(paper)}; "
        f"{' and '.join(trends)}. {on_training_images(rows)}"
    )


def above_relu(rows: pd.DataFrame) -> str:
    """How many soft-ReLU networks have a higher accuracy than ReLU, of all."""
    accuracies = rows.set_index("network")["mean"].dropna()
    if not {"relu", "soft_relu"} <= {*accuracies.index}:
        return "none"
    soft = accuracies[["soft_relu"]]
    return f"{int((soft > accuracies['relu']).sum())} of {len(soft)}"


def trend(ours: pd.DataFrame, paper: pd.DataFrame) -> str:
    """How the accuracy goes with beta, for one eps; the paper's beside ours."""
    of_beta = ours.set_index("beta")["mean"].sort_index()
    printed = paper.set_index("beta")["mean"].reindex(of_beta.index)
    case = rf"for $\epsilon$ = {ours['eps'].iloc[0]:g}"
    least, most = of_beta.index[0], of_beta.index[-1]
    if least == most:
        return rf"{case} it is {plainly(of_beta[least])} at the only $\beta$, {least:g}"
    best = of_beta.idxmax()
    beside = f"; paper: {plainly(printed[least])}, {plainly(printed[most])}"
    highest = f"highest at {best:g}, {plainly(of_beta[best])}" if best != most else "the highest"
    return (
        rf"{case} it goes from {plainly(of_beta[least])} at $\beta$ = {least:g} to "
        f"{plainly(of_beta[most])} at {most:g} ({highest}{beside if printed.notna().all() else ''})"
    )


def on_training_images(rows: pd.DataFrame) -> str:
    """Train accuracies of the deep linear network and of the others."""
    train = rows[(rows["source"] == "ours") & (rows["split"] == "train")].dropna(subset=["mean"])
    is_linear = train["network"] == "linear"
    others = between(train.loc[~is_linear, "mean"])
    if not is_linear.any():
        return f"Train accuracies are {others}."
    linear = plainly(train.loc[is_linear, "mean"].iloc[0])
    return f"The deep linear network fits {linear} of its training images, the others {others}."
