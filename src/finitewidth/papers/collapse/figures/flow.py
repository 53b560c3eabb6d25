"""Extra figure of collapse: the flow under a block kernel, and the frames at equal biases."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from finitewidth.figures import style
from finitewidth.records import fields

HEIGHT = 3.9  # inches
PANELS = {  # title, label
    "nc1": ("NC1", "within / between classes"),
    "nc2": ("NC2: simplex frame", "distance from frame"),
    "nc3": ("NC3", r"distance of $W^{\mathsf{T}}$ and $M$"),
    "h2": ("variation within classes", r"$\Vert H_2 \Vert$"),
    "gamma": (r"$WW^{\mathsf{T}} \propto I - \gamma 11^{\mathsf{T}}$", r"$\gamma$"),
    "theta": (r"$H_1^{\mathsf{T}}H_1 \propto I - \theta 11^{\mathsf{T}}$", r"$\theta$"),
}
FLOORS = {"nc1": 1e-5, "h2": 3e-3}  # below which nothing is shown; from E above 0 both go to 0 fast
LEADING, ANGLES = ("nc3", "h2"), ("gamma", "theta")
POSITIVE = "positive_invariant"
RANDOM = "random_weights"
STARTS = {  # colour, line, name
    "zero_invariant": (style.COLOURS[0], "-", "$E = 0$, $b = 1/C$"),
    "free_biases": (style.COLOURS[1], (0, (4, 1)), "$E = 0$, $b = 0$"),
    POSITIVE: (style.COLOURS[3], "-", r"$E \succeq 0$, $b = 0$"),
    RANDOM: ("", "-", "random $W$"),
}
SHADES = {"name": "Greys_r", "dark": 0.05, "bright": 0.42}  # of random weights
KERNELS = (style.COLOURS[4], style.COLOURS[3], style.COLOURS[2], style.COLOURS[0])
FORMS = {"corrected": ("-", 1.1, "formula, corrected"), "printed": (":", 1.3, "as printed")}
LINE = {"color": "black", "linestyle": "--", "linewidth": 1.1}
BOUND = {"color": style.COLOURS[3], "linestyle": ":", "linewidth": 1.3}
RING = {"marker": "o", "markerfacecolor": "white", "markersize": 4, "linestyle": "none"}
FIELDS = {
    "quantity": fields.text("nc1, nc2, nc3, h2, gamma or theta; a panel each"),
    "series": fields.text(
        "flow: in time; leading: the leading term at late times; bound: of the flow from the same "
        "start, where E is positive semidefinite; end: of a flow with biases held fixed; "
        "corrected, printed: the formula"
    ),
    "start": fields.text(
        "zero_invariant, free_biases, positive_invariant or random_weights; none for others"
    ),
    "weight_scale": fields.number("standard deviation of the random weights at the start"),
    "run": fields.number("number of the random start"),
    "time": fields.number("time of the flow"),
    "kappa_n": fields.number("value of the kernel between classes, where biases are held fixed"),
    "beta": fields.number("the value of all biases, where they are held fixed"),
    "value": fields.number("the value of the quantity"),
}


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return the rows that are drawn, from ``curves``, ``leading``, ``frozen`` and ``formulas``."""
    curves, leading, frozen = tables["curves"], tables["leading"], tables["frozen"]
    curves = curves[curves["time"] > 0]
    scale = curves["case"].str.split().str[-1].where(curves["start"] == RANDOM).astype(float)
    names = [name for name in PANELS if name not in ANGLES]
    kept = ["start", "weight_scale", "run", "time"]
    bounds = curves[curves["start"] == POSITIVE].rename(columns={"bound": "value"})
    parts = [
        curves.assign(weight_scale=scale).melt(kept, names, "quantity").assign(series="flow"),
        bounds.assign(quantity="h2", series="bound"),
        leading[leading["time"] >= 1].melt("time", LEADING, "quantity").assign(series="leading"),
        frozen[frozen["quantity"].isin(ANGLES)].assign(series="end"),
        tables["formulas"].rename(columns={"form": "series"}),
    ]
    rows = pd.concat([part.reindex(columns=list(FIELDS)) for part in parts], ignore_index=True)
    rows = rows[~(rows["value"] < rows["quantity"].map(FLOORS))]
    return rows.fillna({"start": "none"})


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw four quantities against time, and two of the frames against the biases."""
    figure, axes = style.subplots(2, 3, height=HEIGHT)
    for axis, (quantity, (_, label)) in zip(axes.flat, PANELS.items(), strict=True):
        own = rows[rows["quantity"] == quantity]
        (_against_biases if quantity in ANGLES else _against_time)(axis, own)
        axis.set_ylabel(label)
    style.title_panels(axes.flat, [title for title, _ in PANELS.values()])
    style.legend_above(figure, _of_time(rows), 4)
    for axis, handles in zip(axes[1][1:], _of_biases(rows), strict=True):
        axis.legend(handles=handles, loc="lower left")
    return figure


def _looks(rows: pd.DataFrame) -> dict[tuple[str, float | None], dict[str, Any]]:
    """(Start, scale of random weights or None) -> look of its curves."""
    flow = rows[rows["series"] == "flow"]
    shades = style.shades(flow["weight_scale"].dropna(), **SHADES)
    found = {}
    for start, (colour, line, _) in STARTS.items():
        for scale in shades if start == RANDOM else [None]:
            if (flow["start"] == start).any():
                found[start, scale] = {"color": colour or shades[scale], "linestyle": line}
    return found


def _against_time(axis: Axes, rows: pd.DataFrame) -> None:
    """Draw a curve for each random start, and the leading term."""
    flow = rows[rows["series"] == "flow"]
    for (start, scale), look in _looks(rows).items():
        own = flow[flow["start"] == start]
        own = own if scale is None else own[own["weight_scale"] == scale]
        for _, curve in own.groupby("run"):
            axis.plot(curve["time"], curve["value"], linewidth=0.9, **look)
    for _, curve in rows[rows["series"] == "bound"].groupby("run"):
        axis.plot(curve["time"], curve["value"], **BOUND)
    line = rows[rows["series"] == "leading"]
    if len(line):
        axis.plot(line["time"], line["value"], zorder=3, **LINE)
    axis.set(xscale="log", yscale="log", xlabel="time $t$")
    style.logarithmic(axis.xaxis)
    style.logarithmic(axis.yaxis)


def _colours(rows: pd.DataFrame) -> dict[float, str]:
    """kappa_n -> colour."""
    return dict(zip(sorted(rows["kappa_n"].dropna().unique()), KERNELS, strict=False))


def _against_biases(axis: Axes, rows: pd.DataFrame) -> None:
    """Draw both formulas, and the ends of flows."""
    for other, colour in _colours(rows).items():
        here = rows[rows["kappa_n"] == other]
        for form, (line, width, _) in FORMS.items():
            curve = here[here["series"] == form]
            axis.plot(curve["beta"], curve["value"], line, color=colour, linewidth=width)
        ends = here[here["series"] == "end"]
        axis.plot(
            ends["beta"], ends["value"], color=colour, markeredgecolor=colour, zorder=3, **RING
        )
    axis.set_xlabel(r"biases, all equal to $\beta$")


def _of_time(rows: pd.DataFrame) -> list[Line2D]:
    """Handles of the curves in time."""
    handles = []
    for (start, scale), look in _looks(rows).items():
        name = STARTS[start][2] + ("" if scale is None else f", {scale:g}")
        handles.append(style.handle(name, linewidth=0.9, **look))
    bound = style.handle(r"bound, $E \succeq 0$", **BOUND)
    return [*handles, bound, style.handle(r"leading term $\propto t^{-1/2}$", **LINE)]


def _of_biases(rows: pd.DataFrame) -> tuple[list[Line2D], list[Line2D]]:
    """Handles of what is drawn, and of the kernels."""
    drawn = [style.handle("end of the flow", color=style.GREY, **RING)]
    for line, width, label in FORMS.values():
        drawn.append(style.handle(label, color=style.GREY, linestyle=line, linewidth=width))
    return drawn, [
        style.handle(rf"$\kappa_n$ = {other:g}", color=colour)
        for other, colour in _colours(rows).items()
    ]
