"""Neural collapse against weight decay over the whole training, job `collapse_decay`.

In the prototypes of this figure, which the paper does not have, NC3 of trained networks is nearly
a function of tau alone, the sum over steps of rate * decay / (1 - momentum). The thresholds of
`RULE` are ours. They were fixed after prototypes, and before a network of this version was seen.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

CELL = ["sweep", "data", "network", "normalised", "decay", "tau", "rate", "rates"]
MEASURED = ("nc3", "overlap", "imbalance")
AGAINST = ("tau", "rates", "decay")
JOINED = "with_normalisation"  # all sweeps with batch normalisation on the images of MNIST as one
SHARED = "mnist"
FEWEST = 3  # networks of a rank correlation or a fit
LEVEL = 0.95  # of intervals over seeds
# sizes of rates of exp(-k tau): of weights by decay alone, and of imbalances
SHRINKING = {"overlap": 1.0, "imbalance": 2.0}
Rows = Iterator[dict[str, Any]]
HOLDS, FAILS, UNDECIDED = "holds", "fails", "undecided"
# criterion -> least value, and what the value is below
RULE = {
    "rank correlation with tau": (-1.0, -0.8),
    "rank correlation with tau minus that with rates": (-2.0, 0.0),
    "rank correlation with tau minus that with decay": (-2.0, 0.0),
    "power of tau": (-math.inf, -0.4),
    "power of decay at equal tau": (-0.1, 0.1),
    "overlap over exp(-tau) at the largest tau of the fits": (0.0, 2.0),
    "imbalance falls with exp(-k tau): k": (1.8, 2.2),
}


def measure(inputs: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, pd.DataFrame]:
    """Summarise the networks over seeds, and compare NC3 with tau, rates and decay.

    A network counts if it was trained with decay, fits at least ``trained`` of the training images
    and has a finite NC3. Low and high are 95 per cent intervals of means over seeds (Student's t).
    The input ``sweeps`` has the ``runs`` of all sweeps, one below the other, and the settings are
    those of `finitewidth.papers.collapse.settings.Decay`.

    Returns:
        ``cells``, networks of the sweeps that differ in their seed only: `CELL`, seeds, trained
        (how many of them count, or would with decay), and of each of `MEASURED` the mean over
        these and its standard error (``nc3``, ``nc3_error``; nan for fewer than two).

        ``ranks``, of each sweep and of `JOINED`: sweep, against (`AGAINST`), seeds,
        rank_correlation (mean over seeds of Spearman's, of NC3), low, high.

        ``powers``, of NC3 = c tau^p decay^q up to ``end``: sweep, seeds, exponent (tau, decay),
        value, low, high, misfit (of c tau^p: root mean square of what is left of log NC3) and
        exponential_misfit (of c exp(-d tau)).

        ``mechanisms``: sweep, quantity (overlap, imbalance), tau, measured (mean over networks up
        to ``end``), predicted (exp(-tau), exp(-2 tau)).

        ``judged``: sweep, criterion (`RULE`), value, low, high, at_least, at_most, outcome.
    """
    sweeps, trained, end = inputs["sweeps"], settings["trained"], settings["end"]
    sound = sweeps[(sweeps["decay"] > 0) & np.isfinite(sweeps["nc3"])]
    sound = sound[sound["train_accuracy"] >= trained]
    joined = sound[(sound["normalised"] == 1) & (sound["data"] == SHARED)].assign(sweep=JOINED)
    groups = pd.concat([sound, joined]).groupby("sweep", sort=False)
    tables = {"cells": cells(sweeps, trained)}
    for table, (rows_of, columns) in TABLES.items():
        rows = [
            {"sweep": name, **row}
            for name, networks in groups
            for row in rows_of(networks, networks[networks["tau"] <= end])
        ]
        tables[table] = pd.DataFrame(rows, columns=["sweep", *columns])
    return tables


def cells(sweeps: pd.DataFrame, trained: float) -> pd.DataFrame:
    """Means over seeds, see `measure`."""
    rows = []
    for key, networks in sweeps.groupby(CELL, sort=False):
        sound = networks[networks["train_accuracy"] >= trained]
        row = dict(zip(CELL, key, strict=True)) | {"seeds": len(networks), "trained": len(sound)}
        for name in MEASURED:
            row |= {name: sound[name].mean(), f"{name}_error": sound[name].sem()}
        rows.append(row)
    return pd.DataFrame(rows)


def over_seeds(rows: pd.DataFrame, statistic: Callable[[pd.DataFrame], float]) -> dict[str, float]:
    """Mean ``value`` of a statistic of the networks of each seed, and its interval by Student's t.

    Seeds where the statistic does not exist are left out. What does not exist is nan.
    """
    values = [statistic(networks) for _, networks in rows.groupby("seed")]
    values = [value for value in values if math.isfinite(value)]
    mean, half = float(np.mean(values)) if values else math.nan, math.nan
    if len(values) > 1:
        half = float(stats.t.ppf((1 + LEVEL) / 2, len(values) - 1) * stats.sem(values))
    return {"seeds": len(values), "value": mean, "low": mean - half, "high": mean + half}


def rank_correlation(rows: pd.DataFrame, against: str) -> float:
    """Spearman's of NC3; nan for fewer than `FEWEST` networks, or where one side is constant."""
    if len(rows) < FEWEST or rows[against].nunique() < 2:
        return math.nan
    return float(rows["nc3"].corr(rows[against], method="spearman"))


def exponents(rows: pd.DataFrame) -> dict[str, float]:
    """The p and q of NC3 = c tau^p decay^q, as ``tau`` and ``decay``.

    Logarithms are fitted by least squares. Both are nan for fewer than `FEWEST` networks, or if tau
    or decay has one value.
    """
    if len(rows) < FEWEST or rows["tau"].nunique() < 2 or rows["decay"].nunique() < 2:
        return {"tau": math.nan, "decay": math.nan}
    logs = np.log(rows[["tau", "decay"]].to_numpy(dtype=float))
    design = np.column_stack([logs, np.ones(len(logs))])
    solution = np.linalg.lstsq(design, np.log(rows["nc3"].to_numpy(dtype=float)), rcond=None)[0]
    return dict(zip(("tau", "decay"), solution[:2].tolist(), strict=True))


def misfits(rows: pd.DataFrame) -> tuple[float, float]:
    """Root mean squares of what c tau^p and c exp(-d tau) leave of log NC3; nan for two taus."""
    if rows["tau"].nunique() < FEWEST:
        return math.nan, math.nan
    tau, logs = rows["tau"].to_numpy(dtype=float), np.log(rows["nc3"].to_numpy(dtype=float))

    def misfit(across: np.ndarray) -> float:
        slope, start = np.polyfit(across, logs, 1)
        return float(np.sqrt(np.mean((logs - start - slope * across) ** 2)))

    return misfit(np.log(tau)), misfit(tau)


def _ranks(rows: pd.DataFrame, early: pd.DataFrame) -> Rows:
    for against in AGAINST:
        mean = over_seeds(rows, partial(rank_correlation, against=against))
        yield {"against": against, "rank_correlation": mean["value"], **mean}


def _powers(rows: pd.DataFrame, early: pd.DataFrame) -> Rows:
    misfit, exponential = misfits(early)
    for exponent in ("tau", "decay"):
        power = over_seeds(early, lambda networks, name=exponent: exponents(networks)[name])
        yield {"exponent": exponent, "misfit": misfit, "exponential_misfit": exponential, **power}


def _mechanisms(rows: pd.DataFrame, early: pd.DataFrame) -> Rows:
    """Means of overlap and imbalance at each tau beside what decay alone leaves."""
    for quantity, rate in SHRINKING.items():
        means = early.dropna(subset=[quantity]).groupby("tau")[quantity].mean()
        for tau, value in means.items():
            yield {"quantity": quantity, "tau": tau, "measured": value,
                   "predicted": math.exp(-rate * tau)}  # fmt: skip


def _judged(rows: pd.DataFrame, early: pd.DataFrame) -> Rows:
    """The criteria of `RULE`."""
    for (criterion, (least, most)), mean in zip(RULE.items(), _means(rows, early), strict=True):
        outcome = UNDECIDED
        if least <= mean["low"] and mean["high"] < most:
            outcome = HOLDS
        elif mean["high"] < least or mean["low"] > most:
            outcome = FAILS
        if mean["seeds"]:
            yield {"criterion": criterion, **mean, "at_least": least, "at_most": most,
                   "outcome": outcome}  # fmt: skip


def _means(rows: pd.DataFrame, early: pd.DataFrame) -> Iterator[dict[str, float]]:
    """What each criterion judges, in the order of `RULE`."""

    def ahead(networks: pd.DataFrame, other: str) -> float:
        return rank_correlation(networks, "tau") - rank_correlation(networks, other)

    yield over_seeds(rows, lambda networks: rank_correlation(networks, "tau"))
    yield over_seeds(rows, lambda networks: ahead(networks, "rates"))
    yield over_seeds(rows, lambda networks: ahead(networks, "decay"))
    yield over_seeds(early, lambda networks: exponents(networks)["tau"])
    yield over_seeds(early, lambda networks: exponents(networks)["decay"])
    last = early[early["tau"] == early["tau"].max()]
    last = last.assign(ratio=last["overlap"] * np.exp(last["tau"]))
    yield over_seeds(last, lambda networks: float(networks["ratio"].mean()))
    rates = early.assign(k=-np.log(early["imbalance"]) / early["tau"])
    yield over_seeds(rates, lambda networks: float(networks["k"].mean()))


# table -> its rows for the networks of a sweep, all and those up to ``end``; its columns
TABLES = {
    "ranks": (_ranks, ["against", "seeds", "rank_correlation", "low", "high"]),
    "powers": (_powers, ["seeds", "exponent", "value", "low", "high", "misfit",
                         "exponential_misfit"]),
    "mechanisms": (_mechanisms, ["quantity", "tau", "measured", "predicted"]),
    "judged": (_judged, ["criterion", "value", "low", "high", "at_least", "at_most", "outcome"]),
}  # fmt: skip
