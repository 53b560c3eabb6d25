"""dgn Figure 8: nu of four kernels while networks learn to classify two digits."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator

from finitewidth.declarations import columns as shared
from finitewidth.figures import by_depth, style
from finitewidth.papers.dgn import columns
from finitewidth.papers.dgn.figures import gates
from finitewidth.papers.npf.figures.nu_panel import note_ridges
from finitewidth.records.tables import Table

PANELS = {
    "gates": ("frozen gates, learnt or not", r"$y^\top \hat{K}_t^{-1} y$"),
    "adaptable": ("gates adaptable or frozen", r"$y^\top \hat{K}_t^{-1} y$"),
    "ka": ("soft-GaLU, kernel of the gating weights", r"$y^\top (K^a_t)^{-1} y$"),
    "ka_hat": ("the same kernel over its trace", r"$y^\top (\hat{K}^a_t)^{-1} y$"),
}
LINES = {"unlearnt gates": "--", "frozen ReLU": "--", "soft-ReLU": (0, (1, 1.2))}
TABLE = Table(
    columns.PANEL_OF_KERNELS,
    columns.SERIES_WITH_START,
    columns.EPOCH_OR_NONE_SHOWN,
    columns.NU_SHOWN,
    columns.NU_DEVIATION,
    shared.RUNS,
    shared.FAILED_RUNS,
    shared.RIDGED_RUNS,
    columns.ALL_TRAINED_OF_CURVE,
)


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return all rows of the table ``curves``."""
    names = {"x": "epoch", "y": "nu", "spread": "standard_deviation"}
    return tables["curves"].rename(columns=names).reindex(columns=TABLE.names)


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
        gates.epochs(axis)
    runs = by_depth.runs_of(rows.assign(diverged=rows["failed"]), "series")
    figure.legend(
        handles=[], loc="outside upper center", title=f"mean and sample standard deviation, {runs}"
    )
    return figure


def _panel(axis: Axes, rows: pd.DataFrame) -> None:
    axis.set_yscale("log")
    style.numbers(axis.yaxis, LogLocator(subs=(1, 2, 3, 5)))
    untrained = gates.untrained(rows)
    names = list(dict.fromkeys(rows["series"]))
    for number, series in enumerate(names):
        curve = rows[rows["series"] == series]
        if series == "value at t = 0":
            axis.axhline(curve["nu"].iloc[0], color="black", linestyle=":", label=series)
            continue
        looks = {
            "linestyle": LINES.get(series, "-"),
            "label": series + gates.UNTRAINED if series in untrained else series,
        }
        gates.curve(axis, curve, "nu", series, number / len(names), **looks)
