"""dgn Figure 1: cumulative spectrum of fixed random gates, ideal and for two widths."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from finitewidth.declarations import columns as shared
from finitewidth.figures import by_depth, style
from finitewidth.papers.dgn import columns
from finitewidth.records.tables import Table

TABLE = Table(
    columns.NETWORK_OR_IDEAL,
    columns.WIDTH_OR_NONE,
    shared.DEPTH,
    shared.INDEX,
    columns.SUM_OF_EIGENVALUES,
    columns.SUM_DEVIATION,
    columns.RUNS_OR_EXPECTED,
    shared.DIVERGED_RUNS,
)


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return the rows to draw, from the tables ``ideal`` and ``spectra``."""
    drawn = tables["spectra"].query("figure == 'dgn_fig1'")
    ideal = tables["ideal"].assign(network="ideal", runs=0, diverged=0)
    # an empty table would change the types of the columns
    rows = pd.concat([part for part in (ideal, drawn) if len(part)], ignore_index=True)
    names = {"cumulative": "sum", "cumulative_spread": "standard_deviation"}
    return rows.rename(columns=names).reindex(columns=TABLE.names)


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw three panels with equal axes: ideal, wide and narrow."""
    parts = [rows[rows["network"] == name] for name in ("ideal", "wide", "narrow")]
    figure, axes = style.subplots(1, 3, height=2.2, sharey=True)
    titles = [f"{by_depth.width_of(part)}, {by_depth.runs_of(part)}" for part in parts[1:]]
    style.title_panels(axes, ["expected kernel", *titles])
    look_of = by_depth.looks(rows["depth"])
    for axis, part in zip(axes, parts, strict=True):
        by_depth.spectra(axis, part, look_of)
        axis.set_ylabel("")
    axes[0].set_ylabel("sum of eigenvalues of $K_0/d$")
    axes[0].set_ylim(0, 1.04 * rows["sum"].max())
    by_depth.legends(figure, look_of)
    return figure
