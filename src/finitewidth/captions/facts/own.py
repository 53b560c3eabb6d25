"""Facts of the captions of the user's network."""

from typing import Any

import pandas as pd

from finitewidth.captions.facts import Tables
from finitewidth.captions.facts.rows import ERRORS, only, span, where

TRAINED = 0.95  # training accuracy from which on a network counts as trained
SHOWN = 6  # layers with a curve of their own
SHARP = ("relu", "relu6", "leaky_relu", "prelu")
PATHS = "neural path kernel"


def own_extra_dispersion(tables: Tables) -> dict[str, Any]:
    """Dispersions with errors, and blocks of the mean kernel."""
    first, total = (where(tables["summary"], outputs=name)
                    for name in ("one output", "sum over outputs"))  # fmt: skip
    one, error = only(first, "r"), only(first, "standard_error")
    blocks = tables["blocks"]
    return {
        "parameters": only(first, "parameters"), "draws": only(first, "draws"),
        "images": only(first, "images"), "one": one, "one_error": error,
        "sum": only(total, "r"), "sum_error": only(total, "standard_error"),
        "typical": max(one - 1, 0.0) ** 0.5, "random": one - 1 > ERRORS * error,
        "same": only(where(blocks, quantity="same_class"), "value"),
        "other": only(where(blocks, quantity="other_class"), "value"),
    }  # fmt: skip


def own_extra_training(tables: Tables) -> dict[str, Any]:
    """What changed from the first to the last step."""
    curves = tables["curves"]
    first, last = (
        where(curves, step=step) for step in (curves["step"].min(), curves["step"].max())
    )
    end = {row.quantity: row for row in last.itertuples()}
    return {
        "runs": int(curves["runs"].iloc[0]), "last": int(curves["step"].max()),
        "train": end["train_accuracy"].median, "test": end["test_accuracy"].median,
        "change": end["change"].median, "threshold": TRAINED,
        "trained": bool(end["train_accuracy"].lowest >= TRAINED),
        "alignment": _ends(first, last, "alignment"),
        "eigenvalue": _ends(first, last, "eigenvalue"),
    }  # fmt: skip


def own_extra_gates(tables: Tables) -> dict[str, Any]:
    """Share of gates that change, and alignment of their kernel at the ends."""
    layers, paths = tables["layers"], tables["paths"]
    steps = layers["step"].min(), layers["step"].max()
    changed = where(layers, quantity="changed", step=steps[1])
    first, last = (where(paths, step=step) for step in steps)
    count = int(layers["layer"].nunique())
    alignment = _ends(first, last, "alignment")
    return {
        "images": int(tables["kernels"]["column"].max()) + 1,
        "runs": int(layers["runs"].iloc[0]), "last": int(steps[1]),
        "paths": paths["kernel"].iloc[0] == PATHS, "changed": span(changed["median"]),
        "alignment": alignment, "dead": None in alignment, "layers": count,
        "shown": min(count, SHOWN), "hidden": count > SHOWN,
        "smooth": not layers["activation"].isin(SHARP).all(),
    }  # fmt: skip


def _ends(first: pd.DataFrame, last: pd.DataFrame, quantity: str) -> list[float]:
    return [only(where(rows, quantity=quantity), "median") for rows in (first, last)]
