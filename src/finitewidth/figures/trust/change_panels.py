"""trust Figures 8 to 11: change of the kernel after several numbers of steps, or by width."""

from collections.abc import Mapping
from string import ascii_lowercase
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from finitewidth.figures.trust.descent_maps import (
    NAMES,
    cells,
    change_scale,
    draw_map,
    finish,
    grid,
    with_borders,
)

COLUMNS = {"steps": 2, "width": 3}  # maps beside each other


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return the rows to draw, from ``changes``, ``networks`` and ``borders``.

    Only the first bias variance, which all widths have, is shown.

    Args:
        tables: of the experiment.
        settings: ``by``: ``steps`` for a panel per recorded time, ``width`` for a panel per width
            at the end of training; ``width`` (shown by steps), ``times``, ``sigma_b2``.
    """
    networks = tables["networks"].query(f"sigma_b2 == {settings['sigma_b2'][0]}")
    changes = tables["changes"].query(f"sigma_b2 == {settings['sigma_b2'][0]}")
    if settings["by"] == "steps":
        networks = networks[networks["width"] == settings["width"]]
        changes = changes[changes["width"] == settings["width"]]
        shown = {f"{time:,} steps": changes["time"] == time for time in settings["times"]}
    else:
        last = changes["time"] == changes["time"].max()
        shown = {f"M = {width}": last & (changes["width"] == width)
                 for width in sorted(changes["width"].unique())}  # fmt: skip
    found = [cells(changes[which], networks, "change", name) for name, which in shown.items()]
    return with_borders(found, tables["borders"])


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw a map per panel; colours of changes after few steps have a logarithmic scale."""
    activation, panels = rows["activation"].iloc[0], list(rows["panel"].unique())
    figure, axes = grid(rows, [rows["line"].iloc[0]], min(COLUMNS[settings["by"]], len(panels)))
    scale = change_scale(logarithmic=settings["by"] == "steps")
    for axis, letter, panel in zip(axes.flat, ascii_lowercase, panels, strict=False):
        draw_map(axis, rows[rows["panel"] == panel], scale)
        axis.set_title(f"{letter}) {NAMES[activation]}, {panel}", fontsize=8)
    for axis in axes.flat[len(panels) :]:
        axis.remove()
    scale.bar(figure, axes, shrink=0.6, aspect=45)
    finish(figure, axes, rows)
    return figure
