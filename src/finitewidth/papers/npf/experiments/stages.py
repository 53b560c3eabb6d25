"""Accuracy with gates learnt for different times, job `npf_stages` (npf Figure 3, left)."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from finitewidth.declarations import columns as shared
from finitewidth.measures.accuracy import SCORES, averaged, scores_by_replica, train_accuracies
from finitewidth.papers.npf.columns import networks as columns
from finitewidth.papers.npf.settings import SelectedStages
from finitewidth.records.tables import Table
from finitewidth.training.selection import chosen_step_sizes

TABLES = {
    "runs": Table(
        shared.REGIME,
        columns.STAGE,
        *SCORES.without("row", "regime", "stage"),
    ),
    "curves": Table(
        columns.PANEL,
        columns.SERIES_OF_STAGES,
        columns.STAGE_OF_CURVE,
        columns.ACCURACY,
        shared.SPREAD,
        shared.RUNS,
        shared.FAILED_RUNS,
        columns.TRAIN_ACCURACY,
        columns.LOWEST_TRAIN_ACCURACY,
        columns.ALL_TRAINED,
    ),
}


def measure(inputs: Mapping[str, Any], settings: SelectedStages) -> dict[str, pd.DataFrame]:
    """Accuracy of FLNPF at every stage, and its reference lines.

    ``frozen`` is the history of FRNPF (stage 0) and FLNPF (later stages); ``relu`` and ``random``
    are those of the row of Table 2 with the same network and optimiser.

    Returns:
        ``runs``: accuracies by stage and seed; and ``curves``, where a diverged run has failed, and
        where the reference lines, ReLU and FRNPF of Table 2, have no x. See `TABLES`.
    """
    runs = scores_by_replica(inputs["frozen"], settings.trained)
    rows = []
    for stage, group in runs.groupby("stage"):
        key = {"panel": "stages", "series": "FLNPF", "x": int(stage)}
        rows.append(key | _point(group, settings))
    # of Table 2; the gates of FRNPF are made as those of stage 0
    references = {"FRNPF": (inputs["random"], "frnpf_ii"), "ReLU": (inputs["relu"], "relu")}
    for series, (history, regime) in references.items():
        history = history[history["regime"] == regime]
        replicas = scores_by_replica(history, settings.trained)
        step_size = chosen_step_sizes(history.to_dict("records"))[regime]
        chosen = replicas[replicas["step_size"] == step_size]
        rows.append({"panel": "stages", "series": series, "x": None, **_point(chosen, settings)})
    return {"runs": runs.drop(columns="row"), "curves": pd.DataFrame(rows)}


def _point(runs: pd.DataFrame, settings: SelectedStages) -> dict[str, Any]:
    sound = runs[settings.select].where(runs["diverged"] == 0)
    return {**averaged(sound), **train_accuracies(runs)}
