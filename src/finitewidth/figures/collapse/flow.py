"""Extra figure of collapse: the flow under a block kernel, and the frames at equal biases."""

from collections.abc import Mapping
from typing import Any

import matplotlib as mpl
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from finitewidth.figures.style import COLOURS, subplots

WIDTH, HEIGHT = 6.9, 4.7  # inches
SMALL, MEDIUM = 6.8, 7.5  # points
PANELS = {
    "nc1": "NC1: within over between classes",
    "nc2": "NC2: distance from a simplex ETF",
    "nc3": "NC3: distance of $W^T$ from $M$",
    "h2": r"$\Vert H_2 \Vert$, variation within classes",
}
LEADING = ("nc3", "h2")
ANGLES = {
    "gamma": r"$\gamma$, in $WW^T \propto I - \gamma 11^T$",
    "theta": r"$\theta$, in $H_1^T H_1 \propto I - \theta 11^T$",
}
STARTS = {
    "zero_invariant": "$E = 0$, $b = 1/C$",
    "free_biases": "$E = 0$, $b = 0$",
    "random_weights": "random $W$",
}
SHADES = ("Greys", 0.4, 0.75)  # of random weights, from the smallest scale on
FORMS = {"corrected": ("-", 1.2, "formula, corrected"), "printed": (":", 1.3, "as printed")}


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return the rows of all tables that are drawn; ``table`` says which."""
    frozen = tables["frozen"]
    later = tables["curves"][tables["curves"]["time"] > 0]
    parts = {
        "curves": later[["start", "case", "run", "time", *PANELS]],
        "leading": tables["leading"],
        "frozen": frozen[frozen["quantity"].isin(list(ANGLES))],
        "formulas": tables["formulas"],
    }
    return pd.concat([rows.assign(table=name) for name, rows in parts.items()], ignore_index=True)


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw four quantities against time, and two of the frames against the biases."""
    figure, axes = subplots(2, 3, figsize=(WIDTH, HEIGHT))
    places = [axes[0][0], axes[0][1], axes[0][2], axes[1][0]]
    for axis, (quantity, title) in zip(places, PANELS.items(), strict=True):
        _against_time(axis, rows, quantity)
        axis.set_title(title, fontsize=MEDIUM)
    for axis, (quantity, title) in zip(axes[1][1:], ANGLES.items(), strict=True):
        _against_biases(axis, rows, quantity)
        axis.set_title(title, fontsize=MEDIUM)
    for axis in axes.flat:
        axis.tick_params(labelsize=SMALL)
    figure.legend(handles=_of_time(rows), loc="outside upper center", fontsize=SMALL, ncols=6,
                  handlelength=1.6, columnspacing=1.1)  # fmt: skip
    for axis, handles in zip(axes[1][1:], _of_biases(rows), strict=True):
        axis.legend(handles=handles, fontsize=SMALL, loc="lower left", handlelength=1.8)
    return figure


def _colours(rows: pd.DataFrame) -> dict[str, Any]:
    """Case -> colour, in the order of the cases."""
    cases = rows[rows["table"] == "curves"].drop_duplicates("case")
    fixed = dict(zip(STARTS, (COLOURS[0], COLOURS[2]), strict=False))
    found = {case: fixed.get(start) for case, start in zip(cases["case"], cases["start"],
                                                           strict=True)}  # fmt: skip
    name, low, high = SHADES
    drawn = [case for case, colour in found.items() if colour is None]
    for place, case in enumerate(drawn):
        share = place / max(1, len(drawn) - 1)
        found[case] = mpl.colormaps[name](low + (high - low) * share)
    return found


def _against_time(axis: Axes, rows: pd.DataFrame, quantity: str) -> None:
    colours = _colours(rows)
    curves = rows[rows["table"] == "curves"]
    for (case, _), curve in curves.groupby(["case", "run"], sort=False):
        axis.plot(curve["time"], curve[quantity], color=colours[case], linewidth=0.9)
    if quantity in LEADING:
        line = rows[rows["table"] == "leading"]
        line = line[line["time"] >= 1]
        axis.plot(line["time"], line[quantity], "--", color="black", linewidth=1.1)
    axis.set(xscale="log", yscale="log")
    axis.set_xlabel("time $t$", fontsize=MEDIUM)


def _shades(rows: pd.DataFrame) -> dict[float, Any]:
    """kappa_n -> colour."""
    others = rows[rows["table"] == "formulas"]["kappa_n"].unique()
    return {
        float(other): COLOURS[place]
        for place, other in zip((1, 3, 5, 4), sorted(others), strict=False)
    }


def _against_biases(axis: Axes, rows: pd.DataFrame, quantity: str) -> None:
    own = rows[rows["quantity"] == quantity]
    for other, colour in _shades(rows).items():
        here = own[own["kappa_n"] == other]
        for form, (style, width, _) in FORMS.items():
            curve = here[(here["table"] == "formulas") & (here["form"] == form)]
            axis.plot(curve["beta"], curve["value"], style, color=colour, linewidth=width)
        ends = here[here["table"] == "frozen"]
        axis.plot(ends["beta"], ends["value"], "o", color=colour, markerfacecolor="white",
                  markersize=4.2, markeredgewidth=1.1, zorder=3)  # fmt: skip
    axis.set_xlabel(r"biases, all equal to $\beta$", fontsize=MEDIUM)


def _of_time(rows: pd.DataFrame) -> list[Line2D]:
    cases = rows[rows["table"] == "curves"].drop_duplicates("case").set_index("case")["start"]
    handles = [
        Line2D([], [], color=colour, label=_name(case, cases[case]))
        for case, colour in _colours(rows).items()
    ]
    line = {"color": "black", "linestyle": "--", "linewidth": 1.1}
    return [*handles, Line2D([], [], label=r"leading term $\propto t^{-1/2}$", **line)]


def _name(case: str, start: str) -> str:
    """``random $W$, 0.3``; the scale is the last word of the case."""
    return STARTS[start] + f", {case.split()[-1]}" * (start == "random_weights")


def _of_biases(rows: pd.DataFrame) -> tuple[list[Line2D], list[Line2D]]:
    """Handles of what is drawn, and of the kernels."""
    ring = {"marker": "o", "markerfacecolor": "white", "markeredgecolor": "0.3",
            "markeredgewidth": 1.1, "markersize": 4.2, "linestyle": "none"}  # fmt: skip
    drawn = [Line2D([], [], label="end of the flow", **ring)]
    for style, width, label in FORMS.values():
        drawn.append(Line2D([], [], color="0.3", linestyle=style, linewidth=width, label=label))
    kernels = [
        Line2D([], [], color=colour, label=rf"$\kappa_n$ = {other:g}")
        for other, colour in _shades(rows).items()
    ]
    return drawn, kernels
