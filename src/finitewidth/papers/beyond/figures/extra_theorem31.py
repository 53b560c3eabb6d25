"""Theorem 3.1 of ``beyond``, printed and corrected, beside exact values and sampled networks."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from finitewidth.figures.style import COLOURS, handle, legend_above, subplots, title_panels
from finitewidth.kernels.ntk_init.phases import phase as phase_of
from finitewidth.papers.beyond import columns
from finitewidth.papers.beyond.figures.lines import log_dispersion_axis
from finitewidth.records.tables import Table

PAPER = "#8c8c8c"  # the paper's limits and sums
LINES = {  # of limits and sums: colour, width, dashes, label
    "printed_limit": (PAPER, 2.0, "-", "Theorem 3.1, printed"),
    "printed_sums": (PAPER, 2.0, (0, (3, 1)), "Theorem 3.2, form of its proof"),
    "corrected_limit": (COLOURS[0], 1.4, "-", "Theorem 3.1, corrected"),
    "lower_bound": (COLOURS[1], 1.4, "-", r"lower bound of the limit"),
}
DASHES = (":", "--", "-.")  # of exact values, a kind for each width
DRAWN = COLOURS[3]
NAMES = {"critical": "edge of chaos", "chaotic": "chaotic phase", "ordered": "ordered phase"}
HEIGHTS = {
    "dispersion": r"$E[\Theta(x,x)^2]\,/\,E[\Theta(x,x)]^2$",
    "over_printed": "the same / grey line",
}
TABLE = Table(
    columns.PANEL_OF_THEOREM,
    columns.PHASE,
    columns.CURVE_SHOWN,
    columns.SIGMA_W2,
    columns.WIDTH_OF_CURVE,
    columns.DEPTH_OF_SMALL,
    columns.DEPTH_OVER_WIDTH,
    columns.NETWORKS_DRAWN,
    columns.DISPERSION_OF_CURVE,
    columns.ERROR_OF_ESTIMATE,
    columns.OVER_PRINTED,
    columns.OVER_PRINTED_ERROR,
)


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return limits and exact curves up to large lambda, and the small networks of one variance."""
    curves = tables["curves"].assign(panel="curves")
    curves["width"] = curves["width"].astype(float).replace(0, np.nan)  # 0 stands for a limit
    variance = float(tables["small"]["sigma_w2"].min())
    small = tables["small"].assign(panel="small", phase=phase_of("relu", variance))
    small = small[small["sigma_w2"] == variance]
    formula = small["curve"] != "networks"
    for column in ("draws", "spread", "relative_spread"):
        small[column] = small[column].astype(float).mask(formula)
    names = {
        "x": "depth_over_width",
        "y": "dispersion",
        "relative": "over_printed",
        "draws": "networks",
        "spread": "standard_error",
        "relative_spread": "over_printed_standard_error",
    }
    return pd.concat([curves, small], ignore_index=True).rename(columns=names)


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw dispersions above, and their ratio to those of the paper below; small networks last."""
    curves = rows[rows["panel"] == "curves"]
    small = rows[rows["panel"] == "small"]
    by_variance = [group for _, group in curves.groupby("sigma_w2")]
    figure, axes = subplots(
        2, len(by_variance) + 1, height=3.7, sharex="col", height_ratios=(1.3, 1), squeeze=False
    )
    widths = sorted(curves["width"].dropna().unique())
    dashes = dict(zip(widths, DASHES * 9, strict=False))
    for (top, bottom), group in zip(axes.T, by_variance, strict=False):
        _column(top, bottom, group, "depth_over_width", dashes)
        bottom.set_xlabel(r"depth over width, $\lambda = L/M$")
    last_top, last_bottom = axes[:, -1]
    _column(last_top, last_bottom, small, "depth", dashes)
    last_bottom.set_xlabel("depth $L$")
    last_bottom.xaxis.set_major_locator(MaxNLocator(integer=True))
    for axis, label in zip(axes[:, 0], HEIGHTS.values(), strict=True):
        axis.set_ylabel(label)
    titles = [_title(group) for group in by_variance]
    width = small["width"].iloc[0]
    variance = small["sigma_w2"].iloc[0]
    titles.append(rf"drawn in full, $M$ = {width:g}, $\sigma_w^2$ = {variance:g}")
    title_panels(axes.flat, [*titles, *[""] * len(titles)])
    legend_above(figure, _handles(rows, dashes), 3)
    return figure


def _title(rows: pd.DataFrame) -> str:
    """The phase and the variance of a column of panels."""
    phase = rows["phase"].iloc[0]
    variance = rows["sigma_w2"].iloc[0]
    return rf"{NAMES[phase]}, $\sigma_w^2$ = {variance:g}"


def _column(
    top: Axes, bottom: Axes, rows: pd.DataFrame, across: str, dashes: Mapping[float, str]
) -> None:
    """Draw dispersions, and below them their ratio to those of the paper."""
    for axis, height in zip((top, bottom), HEIGHTS, strict=True):
        _curves(axis, rows, across, height, dashes)
    lowest = float(rows["dispersion"].min())
    highest = float(rows["dispersion"].max())
    log_dispersion_axis([top], min(1.0, lowest), highest)


def _curves(
    axis: Axes, rows: pd.DataFrame, across: str, height: str, dashes: Mapping[float, str]
) -> None:
    rows = rows.sort_values(across)
    for curve, (colour, width, dash, _) in LINES.items():
        line = rows[rows["curve"] == curve]
        axis.plot(line[across], line[height], linestyle=dash, color=colour, linewidth=width)
    for width, line in rows[rows["curve"] == "exact"].groupby("width"):
        dash = dashes.get(width, DASHES[0])
        axis.plot(line[across], line[height], linestyle=dash, color="black", linewidth=1.1)
    drawn = rows[rows["curve"] == "networks"]
    if len(drawn):
        error = "standard_error" if height == "dispersion" else "over_printed_standard_error"
        axis.errorbar(
            drawn[across],
            drawn[height],
            drawn[error],
            color=DRAWN,
            marker="o",
            linestyle="none",
            markersize=3,
            elinewidth=0.9,
            zorder=4,
        )


def _handles(rows: pd.DataFrame, dashes: Mapping[float, str]) -> Iterator[Line2D]:
    """Name the curves; widths with the same dashes share a line of the legend."""
    drawn = rows[rows["curve"] == "networks"]
    for colour, width, dash, label in LINES.values():
        yield handle(label, color=colour, linewidth=width, linestyle=dash)
    by_dash: dict[str, list[str]] = {}
    for width in sorted({*dashes, *drawn["width"].unique()}):
        by_dash.setdefault(dashes.get(width, DASHES[0]), []).append(f"{width:g}")
    for dash, widths in by_dash.items():
        label = f"exact, $M$ = {' and '.join(widths)}"
        yield handle(label, color="black", linestyle=dash, linewidth=1.1)
    if len(drawn):
        label = f"{drawn['networks'].max():,.0f} networks each, ± s.e."
        yield handle(label, color=DRAWN, marker="o", linestyle="none", markersize=3)
