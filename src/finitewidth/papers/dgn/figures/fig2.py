"""dgn Figure 2: one diagonal and one off-diagonal entry of the kernel of fixed random gates."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator

from finitewidth.declarations import columns as shared
from finitewidth.figures import by_depth, style
from finitewidth.papers.dgn import columns
from finitewidth.records.tables import Table

TABLE = Table(
    columns.ENTRY,
    shared.WIDTH,
    shared.DEPTH,
    columns.MEAN_ENTRY,
    columns.ENTRY_ERROR,
    columns.EXPECTED_ENTRY,
    shared.RUNS,
    shared.DIVERGED_RUNS,
)
LINEAR = 0.01  # up to here the axis of the off-diagonal entry is linear, above logarithmic
TICKS = (-0.1, -0.01, 0, 0.01, 0.1, 0.5)
PANELS = {
    "diagonal": ("one diagonal entry", "$K_0(s, s)/d$"),
    "off_diagonal": ("one off-diagonal entry", "$K_0(s, s')/d$"),
}


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return both entries of the wide networks, from the table ``entries``."""
    wide = tables["entries"].query("figure == 'dgn_fig2' and network == 'wide'")
    parts = []
    for entry in PANELS:
        part = wide.assign(
            entry=entry,
            mean=wide[entry],
            standard_error=wide[f"{entry}_error"],
            ideal=wide[f"{entry}_ideal"],
        )
        parts.append(part)
    return pd.concat(parts, ignore_index=True)[TABLE.names]


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw mean and standard error of both entries against depth, and the ideal value dotted."""
    figure, axes = style.subplots(2, 1, height=3.4, width=style.SINGLE, sharex=True)
    networks = f"{by_depth.width_of(rows)}, {by_depth.runs_of(rows)}"
    style.title_panels(axes, [f"{title}, {networks}" for title, _ in PANELS.values()])
    for axis, (entry, (_, label)) in zip(axes, PANELS.items(), strict=True):
        curve = rows[rows["entry"] == entry].sort_values("depth")
        _expected(axis, curve)
        style.bars(
            axis,
            curve["depth"],
            curve["mean"],
            curve["standard_error"],
            marker="o",
            color=style.COLOURS[0],
            label="mean and standard error",
        )
        axis.xaxis.set_major_locator(FixedLocator(curve["depth"].unique()))
        axis.set_ylabel(label)
    # the entry of deep networks is a hundredth of that of shallow ones, and less
    axes[1].set_yscale("symlog", linthresh=LINEAR, linscale=0.6)
    style.numbers(axes[1].yaxis, TICKS)
    axes[1].yaxis.set_minor_locator(NullLocator())
    axes[1].set_xlabel("depth $d$")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=2)
    return figure


def _expected(axis: Axes, curve: pd.DataFrame) -> None:
    """Draw the expected entry, whose logarithm is linear in the depth."""
    depths = np.linspace(curve["depth"].min(), curve["depth"].max(), 200)
    logarithms = np.interp(depths, curve["depth"], np.log(curve["ideal"]))
    axis.plot(depths, np.exp(logarithms), ":", color="black", label="expected", zorder=3)
