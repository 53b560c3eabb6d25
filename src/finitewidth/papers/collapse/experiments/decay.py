"""Neural collapse against weight decay over the whole training, job `collapse_decay`.

In the prototypes of this figure, which the paper does not have, NC3 of networks trained for one
length is nearly a function of tau, the sum over steps of rate * decay / (1 - momentum). The
thresholds of `RULE` are ours. They were fixed after prototypes, and before a network of this
version was seen. The module `length_effects` has those of other lengths of training.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from finitewidth.papers.collapse.columns import networks as of_networks
from finitewidth.papers.collapse.columns import sweeps as columns
from finitewidth.papers.collapse.experiments.over_seeds import (
    FEWEST,
    fitting,
    judged_row,
    outcomes_of_statements,
    over_seeds,
    rank_correlation,
    strongest,
)
from finitewidth.papers.collapse.settings.decay import Decay
from finitewidth.records.tables import Table

CELL = ["sweep", "data", "network", "normalised", "decay", "tau", "rate", "rates"]
MEASURED = ("nc3", "overlap", "imbalance")
AGAINST = ("tau", "rates", "decay")
# all sweeps with batch normalisation on the dataset `SHARED` as one
JOINED = "with_normalisation"
SHARED = "mnist"
# the k of exp(-k tau) by which decay alone shrinks weights, and imbalances
SHRINKING = {"overlap": 1.0, "imbalance": 2.0}
# form of a fit -> the function of tau in which the logarithm of NC3 is linear
FORMS: dict[str, Callable[..., np.ndarray]] = {"power": np.log, "exponential": np.asarray}
CURVE_POINTS = 25  # points of the curve of a fit
Rows = Iterator[dict[str, Any]]
# criterion -> the least value, and the value below which it must be
RANK = "rank correlation with tau"
AHEAD_OF_RATES = "rank correlation with tau minus that with rates"
AHEAD_OF_DECAY = "rank correlation with tau minus that with decay"
POWER_OF_TAU = "power of tau"
POWER_OF_DECAY = "power of decay at equal tau"
OVERLAP = "overlap over exp(-tau) at the largest tau of the fits"
IMBALANCE = "imbalance falls with exp(-k tau): k"
ONE_CURVE = {
    RANK: (-1.0, -0.8),
    AHEAD_OF_RATES: (-2.0, 0.0),
    AHEAD_OF_DECAY: (-2.0, 0.0),
    POWER_OF_TAU: (-math.inf, -0.4),
    POWER_OF_DECAY: (-0.1, 0.1),
}
RULE = ONE_CURVE | {
    OVERLAP: (0.0, 2.0),
    IMBALANCE: (1.8, 2.2),
}
STATEMENTS = {"at one length NC3 is nearly a function of tau": list(ONE_CURVE)}
TABLES = {
    "cells": Table(
        columns.SWEEP,
        columns.DATA,
        of_networks.NETWORK,
        columns.NORMALISED,
        columns.DECAY,
        columns.TAU,
        of_networks.RATE,
        columns.RATES,
        columns.RUNS_OF_CELL,
        columns.FITTING_RUNS,
        columns.NC3_MEAN,
        columns.NC3_ERROR,
        columns.OVERLAP_MEAN,
        columns.OVERLAP_ERROR,
        columns.IMBALANCE_MEAN,
        columns.IMBALANCE_ERROR,
    ),
    "ranks": Table(
        columns.SWEEP_OR_JOINED,
        columns.AGAINST,
        columns.ALL_SEEDS,
        columns.SEEDS,
        columns.RANK_CORRELATION,
        columns.LOW,
        columns.HIGH,
        columns.SAME,
        columns.STRONGEST,
    ),
    "powers": Table(
        columns.SWEEP_OR_JOINED,
        columns.EXPONENT_OF,
        columns.SEEDS,
        columns.VALUE_OVER_SEEDS,
        columns.LOW,
        columns.HIGH,
        columns.SAME,
    ),
    "fits": Table(
        columns.SWEEP_OR_JOINED,
        columns.FORM_OF_FIT,
        columns.EXPONENT,
        columns.MISFIT,
        columns.TAU_OF_FIT,
        columns.NC3_OF_FIT,
    ),
    "mechanisms": Table(
        columns.SWEEP_OR_JOINED,
        columns.MECHANISM,
        columns.TAU,
        columns.MEASURED,
        columns.PREDICTED,
    ),
    "judged": Table(columns.SWEEP_OR_JOINED, *columns.JUDGED),
    "statements": Table(*columns.STATEMENTS),
}


def measure(inputs: Mapping[str, Any], settings: Decay) -> dict[str, pd.DataFrame]:
    """Summarise the networks over seeds, and compare NC3 with tau, rates and decay.

    A network counts if it was trained with decay, fits at least ``trained`` of the training images
    and has a finite NC3. Low and high are ends of 95 per cent intervals of means over seeds, see
    `finitewidth.papers.collapse.experiments.over_seeds.over_seeds`. The input ``sweeps`` has the
    ``runs`` of all sweeps, one below the other.

    Returns:
        ``cells``: a row for each group of networks that differ in their seed only.

        ``ranks``: a row for each sweep, or `JOINED`, and each of `AGAINST`.

        ``powers``: the exponents of NC3 = c tau^p decay^q up to ``end``.

        ``fits``: points of curves fitted to all networks up to ``end``.

        ``mechanisms``: what decay alone explains of the networks up to ``end``.

        ``judged``: the criteria of `RULE`.

        ``statements``: the outcomes of `STATEMENTS` for the networks of `JOINED`, as in
        `finitewidth.papers.collapse.experiments.over_seeds.outcomes_of_statements`.
    """
    sweeps = inputs["sweeps"]
    trained = settings.trained
    fitted = fitting(sweeps, trained)
    normalised = fitted[(fitted["normalised"] == 1) & (fitted["data"] == SHARED)]
    groups = pd.concat([fitted, normalised.assign(sweep=JOINED)]).groupby("sweep", sort=False)
    tables = {"cells": cells(sweeps, trained)}
    for table, rows_of_sweep in BY_SWEEP.items():
        rows = []
        for sweep, networks in groups:
            early = networks[networks["tau"] <= settings.end]
            for row in rows_of_sweep(networks, early):
                rows.append({"sweep": sweep, **row})
        tables[table] = pd.DataFrame(rows, columns=TABLES[table].names)
    judged = tables["judged"]
    judged_together = judged[judged["sweep"] == JOINED]
    tables["statements"] = outcomes_of_statements(judged_together, STATEMENTS)
    return tables


def cells(sweeps: pd.DataFrame, trained: float) -> pd.DataFrame:
    """Means over seeds, see `measure`."""
    rows = []
    for key, networks in sweeps.groupby(CELL, sort=False):
        fitted = networks[networks["train_accuracy"] >= trained]
        row = dict(zip(CELL, key, strict=True))
        row["seeds"] = len(networks)
        row["trained"] = len(fitted)
        for name in MEASURED:
            row[name] = fitted[name].mean()
            row[f"{name}_error"] = fitted[name].sem()
        rows.append(row)
    return pd.DataFrame(rows)


def exponents(rows: pd.DataFrame) -> dict[str, float]:
    """The p and q of NC3 = c tau^p decay^q, as ``tau`` and ``decay``.

    Logarithms are fitted by least squares. Both are nan for fewer than `FEWEST` networks, or if tau
    or decay has one value.
    """
    if len(rows) < FEWEST or rows["tau"].nunique() < 2 or rows["decay"].nunique() < 2:
        return {"tau": math.nan, "decay": math.nan}
    # log NC3 = p log tau + q log decay + log c
    logs = np.log(rows[["tau", "decay"]].to_numpy(dtype=float))
    design = np.column_stack([logs, np.ones(len(logs))])  # (networks, 3)
    log_nc3 = np.log(rows["nc3"].to_numpy(dtype=float))
    solution, *_ = np.linalg.lstsq(design, log_nc3, rcond=None)
    p, q, _ = solution
    return {"tau": float(p), "decay": float(q)}


def fit(rows: pd.DataFrame, form: str) -> dict[str, float]:
    """Fit the logarithm of NC3 = c tau^p (``power``) or c exp(p tau) (``exponential``).

    Returns:
        exponent p, log_factor (log c) and misfit (root mean square of what is left); nan where tau
        has fewer than `FEWEST` values, since two are fitted by either.
    """
    if rows["tau"].nunique() < FEWEST:
        return dict.fromkeys(("exponent", "log_factor", "misfit"), math.nan)
    across = FORMS[form](rows["tau"].to_numpy(dtype=float))
    log_nc3 = np.log(rows["nc3"].to_numpy(dtype=float))
    exponent, log_factor = np.polyfit(across, log_nc3, 1)
    residuals = log_nc3 - log_factor - exponent * across
    return {
        "exponent": float(exponent),
        "log_factor": float(log_factor),
        "misfit": float(np.sqrt(np.mean(residuals**2))),
    }


def _fits(rows: pd.DataFrame, early: pd.DataFrame) -> Rows:
    """Rows of ``fits``: the curve of each form."""
    for form, across in FORMS.items():
        fitted = fit(early, form)
        if not math.isfinite(fitted["exponent"]):
            continue
        for tau in np.geomspace(early["tau"].min(), early["tau"].max(), CURVE_POINTS):
            log_nc3 = fitted["log_factor"] + fitted["exponent"] * across(tau)
            yield {
                "form": form,
                "exponent": fitted["exponent"],
                "misfit": fitted["misfit"],
                "tau": float(tau),
                "nc3": math.exp(log_nc3),
            }


def _ranks(rows: pd.DataFrame, early: pd.DataFrame) -> Rows:
    """Rows of ``ranks``."""
    for against in AGAINST:
        mean = over_seeds(rows, partial(rank_correlation, against=against), bounds=(-1, 1))
        strict = over_seeds(rows, partial(strongest, against=against))
        yield {
            "against": against,
            "all_seeds": rows["seed"].nunique(),
            **mean,
            "rank_correlation": mean["value"],
            "strongest": strict["value"],
        }


def _powers(rows: pd.DataFrame, early: pd.DataFrame) -> Rows:
    """Rows of ``powers``."""
    for name in ("tau", "decay"):
        yield {"exponent": name, **over_seeds(early, partial(_exponent, name=name))}


def _exponent(networks: pd.DataFrame, name: str) -> float:
    return exponents(networks)[name]


def _mechanisms(rows: pd.DataFrame, early: pd.DataFrame) -> Rows:
    """Rows of ``mechanisms``: overlap and imbalance at each tau beside what decay alone leaves."""
    for quantity, rate in SHRINKING.items():
        means = early.dropna(subset=[quantity]).groupby("tau")[quantity].mean()
        for tau, value in means.items():
            yield {
                "quantity": quantity,
                "tau": tau,
                "measured": value,
                "predicted": math.exp(-rate * tau),
            }


def _judged(rows: pd.DataFrame, early: pd.DataFrame) -> Rows:
    """Rows of ``judged``: each criterion of `RULE` that some seed has."""
    summaries = _summaries(rows, early)
    for criterion, (least, most) in RULE.items():
        if summaries[criterion]["seeds"]:
            yield judged_row(criterion, summaries[criterion], least, most)


def _summaries(rows: pd.DataFrame, early: pd.DataFrame) -> dict[str, dict[str, float]]:
    """Criterion of `RULE` -> the mean over seeds that it judges."""
    last = early[early["tau"] == early["tau"].max()]
    last = last.assign(ratio=last["overlap"] * np.exp(last["tau"]))
    shrinking = early.assign(k=-np.log(early["imbalance"]) / early["tau"])
    rank = partial(rank_correlation, against="tau")
    ahead_of_rates = partial(_ahead_of, other="rates")
    ahead_of_decay = partial(_ahead_of, other="decay")
    return {
        RANK: over_seeds(rows, rank, bounds=(-1, 1)),
        AHEAD_OF_RATES: over_seeds(rows, ahead_of_rates, bounds=(-2, 2)),
        AHEAD_OF_DECAY: over_seeds(rows, ahead_of_decay, bounds=(-2, 2)),
        POWER_OF_TAU: over_seeds(early, partial(_exponent, name="tau")),
        POWER_OF_DECAY: over_seeds(early, partial(_exponent, name="decay")),
        OVERLAP: over_seeds(last, partial(_mean_of, column="ratio")),
        IMBALANCE: over_seeds(shrinking, partial(_mean_of, column="k")),
    }


def _ahead_of(networks: pd.DataFrame, other: str) -> float:
    """Rank correlation of NC3 with tau minus that with another column."""
    return rank_correlation(networks, "tau") - rank_correlation(networks, other)


def _mean_of(networks: pd.DataFrame, column: str) -> float:
    return float(networks[column].mean())


# table -> the function that makes its rows from the networks of a sweep: all of them, and those up
# to ``end``
BY_SWEEP: dict[str, Callable[[pd.DataFrame, pd.DataFrame], Rows]] = {
    "ranks": _ranks,
    "powers": _powers,
    "fits": _fits,
    "mechanisms": _mechanisms,
    "judged": _judged,
}
