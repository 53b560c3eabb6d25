"""trust Figures 8 to 11: change of the kernel after several numbers of steps, or by width."""

from collections.abc import Mapping
from typing import Literal

import pandas as pd
from matplotlib.figure import Figure

from finitewidth.figures import style
from finitewidth.papers.trust.figures import descent_maps, looks

TABLE = descent_maps.TABLE
COLUMN = {"steps": "time", "width": "width"}  # whose values the panels have
TITLE = {"steps": "{:,} steps", "width": "$M = {}$"}
MOST_ACROSS = 2  # maps beside each other: cells have room for a range


class PanelsLook(looks.Look):
    """What tells the panels apart, and the settings of the networks that choose rows."""

    by: Literal["steps", "width"]
    width: int
    times: list[int]
    sigma_b2: list[float]


def select(tables: Mapping[str, pd.DataFrame], settings: PanelsLook) -> pd.DataFrame:
    """Return the rows to draw, from ``cells`` and ``borders``.

    The panels are those of ``by``: with ``steps`` one per recorded time, at one ``width``; with
    ``width`` one per width, at the end of training. Only the first bias variance is selected, which
    all widths have.
    """
    cells = tables["cells"]
    if settings.by == "steps":
        cells = cells[cells["time"].isin(settings.times) & (cells["width"] == settings.width)]
    else:
        cells = cells[cells["time"] == cells["time"].max()]
    first_bias = cells["sigma_b2"] == settings.sigma_b2[0]
    changes = cells[first_bias & (cells["quantity"] == "change")]
    return descent_maps.shown_ranges(descent_maps.with_borders(changes, tables["borders"]))


def draw(rows: pd.DataFrame, settings: PanelsLook) -> Figure:
    """Draw a map per panel; colours of changes after few steps have a logarithmic scale."""
    activation = looks.NAMES[rows["activation"].iloc[0]]
    by = settings.by
    column = COLUMN[by]
    panels = sorted(rows[column].unique())
    figure, axes = descent_maps.grid(len(panels), min(MOST_ACROSS, len(panels)))
    used_axes = axes.flat[: len(panels)]
    scale, look = descent_maps.change_scale(logarithmic=by == "steps")
    for axis, panel in zip(used_axes, panels, strict=True):
        descent_maps.draw_map(axis, rows[rows[column] == panel], scale)
    titles = [f"{activation}, {TITLE[by].format(panel)}" for panel in panels]
    style.title_panels(used_axes, titles)
    figure.colorbar(scale, ax=axes, location="bottom", shrink=0.6, aspect=45, **look)
    descent_maps.finish(figure, axes, rows)
    return figure
