"""Neural collapse against weight decay over the whole training, job `collapse_decay`.

In the prototypes of this figure, which the paper does not have, NC3 of networks trained for one
length is nearly a function of tau, the sum over steps of rate * decay / (1 - momentum). The
thresholds of `RULE` are ours. They were fixed after prototypes, and before a network of this
version was seen. The module `length_effects` has those of other lengths of training.
"""

import math
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from finitewidth.papers.collapse.experiments.over_seeds import (
    FEWEST,
    JUDGED,
    SUMMARY,
    fitting,
    judged_row,
    outcomes_of_statements,
    over_seeds,
    rank_correlation,
    strongest,
)

CELL = ["sweep", "data", "network", "normalised", "decay", "tau", "rate", "rates"]
MEASURED = ("nc3", "overlap", "imbalance")
AGAINST = ("tau", "rates", "decay")
JOINED = "with_normalisation"  # all sweeps with batch normalisation on the images of MNIST as one
SHARED = "mnist"
# sizes of rates of exp(-k tau): of weights by decay alone, and of imbalances
SHRINKING = {"overlap": 1.0, "imbalance": 2.0}
FORMS = {"power": np.log, "exponential": np.asarray}  # what the logarithm of NC3 is linear in
CURVE_POINTS = 25  # of a fit
Rows = Iterator[dict[str, Any]]
# criterion -> least value, and what the value is below
ONE_CURVE = {
    "rank correlation with tau": (-1.0, -0.8),
    "rank correlation with tau minus that with rates": (-2.0, 0.0),
    "rank correlation with tau minus that with decay": (-2.0, 0.0),
    "power of tau": (-math.inf, -0.4),
    "power of decay at equal tau": (-0.1, 0.1),
}
RULE = ONE_CURVE | {
    "overlap over exp(-tau) at the largest tau of the fits": (0.0, 2.0),
    "imbalance falls with exp(-k tau): k": (1.8, 2.2),
}


STATEMENTS = {"at one length NC3 is nearly a function of tau": list(ONE_CURVE)}


def measure(inputs: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, pd.DataFrame]:
    """Summarise the networks over seeds, and compare NC3 with tau, rates and decay.

    A network counts if it was trained with decay, fits at least ``trained`` of the training images
    and has a finite NC3. Low and high are ends of 95 per cent intervals of means over seeds, see
    `finitewidth.papers.collapse.experiments.over_seeds.over_seeds`. The input ``sweeps`` has the
    ``runs`` of all sweeps, one below the other, and the settings are those of
    `finitewidth.papers.collapse.settings.decay.Decay`.

    Returns:
        ``cells``, networks of the sweeps that differ in their seed only: `CELL`, seeds, trained
        (how many of them count, or would with decay), and of each of `MEASURED` the mean over
        these and its standard error (``nc3``, ``nc3_error``; nan for fewer than two).

        ``ranks``, of each sweep and of `JOINED`: sweep, against (`AGAINST`), all_seeds (of the
        sweep), seeds (that have one), rank_correlation (mean over these of Spearman's, of NC3),
        low, high, same, and strongest (mean size for a strict order of NC3).

        ``powers``, of NC3 = c tau^p decay^q up to ``end``: sweep, exponent (tau, decay), seeds,
        value, low, high, same.

        ``fits`` to all networks up to ``end``: sweep, form (power: c tau^p; exponential: c exp(p
        tau)), exponent p, misfit (root mean square of what is left of log NC3), and a curve: tau,
        nc3.

        ``mechanisms``: sweep, quantity (overlap, imbalance), tau, measured (mean over networks up
        to ``end``), predicted (exp(-tau), exp(-2 tau)).

        ``judged``: sweep, criterion (`RULE`), seeds, value, low, high, same, at_least, at_most,
        outcome.

        ``statements``: what `JOINED` says of `STATEMENTS`, as in
        `finitewidth.papers.collapse.experiments.over_seeds.outcomes_of_statements`.
    """
    sweeps, trained, end = inputs["sweeps"], settings["trained"], settings["end"]
    sound = fitting(sweeps, trained)
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
    judged = tables["judged"]
    of_joined = judged[judged["sweep"] == JOINED]
    tables["statements"] = outcomes_of_statements(of_joined, STATEMENTS)
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


def fit(rows: pd.DataFrame, form: str) -> dict[str, float]:
    """Fit the logarithm of NC3 = c tau^p (``power``) or c exp(p tau) (``exponential``).

    Returns:
        exponent p, log_factor (log c) and misfit (root mean square of what is left); nan where tau
        has fewer than `FEWEST` values, since two are fitted by either.
    """
    if rows["tau"].nunique() < FEWEST:
        return dict.fromkeys(("exponent", "log_factor", "misfit"), math.nan)
    tau, logs = rows["tau"].to_numpy(dtype=float), np.log(rows["nc3"].to_numpy(dtype=float))
    across = FORMS[form](tau)
    exponent, log_factor = np.polyfit(across, logs, 1)
    left = logs - log_factor - exponent * across
    return {
        "exponent": float(exponent),
        "log_factor": float(log_factor),
        "misfit": float(np.sqrt(np.mean(left**2))),
    }


def _fits(rows: pd.DataFrame, early: pd.DataFrame) -> Rows:
    for form, across in FORMS.items():
        found = fit(early, form)
        if not math.isfinite(found["exponent"]):
            continue
        for tau in np.geomspace(early["tau"].min(), early["tau"].max(), CURVE_POINTS):
            nc3 = math.exp(found["log_factor"] + found["exponent"] * across(tau))
            yield {
                "form": form,
                "exponent": found["exponent"],
                "misfit": found["misfit"],
                "tau": float(tau),
                "nc3": nc3,
            }


def _ranks(rows: pd.DataFrame, early: pd.DataFrame) -> Rows:
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
    for exponent in ("tau", "decay"):
        power = over_seeds(early, lambda networks, name=exponent: exponents(networks)[name])
        yield {"exponent": exponent, **power}


def _mechanisms(rows: pd.DataFrame, early: pd.DataFrame) -> Rows:
    """Means of overlap and imbalance at each tau beside what decay alone leaves."""
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
    """The criteria of `RULE`."""
    for (criterion, (least, most)), mean in zip(RULE.items(), _means(rows, early), strict=True):
        if mean["seeds"]:
            yield judged_row(criterion, mean, least, most)


def _means(rows: pd.DataFrame, early: pd.DataFrame) -> Iterator[dict[str, float]]:
    """What each criterion judges, in the order of `RULE`."""

    def ahead(networks: pd.DataFrame, other: str) -> float:
        return rank_correlation(networks, "tau") - rank_correlation(networks, other)

    yield over_seeds(rows, partial(rank_correlation, against="tau"), bounds=(-1, 1))
    yield over_seeds(rows, partial(ahead, other="rates"), bounds=(-2, 2))
    yield over_seeds(rows, partial(ahead, other="decay"), bounds=(-2, 2))
    yield over_seeds(early, lambda networks: exponents(networks)["tau"])
    yield over_seeds(early, lambda networks: exponents(networks)["decay"])
    last = early[early["tau"] == early["tau"].max()]
    last = last.assign(ratio=last["overlap"] * np.exp(last["tau"]))
    yield over_seeds(last, lambda networks: float(networks["ratio"].mean()))
    rates = early.assign(k=-np.log(early["imbalance"]) / early["tau"])
    yield over_seeds(rates, lambda networks: float(networks["k"].mean()))


# table -> its rows for the networks of a sweep, all and those up to ``end``; its columns
TABLES = {
    "ranks": (
        _ranks,
        ["against", "all_seeds", "seeds", "rank_correlation", "low", "high", "same", "strongest"],
    ),
    "powers": (_powers, ["exponent", *SUMMARY]),
    "fits": (_fits, ["form", "exponent", "misfit", "tau", "nc3"]),
    "mechanisms": (_mechanisms, ["quantity", "tau", "measured", "predicted"]),
    "judged": (_judged, JUDGED),
}
