"""Extra figure of collapse: the flow under a block kernel, and the frames at equal biases."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from finitewidth.figures import style
from finitewidth.papers.collapse.columns import flow as columns
from finitewidth.records.tables import Table

HEIGHT = 3.9  # inches
PANELS = {  # quantity -> title of its panel, and label of the values
    "nc1": ("NC1", "within / between classes"),
    "nc2": ("NC2: simplex frame", "distance from frame"),
    "nc3": ("NC3", r"distance of $W^{\mathsf{T}}$ and $M$"),
    "h2": ("variation within classes", r"$\Vert H_2 \Vert$"),
    "gamma": (r"$WW^{\mathsf{T}} \propto I - \gamma 11^{\mathsf{T}}$", r"$\gamma$"),
    "theta": (r"$H_1^{\mathsf{T}}H_1 \propto I - \theta 11^{\mathsf{T}}$", r"$\theta$"),
}
# value below which nothing is shown: from E above 0 both go to 0 fast
FLOORS = {"nc1": 1e-5, "h2": 3e-3}
ROOM = 0.3  # below the curves over biases, for a legend, as a share of their range
PLAIN = 1e-4  # least value of an axis whose labels are plain numbers
LEADING = ("nc3", "h2")  # quantities of which there is a leading term
ANGLES = ("gamma", "theta")  # quantities of the lower row, against the biases
POSITIVE = "positive_invariant"
RANDOM = "random_weights"
STARTS = {  # start -> colour, line and name of its curves
    "zero_invariant": (style.COLOURS[0], "-", "$E = 0$, $b = 1/C$"),
    "free_biases": (style.COLOURS[1], (0, (4, 1)), "$E = 0$, $b = 0$"),
    POSITIVE: (style.COLOURS[3], "-", r"$E \succeq 0$, $b = 0$"),
    RANDOM: ("", "-", "random $W$"),
}
SHADES: dict[str, Any] = {"name": "Greys_r", "dark": 0.05, "bright": 0.42}  # of random weights
KERNELS = (style.COLOURS[4], style.COLOURS[3], style.COLOURS[2], style.COLOURS[0])
FORMS = {  # form of the formula -> line, line width and name
    "corrected": ("-", 1.1, "formula, corrected"),
    "printed": (":", 1.3, "as printed"),
}
LINE: dict[str, Any] = {"color": "black", "linestyle": "--", "linewidth": 1.1}
BOUND: dict[str, Any] = {"color": style.COLOURS[3], "linestyle": ":", "linewidth": 1.3}
RING: dict[str, Any] = {
    "marker": "o",
    "markerfacecolor": "white",
    "markersize": 4,
    "linestyle": "none",
}
TABLE = Table(
    columns.QUANTITY_SHOWN,
    columns.SERIES,
    columns.START_SHOWN,
    columns.WEIGHT_SCALE,
    columns.RUN_SHOWN,
    columns.TIME_SHOWN,
    columns.KAPPA_N_SHOWN,
    columns.BETA_SHOWN,
    columns.VALUE_SHOWN,
)


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return the rows that are drawn, from ``curves``, ``leading``, ``frozen`` and ``formulas``."""
    curves = tables["curves"]
    curves = curves[curves["time"] > 0]
    leading = tables["leading"]
    leading = leading[leading["time"] >= 1]
    frozen = tables["frozen"]
    bounds = curves[curves["start"] == POSITIVE].rename(columns={"bound": "value"})
    parts = [
        _in_time(curves).assign(series="flow"),
        bounds.assign(quantity="h2", series="bound"),
        leading.melt("time", LEADING, "quantity").assign(series="leading"),
        frozen[frozen["quantity"].isin(ANGLES)].assign(series="end"),
        tables["formulas"].rename(columns={"form": "series"}),
    ]
    rows = pd.concat([part.reindex(columns=TABLE.names) for part in parts], ignore_index=True)
    below = rows["value"] < rows["quantity"].map(FLOORS)
    return rows[~below].fillna({"start": "none"})


def _in_time(curves: pd.DataFrame) -> pd.DataFrame:
    """The quantities of the upper panels, one row each; random starts have a ``weight_scale``."""
    names = [name for name in PANELS if name not in ANGLES]
    random = curves["start"] == RANDOM
    scale = curves["case"].str.split().str[-1]  # the last word of the case
    curves = curves.assign(weight_scale=scale.where(random).astype(float))
    return curves.melt(["start", "weight_scale", "run", "time"], names, "quantity")


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw four quantities against time, and two of the frames against the biases."""
    figure, axes = style.subplots(2, 3, height=HEIGHT)
    for axis, (quantity, (_, label)) in zip(axes.flat, PANELS.items(), strict=True):
        panel = rows[rows["quantity"] == quantity]
        if quantity in ANGLES:
            _against_biases(axis, panel)
        else:
            _against_time(axis, panel)
        axis.set_ylabel(label)
    style.title_panels(axes.flat, [title for title, _ in PANELS.values()])
    style.legend_above(figure, _handles_of_time(rows), 4)
    gamma, theta = axes[1][1:]
    for axis in (gamma, theta):
        low, high = axis.get_ylim()
        axis.set_ylim(low - ROOM * (high - low), high)
    gamma.legend(handles=_handles_of_forms(), loc="lower left")
    theta.legend(handles=_handles_of_kernels(rows), loc="lower left")
    return figure


def _looks(rows: pd.DataFrame) -> dict[tuple[str, float | None], dict[str, Any]]:
    """(Start, scale of random weights or None) -> look of its curves."""
    flow = rows[rows["series"] == "flow"]
    shades = style.shades(flow["weight_scale"].dropna(), **SHADES)
    looks = {}
    for start, (colour, line, _) in STARTS.items():
        if not (flow["start"] == start).any():
            continue
        if start == RANDOM:
            for scale, shade in shades.items():
                looks[start, scale] = {"color": shade, "linestyle": line}
        else:
            looks[start, None] = {"color": colour, "linestyle": line}
    return looks


def _against_time(axis: Axes, rows: pd.DataFrame) -> None:
    """Draw a curve for each random start, and the leading term."""
    flow = rows[rows["series"] == "flow"]
    for (start, scale), look in _looks(rows).items():
        curves = flow[flow["start"] == start]
        if scale is not None:
            curves = curves[curves["weight_scale"] == scale]
        for _, curve in curves.groupby("run"):
            axis.plot(curve["time"], curve["value"], linewidth=0.9, **look)
    for _, curve in rows[rows["series"] == "bound"].groupby("run"):
        axis.plot(curve["time"], curve["value"], **BOUND)
    line = rows[rows["series"] == "leading"]
    if len(line):
        axis.plot(line["time"], line["value"], zorder=3, **LINE)
    axis.set(xscale="log", yscale="log", xlabel="time $t$")
    style.logarithmic(axis.xaxis)
    least, _ = axis.get_ylim()
    if least >= PLAIN:  # otherwise all labels are powers of ten
        style.logarithmic(axis.yaxis)


def _colours(rows: pd.DataFrame) -> dict[float, str]:
    """kappa_n -> colour."""
    values = sorted(rows["kappa_n"].dropna().unique())
    return dict(zip(values, KERNELS, strict=False))


def _against_biases(axis: Axes, rows: pd.DataFrame) -> None:
    """Draw both formulas, and the ends of flows."""
    for kappa_n, colour in _colours(rows).items():
        kernel = rows[rows["kappa_n"] == kappa_n]
        for form, (line, width, _) in FORMS.items():
            curve = kernel[kernel["series"] == form]
            axis.plot(curve["beta"], curve["value"], line, color=colour, linewidth=width)
        ends = kernel[kernel["series"] == "end"]
        axis.plot(
            ends["beta"], ends["value"], color=colour, markeredgecolor=colour, zorder=3, **RING
        )
    axis.set_xlabel(r"biases, all equal to $\beta$")


def _handles_of_time(rows: pd.DataFrame) -> list[Line2D]:
    """Entries of the legend for the curves in time."""
    handles = []
    for (start, scale), look in _looks(rows).items():
        _, _, name = STARTS[start]
        label = name if scale is None else f"{name}, {scale:g}"
        handles.append(style.handle(label, linewidth=0.9, **look))
    handles.append(style.handle(r"bound, $E \succeq 0$", **BOUND))
    handles.append(style.handle(r"leading term $\propto t^{-1/2}$", **LINE))
    return handles


def _handles_of_forms() -> list[Line2D]:
    """Entries of the legend for the ends of flows and the formulas."""
    handles = [style.handle("end of the flow", color=style.GREY, **RING)]
    for line, width, label in FORMS.values():
        handles.append(style.handle(label, color=style.GREY, linestyle=line, linewidth=width))
    return handles


def _handles_of_kernels(rows: pd.DataFrame) -> list[Line2D]:
    """Entries of the legend for the colours of the kernels."""
    handles = []
    for kappa_n, colour in _colours(rows).items():
        handles.append(style.handle(rf"$\kappa_n$ = {kappa_n:g}", color=colour))
    return handles
