"""Choice of epochs and step sizes by accuracy. Does not import torch."""

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any


def chosen_step_sizes(rows: Iterable[Mapping[str, Any]]) -> dict[str, float]:
    """Return the best step size of each regime, from the history of one or more trainings.

    As in the papers ("best of 0.1, 0.01, 0.001"), this is the step size with the highest mean over
    seeds of the best test accuracies. On a tie the larger step size is chosen. A step size with a
    diverged run is chosen only if every step size has one.
    """
    import pandas as pd

    types = {"step_size": float, "seed": int, "test_accuracy": float, "diverged": int}
    history = pd.DataFrame(rows).astype(types)
    runs = history.groupby(["regime", "step_size", "seed"])[["test_accuracy", "diverged"]].max()
    runs["converged"] = runs["diverged"] == 0
    sizes = runs.groupby(["regime", "step_size"]).agg({"converged": "all", "test_accuracy": fmean})
    sizes = sizes.reset_index().sort_values(["converged", "test_accuracy", "step_size"])
    best = sizes.groupby("regime")["step_size"].last()
    return best.reindex(history["regime"].unique()).to_dict()


def replica_number(rows: Sequence[Mapping[str, Any]], seed: int) -> int:
    """Return the index in a stack of one regime of the replica with a seed and the best step size.

    ``rows`` are the history of the stack, in the order written.
    """
    chosen = chosen_step_sizes(rows)
    first_epoch = [row for row in rows if int(row["epoch"]) == int(rows[0]["epoch"])]
    for number, row in enumerate(first_epoch):
        has_chosen_size = float(row["step_size"]) == chosen[str(row["regime"])]
        if int(row["seed"]) == seed and has_chosen_size:
            return number
    raise LookupError(f"no replica has the seed {seed} and the chosen step size")
