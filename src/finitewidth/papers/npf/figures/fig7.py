"""npf Figure 7: spectra and convergence of memorisation networks of two widths."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from finitewidth.figures import by_depth, style
from finitewidth.papers.npf.columns import theory as columns
from finitewidth.records.tables import Table

TABLE = Table(
    columns.ROW_KIND,
    *by_depth.TABLE.without("panel"),
    *by_depth.GEOMETRIC,
    columns.OURS_OR_PAPER,
    columns.RUN_OF_CURVE,
)
NETWORKS = ("narrow", "wide")
BEST = "best depth"
RUN = "run"
FEW = 5  # runs; a mean of fewer shows its runs, and no standard errors
FAINT = {"marker": "", "linewidth": 0.6}  # look of a run


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return means over this figure's runs, the runs of few, and the paper's best depths.

    The linear recursion is that of three depths: the first, the last and the paper's best.
    """
    means = by_depth.rows_of(tables, "npf_fig7", "cumulative", TABLE)
    runs = _runs(tables["runs"], means)
    ours = pd.concat([means, runs]).assign(source="ours")
    best = _best(tables["reported"], ours)
    drawn = [_without_most_recursions(ours, best), best]
    return pd.concat(drawn, ignore_index=True)


def _runs(errors: pd.DataFrame, means: pd.DataFrame) -> pd.DataFrame:
    """Each run of gradient descent that is in a mean of fewer than `FEW` runs."""
    descent = means[means["dynamics"] == by_depth.DESCENT]
    shown = (descent["runs"] + descent["diverged"]).groupby(descent["network"]).max()
    few = descent[descent["runs"] < FEW]
    curves = few[["network", "width", "depth"]].drop_duplicates()
    errors = errors[(errors["dynamics"] == by_depth.DESCENT) & (errors["time"] > 0)]
    runs = errors.merge(curves, on=["network", "width", "depth"])
    runs = runs[runs["run"] < runs["network"].map(shown)]
    has_diverged = runs["ratio"].isna()
    is_lost = has_diverged.groupby([runs["network"], runs["depth"], runs["run"]]).transform("any")
    runs = runs[~is_lost].rename(columns={"time": "step", "ratio": "error_ratio"})
    return runs.assign(panel=RUN, runs=1, diverged=0).reindex(columns=TABLE.names)


def _without_most_recursions(ours: pd.DataFrame, best: pd.DataFrame) -> pd.DataFrame:
    """Our rows, with the linear recursion of the first, the last and the paper's best depth."""
    depths = ours["depth"]
    best_of = best.set_index("network")["depth"]
    is_kept = (depths == depths.min()) | (depths == depths.max())
    is_kept |= depths == ours["network"].map(best_of)
    return ours[is_kept | (ours["dynamics"] != by_depth.RECURSION)]


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
    for panels, network in zip(axes, NETWORKS, strict=True):
        of_network = rows[rows["network"] == network]
        width = by_depth.width_of(of_network)
        errors_by_width[width] = of_network[of_network["panel"] == "errors"]
        titles += [f"{width}: {title}" for title in _row(panels, of_network, looks)]
    style.title_panels(axes.flat, titles)
    spectra, _, linear_errors = axes.T
    # on a logarithmic scale, wide networks would leave narrow ones no room
    by_depth.same_limits(spectra)
    by_depth.same_limits(linear_errors)
    for axis in axes[0]:
        axis.set_xlabel("")
    by_depth.legends(figure, looks, errors_by_width)
    return figure


def _row(panels: Sequence[Axes], rows: pd.DataFrame, looks: by_depth.Looks) -> list[str]:
    """Draw the panels of the networks of one width; return their titles."""
    left, middle, right = panels
    spectrum = rows[rows["panel"] == "spectrum"]
    errors = rows[rows["panel"] == "errors"]
    runs = rows[rows["panel"] == RUN]
    best = rows[rows["panel"] == BEST]
    thick = best["depth"].iloc[0] if len(best) else None
    note = f"thick: $d$ = {thick:g},\nthe paper's best" if len(best) else ""
    by_depth.spectra(left, spectrum, looks)
    for axis in (middle, right):
        for _, run in runs.groupby("run"):
            faint = {depth: look | FAINT for depth, look in looks.items()}
            by_depth.curves(axis, run, "step", "error_ratio", faint)
    if len(runs):
        errors = errors.assign(lowest=np.nan, highest=np.nan)
    by_depth.errors(middle, errors, looks, "log", note, mean="geometric_mean", thick=thick)
    by_depth.errors(right, errors, looks, "linear", thick=thick)
    shows_runs = len(runs) > 0
    return [
        f"spectrum, {by_depth.runs_of(spectrum)}",
        "geometric mean, runs" if shows_runs else "geometric mean ± 2 s.e.",
        "mean, runs" if shows_runs else "mean of errors",
    ]
