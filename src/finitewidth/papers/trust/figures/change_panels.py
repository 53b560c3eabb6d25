"""trust Figures 8 to 11: change of the kernel after several numbers of steps, or by width."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from finitewidth.figures import style
from finitewidth.papers.trust.figures import descent_maps
from finitewidth.papers.trust.figures.descent_maps import (
    cells,
    change_scale,
    draw_map,
    finish,
    grid,
    with_borders,
)
from finitewidth.papers.trust.figures.looks import NAMES

FIELDS = descent_maps.FIELDS
COLUMNS = {"steps": 2, "width": 3}  # maps beside each other
PANEL = {"steps": ("time", "{:,} steps"), "width": ("width", "$M = {}$")}


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return the rows to draw, from ``changes``, ``networks`` and ``borders``.

    Only the first bias variance, which all widths have, is shown.

    Args:
        tables: of the experiment.
        settings: ``by``: ``steps`` for a panel per recorded time, ``width`` for a panel per width
            at the end of training; ``width`` (shown by steps), ``times``, ``sigma_b2``.
    """
    first = settings["sigma_b2"][0]
    networks, changes = (
        rows[rows["sigma_b2"] == first] for rows in (tables["networks"], tables["changes"])
    )
    if settings["by"] == "steps":
        shown = changes["time"].isin(settings["times"]) & (changes["width"] == settings["width"])
    else:
        shown = changes["time"] == changes["time"].max()
    rows = with_borders([cells(changes[shown], networks, "change")], tables["borders"])
    return rows.reindex(columns=list(FIELDS))


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw a map per panel; colours of changes after few steps have a logarithmic scale."""
    activation, by = NAMES[rows["activation"].iloc[0]], settings["by"]
    column, form = PANEL[by]
    panels = sorted(rows[column].unique())
    figure, axes = grid(len(panels), min(COLUMNS[by], len(panels)))
    scale, shown = change_scale(logarithmic=by == "steps"), axes.flat[: len(panels)]
    for axis, panel in zip(shown, panels, strict=True):
        draw_map(axis, rows[rows[column] == panel], scale)
    style.title_panels(shown, [f"{activation}, {form.format(panel)}" for panel in panels])
    scale.bar(figure, axes, location="bottom", shrink=0.6, aspect=45)
    finish(figure, axes, rows)
    return figure
