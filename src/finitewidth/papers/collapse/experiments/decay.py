"""Neural collapse against weight decay over the whole training, job `collapse_decay`.

In the prototypes of this figure, which the paper does not have, NC3 of networks that start from
LeCun's or PyTorch's initialisation is nearly a function of tau alone, the sum over steps of rate *
decay / (1 - momentum).
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from finitewidth.papers.collapse.experiments.picking import last_epoch

KEPT = (
    "pair", "network", "data", "loss", "init", "decay", "rate", "tau", "nc3", "nc2",
    "invariant_alignment", "train_accuracy", "test_accuracy", "dead",
)  # fmt: skip
FEWEST = 3  # runs of a rank correlation or a fit
FITS = ("power", "power_misfit", "exponential_misfit")


def measure(inputs: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, pd.DataFrame]:
    """Collect the networks of all trainings, and correlate NC3 with tau.

    Args:
        inputs: ``history`` and ``measures`` of all trainings, one below the other.
        settings: ``pairs``, name of a pair -> settings of its training, of which ``loss`` and
            ``decay`` are needed; ``ranked``, lists of initialisations that are correlated together;
            ``trained``, the training accuracy below which a network is left out of correlations.

    Returns:
        ``runs``, each network at the last epoch of its training: `KEPT`. network and data are the
        first two words of the name of the pair.

        ``ranks``, networks trained with squared loss and decay to at least the training accuracy
        ``trained``, with finite measures: data, inits
        (joined by commas), runs (their number), rank_correlation (Spearman's, of NC3 and tau), and
        `FITS`, see `fits`; nan for fewer than `FEWEST` runs.
    """
    runs = runs_of(inputs["history"], inputs["measures"], settings["pairs"])
    return {"runs": runs, "ranks": ranks(runs, settings["ranked"], settings["trained"])}


def runs_of(
    history: pd.DataFrame, measures: pd.DataFrame, pairs: Mapping[str, Mapping[str, Any]]
) -> pd.DataFrame:
    """All networks at the end of their trainings, see `measure`."""
    found = []
    for pair, rows in measures.groupby("pair", sort=False):
        network, data, *_ = pair.split("_")
        ends = last_epoch(history[history["pair"] == pair], rows)
        known = {name: pairs[pair][name] for name in ("loss", "decay")}
        found.append(ends.assign(network=network, data=data, **known)[list(KEPT)])
    return pd.concat(found, ignore_index=True)


def ranks(runs: pd.DataFrame, ranked: list[list[str]], trained: float) -> pd.DataFrame:
    """Rank correlations of NC3 and tau by dataset, see `measure`."""
    sound = runs[(runs["loss"] == "squared") & (runs["decay"] > 0) & np.isfinite(runs["nc3"])]
    sound = sound[sound["train_accuracy"] >= trained]
    rows = []
    for data, own in sound.groupby("data", sort=False):
        for inits in ranked:
            part = own[own["init"].isin(inits)]
            enough = len(part) >= FEWEST
            value = part["nc3"].corr(part["tau"], method="spearman") if enough else np.nan
            rows.append({"data": data, "inits": ", ".join(inits), "runs": len(part),
                         "rank_correlation": value, **fits(part["tau"], part["nc3"])})  # fmt: skip
    return pd.DataFrame(rows, columns=["data", "inits", "runs", "rank_correlation", *FITS])


def fits(tau: pd.Series, nc3: pd.Series) -> dict[str, float]:
    """Fit the logarithms of NC3 by least squares: with a power of tau, and with an exponential.

    Args:
        tau: of each network.
        nc3: of each network.

    Returns:
        ``power``, the exponent p of NC3 = c tau^p; ``power_misfit`` and ``exponential_misfit``, the
        root mean squares of what is left of log NC3 by c tau^p and by c exp(-d tau). All are nan
        for fewer than `FEWEST` values of tau, and if a value is not above 0.
    """
    if tau.nunique() < FEWEST or min(tau.min(), nc3.min()) <= 0:
        return dict.fromkeys(FITS, np.nan)
    logs, found = np.log(nc3.to_numpy(dtype=float)), []
    for across in (np.log(tau.to_numpy(dtype=float)), tau.to_numpy(dtype=float)):
        slope, start = np.polyfit(across, logs, 1)
        found.append((slope, float(np.sqrt(np.mean((logs - start - slope * across) ** 2)))))
    (power, misfit), (_, other) = found
    return dict(zip(FITS, (float(power), misfit, other), strict=True))
