"""Accuracies for the numbers that stand only in the text of dgn, job `dgn_text`."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from finitewidth.experiments.dgn.sweep import network_name
from finitewidth.experiments.text_numbers import KEYS, printed_in_text, text_row
from finitewidth.measures.accuracy import scores_by_replica


def measure(inputs: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, pd.DataFrame]:
    """Compute our accuracies, in percent, for the printed numbers.

    Args:
        inputs: ``gates_only``, a history; ``mnist``, the runs of dgn Figure 5; ``sweep``, the runs
            of Table 4; ``reported``, the printed numbers.
        settings: ``in_text``, the gate of the network that the text refers to; ``ddof``;
            ``select``, for each of ``gates_only``, ``mnist`` and ``sweep``.

    Returns:
        ``runs``: quantity, row, column, seed, value, diverged.
        ``rows``: quantity, row, column, mean, spread, runs, diverged, select, reported, place.
    """
    runs = pd.concat(
        [
            _part("test_accuracy", row, column, scores, settings["select"][section])
            for row, column, section, scores in _networks(inputs, settings["in_text"])
        ]
        + [_part("train_accuracy", "mnist", "all", inputs["mnist"], "train_last")]
    )
    printed = printed_in_text(inputs["reported"], "dgn")
    rows = []
    for key, group in runs.groupby(list(KEYS), sort=False):
        sound = group["value"].where(group["diverged"] == 0)
        rows.append(text_row(key, sound, group["select"].iloc[0], printed, settings["ddof"]))
    return {"runs": runs, "rows": pd.DataFrame(rows)}


def _networks(
    inputs: Mapping[str, Any], in_text: Mapping[str, float]
) -> list[tuple[str, str, str, pd.DataFrame]]:
    """(row, column, section of the settings, runs) of each network with a printed accuracy."""
    mnist, sweep = inputs["mnist"], inputs["sweep"]
    original = mnist[mnist["variant"] == "original"]
    soft = sweep[sweep["network"] == network_name({"regime": "soft_relu", **in_text})]
    return [
        ("cifar10", "gates_only", "gates_only", scores_by_replica(inputs["gates_only"])),
        ("cifar10", "soft_relu", "sweep", soft),
        *(("mnist", regime, "mnist", original[original["regime"] == regime])
          for regime in ("galu", "relu")),
    ]  # fmt: skip


def _part(quantity: str, row: str, column: str, scores: pd.DataFrame, select: str) -> pd.DataFrame:
    return pd.DataFrame(
        {"quantity": quantity, "row": row, "column": column, "seed": scores["seed"],
         "value": 100 * scores[select], "diverged": scores["diverged"], "select": select}
    )  # fmt: skip
