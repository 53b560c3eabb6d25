"""trust Figure 2: dispersion of the kernel of ReLU networks against depth and depth over width."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from finitewidth.declarations.columns import SIGMA_B2, SIGMA_W2
from finitewidth.figures import style
from finitewidth.kernels.ntk_init.phases import phase as phase_of
from finitewidth.measures.text_numbers import printed_number
from finitewidth.papers.trust import columns
from finitewidth.papers.trust.figures import looks
from finitewidth.records.tables import Table

TABLE = Table(
    SIGMA_W2,
    SIGMA_B2,
    columns.SOURCE,
    columns.CURVE_OR_LIMIT,
    columns.WIDTH_OF_CURVE,
    columns.DEPTH_OF_CURVE,
    columns.DEPTH_OVER_WIDTH,
    columns.DISPERSION,
    columns.ERROR_OF_CURVE,
)
SERIES = {"ours": "many draws", "exact": "exact", "paper": "few draws"}  # sample -> series
MANY = ("many draws", "exact")
FEW: dict[str, Any] = {"marker": "o", "markersize": 2.0, "markeredgewidth": 0, "linewidth": 0.5}
LIMIT: dict[str, Any] = {
    "color": style.COLOURS[3],
    "linewidth": 1.1,
    "zorder": 3,
}  # no width has this colour
LIMITS = {
    "printed limit": (LIMIT | {"linestyle": (0, (1, 1.2))}, r"limit $L, M \to \infty$, as printed"),
    "corrected limit": (LIMIT | {"linestyle": (0, (4, 1, 1, 1))}, "the same, corrected"),
}
STATED = "paper: limit of the ordered phase"
TICKS = (1, 1.5, 2, 3, 5, 10, 20, 50, 100)  # of logarithmic axes
STEEP = 2.0  # ratio from which on an axis is logarithmic


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return the rows to draw, from ``curves``, ``limits`` and ``reported``."""
    names = {"lambda": "depth_over_width", "error": "standard_error"}
    curves = tables["curves"].rename(columns=names)
    curves = curves.assign(series=curves["sample"].map(SERIES), source="ours")
    few = curves["series"] == "few draws"
    curves.loc[few, "standard_error"] = float("nan")  # the scatter of the dots shows it
    limits = tables["limits"].rename(columns=names)
    limits = limits.assign(series=limits["form"] + " limit", source="ours")
    pairs = curves[["sigma_w2", "sigma_b2"]].drop_duplicates()
    ordered = pairs[[phase_of("relu", value) == "ordered" for value in pairs["sigma_w2"]]]
    stated = printed_number(tables["reported"], "trust", "dispersion", "ordered", "limit")
    printed = ordered.assign(series="limit", source="paper", dispersion=stated)
    parts = [part for part in (curves, limits, printed) if len(part)]
    return pd.concat(parts).reindex(columns=TABLE.names)


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw a column per pair of variances.

    Upper row: against depth; middle row: the same of few draws; lower row: against depth over
    width.
    """
    pairs = list(rows[["sigma_w2", "sigma_b2"]].drop_duplicates().itertuples(index=False))
    colours = style.shades(rows["width"].dropna(), **looks.SHADES)
    figure, axes = style.subplots(3, len(pairs), height=4.9, squeeze=False, sharey="col")
    for (above, middle, below), (variance, bias) in zip(axes.T, pairs, strict=True):
        column = rows[(rows["sigma_w2"] == variance) & (rows["sigma_b2"] == bias)]
        many = column[column["series"] != "few draws"]
        _curves(above, many, "depth", colours)
        _few_draws(middle, column, colours)
        _curves(below, many, "depth_over_width", colours)
        _ordinate(above, column)
        for axis in (above, middle, below):
            over_width = axis is below
            axis.set_xlabel("depth over width $L/M$" if over_width else "depth $L$ [layers]")
            ticks = MaxNLocator(4, steps=[1, 2, 5, 10], integer=not over_width)
            axis.xaxis.set_major_locator(ticks)
    titles = [rf"$(\sigma_w^2, \sigma_b^2) = ({v:g}, {b:g})$" for v, b in pairs]
    style.title_panels(axes.flat, titles + [""] * 2 * len(pairs))
    for axis in axes[:, 0]:
        axis.set_ylabel(r"$\mathrm{E}[\Theta^2]\,/\,\mathrm{E}[\Theta]^2$")
    handles = list(_handles(rows, colours))
    style.legend_above(figure, handles, math.ceil(len(handles) / 2))
    return figure


def _ordinate(axis: Axes, rows: pd.DataFrame) -> None:
    """Make the axis logarithmic where dispersions are large: exponential growth is a line then."""
    if rows.loc[rows["series"] != "few draws", "dispersion"].max() > STEEP:
        axis.set_yscale("log")
        largest = rows["dispersion"].max()
        axis.set_yticks([tick for tick in TICKS if tick < 1.3 * largest])
        style.numbers(axis.yaxis)
    else:
        axis.yaxis.set_major_locator(MaxNLocator(5))


def _curves(axis: Axes, rows: pd.DataFrame, abscissa: str, colours: Mapping[float, str]) -> None:
    """Draw all series of a panel; limits of depth over width have no place against depth."""
    for width, colour in colours.items():
        curve = rows[(rows["width"] == width) & rows["series"].isin(MANY)].sort_values("depth")
        axis.plot(curve[abscissa], curve["dispersion"], color=colour, linewidth=0.9)
        low = curve["dispersion"] - curve["standard_error"]
        high = curve["dispersion"] + curve["standard_error"]
        style.band(axis, curve[abscissa], low, high, colour)
    for series, (look, _) in LIMITS.items():
        limit = rows[rows["series"] == series]
        if len(limit) and abscissa == "depth_over_width":
            axis.plot(limit[abscissa], limit["dispersion"], **look)
    _stated(axis, rows)


def _few_draws(axis: Axes, rows: pd.DataFrame, colours: Mapping[float, str]) -> None:
    """Draw the curves of few draws against depth, with a dot at each depth."""
    for width, colour in colours.items():
        few = rows[(rows["width"] == width) & (rows["series"] == "few draws")].sort_values("depth")
        axis.plot(few["depth"], few["dispersion"], color=colour, **FEW)
    _stated(axis, rows)


def _stated(axis: Axes, rows: pd.DataFrame) -> None:
    """Draw the limit that the paper states, if it does."""
    for value in rows.loc[rows["series"] == "limit", "dispersion"]:
        style.paper_line(axis, value, label=STATED)


def _handles(rows: pd.DataFrame, colours: Mapping[float, str]) -> Iterator[Line2D]:
    """Entries of the legend, for what occurs in the rows."""
    for width, colour in colours.items():
        yield style.handle(f"$M = {width:g}$", color=colour)
    occurring = set(rows["series"])
    yield style.handle("as few draws as the paper's", color=style.GREY, **FEW)
    for series, (look, label) in LIMITS.items():
        if series in occurring:
            yield style.handle(label, **look)
    if "limit" in occurring:
        yield style.handle(STATED, **looks.PAPER_LINE)
