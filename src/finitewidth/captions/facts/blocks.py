"""Facts on kernels during training: ``beyond`` Figure 4 and Figure 2.5 of the thesis."""

from typing import Any

import pandas as pd

from finitewidth.captions.facts import Tables
from finitewidth.captions.facts.rows import falls, span, values_of, where

FITTED = 0.95  # training accuracy from which networks count as trained
EARLY = 6  # the early stage is this part of all steps, as in claim B20
FACTOR = 0.5  # of the squared error in the loss that `training.adam` minimises
LEAST_WRONG = 0.5  # squared distance from a one-hot label at which another class is as close
MOST = 0.5  # share of the rise from which on it is told


def during_training(tables: Tables) -> dict[str, Any]:
    """Class means at the start and the end, when they part, and their order against the losses."""
    curves = tables["curves"]
    variances, last = values_of(curves, "sigma_w2"), float(curves["step"].max())
    same, other, whole, test = (
        where(curves, quantity=name).pivot(index="step", columns="sigma_w2", values="y")
        for name in ("same_class", "other_class", "same_class_with_diagonal", "test_loss")
    )
    wrong = where(curves, quantity="train_loss", step=last)["high"] / (FACTOR * LEAST_WRONG)
    gap = same - other
    rise = gap.loc[last] - gap.loc[0]
    early = last / EARLY
    soon = (gap.loc[early] - gap.loc[0]) / rise if early in gap.index else pd.Series(dtype=float)
    wide = gap.loc[last].sort_values(ascending=False).index
    return {
        "runs": int(curves["runs"].max()),
        "factor": FACTOR,
        "variances": variances,
        "fitted": float(1 - wrong.max()),
        "fits": bool(wrong.max() <= 1 - FITTED),
        "least_wrong": FACTOR * LEAST_WRONG,
        "last": last,
        "starts": span(gap.loc[0]),
        "ends": [round(value, 2) for value in gap.loc[last].tolist()],
        "grows": bool((rise > 0).all()),
        "early": early,
        "soon": span(soon),
        "is_early": len(soon) > 0 and bool(((rise > 0) & (soon > MOST)).all()),
        "diagonal": span((whole - same).loc[last]),
        "adds": bool(((whole - same).loc[last] > 0).all()),
        "losses": [float(f"{value:.2g}") for value in test.loc[last].tolist()],
        "ordered": falls(test.loc[last, wide[::-1]].tolist()),
        **_images(tables["kernels"]),
    }


def heat_maps(tables: Tables) -> dict[str, Any]:
    """Mean shares of the diagonal over pairs of one class and of different ones, by time."""
    kernels = tables["kernels"]
    own = where(kernels, sigma_w2=kernels["sigma_w2"].min())
    pairs = own[own["row"] != own["column"]]
    alike = pairs["class_row"] == pairs["class_column"]
    same, other = (rows.groupby("step")["share"].mean() for rows in (pairs[alike], pairs[~alike]))
    gap = (same - other).tolist()
    return {
        "variance": float(own["sigma_w2"].iloc[0]),
        "steps": values_of(own, "step"),
        "last": float(own["step"].max()),
        "same": [float(same.iloc[place]) for place in (0, -1)],
        "other": [float(other.iloc[place]) for place in (0, -1)],
        "grows": gap[-1] > gap[0],
        **_images(own),
    }


def _images(kernels: pd.DataFrame) -> dict[str, Any]:
    """How many images the kernels have, and how many classes."""
    return {"images": int(kernels["column"].max()) + 1, "classes": kernels["class_row"].nunique()}
