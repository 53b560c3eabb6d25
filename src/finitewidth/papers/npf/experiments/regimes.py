"""Five gate regimes for six networks and optimisers, job `npf_regimes` (npf and npf0 Table 2)."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from finitewidth.declarations import columns as shared
from finitewidth.measures.accuracy import (
    SCORES,
    SELECTIONS,
    means_of_runs,
    scores_by_replica,
    train_accuracies,
)
from finitewidth.measures.compare import difference_in_standard_errors, standard_error
from finitewidth.papers.npf.columns import networks as columns
from finitewidth.papers.npf.settings import Regimes
from finitewidth.records.tables import Table
from finitewidth.training.selection import chosen_step_sizes

TABLES = {
    "runs": Table(
        *SCORES.without("stage"),
        columns.CHOSEN,
    ),
    "rows": Table(
        columns.PAPER,
        columns.CELL_ROW,
        shared.REGIME,
        shared.STEP_SIZE,
        shared.RUNS,
        shared.DIVERGED_RUNS,
        columns.SELECTED_EPOCH,
        columns.BEST_TEST_MEAN,
        columns.BEST_TEST_SPREAD,
        columns.CROSS_FITTED_MEAN,
        columns.CROSS_FITTED_SPREAD,
        columns.LAST_MEAN,
        columns.LAST_SPREAD,
        columns.TRAIN_ACCURACY_PERCENT,
        columns.LOWEST_TRAIN_ACCURACY_PERCENT,
        columns.ALL_TRAINED,
        columns.TRAINED_FROM,
        columns.PRINTED_MEAN,
        columns.PRINTED_SPREAD,
        columns.PRINTED_RUNS,
        columns.DIFFERENCE,
        columns.DIFFERENCE_SE,
    ),
}


def measure(inputs: Mapping[str, Any], settings: Regimes) -> dict[str, pd.DataFrame]:
    """Accuracies of all runs, and their means next to the numbers printed in both versions.

    If several step sizes were tried, the means use the chosen one only.

    Returns:
        ``runs``: one row per run, accuracies as fractions; and ``rows``: one row per paper, row and
        regime, in percent. See `TABLES`.
    """
    runs = scores_by_replica(inputs["histories"], settings.trained)
    runs["chosen"] = 0
    for row, history in inputs["histories"].groupby("row", sort=False):
        for regime, step_size in chosen_step_sizes(history.to_dict("records")).items():
            is_cell = (runs["row"] == row) & (runs["regime"] == regime)
            runs.loc[is_cell & (runs["step_size"] == step_size), "chosen"] = 1
    chosen = runs[runs["chosen"] == 1]
    rows = []
    for paper in ("npf", "npf0"):
        reported = inputs[f"reported_{paper}"]
        for printed in reported[reported["artifact"] == f"{paper}_table2"].to_dict("records"):
            is_row = chosen["row"] == printed["row"]
            is_regime = chosen["regime"] == printed["column"]
            rows.append(_row(paper, printed, chosen[is_row & is_regime], settings))
    return {"runs": runs.drop(columns="stage"), "rows": pd.DataFrame(rows)}


def _row(
    paper: str, printed: Mapping[str, Any], runs: pd.DataFrame, settings: Regimes
) -> dict[str, Any]:
    """Our accuracies in one cell of Table 2, and their difference from the printed one."""
    select = settings.select
    row = {
        "paper": paper,
        "row": printed["row"],
        "regime": printed["column"],
        "step_size": runs["step_size"].iloc[0],
    }
    row |= means_of_runs(runs, SELECTIONS, select, unit=100)
    row |= in_percent(train_accuracies(runs))
    row["trained_from"] = 100 * settings.trained
    ours = row[f"{select}_mean"]
    our_error = standard_error(row[f"{select}_spread"], row["runs"], ddof=1)
    theirs = float(printed["value"])
    their_spread = float(printed["spread"])
    their_runs = int(printed["runs"])
    their_error = standard_error(their_spread, their_runs, ddof=0)
    return row | {
        "reported_mean": theirs,
        "reported_spread": their_spread,
        "reported_runs": their_runs,
        "difference": ours - theirs,
        "difference_se": difference_in_standard_errors(ours, our_error, theirs, their_error),
    }


def in_percent(accuracies: Mapping[str, Any]) -> dict[str, Any]:
    """The result of `finitewidth.measures.accuracy.train_accuracies` with accuracies in percent."""
    percent = {name: 100 * value for name, value in accuracies.items()}
    return percent | {"trained": accuracies["trained"]}
