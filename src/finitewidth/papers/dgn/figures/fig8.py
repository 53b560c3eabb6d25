"""dgn Figure 8: nu of four kernels while networks learn to classify two digits."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator

from finitewidth.figures import by_depth, style
from finitewidth.papers.dgn.figures import gates
from finitewidth.papers.npf.figures.nu_panel import note_ridges
from finitewidth.records import fields

PANELS = {
    "gates": ("frozen gates, learnt or not", r"$y^\top \hat{K}_t^{-1} y$"),
    "adaptable": ("gates adaptable or frozen", r"$y^\top \hat{K}_t^{-1} y$"),
    "ka": ("soft-GaLU, kernel of the gating weights", r"$y^\top (K^a_t)^{-1} y$"),
    "ka_hat": ("the same kernel over its trace", r"$y^\top (\hat{K}^a_t)^{-1} y$"),
}
LINES = {"unlearnt gates": "--", "frozen ReLU": "--", "soft-ReLU": (0, (1, 1.2))}
FIELDS = {
    "panel": fields.text("kernel and networks: gates, adaptable, ka or ka_hat"),
    "series": fields.text("the network, or the value at t = 0"),
    "epoch": fields.number("epoch of the training; missing for the value at t = 0", "epoch"),
    "nu": fields.number("mean over runs of the energy of the labels in the inverse kernel"),
    "standard_deviation": fields.number(
        "sample standard deviation over runs; missing for the value at t = 0"
    ),
    "runs": fields.integer("number of runs with a value"),
    "failed": fields.integer("number of runs without a value"),
    "ridged": fields.integer("number of runs whose kernel could only be inverted with a ridge"),
    "trained": gates.TRAINED,
}


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return all rows of the table ``curves``."""
    names = {"x": "epoch", "y": "nu", "spread": "standard_deviation"}
    return tables["curves"].rename(columns=names).reindex(columns=list(FIELDS))


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw four panels with mean and standard deviation over runs, on a logarithmic scale."""
    figure, axes = style.subplots(2, 2, height=4.4, sharex=True)
    style.title_panels(axes.flat, [title for title, _ in PANELS.values()])
    for axis, (panel, (_, label)) in zip(axes.flat, PANELS.items(), strict=True):
        curves = rows[rows["panel"] == panel]
        _panel(axis, curves)
        note_ridges(axis, curves[curves["epoch"].notna()])
        axis.set_ylabel(label)
        axis.legend()
    for axis in axes[1]:
        axis.set_xlabel("epoch")
    runs = by_depth.runs_of(rows.assign(diverged=rows["failed"]), "series")
    figure.legend(
        handles=[], loc="outside upper center", title=f"mean and sample standard deviation, {runs}"
    )
    return figure


def _panel(axis: Axes, rows: pd.DataFrame) -> None:
    axis.set_yscale("log")
    style.numbers(axis.yaxis, LogLocator(subs=(1, 2, 3, 5)))
    untrained = gates.untrained(rows)
    for series, curve in rows.groupby("series", sort=False):
        if series == "value at t = 0":
            axis.axhline(curve["nu"].iloc[0], color="black", linestyle=":", label=series)
            continue
        curve = curve.sort_values("epoch")
        style.bars(
            axis,
            curve["epoch"],
            curve["nu"],
            curve["standard_deviation"],
            linestyle=LINES.get(series, "-"),
            label=series + gates.UNTRAINED if series in untrained else series,
            **gates.BARS,
            **gates.LOOKS[series],
        )
