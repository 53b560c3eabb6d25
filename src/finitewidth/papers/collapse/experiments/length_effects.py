"""What the length of training changes of NC3 at equal tau, job `collapse_length_effects`.

The thresholds of `RULE` are ours. They were fixed before a network of `collapse_lengths` was
trained, but after runs of the same kind with other random streams. The last criterion compares
two rank correlations over the whole grid and depends on it: where the lengths differ threefold, as
tau does, networks of different tau have the same intrinsic rate. So no statement rests on it. What
tells tau from the intrinsic rate is the power of length: if NC3 were a function of the intrinsic
rate, it would be as large as the power of tau, with the other sign.
"""

import math
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from finitewidth.papers.collapse.columns import networks as of_networks
from finitewidth.papers.collapse.columns import sweeps as columns
from finitewidth.papers.collapse.experiments.over_seeds import (
    fitting,
    judged_row,
    outcomes_of_statements,
    over_seeds,
    rank_correlation,
)
from finitewidth.papers.collapse.settings.decay import Decay
from finitewidth.records.tables import Table

CELL = ["network", "epochs", "decay", "tau", "rate", "intrinsic_rate", "rates"]
OTHER = {"decay": "epochs", "epochs": "decay"}  # the column that is equal where one differs
# criterion -> least and largest value. A power is that of NC3, fitted with a constant for each cell
# of what is equal: tau and decay, or tau and length.
SAME = (-0.1, 0.1)
SMALL = "tau up to small_tau"
LARGE = "tau above small_tau"
STRONG = "tau above small_tau, decay from strong_decay"
OF_LENGTH = "power of length at equal tau and decay"
OF_DECAY = "power of decay at equal tau and length"
RANK = "rank correlation with tau"
AHEAD = "rank correlation with tau minus that with the intrinsic rate"
RULE = {
    f"{SMALL}: {OF_LENGTH}": SAME,
    f"{SMALL}: {OF_DECAY}": SAME,
    f"{LARGE}: {OF_LENGTH}": SAME,
    f"{LARGE}: {OF_DECAY}": SAME,
    f"{STRONG}: {OF_LENGTH}": SAME,
    f"{STRONG}: {OF_DECAY}": SAME,
    RANK: (-1.0, -0.8),
    AHEAD: (-2.0, 0.0),
}
STATEMENTS = {
    "up to small_tau NC3 is nearly a function of tau at every length": [
        f"{SMALL}: {OF_LENGTH}",
        f"{SMALL}: {OF_DECAY}",
    ],
    "above small_tau NC3 is nearly a function of tau at every length": [
        f"{LARGE}: {OF_LENGTH}",
        f"{LARGE}: {OF_DECAY}",
    ],
}
TABLES = {
    "cells": Table(
        of_networks.NETWORK,
        columns.EPOCHS,
        columns.DECAY,
        columns.TAU,
        of_networks.RATE,
        columns.INTRINSIC_RATE,
        columns.RATES,
        columns.RUNS_OF_CELL,
        columns.FITTING_RUNS,
        columns.NC3_MEAN,
        columns.NC3_ERROR,
    ),
    "spreads": Table(
        columns.TAU,
        columns.ACROSS,
        columns.AT,
        columns.LEAST,
        columns.MOST,
        columns.SEEDS,
        columns.FACTOR,
        columns.LOW,
        columns.HIGH,
    ),
    "judged": Table(*columns.JUDGED),
    "statements": Table(*columns.STATEMENTS),
}


def measure(inputs: Mapping[str, Any], settings: Decay) -> dict[str, pd.DataFrame]:
    """Compare NC3 at equal tau between lengths of training and between decays.

    A network counts if it fits at least ``trained`` of the training images and has a finite NC3.
    The input ``runs`` is that of `collapse_lengths`.

    Returns:
        ``cells`` and ``spreads``: those of `cells` and `spreads`.

        ``judged``: a row for each criterion of `RULE`; see
        `finitewidth.papers.collapse.experiments.over_seeds`.

        ``statements``: the outcomes of `STATEMENTS`.
    """
    runs = inputs["runs"]
    networks = fitting(runs, settings.trained)
    rows = judged(networks, settings.small_tau, settings.strong_decay)
    table = pd.DataFrame(rows, columns=TABLES["judged"].names)
    return {
        "cells": cells(runs, settings.trained),
        "spreads": spreads(networks),
        "judged": table,
        "statements": outcomes_of_statements(table, STATEMENTS),
    }


def cells(runs: pd.DataFrame, trained: float) -> pd.DataFrame:
    """Means over the seeds of the networks that fit ``trained`` of the training images.

    Returns:
        A row for each cell of the grid.
    """
    rows = []
    for key, networks in runs.groupby(CELL, sort=False):
        fitted = networks[networks["train_accuracy"] >= trained]
        row = dict(zip(CELL, key, strict=True))
        row["seeds"] = len(networks)
        row["trained"] = len(fitted)
        row["nc3"] = fitted["nc3"].mean()
        row["nc3_error"] = fitted["nc3"].sem()
        rows.append(row)
    return pd.DataFrame(rows)


def spreads(fitted: pd.DataFrame) -> pd.DataFrame:
    """Factors between NC3 at the least and at the largest decay, or length, at equal tau.

    The two ends are the least and the largest that any network of the cell has, and so are not
    chosen by NC3. A seed that lacks one of them is left out.

    Returns:
        A row for each tau and length, across decays, and for each tau and decay, across lengths.
        The interval is that by Student's t.
    """
    rows = []
    for across, equal in OTHER.items():
        for (tau, at), networks in fitted.groupby(["tau", equal]):
            least = networks[across].min()
            most = networks[across].max()
            if least == most:
                continue
            logs = over_seeds(networks, partial(log_ratio, across=across, least=least, most=most))
            row = {
                "tau": tau,
                "across": across,
                "at": at,
                "least": least,
                "most": most,
                "seeds": logs["seeds"],
                "factor": math.exp(logs["value"]),
                "low": math.exp(logs["low"]),
                "high": math.exp(logs["high"]),
            }
            rows.append(row)
    return pd.DataFrame(rows, columns=TABLES["spreads"].names)


def log_ratio(networks: pd.DataFrame, across: str, least: float, most: float) -> float:
    """Logarithm of NC3 at ``least`` over NC3 at ``most``, of one seed; nan if it lacks one."""
    by_value = networks.set_index(across)["nc3"]
    if least not in by_value.index or most not in by_value.index:
        return math.nan
    return float(np.log(by_value[least] / by_value[most]))


def power(networks: pd.DataFrame, column: str, equal: list[str]) -> float:
    """The p of NC3 = c x^p with x the ``column``, and a constant c for each cell of ``equal``.

    Logarithms are fitted by least squares. It is nan where no cell has two values of x.
    """
    logs = np.log(networks[[column, "nc3"]].astype(float))
    means = logs.groupby([networks[name] for name in equal]).transform("mean")
    centred = logs - means
    x = centred[column]
    y = centred["nc3"]
    norm2 = float((x * x).sum())
    if norm2 <= 1e-12:
        return math.nan
    return float((x * y).sum()) / norm2


def judged(fitted: pd.DataFrame, small_tau: float, strong_decay: float) -> Iterator[dict[str, Any]]:
    """Rows of the table ``judged``: each criterion of `RULE` that some seed has."""
    large = fitted["tau"] > small_tau
    ranges = {
        SMALL: fitted[~large],
        LARGE: fitted[large],
        STRONG: fitted[large & (fitted["decay"] >= strong_decay)],
    }
    of_length = partial(power, column="epochs", equal=["tau", "decay"])
    of_decay = partial(power, column="decay", equal=["tau", "epochs"])
    summaries: dict[str, Mapping[str, Any]] = {}
    for name, networks in ranges.items():
        summaries[f"{name}: {OF_LENGTH}"] = over_seeds(networks, of_length)
        summaries[f"{name}: {OF_DECAY}"] = over_seeds(networks, of_decay)
    rank = partial(rank_correlation, against="tau")
    summaries[RANK] = over_seeds(fitted, rank, bounds=(-1, 1))
    summaries[AHEAD] = over_seeds(fitted, _ahead_of_intrinsic_rate, bounds=(-2, 2))
    for criterion, (least, most) in RULE.items():
        if summaries[criterion]["seeds"]:
            yield judged_row(criterion, summaries[criterion], least, most)


def _ahead_of_intrinsic_rate(networks: pd.DataFrame) -> float:
    """Rank correlation of NC3 with tau minus that with the intrinsic rate."""
    return rank_correlation(networks, "tau") - rank_correlation(networks, "intrinsic_rate")
