"""npf Figure 7: spectra and convergence of memorisation networks of two widths."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from finitewidth.figures import by_depth, style
from finitewidth.records import fields

FIELDS = (
    by_depth.FIELDS
    | by_depth.GEOMETRIC
    | {
        "panel": fields.text("kind of row: spectrum, errors, or best depth of the paper"),
        "source": fields.text("ours or paper"),
    }
)
NETWORKS = ("narrow", "wide")
BEST = "best depth"


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return means over this figure's runs, and the best depths that the paper names."""
    own = by_depth.rows_of(tables, "npf_fig7", "cumulative", FIELDS).assign(source="ours")
    return pd.concat([own, _best(tables["reported"], own)], ignore_index=True)


def _best(reported: pd.DataFrame, own: pd.DataFrame) -> pd.DataFrame:
    """A row for each width of ours for which the paper names the depth that converges best."""
    named = reported[reported["quantity"] == "best_depth"].set_index("row")["value"]
    widths = own.drop_duplicates("network").set_index("network")["width"]
    rows = [
        {
            "panel": BEST,
            "network": network,
            "width": width,
            "depth": named[f"width{width:g}"],
            "dynamics": by_depth.DESCENT,
            "runs": 0,
            "diverged": 0,
            "source": "paper",
        }
        for network, width in widths.items()
        if f"width{width:g}" in named.index
    ]
    return pd.DataFrame(rows, columns=list(FIELDS))


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw the spectrum of K_0 / d and the errors on two scales, for narrow and for wide networks.

    The errors are shown on a logarithmic axis, where the means are geometric, and on a linear
    axis, because the paper does not say which one it uses. The curve of the depth that the paper
    calls best is thick.
    """
    figure, axes = style.subplots(len(NETWORKS), 3, height=4.4, sharex="col")
    shown = by_depth.looks(rows[rows["source"] == "ours"]["depth"])
    titles, parts = [], {}
    for line, network in zip(axes, NETWORKS, strict=True):
        own = rows[rows["network"] == network]
        spectrum, errors, best = (own[own["panel"] == p] for p in ("spectrum", "errors", BEST))
        width = by_depth.width_of(own)
        parts[width] = errors
        by_depth.spectra(line[0], spectrum, shown)
        thick = best["depth"].iloc[0] if len(best) else None
        note = f"thick: $d$ = {thick:g},\nthe paper's best" if len(best) else ""
        by_depth.errors(line[1], errors, shown, "log", note, mean="geometric_mean", thick=thick)
        by_depth.errors(line[2], errors, shown, "linear", thick=thick)
        titles += [
            f"{width}: spectrum, {by_depth.runs_of(spectrum)}",
            f"{width}: geometric mean ± 2 s.e.",
            f"{width}: mean of errors",
        ]
    style.title_panels(axes.flat, titles)
    for column, same in zip(axes.T, (True, False, True), strict=True):
        if same:  # on a logarithmic scale, wide networks would leave narrow ones no room
            by_depth.same_limits(column)
        column[0].set_xlabel("")
    by_depth.legends(figure, shown, parts)
    return figure
