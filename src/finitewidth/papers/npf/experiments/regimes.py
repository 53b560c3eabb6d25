"""Five gate regimes for six networks and optimisers, job `npf_regimes` (npf and npf0 Table 2)."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from finitewidth.measures.accuracy import (
    SELECTIONS,
    means_of_runs,
    scores_by_replica,
    train_accuracies,
)
from finitewidth.measures.compare import difference_in_standard_errors, standard_error
from finitewidth.training.selection import chosen_step_sizes


def measure(inputs: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, pd.DataFrame]:
    """Accuracies of all runs, and their means next to the numbers printed in both versions.

    Returns:
        ``runs``: one row per run (see `scores_by_replica`), accuracies as fractions.
        ``rows``: one row per paper, row and regime, in percent: the columns of `means_of_runs` for
        all three selections and of `train_accuracies` with the threshold ``trained_from``,
        ``reported_mean`` and ``_spread``, ``difference`` (for the selection ``select``) and
        ``difference_se`` (in combined standard errors). If several step sizes were tried, only the
        chosen one is used.
    """
    runs = scores_by_replica(inputs["histories"], settings["trained"])
    runs["chosen"] = 0
    for row, history in inputs["histories"].groupby("row", sort=False):
        for regime, step_size in chosen_step_sizes(history.to_dict("records")).items():
            cell = (runs["row"] == row) & (runs["regime"] == regime)
            runs.loc[cell & (runs["step_size"] == step_size), "chosen"] = 1
    chosen, rows = runs[runs["chosen"] == 1], []
    for paper in ("npf", "npf0"):
        reported = inputs[f"reported_{paper}"]
        for printed in reported[reported["artifact"] == f"{paper}_table2"].to_dict("records"):
            cell = (chosen["row"] == printed["row"]) & (chosen["regime"] == printed["column"])
            rows.append(_row(paper, printed, chosen[cell], settings))
    return {"runs": runs.drop(columns="stage"), "rows": pd.DataFrame(rows)}


def _row(
    paper: str, printed: Mapping[str, Any], runs: pd.DataFrame, settings: Mapping[str, Any]
) -> dict[str, Any]:
    select = settings["select"]
    row = {
        "paper": paper,
        "row": printed["row"],
        "regime": printed["column"],
        "step_size": runs["step_size"].iloc[0],
    }
    row |= means_of_runs(runs, SELECTIONS, select, unit=100)
    row |= in_percent(train_accuracies(runs)) | {"trained_from": 100 * settings["trained"]}
    ours, our_spread = row[f"{select}_mean"], row[f"{select}_spread"]
    theirs, their_spread = float(printed["value"]), float(printed["spread"])
    our_error = standard_error(our_spread, row["runs"], ddof=1)
    their_error = standard_error(their_spread, int(printed["runs"]), ddof=0)
    return row | {
        "reported_mean": theirs,
        "reported_spread": their_spread,
        "reported_runs": int(printed["runs"]),
        "difference": ours - theirs,
        "difference_se": difference_in_standard_errors(ours, our_error, theirs, their_error),
    }


def in_percent(fitted: Mapping[str, Any]) -> dict[str, Any]:
    """The result of `finitewidth.measures.accuracy.train_accuracies` with accuracies in percent."""
    return {name: value if name == "trained" else 100 * value for name, value in fitted.items()}
