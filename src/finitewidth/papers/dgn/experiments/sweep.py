"""Deep linear, ReLU and soft-ReLU networks, job `dgn_sweep` (dgn Table 4)."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from finitewidth.declarations import columns as shared
from finitewidth.measures.accuracy import SCORES, SELECTIONS, means_of_runs, scores_by_replica
from finitewidth.papers.dgn import columns
from finitewidth.papers.dgn.experiments.mnist import images_of
from finitewidth.papers.dgn.settings import Sweep
from finitewidth.records.tables import Table

TABLES = {
    "runs": Table(
        columns.NETWORK_OF_TABLE,
        *SCORES.without("row", "stage", "variant"),
        columns.TRAIN_IMAGES,
    ),
    "rows": Table(
        columns.NETWORK_OF_TABLE,
        shared.REGIME,
        shared.BETA,
        shared.EPS,
        shared.RUNS,
        shared.DIVERGED_RUNS,
        columns.SELECTED_EPOCH,
        columns.BEST_TRAIN_MEAN,
        columns.BEST_TRAIN_SPREAD,
        columns.BEST_TEST_MEAN,
        columns.BEST_TEST_SPREAD,
        columns.CROSS_FITTED_MEAN,
        columns.CROSS_FITTED_SPREAD,
        columns.LAST_MEAN,
        columns.LAST_SPREAD,
        columns.LOWEST_TRAIN_ACCURACY,
        columns.ALL_TRAINED,
        columns.PRINTED_TRAIN,
        columns.PRINTED_TEST,
    ),
}


def measure(inputs: Mapping[str, Any], settings: Sweep) -> dict[str, pd.DataFrame]:
    """Accuracies of all runs, and their means next to the printed ones, as fractions.

    Returns:
        ``runs``, a row per run, and ``rows``, a row per network, see `TABLES`.
    """
    histories = inputs["histories"]
    runs = scores_by_replica(histories, settings.trained)
    runs.insert(0, "network", [network_name(run) for run in runs.to_dict("records")])
    runs["train_images"] = images_of(histories["train_accuracy"])
    reported = inputs["reported"]
    in_table4 = reported[reported["artifact"] == "dgn_table4"]
    printed = in_table4.set_index(["row", "column"])["value"]
    accuracies = ("best_train", *SELECTIONS)
    rows = []
    for name, group in runs.groupby("network", sort=False):
        row = {
            "network": name,
            **group[["regime", "beta", "eps"]].iloc[0],
            **means_of_runs(group, accuracies, settings.select),
            "train_accuracy_lowest": group["best_train"].min(),
            "trained": int(group["trained"].min()),
            "reported_train": printed.get((name, "train")),
            "reported_test": printed.get((name, "test")),
        }
        rows.append(row)
    return {"runs": runs.drop(columns=["row", "stage", "variant"]), "rows": pd.DataFrame(rows)}


def network_name(run: Mapping[str, Any]) -> str:
    """Name of the network of a run in ``config/reported/dgn.csv``."""
    regime = run["regime"]
    if regime == "soft_relu":
        return soft_relu_name(run["eps"], run["beta"])
    return "dln" if regime == "linear" else regime


def soft_relu_name(eps: float, beta: float) -> str:
    """Name of a soft-ReLU network in ``config/reported/dgn.csv``, ``soft_relu_eps0.1_beta8``."""
    return f"soft_relu_eps{eps:g}_beta{beta:g}"
