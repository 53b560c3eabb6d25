"""Trained networks of a pair, by rate and in time, jobs `collapse_models_<pair>`.

Shown in ``collapse`` Figures 1 to 20. For each initialisation the paper shows a model with neural
collapse and one of comparable accuracy without it, and does not say how they were chosen. Here a
rule chooses them, from the last epoch.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from finitewidth.common.errors import ConfigError
from finitewidth.data.store import Dataset
from finitewidth.networks.normalised.specs import Network, feature_count, title
from finitewidth.papers.collapse.columns import networks as columns
from finitewidth.papers.collapse.experiments import heat_maps
from finitewidth.papers.collapse.experiments.training import grid_rate
from finitewidth.papers.collapse.settings.pairs import (
    Images,
    Map,
    Pair,
    Picking,
    ShownModels,
    Smoothing,
)
from finitewidth.records.tables import Table

LAST = (
    "pair",
    "init",
    "rate_index",
    "rate",
    "tau",
    "nc1",
    "nc1_ratio",
    "nc2",
    "nc3",
    "test_accuracy",
    "train_accuracy",
    "e_norm",
    "e_relative",
    "invariant_alignment",
    "alignment_theta_h",
    "dead",
)
CURVES = (
    "e_norm",
    "e_relative",
    "invariant_alignment",
    "residual",
    "nc1",
    "nc1_ratio",
    "nc2",
    "nc3",
    "alignment_theta",
    "alignment_theta_h",
)
ENDS = ("h1", "h2", "hbar", "alignment_theta", "alignment_theta_h", "alpha_c", "bias_gap", "nc4")
MODEL = ["pair", "init", "model"]  # columns that tell picked models apart
NETWORK = ["pair", "init", "replica"]  # columns that tell networks apart
# the two models of an initialisation
COLLAPSED = "collapsed"
OTHER = "other"
RANKED = ("nc1_ratio", "nc2", "nc3")
PICKED = (
    "rate_index",
    "rate",
    "replica",
    "test_accuracy",
    "train_accuracy",
    "nc1_ratio",
    "nc2",
    "nc3",
    "alignment_theta_h",
)
NONE = "none"  # step of a model that was not found
EQUAL = 1e-9  # accuracies that differ by less are equal
TABLES = {
    "rates": Table(
        columns.PAIR,
        columns.INIT,
        columns.RATE_INDEX,
        columns.RATE,
        columns.TAU,
        columns.NC1,
        columns.NC1_RATIO,
        columns.NC2,
        columns.NC3,
        columns.TEST_ACCURACY,
        columns.TRAIN_ACCURACY,
        columns.E_NORM,
        columns.E_RELATIVE,
        columns.INVARIANT_ALIGNMENT,
        columns.ALIGNMENT_THETA_H,
        columns.DEAD,
        columns.PICKED,
        columns.TRAINED,
        columns.KERNEL_PER_CLASS,
        columns.NETWORK,
        columns.PIXELS,
    ),
    "picks": Table(
        columns.PAIR,
        columns.INIT,
        columns.MODEL,
        columns.FOUND,
        columns.CONDITION,
        columns.TRIED,
        *columns.PICKED_NETWORK,
        columns.TEST_IMAGES,
    ),
    "curves": Table(
        columns.PAIR,
        columns.INIT,
        columns.MODEL,
        columns.RATE,
        columns.EPOCH,
        columns.QUANTITY,
        columns.MEASURE,
        columns.SMOOTH_MEASURE,
    ),
    "ends": Table(
        columns.PAIR, columns.INIT, columns.MODEL, columns.QUANTITY_AT_END, columns.MEASURE
    ),
    "lines": Table(
        columns.PAIR, columns.INIT, columns.MODEL, columns.FITTING_EPOCH, columns.THRESHOLD
    ),
    **heat_maps.TABLES,
}


def measure(inputs: Mapping[str, Any], settings: ShownModels) -> dict[str, pd.DataFrame]:
    """Choose the models of a pair, and collect what the figures show of them.

    The inputs are ``history``, ``measures`` and ``weights`` of the training of the pair, and
    ``data``, its dataset.

    Returns:
        ``rates``: a row for each network at the last epoch.

        ``picks``: see `picks`, with the number of test images.

        ``curves``: a row for each picked model, measured epoch and quantity of `CURVES`.

        ``ends``: the picked models at the last epoch, a row for each quantity of `ENDS` and two
        ratios of kernels.

        ``lines``: when the picked models fit the images.

        ``traced``, ``norms``, ``blocks``, ``alignments``: see
        `finitewidth.papers.collapse.experiments.heat_maps`. They are missing if ``maps`` is null.
    """
    history = inputs["history"]
    measures = inputs["measures"]
    training = settings.training
    network = Network.from_mapping(dict(training.network))
    ends = _ends(history, measures, feature_count(network))
    chosen = picks(ends, settings.picking)
    models = chosen.loc[chosen["found"] == 1, [*MODEL, "replica"]]
    facts = {"network": title(network), "pixels": _pixels(training.images, inputs["data"])}
    last = ends.merge(models, on=NETWORK)
    tables = {
        "rates": _rates(ends, models, settings, facts),
        "picks": chosen.assign(test_images=_test_images(training.images, inputs["data"])),
        "curves": curves(measures.merge(models, on=NETWORK), settings.smoothing),
        "ends": _quantities(last),
        "lines": lines(history, models, settings.threshold),
    }
    maps = settings.maps
    if maps is not None:
        run, choice = mapped(ends, models, maps, training)
        why = {"choice": choice, **facts}
        tables |= heat_maps.heat_maps(inputs, training, maps.per_class, run, why)
    return tables


def _ends(history: pd.DataFrame, measures: pd.DataFrame, features: int) -> pd.DataFrame:
    """The measures of each network at the last epoch, with two further columns.

    These are ``dead_share``, the share of ``features`` that is 0 on the whole batch, and
    ``train_accuracy``, that of the whole last epoch.
    """
    ends = measures[measures["epoch"] == measures["epoch"].max()]
    ends = ends.assign(dead_share=ends["dead"] / features)
    key = [*NETWORK, "epoch"]
    return ends.merge(history[[*key, "train_accuracy"]], on=key)


def _pixels(images: Images, data: Dataset) -> int:
    """Height of the images that the networks see."""
    return images.size or data.train_images.shape[1] // images.pool


def _test_images(images: Images, data: Dataset) -> int:
    """Number of images that a test accuracy is a share of."""
    return images.test or len(data.test_labels)


def _rates(
    ends: pd.DataFrame,
    models: pd.DataFrame,
    settings: ShownModels,
    facts: Mapping[str, Any],
) -> pd.DataFrame:
    """The table ``rates`` of `measure`."""
    picked = models.rename(columns={"model": "picked"})
    rates = ends[["replica", *LAST]].merge(picked, on=NETWORK, how="left").drop(columns="replica")
    trained = rates["train_accuracy"] >= settings.trained
    return rates.assign(
        trained=trained.astype(int),
        per_class=settings.training.kernel_per_class,
        **facts,
    )


def _quantities(last: pd.DataFrame) -> pd.DataFrame:
    """The table ``ends`` of `measure`, from the picked models at the last epoch."""
    quantities = last[[*MODEL, *ENDS]].assign(
        kappa_ratio=last["kappa_c"] / last["kappa_n"],
        gamma_ratio=last["gamma_c"] / last["gamma_n"],
    )
    return quantities.melt(MODEL, var_name="quantity", value_name="value")


def picks(rates: pd.DataFrame, picking: Picking) -> pd.DataFrame:
    """Choose the two models of each initialisation from the networks at the last epoch.

    Networks of which more than the share ``dead`` of the features is 0 on the whole batch (their
    ``dead_share``) are left out.

    ``collapsed`` is chosen among the networks whose test accuracy is within ``within`` of the best
    of this initialisation and, if ``collapsed_nc3`` is not null, whose NC3 is at most that. It has
    the least sum of the ranks of `RANKED`.

    ``other`` has an NC3 above ``nc3`` and at least ``contrast`` times that of ``collapsed``. Three
    conditions are tried in turn, until some of these networks meet one:

    1. test accuracy within ``other_within``, training accuracy at least ``train``;
    2. test accuracy within ``widened``, training accuracy at least ``train``;
    3. test accuracy within ``widened``, training accuracy at least ``relaxed_train``.

    Of those that meet it, ``other`` has the largest sum of NC2 and NC3.

    Returns:
        Two rows for each initialisation, with `NONE` as the condition that was met and nan in
        `PICKED` where there is no such model.
    """
    rows = []
    for (pair, init), runs in rates.groupby(["pair", "init"], sort=False):
        finite = np.isfinite(runs[[*RANKED, "test_accuracy"]]).all(axis=1)
        sound = runs[finite & (runs["dead_share"] <= picking.dead)]
        near = _near(sound, picking.within)
        collapsed = _collapsed(near, picking.collapsed_nc3)
        models = {
            COLLAPSED: (collapsed, _step(picking.within), len(near)),
            OTHER: _other(sound, collapsed, picking),
        }
        for model, (run, step, tried) in models.items():
            key = {"pair": pair, "init": init, "model": model}
            if run is None:
                row = {"found": 0, "step": NONE, "tried": tried} | dict.fromkeys(PICKED, np.nan)
            else:
                row = {"found": 1, "step": step, "tried": tried} | run[list(PICKED)].to_dict()
            rows.append(key | row)
    return pd.DataFrame(rows)


def _collapsed(near: pd.DataFrame, bound: float | None) -> pd.Series | None:
    """The model with the least sum of ranks whose NC3 is at most the bound, or None."""
    allowed = near if bound is None else near[near["nc3"] <= bound]
    if allowed.empty:
        return None
    ranks = allowed[list(RANKED)].rank().sum(axis=1)
    # a tie goes to the more accurate model, then to the smaller rate
    order = allowed.assign(ranks=ranks, test=-allowed["test_accuracy"])
    best = order.sort_values(["ranks", "test", "rate"]).index[0]
    return near.loc[best]


def _other(
    runs: pd.DataFrame, collapsed: pd.Series | None, picking: Picking
) -> tuple[pd.Series | None, str, int]:
    """The model, the condition that it meets, and how many meet the accuracies of this one."""
    for within, train, step in _steps(picking):
        near = _near(runs, within)
        near = near[near["train_accuracy"] >= train - EQUAL]
        far = near[near["nc3"] > picking.nc3]
        if collapsed is not None:
            far = far[far["nc3"] >= picking.contrast * collapsed["nc3"]]
            far = far.drop(index=collapsed.name, errors="ignore")
        if not far.empty:
            farthest = (far["nc2"] + far["nc3"]).idxmax()
            return far.loc[farthest], step, len(near)
    return None, NONE, len(near)


def _steps(picking: Picking) -> Iterator[tuple[float, float, str]]:
    """Distance from the best test accuracy, training accuracy, and the words for both."""
    near = picking.other_within
    far = picking.widened
    train = picking.train
    relaxed = picking.relaxed_train
    yield near, train, _step(near)
    yield far, train, _step(far)
    yield far, relaxed, f"{_step(far)}, training accuracy {relaxed:g}"


def _near(runs: pd.DataFrame, within: float) -> pd.DataFrame:
    """Runs whose test accuracy is within a distance of the best."""
    least = runs["test_accuracy"].max() - within - EQUAL
    return runs[runs["test_accuracy"] >= least]


def _step(within: float) -> str:
    """A distance from the best test accuracy, in words."""
    points = 100 * within
    unit = "point" if round(points, 9) == 1 else "points"
    return f"within {points:g} {unit} of the best"


def mapped(
    ends: pd.DataFrame, models: pd.DataFrame, maps: Map, training: Pair
) -> tuple[pd.Series, str]:
    """Choose the network that the heat maps show, a row of ``ends``, with the reason.

    It is the one with the rate in the paper's caption (``printed``), if there is one with this
    rate; otherwise the picked one of ``models`` with collapse (``collapsed``); otherwise the one
    with the best test accuracy (``best``).

    Raises:
        ConfigError: no network of the initialisation has finite measures.
    """
    runs = ends[(ends["init"] == maps.init) & np.isfinite(ends["nc3"])]
    if runs.empty:
        raise ConfigError(
            f"maps.init = {maps.init}: no network of this initialisation has finite measures at "
            "the end; use smaller rates"
        )
    if maps.rate_index is not None:
        printed_rate = grid_rate(training.rates, maps.rate_index)
        printed = runs[np.isclose(runs["rate"], printed_rate, rtol=1e-6, atol=0)]
        if not printed.empty:
            return printed.iloc[0], "printed"
    collapsed = models.loc[models["model"] == COLLAPSED, "replica"]
    picked = runs[runs["replica"].isin(collapsed)]
    if not picked.empty:
        return picked.iloc[0], COLLAPSED
    return runs.loc[runs["test_accuracy"].idxmax()], "best"


def curves(rows: pd.DataFrame, smoothing: Smoothing) -> pd.DataFrame:
    """Measures of the picked models in time, raw and smoothed."""
    keys = [*MODEL, "rate"]
    parts = []
    for key, run in rows.groupby(keys, sort=False):
        in_order = run.sort_values("epoch")
        model = dict(zip(keys, key, strict=True))
        for quantity in CURVES:
            values = in_order[quantity].to_numpy(dtype=float)
            curve = {
                **model,
                "epoch": in_order["epoch"],
                "quantity": quantity,
                "value": values,
                "smooth": smoothed(values, smoothing),
            }
            parts.append(pd.DataFrame(curve))
    if not parts:
        return pd.DataFrame(columns=[*keys, "epoch", "quantity", "value", "smooth"])
    return pd.concat(parts, ignore_index=True)


def smoothed(values: np.ndarray, smoothing: Smoothing) -> np.ndarray:
    """Smooth a curve (T,) as ``collapse`` Figure 2 does, by the filter of Savitzky and Golay.

    A curve with fewer than ``fewest`` points, or with a value that is not finite, stays as it is.
    """
    from scipy.signal import savgol_filter

    if len(values) < smoothing.fewest or not np.isfinite(values).all():
        return values
    return savgol_filter(values, smoothing.window, smoothing.degree)


def lines(history: pd.DataFrame, models: pd.DataFrame, threshold: float) -> pd.DataFrame:
    """When the picked models first have a training accuracy, see `measure`."""
    runs = history.merge(models, on=NETWORK)
    accurate = runs[runs["train_accuracy_last10"] >= threshold]
    first = accurate.groupby(MODEL)["epoch"].min().reset_index()
    return models[MODEL].merge(first, on=MODEL, how="left").assign(threshold=threshold)
