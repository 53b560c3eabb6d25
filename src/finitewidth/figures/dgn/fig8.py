"""dgn Figure 8: nu of four kernels while networks learn to classify two digits."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from finitewidth.figures.npf.nu_panel import note_ridges
from finitewidth.figures.style import COLOURS, panels

PANELS = {
    "gates": (r"$\hat{K}_t$: gates learnt or not", r"$y^\top \hat{K}_t^{-1} y$"),
    "adaptable": (r"$\hat{K}_t$: gates adaptable or frozen", r"$y^\top \hat{K}_t^{-1} y$"),
    "ka": (r"$K^a_t$ of soft-GaLU", r"$y^\top (K^a_t)^{-1} y$"),
    "ka_hat": (r"$\hat{K}^a_t$ of soft-GaLU", r"$y^\top (\hat{K}^a_t)^{-1} y$"),
}
SERIES = {
    "learnt gates": (3, "-"),
    "unlearnt gates": (1, "--"),
    "ReLU": (0, "-"),
    "soft-ReLU": (3, ":"),
    "frozen ReLU": (5, "--"),
    "soft-GaLU": (2, "-"),
}
AT_START = "value at t = 0"


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return all rows of the table ``curves``."""
    return tables["curves"]


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw four panels with mean and spread over runs, on a logarithmic scale."""
    figure, axes = panels(4, [title for title, _ in PANELS.values()])
    for axis, (panel, (_, label)) in zip(axes, PANELS.items(), strict=True):
        _panel(axis, rows[rows["panel"] == panel])
        note_ridges(axis, rows[(rows["panel"] == panel) & rows["x"].notna()])
        axis.set(xlabel="epoch", ylabel=label, yscale="log")
        axis.legend()
    return figure


def _panel(axis: Axes, rows: pd.DataFrame) -> None:
    for series, curve in rows.groupby("series", sort=False):
        if series == AT_START:
            axis.axhline(curve["y"].iloc[0], color="0.4", linestyle="--", linewidth=1, label=series)
            continue
        colour, line = SERIES[series]
        axis.errorbar(
            curve["x"], curve["y"], curve["spread"],
            color=COLOURS[colour], linestyle=line, marker="o", capsize=2, label=series,
        )  # fmt: skip
