"""dgn Figure 4: spectra and convergence of GaLU and ReLU networks on random points."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from finitewidth.figures import by_depth, style
from finitewidth.records.tables import Table

MEANS = Table(*by_depth.TABLE.without("width"), by_depth.SPREAD)
TABLE = Table(*MEANS, *by_depth.RANGE)
ROUNDING = 1e-10  # of sums of eigenvalues, relative to their trace


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return means over the runs, and the range of the runs.

    The means are rows of ``spectra`` and ``errors``; ``runs`` has the errors of every run.
    """
    means = by_depth.rows_of(tables, "dgn_fig4", "scaled", MEANS)
    return by_depth.with_ranges(means, tables["runs"])


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw the spectrum, divided by its largest eigenvalue, and the errors of GaLU and ReLU.

    The few largest eigenvalues hold nearly all of the sum, so that its axis is logarithmic.
    """
    parts = {name: rows[rows["network"] == name.lower()] for name in ("GaLU", "ReLU")}
    panels = ("spectrum", "errors")
    figure = by_depth.two_networks(parts, panels, same=panels, lowest=1e-3)
    for axis, part in zip(figure.axes, parts.values(), strict=False):
        note = few_eigenvalues(part[part["panel"] == "spectrum"])
        corner: dict[str, Any] = {"transform": axis.transAxes, "va": "top"}
        axis.text(0.03, 0.97, note, fontsize=style.SMALLEST, color=style.GREY, **corner)
    return figure


def few_eigenvalues(spectra: pd.DataFrame) -> str:
    """Name the depths at which fewer than half of the eigenvalues are not 0; empty if none is.

    The sums of the others are not above the rounding.
    """
    notes = []
    for depth, curve in spectra.groupby("depth"):
        positive = int((curve["sum"] > ROUNDING * curve["sum"].max()).sum())
        if positive < len(curve) / 2:
            notes.append(f"$d$ = {depth:g}: {positive} of {len(curve)} eigenvalues are not 0")
    return "\n".join(notes)
