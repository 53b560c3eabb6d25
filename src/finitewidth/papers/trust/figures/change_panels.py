"""trust Figures 8 to 11: change of the kernel after several numbers of steps, or by width."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from finitewidth.figures import style
from finitewidth.papers.trust.figures import descent_maps, looks

FIELDS = descent_maps.FIELDS
# column that tells the panels apart, its name, and maps beside each other
PANEL = {"steps": ("time", "{:,} steps", 2), "width": ("width", "$M = {}$", 3)}


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return the rows to draw, from ``cells`` and ``borders``.

    Only the first bias variance, which all widths have, is shown. There is a panel per recorded
    time at the ``width`` shown, or a panel per width at the end of training.
    """
    cells = tables["cells"]
    if settings["by"] == "steps":
        shown = cells["time"].isin(settings["times"]) & (cells["width"] == settings["width"])
    else:
        shown = cells["time"] == cells["time"].max()
    shown &= (cells["quantity"] == "change") & (cells["sigma_b2"] == settings["sigma_b2"][0])
    return descent_maps.with_borders(cells[shown], tables["borders"])


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw a map per panel; colours of changes after few steps have a logarithmic scale."""
    activation, by = looks.NAMES[rows["activation"].iloc[0]], settings["by"]
    column, form, most = PANEL[by]
    panels = sorted(rows[column].unique())
    figure, axes = descent_maps.grid(len(panels), min(most, len(panels)))
    scale, look = descent_maps.change_scale(logarithmic=by == "steps")
    shown = axes.flat[: len(panels)]
    for axis, panel in zip(shown, panels, strict=True):
        descent_maps.draw_map(axis, rows[rows[column] == panel], scale)
    style.title_panels(shown, [f"{activation}, {form.format(panel)}" for panel in panels])
    figure.colorbar(scale, ax=axes, location="bottom", shrink=0.6, aspect=45, **look)
    descent_maps.finish(figure, axes, rows)
    return figure
