"""trust Figures 3 and 4: change of the kernel at the end of training, and lowest loss reached."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.colorbar import Colorbar
from matplotlib.colors import TwoSlopeNorm
from matplotlib.figure import Figure

from finitewidth.common import fields
from finitewidth.figures import style
from finitewidth.figures.trust import descent_maps
from finitewidth.figures.trust.descent_maps import (
    BOUND,
    MOST_COLUMNS,
    SEED,
    Scale,
    cells,
    change_scale,
    draw_map,
    finish,
    grid,
    with_borders,
)
from finitewidth.figures.trust.looks import NAMES
from finitewidth.figures.trust.reported import printed

FIELDS = {
    **descent_maps.FIELDS,
    "lowest": fields.number("smallest value of all seeds; NaN where it is not shown"),
    "highest": fields.number("largest value of all seeds; NaN where it is not shown"),
}
QUANTITIES = {"change": "change of the NTK at the end", "lowest_loss": "lowest loss"}
RATIO = "lowest loss over that of the best constant (above 1: not trained)"
STATED = (("relative_ntk_change", "edge_of_chaos"), ("untrainable_depth", "ordered"))
HEIGHT = 1.85  # inches, of a row of maps, whose cells have two lines of text
MAP = ["activation", "width", "sigma_b2", "time"]


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return the rows to draw: of both quantities, borders, and what the paper states.

    Args:
        tables: ``changes``, ``networks`` and ``borders`` of the experiment, and ``reported``, the
            paper's values.
        settings: ``width`` of the networks shown.
    """
    rows = measured(tables, settings["width"])
    if rows["sigma_w2"].nunique() > MOST_COLUMNS:
        rows = rows.assign(lowest=float("nan"), highest=float("nan"))
    maps = rows[MAP].drop_duplicates().assign(source="paper")
    limit, deep = (printed(tables["reported"], *name) for name in STATED)
    bound = maps.assign(quantity="change", series="bound", value=limit)
    untrained = maps.assign(quantity="lowest_loss", series="untrained", depth=deep)
    return pd.concat([rows, bound, untrained]).reindex(columns=list(FIELDS))


def measured(tables: Mapping[str, pd.DataFrame], width: int) -> pd.DataFrame:
    """The change at the end of training, and the lowest loss over that of the best constant.

    Args:
        tables: ``changes``, ``networks`` and ``borders`` of the experiment.
        width: of the networks shown.

    Returns:
        The columns of ``FIELDS``, a row per cell and per border of each quantity.
    """
    networks = tables["networks"][tables["networks"]["width"] == width]
    ends = tables["changes"][tables["changes"]["time"] == tables["changes"]["time"].max()]
    losses = networks.assign(
        time=ends["time"].max(),
        lowest_loss=(networks["lowest_loss"] / networks["constant_loss"]).where(
            networks["diverged"] == 0
        ),
    )
    found = [cells(ends.merge(networks[SEED]), networks, "change"),
             cells(losses, networks, "lowest_loss")]  # fmt: skip
    return with_borders(found, tables["borders"]).reindex(columns=list(FIELDS))


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw a row of two maps per bias variance."""
    activation, biases = rows["activation"].iloc[0], list(rows["sigma_b2"].unique())
    figure, axes = grid(2 * len(biases), 2, HEIGHT)
    losses = rows.loc[rows["quantity"] == "lowest_loss", "value"]
    scales = {"change": change_scale(), "lowest_loss": _loss_scale(losses)}
    titles = []
    for across, bias in zip(axes, biases, strict=True):
        for axis, (quantity, title) in zip(across, QUANTITIES.items(), strict=True):
            own = rows[(rows["quantity"] == quantity) & (rows["sigma_b2"] == bias)]
            draw_map(axis, own, scales[quantity])
            titles.append(f"{NAMES[activation]}, $\\sigma_b^2 = {bias:g}$: {title}")
    style.title_panels(axes.flat, titles)
    bars = {quantity: scale.bar(figure, axes[:, column], location="bottom", shrink=0.85, aspect=35)
            for column, (quantity, scale) in enumerate(scales.items())}  # fmt: skip
    for bound in rows.loc[rows["series"] == "bound", "value"].unique():
        _bound(bars["change"], bound)
    finish(figure, axes, rows)
    return figure


def _bound(bar: Colorbar, bound: float) -> None:
    """Mark a change on its scale of colours, if it is on it."""
    if bar.norm.vmin <= bound <= bar.norm.vmax:
        bar.ax.plot(bound, 0.5, **BOUND)


def _loss_scale(ratios: pd.Series) -> Scale:
    """Colours of losses: white for that of the best constant output."""
    low, high = min(0.9, float(ratios.min())), max(1.1, float(ratios.max()))
    ticks = tuple(float(f"{value:.2g}") for value in ((1 + low) / 2, 1.0, (1 + high) / 2))
    return Scale(TwoSlopeNorm(1, low, high), "PuOr", RATIO, "neither", (low, *ticks, high),
                 "{x:.2g}")  # fmt: skip
