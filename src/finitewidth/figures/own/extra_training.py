"""Losses and tangent kernel of a network of the user during training."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from finitewidth.common import fields
from finitewidth.figures.own.parts import (
    CURVE,
    MAP,
    add_bar,
    curves,
    draw_map,
    logarithmic,
    together,
)
from finitewidth.figures.style import empty, title_panels

FIELDS = {
    "panel": fields.text("curve or map"),
    **CURVE,
    **MAP,
}
LINES, MAPS = 3.1, 1.75  # inches: height of the curves, of the maps
PANELS: tuple[tuple[dict[str, str], str], ...] = (
    ({"train_loss": "training", "test_loss": "test"}, "loss"),
    ({"train_accuracy": "training", "test_accuracy": "test"}, "accuracy"),
    ({"eigenvalue": ""}, r"$\lambda_{\max}$ over images"),
    ({"same_class": "same class", "other_class": "other classes"}, r"mean over $\Theta_d$"),
    ({"alignment": ""}, "alignment with labels"),
    ({"change": ""}, r"$|\Theta - \Theta_0|\,/\,|\Theta_0|$"),
)
LOGARITHMIC = ("train_loss", "eigenvalue")


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return the curves, and the entries of the kernels.

    Args:
        tables: ``curves`` and ``kernels`` of `own_training`.
        settings: none.
    """
    maps = tables["kernels"].assign(quantity="kernel")
    return together(FIELDS, curve=tables["curves"], map=maps)


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw two lines of curves, and below the kernel of the first run at some steps."""
    lines, maps = (rows[rows["panel"] == panel] for panel in ("curve", "map"))
    times = sorted(maps["step"].unique())
    figure = empty(height=LINES + MAPS)
    grid = figure.add_gridspec(2, 1, height_ratios=(LINES, MAPS))
    upper, lower = grid[0].subgridspec(2, 3), grid[1].subgridspec(1, len(times))
    axes = [figure.add_subplot(upper[place // 3, place % 3]) for place in range(len(PANELS))]
    for axis, (quantities, label) in zip(axes, PANELS, strict=True):
        curves(axis, lines[lines["quantity"].isin(quantities)], quantities, label)
        if next(iter(quantities)) in LOGARITHMIC:
            logarithmic(axis)
    drawn = [figure.add_subplot(lower[place]) for place in range(len(times))]
    least, most = min(0.0, maps["share"].min()), maps["share"].max()
    for place, (axis, time) in enumerate(zip(drawn, times, strict=True)):
        own = maps[maps["step"] == time]
        image = draw_map(axis, own, first=place == 0, vmin=least, vmax=most)
    add_bar(figure, image, drawn, r"$\Theta(x, \tilde{x})\,/\,\Theta_d$", shrink=0.8)
    title_panels([*axes, *drawn], [""] * len(axes) + [f"step {time:g}" for time in times])
    return figure
