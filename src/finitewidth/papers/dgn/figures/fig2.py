"""dgn Figure 2: one diagonal and one off-diagonal entry of the kernel of fixed random gates."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator

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
        axis.plot(curve["depth"], curve["ideal"], ":", color="black", label="expected", zorder=3)
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
    axes[1].set_xlabel("depth $d$")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=2)
    return figure
