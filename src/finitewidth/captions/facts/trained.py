"""Facts of captions on networks trained by gradient descent: ``trust`` Figures 3, 4 and 8 to 11.

Tables: ``changes``, ``networks`` and ``borders`` of `finitewidth.experiments.trust.descent`.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from finitewidth.captions.facts import Tables
from finitewidth.captions.facts.rows import falls, span, values_of, where

NAMES = {"tanh": "tanh", "relu": "ReLU"}
ORDERED, CHAOTIC = 0.75, 1.25  # of the border's weight variance, as in claims T10 and T11
DEEP = 8  # layers, as in claim T13
CELL = ["sigma_b2", "sigma_w2", "depth", "width"]
METHODS = {
    "by_steps": "steps", "by_graded": "graded", "by_flow": "flow", "by_both": "flow, then graded",
}  # fmt: skip


def at_the_end(tables: Tables) -> dict[str, Any]:
    """Change at the end and lowest loss over the phases, at the first bias variance."""
    networks = _shown(tables["networks"])
    shown = _changes(tables, networks)
    ends = shown[shown["time"] == shown["time"].max()]
    first = _first_bias(ends, networks)
    deepest = _phases(first)["chaotic"]["depth"].max()
    deep = first[first["depth"] == deepest]
    means = {name: _mean(rows["change"]) for name, rows in _phases(deep).items()}
    losses = {name: _mean(rows["loss_ratio"]) for name, rows in _phases(deep).items()}
    chaotic = _phases(first)["chaotic"].groupby("depth")["change"].mean()
    values = list(means.values())
    return _about(networks, ends) | {
        "deepest": int(deepest) if len(deep) else None,
        "first_bias": _first(networks, "sigma_b2"),
        **means,
        **{f"loss_{name}": value for name, value in losses.items()},
        "in_order": None not in values and falls(values[::-1]),
        "grows": len(chaotic) > 1 and bool(chaotic.iloc[-1] > chaotic.iloc[0]),
        "unlearnt": int((networks["lowest_loss"] > networks["constant_loss"]).sum()),
        "slow": _largest(_phases(deep)["ordered"]["steepness"] / 2),
        "untrained": losses["ordered"] is not None and losses["chaotic"] is not None
        and losses["ordered"] > losses["chaotic"],
    }  # fmt: skip


def by_time(tables: Tables) -> dict[str, Any]:
    """Changes of deep networks over time, chaotic over ordered."""
    networks = _shown(tables["networks"])
    networks = networks[networks["sigma_b2"] == _first(networks, "sigma_b2")]
    changes = _changes(tables, networks)
    deep = changes[(changes["depth"] >= DEEP) & ~changes["steep"]]
    ratios = []
    for _, rows in deep.groupby("time"):
        phases = _phases(rows)
        low, high = (phases[name]["change"].median() for name in ("ordered", "chaotic"))
        ratios.append(high / low if low > 0 and np.isfinite(high) else np.nan)
    known = len(ratios) > 1 and bool(np.isfinite(ratios).all())
    times = values_of(changes, "time")
    early = (networks["steps_taken"] < changes["time"].max()) & (networks["diverged"] == 0)
    return _about(networks, changes[changes["time"] == changes["time"].max()]) | {
        "deep": DEEP, "times": times, "first_time": times[0] if times else None,
        "ratio_first": float(ratios[0]) if known else None,
        "ratio_last": float(ratios[-1]) if known else None,
        "early": known and bool(ratios[0] > ratios[-1] > 1),
        "stopped": int(early.sum()),
    }  # fmt: skip


def by_width(tables: Tables) -> dict[str, Any]:
    """Median change at the end over the cells that all widths have."""
    networks = tables["networks"]
    networks = networks[networks["sigma_b2"] == _first(networks, "sigma_b2")]
    changes = _changes(tables, networks)
    ends = changes[changes["time"] == changes["time"].max()]
    flat = ends[~ends["steep"]]
    table = flat.pivot_table(index=["sigma_w2", "depth"], columns="width", values="change")
    medians = [float(value) for value in table.dropna().median()]
    gaps = [_gap(rows) for _, rows in flat.groupby("width")]
    return _about(networks, ends) | {
        "medians_text": ", ".join(f"{value:.2f}" for value in medians),
        "falls": falls(medians),
        "everywhere": len(gaps) > 1 and all(gap is not None and gap > 0 for gap in gaps),
        "gaps": span(gap for gap in gaps if gap is not None),
    }


def _shown(networks: pd.DataFrame) -> pd.DataFrame:
    """The networks of the width that most figures show; all if there is none."""
    found = where(networks, map="shown")
    return found if len(found) else networks


def _gap(rows: pd.DataFrame) -> float | None:
    """Mean change of deep chaotic networks minus that of ordered ones."""
    means = [_mean(each["change"]) for each in _phases(rows[rows["depth"] >= DEEP]).values()]
    return None if None in (means[0], means[-1]) else means[-1] - means[0]


def _changes(tables: Tables, networks: pd.DataFrame) -> pd.DataFrame:
    """The rows of some networks, with the place of their weight variance over the border's."""
    steep = networks.groupby(CELL, as_index=False)["eta_lambda"].mean()
    about = networks[["activation", *CELL, "seed"]].assign(
        loss_ratio=networks["lowest_loss"] / networks["constant_loss"]
    )
    rows = tables["changes"].merge(about).merge(steep.rename(columns={"eta_lambda": "steepness"}))
    rows = rows.merge(tables["borders"].rename(columns={"sigma_w2": "border"}))
    return rows.assign(place=rows["sigma_w2"] / rows["border"], steep=rows["steepness"] > 2)


def _first_bias(ends: pd.DataFrame, networks: pd.DataFrame) -> pd.DataFrame:
    """The cells of the first bias variance whose rate does not exceed 2/lambda_max."""
    return ends[(ends["sigma_b2"] == _first(networks, "sigma_b2")) & ~ends["steep"]]


def _phases(rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The rows well below the border, next to it, and well above it."""
    away = (rows["place"] - 1).abs()
    return {
        "ordered": rows[rows["place"] <= ORDERED + 1e-9],
        "border": rows[(away <= away.min() + 1e-9) & (away < 0.1)],
        "chaotic": rows[rows["place"] >= CHAOTIC - 1e-9],
    }


def _mean(values: pd.Series) -> float | None:
    found = values.dropna()
    return float(found.mean()) if len(found) else None


def _first(rows: pd.DataFrame, column: str) -> float | None:
    return float(rows[column].iloc[0]) if len(rows) else None


def _about(networks: pd.DataFrame, ends: pd.DataFrame) -> dict[str, Any]:
    """What was trained, by which method, and what happened in training."""
    cells = networks.groupby(CELL)
    ranges = ends.groupby(CELL)["change"].agg(lambda values: values.max() - values.min())
    return {
        "activation": NAMES[networks["activation"].iloc[0]] if len(networks) else "",
        "width": _first(_shown(networks), "width"),
        "widths": values_of(networks, "width"),
        "biases": [float(value) for value in networks["sigma_b2"].unique()],
        "rows": networks["sigma_b2"].nunique() > 1,
        "steps": int(ends["time"].max()) if len(ends) else None,
        "seeds": span(cells.size()),
        "networks": len(networks),
        **{name: int((networks["method"] == method).sum()) for name, method in METHODS.items()},
        "cells": len(cells),
        "steep": int((cells["eta_lambda"].mean() > 2).sum()),
        "diverged": int(networks["diverged"].sum()),
        "met_window": int((networks["stop_window"] >= 0).sum()),
        "met_each": int((networks["stop_each"] >= 0).sum()),
        "apart": _largest(ranges),
    }


def _largest(values: Iterable[float]) -> float | None:
    found = span(values)
    return found[1] if found else None
