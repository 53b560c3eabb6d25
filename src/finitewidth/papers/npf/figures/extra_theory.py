"""Fixed gates: convergence of K^v to the path kernel, and growth of its variance with depth."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import StrMethodFormatter

from finitewidth.figures import style
from finitewidth.figures.style import GREY
from finitewidth.papers.npf.columns import theory as columns
from finitewidth.records.tables import Table

TABLE = Table(
    columns.THEORY_PANEL,
    columns.THEORY_GATES,
    columns.THEORY_CURVE,
    columns.THEORY_DEPTH,
    columns.THEORY_WIDTH,
    columns.THEORY_COPIES,
    columns.THEORY_ERROR,
    columns.THEORY_VARIANCE,
    columns.THEORY_STANDARD_ERROR,
)
BARS = 2  # standard errors
GROWTHS = {
    "width": ("Theorem 5.1: gates and values widen", "width $w$"),
    "copies": ("Corollary C.1: only values widen", "copies $m$ of each gate"),
}
BOUNDS = {
    "d3": ("in units of $d^3$ (Theorem B.2 of npf)", r"Var$[K(s,s)]\ w\,/\,d^3$"),
    "d2": ("in units of $d^2$ (Theorem 2.3 of dgn)", r"Var$[K(s,s)]\ w\,/\,d^2$"),
}
BRIGHTEST = 0.55  # of the colour scale; brighter ones are too pale on white
WIDTHS = "plasma"  # colour scale of the widths, which is not that of the depths


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return the errors by width and by number of copies, and the variances of K(s, s) drawn."""
    errors = tables["curves"].rename(
        columns={"grows": "panel", "y": "error", "spread": "standard_error"}
    )
    for name in GROWTHS:
        errors[name] = errors["x"].where(errors["panel"] == name)
    errors["depth"] = errors["depth"].where(errors["curve"] != "guide")
    parts = [errors, *(_variance(tables["variance"], panel) for panel in BOUNDS)]
    return pd.concat(parts, ignore_index=True).reindex(columns=TABLE.names)


def _variance(table: pd.DataFrame, panel: str) -> pd.DataFrame:
    """The variance of K(s, s) over the power of d that the panel ``d3`` or ``d2`` divides by.

    With all gates open there are all widths, exact and drawn, and the limit of infinite width. With
    half of them open there is the exact variance of the widest network.
    """
    opened = table[table["entry"] == "open"]
    half = table[table["entry"] == "half"]
    widest = half["width"] == half["width"].max()
    half = half[widest & (half["form"] == "exact")]
    rows = pd.concat([opened, half])
    is_limit = rows["form"] == "leading"
    is_drawn = rows["form"] == "drawn"
    errors = rows[f"per_{panel}_spread"]
    points = pd.DataFrame(
        {
            "panel": panel,
            "gates": rows["entry"].map({"open": "open", "half": "half open"}),
            "curve": rows["form"].replace("leading", "limit"),
            "depth": rows["depth"],
            "width": rows["width"].where(~is_limit),
            "variance": rows[f"per_{panel}"],
            "standard_error": errors.where(is_drawn),
        }
    )
    return points.sort_values(["gates", "curve", "width", "depth"])


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw the errors above and the variances below; legends are at the right."""
    figure, axes = style.subplots(2, 2, height=4.2)
    top, bottom = axes
    top[1].sharey(top[0])
    errors = rows[rows["panel"].isin(list(GROWTHS))]
    depths = style.shades(errors["depth"].dropna(), bright=BRIGHTEST)
    for axis, (grows, (_, label)) in zip(top, GROWTHS.items(), strict=True):
        _errors(axis, rows[rows["panel"] == grows], grows, depths)
        axis.set(xlabel=label)
    top[0].set(ylabel="relative error of $K^v$")
    for axis, (panel, (_, label)) in zip(bottom, BOUNDS.items(), strict=True):
        _variances(axis, rows[rows["panel"] == panel])
        axis.set(xlabel="depth $d$", ylabel=label)
    for left, right in axes:
        handles, labels = left.get_legend_handles_labels()
        right.legend(handles, labels, loc="upper left", bbox_to_anchor=(1.01, 1.03))
    style.title_panels(axes.flat, [title for title, _ in (*GROWTHS.values(), *BOUNDS.values())])
    return figure


def _errors(axis: Axes, rows: pd.DataFrame, grows: str, colours: Mapping[float, str]) -> None:
    """Draw errors against what grows: dots with bars, exact curves, limits and a guide."""
    axis.set_xscale("log", base=2)
    axis.set_yscale("log")
    axis.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    for depth, colour in colours.items():
        of_depth = rows[rows["depth"] == depth].sort_values(grows)
        drawn = of_depth[of_depth["curve"] == "drawn"]
        independent = drawn[drawn["gates"] == "independent"]
        own = drawn[drawn["gates"] == "own"]
        _dots(axis, independent, grows, f"$d$ = {depth:g}", color=colour, markerfacecolor=colour)
        _dots(axis, own, grows, "_own gates", color=colour, markerfacecolor="white")
        for curve, line in (("exact", "-"), ("limit", ":")):
            part = of_depth[of_depth["curve"] == curve]
            axis.plot(part[grows], part["error"], line, color=colour)
    guide = rows[rows["curve"] == "guide"]
    axis.plot(guide[grows], guide["error"], "--", color=GREY, linewidth=0.9)
    axis.plot([], [], "-", color=GREY, label="exact r.m.s.")
    if (rows["gates"] == "own").any():
        axis.plot([], [], "o", color=GREY, markerfacecolor="white", label="gates of its own")
        axis.plot([], [], ":", color=GREY, label="the same, $w \\to \\infty$")
    axis.plot([], [], "--", color=GREY, linewidth=0.9, label="slope $-1/2$")


def _dots(axis: Axes, rows: pd.DataFrame, grows: str, label: str, **look: str) -> None:
    """Draw the errors of drawn networks, if there are any, with bars."""
    if len(rows):
        style.bars(
            axis,
            rows[grows],
            rows["error"],
            BARS * rows["standard_error"],
            linestyle="none",
            marker="o",
            elinewidth=0.8,
            label=label,
            **look,
        )


def _variances(axis: Axes, rows: pd.DataFrame) -> None:
    """Draw variances against depth: a curve per width, the limit, and half of the gates open."""
    opened = rows[rows["gates"] == "open"]
    exact = opened[opened["curve"] == "exact"]
    drawn = opened[opened["curve"] == "drawn"]
    widths = style.shades(exact["width"], name=WIDTHS, bright=BRIGHTEST)
    for width, colour in widths.items():
        curve = exact[exact["width"] == width]
        axis.plot(curve["depth"], curve["variance"], "-", color=colour, label=f"$w$ = {width:g}")
        dots = drawn[drawn["width"] == width]
        if len(dots):
            style.bars(
                axis,
                dots["depth"],
                dots["variance"],
                BARS * dots["standard_error"],
                linestyle="none",
                marker="o",
                color=colour,
                label=f"$w$ = {width:g}, drawn",
            )
    limit = opened[opened["curve"] == "limit"]
    axis.plot(limit["depth"], limit["variance"], ":", color="black", label=r"$w \to \infty$")
    for width, half in rows[rows["gates"] == "half open"].groupby("width"):
        label = f"half open,\n$w$ = {width:g}"
        axis.plot(half["depth"], half["variance"], "--", color=GREY, label=label)
    axis.set_ylim(bottom=0)
