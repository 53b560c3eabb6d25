"""What dgn Figure 7 shows: whether gates that are learnt or adapt generalise better."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from finitewidth.common.number_words import listed
from finitewidth.papers.dgn.results.words import spread_of_runs, untrained
from finitewidth.tables.numbers import uncertain

# panel -> network whose gates were not learnt, and those that the paper observes to be better
BETTER = {
    "test": ("GaLU", ("ReLU", "soft-ReLU", "soft-GaLU")),
    "gates": ("unlearnt gates", ("learnt gates",)),
    "adaptable": ("frozen ReLU", ("ReLU",)),
}


def result(rows: pd.DataFrame, settings: Mapping[str, Any]) -> str:
    """Compare the errors on test images after the last epoch, and name the untrained networks."""
    test = rows[(rows["split"] == "test") & (rows["epoch"] == rows["epoch"].max())]
    comparisons = []
    smaller = []
    for panel, (fixed, others) in BETTER.items():
        of_network = test[test["panel"] == panel].set_index("series")
        learnt = [name for name in others if name in of_network.index]
        if fixed not in of_network.index or not learnt:
            continue
        words = [f"{name} {error(of_network.loc[name])}" for name in learnt]
        comparisons.append(f"{fixed} {error(of_network.loc[fixed])}, {listed(words)}")
        bound = of_network["squared_error"][fixed]
        smaller += [of_network["squared_error"][name] < bound for name in learnt]
    if not smaller:
        return "Networks diverged: no two of them can be compared."
    right = 100 * test["test_accuracy"]
    return (
        "After the last epoch the mean squared error on test images is smaller with gates that "
        f"adapt or were learnt in {sum(smaller)} of {len(smaller)} pairs, in the paper in all: "
        f"{'; '.join(comparisons)} ({spread_of_runs(test['runs'].max())}). "
        f"Of {test['test_images'].iloc[0]:g} test images {right.min():.1f} to {right.max():.1f} % "
        f"are classified rightly.{untrained(rows, settings['trained'])}"
    )


def error(row: pd.Series) -> str:
    """A squared error with its standard deviation over runs."""
    return uncertain(row["squared_error"], row["standard_deviation"], 4)
