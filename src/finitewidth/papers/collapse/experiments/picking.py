"""The two models that the figures of ``collapse`` show for each initialisation.

The paper shows a model with neural collapse and one of comparable accuracy without it, and does not
say how they were chosen. Here a rule chooses them, from the last epoch.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

COLLAPSED, OTHER = "collapsed", "other"
MODELS = (COLLAPSED, OTHER)
RANKED = ("nc1_ratio", "nc2", "nc3")
SHOWN = (
    "rate_index", "rate", "replica", "test_accuracy", "train_accuracy", "nc1_ratio", "nc2", "nc3",
    "alignment_theta_h",
)  # fmt: skip
NONE = "none"
EQUAL = 1e-9  # accuracies that differ by less are equal


def last_epoch(history: pd.DataFrame, measures: pd.DataFrame) -> pd.DataFrame:
    """Measures of each network at the last epoch, with its training accuracy in this epoch."""
    last = measures["epoch"].max()
    training = history.loc[history["epoch"] == last, ["pair", "replica", "train_accuracy"]]
    return measures[measures["epoch"] == last].merge(training, on=["pair", "replica"])


def picks(rates: pd.DataFrame, settings: Mapping[str, Any]) -> pd.DataFrame:
    """Choose the two models of each initialisation.

    Networks of which more than the share ``dead`` of the features is 0 on the whole batch are left
    out. ``collapsed`` is the model with the least sum of the ranks of `RANKED` among those whose
    test accuracy is within ``within`` of the best of this initialisation. ``other`` is the model
    with the largest sum of NC2 and NC3 among those that meet the first of these conditions that a
    model meets. Its NC3 is above ``nc3`` and at least ``contrast`` times that of ``collapsed``:

    1. test accuracy within ``other_within``, training accuracy at least ``train``;
    2. test accuracy within ``widened``, training accuracy at least ``train``;
    3. test accuracy within ``widened``, training accuracy at least ``relaxed_train``.

    Args:
        rates: networks of one pair at the last epoch, with `SHOWN`, pair, init and dead_share, the
            share of features that are 0.
        settings: the names in double quotes above, and ``collapsed_nc3``: the largest NC3 of
            ``collapsed``, null for no bound. ``contrast`` is at least 1.

    Returns:
        pair, init, model (`MODELS`), found (0 or 1), step (the condition that was met, or `NONE`),
        tried (networks that met its accuracies; for `NONE` those of the last condition), and
        `SHOWN`, nan if there is no such model.
    """
    rows = []
    for (pair, init), runs in rates.groupby(["pair", "init"], sort=False):
        sound = runs[np.isfinite(runs[[*RANKED, "test_accuracy"]]).all(axis=1)]
        sound = sound[sound["dead_share"] <= settings["dead"]]
        near = _near(sound, settings["within"])
        first = _collapsed(near, settings["collapsed_nc3"])
        models = {COLLAPSED: (first, _step(settings["within"]), len(near)),
                  OTHER: _other(sound, first, settings)}  # fmt: skip
        for model, (run, step, tried) in models.items():
            key = {"pair": pair, "init": init, "model": model, "found": int(run is not None)}
            rows.append(key | {
                "step": NONE if run is None else step, "tried": tried,
                **{name: np.nan if run is None else run[name] for name in SHOWN},
            })  # fmt: skip
    return pd.DataFrame(rows)


def _collapsed(near: pd.DataFrame, bound: float | None) -> pd.Series | None:
    allowed = near if bound is None else near[near["nc3"] <= bound]
    if allowed.empty:
        return None
    ranks = allowed[list(RANKED)].rank().sum(axis=1)
    # a tie goes to the more accurate model, then to the smaller rate
    order = allowed.assign(ranks=ranks, test=-allowed["test_accuracy"])
    return near.loc[order.sort_values(["ranks", "test", "rate"]).index[0]]


def _other(
    runs: pd.DataFrame, first: pd.Series | None, settings: Mapping[str, Any]
) -> tuple[pd.Series | None, str, int]:
    """The model, the condition that it meets, and how many meet the accuracies of this one."""
    for within, train, step in _steps(settings):
        near = _near(runs, within)
        near = near[near["train_accuracy"] >= train - EQUAL]
        far = near[near["nc3"] > settings["nc3"]]
        if first is not None:
            far = far[far["nc3"] >= settings["contrast"] * first["nc3"]]
            far = far.drop(index=first.name, errors="ignore")
        if not far.empty:
            return far.loc[(far["nc2"] + far["nc3"]).idxmax()], step, len(near)
    return None, NONE, len(near)


def _steps(settings: Mapping[str, Any]) -> Iterator[tuple[float, float, str]]:
    """Distance from the best test accuracy, training accuracy, and the words for both."""
    near, far = settings["other_within"], settings["widened"]
    train, relaxed = settings["train"], settings["relaxed_train"]
    yield near, train, _step(near)
    yield far, train, _step(far)
    yield far, relaxed, f"{_step(far)}, training accuracy {relaxed:g}"


def _near(runs: pd.DataFrame, within: float) -> pd.DataFrame:
    """Runs whose test accuracy is within a distance of the best."""
    best = runs["test_accuracy"].max()
    return runs[runs["test_accuracy"] >= best - within - EQUAL]


def _step(within: float) -> str:
    points = 100 * within
    return f"within {points:g} point{'' if round(points, 9) == 1 else 's'} of the best"
