"""Choice of epochs and step sizes by accuracy. Does not import torch."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from statistics import fmean
from typing import Any


def chosen_step_sizes(rows: Iterable[Mapping[str, Any]]) -> dict[str, float]:
    """The best step size of each regime.

    As in the papers ("best of 0.1, 0.01, 0.001"), this is the step size with the highest mean over
    seeds of the best test accuracies. On a tie the larger step size is chosen. A step size with a
    diverged run is chosen only if every step size has one.

    Args:
        rows: history of one or more trainings.

    Returns:
        regime -> step size.
    """
    best: dict[tuple[str, float, int], float] = defaultdict(float)
    diverged = set()
    for row in rows:
        tried = str(row["regime"]), float(row["step_size"])
        key = (*tried, int(row["seed"]))
        best[key] = max(best[key], float(row["test_accuracy"]))
        if int(row["diverged"]):
            diverged.add(tried)
    scores: dict[str, dict[float, list[float]]] = defaultdict(lambda: defaultdict(list))
    for (regime, step_size, _), accuracy in best.items():
        scores[regime][step_size].append(accuracy)
    return {
        regime: max(
            by_step, key=lambda step: ((regime, step) not in diverged, fmean(by_step[step]), step)
        )
        for regime, by_step in scores.items()
    }


def replica_number(rows: list[Mapping[str, Any]], seed: int) -> int:
    """Index in its stack of the replica with a given seed and the chosen step size.

    Args:
        rows: history of a stack of one regime, in the order written.
        seed: of a replica.
    """
    chosen = chosen_step_sizes(rows)
    first = [row for row in rows if int(row["epoch"]) == int(rows[0]["epoch"])]
    return next(
        number
        for number, row in enumerate(first)
        if int(row["seed"]) == seed and float(row["step_size"]) == chosen[str(row["regime"])]
    )
