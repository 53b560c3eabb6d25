"""What dgn Figure 5 shows: which network learns first, and which one generalises better."""

import pandas as pd

from finitewidth.common.number_words import listed
from finitewidth.papers.dgn.figures.fig5 import PIXELS, Look
from finitewidth.papers.dgn.results.words import spread_of_runs, untrained
from finitewidth.tables.numbers import uncertain

LEARNT = 0.99  # of the training images; the mark is ours
NETWORKS = ("GaLU", "ReLU")


def result(rows: pd.DataFrame, settings: Look) -> str:
    """Say after how many epochs each network fits its images, and compare test accuracies."""
    ours = rows[rows["source"] == "ours"]
    if ours.empty:
        return "All runs diverged: no accuracy is shown."
    panels = {"mnist": "images", "labels": "random labels", "pixels": PIXELS[settings.pixels]}
    times = [f"{epochs_to(ours, list(panels), network)} with {network}" for network in NETWORKS]
    train = ours[ours["panel"] != "test"]
    named = train.assign(series=train["series"] + " on " + train["panel"].map(panels))
    test = ours[(ours["panel"] == "test") & (ours["epoch"] == ours["epoch"].max())]
    paper = rows[(rows["source"] == "paper") & (rows["panel"] == "test")]
    return (
        f"On {listed(panels.values())}, the mean train accuracy reaches 99 % "
        f"{' and '.join(times)}. After the last epoch the test accuracy is {accuracies(test)} "
        f"({spread_of_runs(ours['runs'].max())}); the paper has {accuracies(paper)} on MNIST."
        f"{untrained(named, settings.trained)}"
    )


def epochs_to(ours: pd.DataFrame, panels: list[str], network: str) -> str:
    """The first epochs at which the mean accuracies of a network are `LEARNT`."""
    learnt = ours[(ours["series"] == network) & (ours["accuracy"] >= LEARNT)]
    first = learnt.groupby("panel")["epoch"].min().reindex(panels)
    if first.isna().all():
        return "on none"
    epochs = ["never" if pd.isna(epoch) else f"{epoch:g}" for epoch in first]
    return f"at epochs {listed(epochs)}"


def accuracies(rows: pd.DataFrame) -> str:
    """Accuracies of both networks in percent, with standard deviations if there are any."""
    words = []
    for network in NETWORKS:
        for row in rows[rows["series"] == network].to_dict("records"):
            spread = 100 * row["standard_deviation"]
            words.append(f"{uncertain(100 * row['accuracy'], spread, 1)} % with {network}")
    return " and ".join(words) or "none"
