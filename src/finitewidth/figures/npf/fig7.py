"""npf Figure 7 and dgn Figure 3: spectra and convergence of memorisation networks, two widths."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from finitewidth.figures import by_depth
from finitewidth.figures.style import panels

COLUMNS = ("panel", "network", "width", "depth", "dynamics", "index", "cumulative", "scaled",
           "time", "ratio", "ratio_spread", "runs", "diverged")  # fmt: skip
FIGURE = "npf_fig7"
ORDER = (("spectrum", "narrow"), ("errors", "narrow"), ("spectrum", "wide"), ("errors", "wide"))


def select(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """The rows to draw, of the tables ``spectra`` and ``errors``, means of this figure's runs."""
    return selected(tables, FIGURE)


def selected(tables: Mapping[str, pd.DataFrame], figure: str) -> pd.DataFrame:
    """The rows of both tables that belong to ``figure``."""
    parts = [tables["spectra"].assign(panel="spectrum"), tables["errors"].assign(panel="errors")]
    rows = pd.concat([part[part["figure"] == figure] for part in parts], ignore_index=True)
    return rows.reindex(columns=list(COLUMNS))


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Four panels: spectrum of K_0/d and errors of narrow, then of wide networks."""
    return four_panels(rows, ORDER, "cumulative", "log")


def four_panels(
    rows: pd.DataFrame, order: tuple[tuple[str, str], ...], column: str, scale: str
) -> Figure:
    """Panels in ``order``; ``column`` of the spectra, ``scale`` of the errors' axis."""
    parts = [rows[(rows["panel"] == panel) & (rows["network"] == name)] for panel, name in order]
    titles = [_title(panel, part) for (panel, _), part in zip(order, parts, strict=True)]
    figure, axes = panels(4, titles)
    for axis, (panel, _), part in zip(axes, order, parts, strict=True):
        _panel(axis, panel, part, column, scale)
    by_depth.legend(figure, rows["depth"], ("gradient descent", "linear recursion"))
    return figure


def _panel(axis: Axes, panel: str, rows: pd.DataFrame, column: str, scale: str) -> None:
    if panel == "spectrum":
        by_depth.spectra(axis, rows, column)
    else:
        by_depth.errors(axis, rows, scale)


def _title(panel: str, rows: pd.DataFrame) -> str:
    what = "spectrum" if panel == "spectrum" else "errors"
    return f"$w$ = {rows['width'].iloc[0]}: {what}, {by_depth.runs_of(rows)}"
