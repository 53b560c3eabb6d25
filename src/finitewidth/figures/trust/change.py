"""trust Figures 3 and 4: change of the kernel at the end of training, and lowest loss reached."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.colors import TwoSlopeNorm
from matplotlib.figure import Figure

from finitewidth.figures.trust.descent_maps import (
    NAMES,
    SEED,
    Scale,
    cells,
    change_scale,
    draw_map,
    finish,
    grid,
    with_borders,
)

PANELS = {"a": "change of the NTK at the end", "b": "lowest loss over that of a constant"}
RATIO = "lowest loss / loss of the best constant"


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return the rows to draw, from ``changes``, ``networks`` and ``borders``.

    Panels: ``a``, the change at the end of training, and ``b``, the lowest loss over that of the
    best constant output. ``line`` is the bias variance.

    Args:
        tables: of the experiment.
        settings: ``width`` of the networks shown.
    """
    networks = tables["networks"].query(f"width == {settings['width']}")
    ends = tables["changes"][tables["changes"]["time"] == tables["changes"]["time"].max()]
    losses = networks.assign(
        time=ends["time"].max(),
        lowest=(networks["lowest_loss"] / networks["constant_loss"]).where(
            networks["diverged"] == 0
        ),
    )
    changes = cells(ends.merge(networks[SEED]), networks, "change", "a")
    return with_borders([changes, cells(losses, networks, "lowest", "b")], tables["borders"])


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw a row of two maps per bias variance."""
    activation, lines = rows["activation"].iloc[0], list(rows["line"].unique())
    figure, axes = grid(rows, lines, 2)
    scales = {"a": change_scale(), "b": _loss_scale(rows.loc[rows["panel"] == "b", "value"])}
    for across, line in zip(axes, lines, strict=True):
        for axis, (panel, title) in zip(across, PANELS.items(), strict=True):
            own = rows[(rows["panel"] == panel) & (rows["line"] == line)]
            draw_map(axis, own, scales[panel], spans=True)
            axis.set_title(f"{panel}) {NAMES[activation]}, $\\sigma_b^2 = {line:g}$: {title}",
                           fontsize=7.5)  # fmt: skip
    for column, scale in enumerate(scales.values()):
        scale.bar(figure, axes[:, column], shrink=0.8, aspect=35)
    finish(figure, axes, rows)
    return figure


def _loss_scale(ratios: pd.Series) -> Scale:
    """Colours of losses: white for that of the best constant output."""
    low, high = min(0.9, float(ratios.min())), max(1.1, float(ratios.max()))
    ticks = tuple(round(value, 2) for value in ((1 + low) / 2, 1.0, (1 + high) / 2, high))
    return Scale(TwoSlopeNorm(1, low, high), "PuOr", RATIO, "neither", (low, *ticks))
