"""npf Figure 7: spectra and convergence of memorisation networks of two widths."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from finitewidth.figures import by_depth, style
from finitewidth.papers.npf.columns import theory as columns
from finitewidth.records.tables import Table

TABLE = Table(
    columns.ROW_KIND,
    *by_depth.TABLE.without("panel"),
    *by_depth.GEOMETRIC,
    columns.OURS_OR_PAPER,
)
NETWORKS = ("narrow", "wide")
BEST = "best depth"


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return means over this figure's runs, and the best depths that the paper names."""
    ours = by_depth.rows_of(tables, "npf_fig7", "cumulative", TABLE).assign(source="ours")
    return pd.concat([ours, _best(tables["reported"], ours)], ignore_index=True)


def _best(reported: pd.DataFrame, ours: pd.DataFrame) -> pd.DataFrame:
    """A row for each width of ours for which the paper names the depth that converges best."""
    depths = reported[reported["quantity"] == "best_depth"].set_index("row")["value"]
    widths = ours.drop_duplicates("network").set_index("network")["width"]
    rows = []
    for network, width in widths.items():
        name = f"width{width:g}"
        if name not in depths.index:
            continue
        rows.append(
            {
                "panel": BEST,
                "network": network,
                "width": width,
                "depth": depths[name],
                "dynamics": by_depth.DESCENT,
                "runs": 0,
                "diverged": 0,
                "source": "paper",
            }
        )
    return pd.DataFrame(rows, columns=TABLE.names)


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw the spectrum of K_0 / d and the errors on two scales, for narrow and for wide networks.

    The errors are shown on a logarithmic axis, where the means are geometric, and on a linear
    axis, because the paper does not say which one it uses. The curve of the depth that the paper
    calls best is thick.
    """
    figure, axes = style.subplots(len(NETWORKS), 3, height=4.4, sharex="col")
    looks = by_depth.looks(rows[rows["source"] == "ours"]["depth"])
    titles = []
    errors_by_width = {}
    for (left, middle, right), network in zip(axes, NETWORKS, strict=True):
        of_network = rows[rows["network"] == network]
        spectrum = of_network[of_network["panel"] == "spectrum"]
        errors = of_network[of_network["panel"] == "errors"]
        best = of_network[of_network["panel"] == BEST]
        width = by_depth.width_of(of_network)
        errors_by_width[width] = errors
        by_depth.spectra(left, spectrum, looks)
        thick = best["depth"].iloc[0] if len(best) else None
        note = f"thick: $d$ = {thick:g},\nthe paper's best" if len(best) else ""
        by_depth.errors(middle, errors, looks, "log", note, mean="geometric_mean", thick=thick)
        by_depth.errors(right, errors, looks, "linear", thick=thick)
        titles += [
            f"{width}: spectrum, {by_depth.runs_of(spectrum)}",
            f"{width}: geometric mean ± 2 s.e.",
            f"{width}: mean of errors",
        ]
    style.title_panels(axes.flat, titles)
    spectra, _, linear_errors = axes.T
    # on a logarithmic scale, wide networks would leave narrow ones no room
    by_depth.same_limits(spectra)
    by_depth.same_limits(linear_errors)
    for axis in axes[0]:
        axis.set_xlabel("")
    by_depth.legends(figure, looks, errors_by_width)
    return figure
