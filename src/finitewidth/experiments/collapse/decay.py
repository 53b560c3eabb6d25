"""Neural collapse against weight decay over the whole training, job `collapse_decay`.

In the prototypes of this figure, which the paper does not have, NC3 of networks that start from
LeCun's or PyTorch's initialisation is nearly a function of tau alone, the sum over steps of rate *
decay / (1 - momentum).
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from finitewidth.experiments.collapse.picking import last_epoch

KEPT = (
    "pair", "network", "data", "loss", "init", "decay", "rate", "tau", "nc3", "nc2",
    "invariant_alignment", "train_accuracy", "test_accuracy", "dead",
)  # fmt: skip
FEWEST = 3  # runs of a rank correlation


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
        (joined by commas), runs (their number), rank_correlation (Spearman's, of NC3 and tau; nan
        for fewer than `FEWEST` runs).
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
                         "rank_correlation": value})  # fmt: skip
    return pd.DataFrame(rows, columns=["data", "inits", "runs", "rank_correlation"])
