"""Trained networks of a pair, by rate and in time, jobs `collapse_models_<pair>`.

Shown in ``collapse`` Figures 1 to 20.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from finitewidth.networks.normalised.specs import Network, feature_count, title
from finitewidth.papers.collapse.experiments.heat_maps import heat_maps
from finitewidth.papers.collapse.experiments.picking import last_epoch, picks
from finitewidth.papers.collapse.experiments.training import pixels_of

LAST = (
    "pair", "init", "rate_index", "rate", "tau", "nc1", "nc1_ratio", "nc2", "nc3", "test_accuracy",
    "train_accuracy", "e_norm", "e_relative", "invariant_alignment", "alignment_theta_h", "dead",
)  # fmt: skip
CURVES = (
    "e_norm", "e_relative", "invariant_alignment", "residual", "nc1", "nc1_ratio", "nc2", "nc3",
    "alignment_theta", "alignment_theta_h",
)  # fmt: skip
ENDS = ("h1", "h2", "hbar", "alignment_theta", "alignment_theta_h", "alpha_c", "bias_gap", "nc4")
MODEL = ["pair", "init", "model"]


def measure(inputs: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, pd.DataFrame]:
    """Choose the models of a pair, and tell what the figures show of them.

    Args:
        inputs: ``history``, ``measures`` and ``weights`` of the training of the pair (see
            `finitewidth.papers.collapse.experiments.training`), and ``data``, the dataset.
        settings: those of `finitewidth.papers.collapse.settings.Models`; ``training``, the
            settings of the training of the pair; ``trained``, the training accuracy from which a
            network counts as trained; ``maps``, of `finitewidth.papers.collapse.settings.Map`, or
            null for none.

    Returns:
        ``rates``, each network at the last epoch: `LAST`, picked (collapsed, other or empty),
        trained (1 if the training accuracy reaches the setting ``trained``, otherwise 0),
        per_class (images of each class in its kernels), network (its name with the number of its
        layers) and pixels (height of the images that it sees). The training accuracy is that of
        the whole last epoch.

        ``picks``: see `finitewidth.papers.collapse.experiments.picking.picks`.

        ``curves``, each measured epoch of the picked models: pair, init, model, rate, epoch,
        quantity (`CURVES`), value, smooth.

        ``ends``, the picked models at the last epoch: pair, init, model, quantity (`ENDS`,
        kappa_ratio and gamma_ratio, same class over other class), value.

        ``lines``: pair, init, model, epoch (the first whose last ten batches have at least the
        training accuracy ``threshold``, nan if there is none), threshold.

        ``traced``, ``norms``, ``blocks``, ``alignments``: see
        `finitewidth.papers.collapse.experiments.heat_maps`. They are missing if ``maps`` is null.

    Raises:
        ConfigError: no network can be shown in the heat maps.
    """
    history, measures = inputs["history"], inputs["measures"]
    training = settings["training"]
    network = Network.from_mapping(training["network"])
    ends = last_epoch(history, measures)
    ends = ends.assign(dead_share=ends["dead"] / feature_count(network))
    chosen = picks(ends, settings["picking"])
    own = chosen.loc[chosen["found"] == 1, [*MODEL, "replica"]]
    key = ["pair", "init", "replica"]
    named = own.rename(columns={"model": "picked"})
    rates = ends[["replica", *LAST]].merge(named, on=key, how="left").drop(columns="replica")
    last = ends.merge(own, on=key)
    ratios = {f"{name}_ratio": last[f"{name}_c"] / last[f"{name}_n"] for name in ("kappa", "gamma")}
    tables = {
        "rates": rates.fillna({"picked": ""}).assign(
            trained=(rates["train_accuracy"] >= settings["trained"]).astype(int),
            per_class=training["kernel_per_class"],
            network=title(network),
            pixels=pixels_of(inputs["data"], training["images"]),
        ),
        "picks": chosen,
        "curves": curves(measures.merge(own, on=key), settings["smoothing"]),
        "ends": last[[*MODEL, *ENDS]]
        .assign(**ratios)
        .melt(MODEL, var_name="quantity", value_name="value"),
        "lines": lines(history, own, settings["threshold"]),
    }
    if settings["maps"] is not None:
        tables |= heat_maps(inputs, settings, ends, chosen)
    return tables


def curves(rows: pd.DataFrame, smoothing: Mapping[str, Any]) -> pd.DataFrame:
    """Measures of the picked models in time, raw and smoothed."""
    keys = [*MODEL, "rate"]
    found = [pd.DataFrame(columns=[*keys, "epoch", "quantity", "value", "smooth"])]
    for key, run in rows.groupby(keys, sort=False):
        ordered = run.sort_values("epoch")
        place = dict(zip(keys, key, strict=True)) | {"epoch": ordered["epoch"]}
        for quantity in CURVES:
            value = ordered[quantity].to_numpy(dtype=float)
            curve = {"quantity": quantity, "value": value, "smooth": smoothed(value, smoothing)}
            found.append(pd.DataFrame(place | curve))
    # an empty table beside others would make pandas guess types
    return pd.concat(found[1:] or found, ignore_index=True)


def smoothed(values: np.ndarray, smoothing: Mapping[str, Any]) -> np.ndarray:
    """Smooth a curve (T,) as ``collapse`` Figure 2 does, by the filter of Savitzky and Golay.

    A curve with fewer than ``fewest`` points, or with a value that is not finite, stays as it is.
    """
    from scipy.signal import savgol_filter

    if len(values) < smoothing["fewest"] or not np.isfinite(values).all():
        return values
    return savgol_filter(values, smoothing["window"], smoothing["degree"])


def lines(history: pd.DataFrame, own: pd.DataFrame, threshold: float) -> pd.DataFrame:
    """When the picked models first have a training accuracy, see `measure`."""
    runs = history.merge(own, on=["pair", "init", "replica"])
    there = runs[runs["train_accuracy_last10"] >= threshold]
    first = there.groupby(MODEL)["epoch"].min().rename("epoch").reset_index()
    found = own[MODEL].merge(first, on=MODEL, how="left")
    return found.assign(threshold=threshold)
