"""npf Figure 7: spectra and convergence of memorisation networks of two widths."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from finitewidth.figures import by_depth
from finitewidth.figures.style import PANEL_HEIGHT, PANEL_WIDTH, panels, subplots

COLUMNS = ("panel", "network", "width", "depth", "dynamics", "index", "cumulative", "scaled",
           "time", "ratio", "ratio_spread", "runs", "diverged")  # fmt: skip
FIGURE = "npf_fig7"
NETWORKS = ("narrow", "wide")
DYNAMICS = ("gradient descent", "linear recursion")


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return the rows of ``spectra`` and ``errors`` that are means over this figure's runs."""
    return selected(tables, FIGURE)


def selected(tables: Mapping[str, pd.DataFrame], figure: str) -> pd.DataFrame:
    """Return the rows of both tables that belong to ``figure``."""
    parts = [tables["spectra"].assign(panel="spectrum"), tables["errors"].assign(panel="errors")]
    rows = pd.concat([part[part["figure"] == figure] for part in parts], ignore_index=True)
    return rows.reindex(columns=list(COLUMNS))


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw the spectrum of K_0 / d and the errors on two scales, for narrow and for wide networks.

    The errors are shown on a logarithmic and on a linear axis, because the paper does not say
    which one it uses.
    """
    size = (3 * PANEL_WIDTH, 2 * PANEL_HEIGHT)
    figure, axes = subplots(len(NETWORKS), 3, figsize=size)
    for line, network in zip(axes, NETWORKS, strict=True):
        own = rows[rows["network"] == network]
        spectrum, errors = (own[own["panel"] == panel] for panel in ("spectrum", "errors"))
        _panel(line[0], "spectrum", spectrum, "cumulative", "linear")
        for axis, scale in zip(line[1:], ("log", "linear"), strict=True):
            _panel(axis, "errors", errors, "cumulative", scale)
        for axis, panel in zip(line, (spectrum, errors, errors), strict=True):
            what = "spectrum" if axis is line[0] else "errors"
            axis.set_title(_title(what, own, panel))
    by_depth.legend(figure, rows["depth"], DYNAMICS)
    return figure


def four_panels(
    rows: pd.DataFrame, order: tuple[tuple[str, str], ...], column: str, scale: str
) -> Figure:
    """Draw four panels.

    Args:
        rows: as of `selected`.
        order: (panel, network) of each panel; a panel is ``spectrum`` or ``errors``, a network is
            ``narrow`` or ``wide``.
        column: of the spectra, as for `finitewidth.figures.by_depth.spectra`.
        scale: of the errors, ``log`` or ``linear``.
    """
    parts = [rows[(rows["panel"] == panel) & (rows["network"] == name)] for panel, name in order]
    titles = [
        _title(panel, rows[rows["network"] == name], part)
        for (panel, name), part in zip(order, parts, strict=True)
    ]
    figure, axes = panels(4, titles)
    for axis, (panel, _), part in zip(axes, order, parts, strict=True):
        _panel(axis, panel, part, column, scale)
    by_depth.legend(figure, rows["depth"], DYNAMICS)
    return figure


def _panel(axis: Axes, panel: str, rows: pd.DataFrame, column: str, scale: str) -> None:
    if panel == "spectrum":
        by_depth.spectra(axis, rows, column)
    else:
        by_depth.errors(axis, rows, scale)


def _title(panel: str, network: pd.DataFrame, rows: pd.DataFrame) -> str:
    return f"{by_depth.width_of(network)}: {panel}, {by_depth.runs_of(rows)}"
