"""Accuracies of finished trainings: best-test as published, and two honest ones beside it."""

import numpy as np
import pandas as pd

SELECTIONS = ("best_test", "cross_fitted", "last")  # how the epoch of a test accuracy is chosen
REPLICA = ["row", "regime", "stage", "beta", "eps", "variant", "seed", "step_size"]


def scores_by_replica(history: pd.DataFrame) -> pd.DataFrame:
    """One row per replica of a training history.

    Columns beside those that name the replica, all fractions:
        best_test: the best test accuracy over epochs, the papers' number. Optimistic: the same
            images choose the epoch and score it.
        cross_fitted: the epoch is chosen on one half of the test images and scored on the other,
            both ways, averaged. Honest, and costs no training image.
        last: test accuracy after the last epoch.
        train_last: train accuracy during the last epoch.
        best_train: the best train accuracy of an epoch.
        diverged: whether the training loss ever stopped being finite.
    """
    replicas = history.groupby(REPLICA, sort=False, dropna=False)
    rows = [{**dict(zip(REPLICA, key, strict=True)), **_scores(epochs)} for key, epochs in replicas]
    return pd.DataFrame(rows)


def _scores(epochs: pd.DataFrame) -> dict[str, float]:
    first, second = epochs["test_accuracy_first"], epochs["test_accuracy_second"]
    last = epochs.loc[epochs["epoch"].idxmax()]
    return {
        "epochs": int(last["epoch"]),
        "best_test": epochs["test_accuracy"].max(),
        "cross_fitted": (second[first.idxmax()] + first[second.idxmax()]) / 2,
        "last": last["test_accuracy"],
        "train_last": last["train_accuracy"],
        "best_train": epochs["train_accuracy"].max(),
        "diverged": int(epochs["diverged"].any()),
    }


def mean_and_spread(values: pd.Series, ddof: int) -> tuple[float, float]:
    """Mean and standard deviation over runs; NaN spread where there are too few."""
    return values.mean(), values.std(ddof=ddof) if len(values) > ddof else float("nan")


def averaged(values: pd.Series, ddof: int) -> dict[str, float | int]:
    """A point of a curve over runs: ``y``, ``spread``, ``runs`` and ``failed``.

    A run whose value is missing or not finite has failed: it is counted, and averaged nowhere.
    """
    numbers = values.astype(float)
    sound = numbers[np.isfinite(numbers)]
    mean, spread = mean_and_spread(sound, ddof)
    return {"y": mean, "spread": spread, "runs": len(sound), "failed": len(values) - len(sound)}
