"""Ratio of off-diagonal to diagonal mean against depth over width: ``beyond`` Figures 3 and 11."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from finitewidth.figures import style
from finitewidth.papers.beyond import columns
from finitewidth.papers.beyond.figures import lines
from finitewidth.papers.beyond.figures.lines import EDGE, MARKERS, NEUTRAL
from finitewidth.records.tables import Table
from finitewidth.settings.sections import Section

BRIGHT = 0.55  # of the scale of colours; brighter ones are too faint on white
THEORY = {  # line, label
    "equation_18": ("-", "equation 18, printed"),
    "infinite_width": (":", "infinite width, both parts"),
}
BOUND: dict[str, Any] = {"linestyle": "-.", "linewidth": 0.7}
# heights in inches: of a row of panels, and of the legend and labels
ROW = 1.3
LEGEND = 0.75
TICKS = (0, 0.05, 0.2, 0.5)  # at even distances on the scale of roots
TABLE = Table(
    columns.SERIES_OF_RATIO,
    columns.SOURCE,
    *lines.NETWORKS,
    columns.MEAN_RATIO,
    columns.MEAN_RATIO_ERROR,
)


class Look(Section):
    """What differs between the figures."""

    artifact: str
    errors: Literal["bars", "bands"]


def select(tables: Mapping[str, pd.DataFrame], settings: Look) -> pd.DataFrame:
    """Select the estimates, equation 18 below the edge of chaos, and the bounds of Theorem 3.3.

    With ``errors`` as bars, only the larger sample is selected. With bands the paper's sample is
    selected as well, and only the variances and cosines that are shown with them, beside the ratio
    at infinite width with both parts of the kernel.
    """
    bands = settings.errors == "bands"
    estimates, theory = lines.tables_of_group(tables, "ratio", bands)
    if not bands:
        estimates = estimates[estimates["sample"] == lines.samples_of(estimates)[-1]]
    is_printed = (theory["curve"] == "printed") & (theory["sigma_w2"] < EDGE)
    is_infinite = (theory["curve"] == "infinite_width") & bands
    theory = theory[is_printed | is_infinite].replace({"curve": {"printed": "equation_18"}})
    quantity = "off_diagonal_over_diagonal"
    bounds = {
        "lower_bound": (quantity, "limit", "lower_bound"),
        "upper_bound": (quantity, "limit", "upper_bound"),
    }
    ours = lines.estimates_and_curves(estimates, theory, "ratio")
    paper = lines.printed_rows(tables["reported"], "ratio", bounds)
    return pd.concat([ours, paper], ignore_index=True)


def draw(rows: pd.DataFrame, settings: Look) -> Figure:
    """Draw a row of panels for each width and a column for each weight variance.

    Depth over width is drawn on a square-root scale, because the ratio changes most in the first
    layers.
    """
    estimates = rows[rows["series"] == "estimate"]
    widths = sorted(estimates["width"].unique())
    variances = sorted(estimates["sigma_w2"].unique())
    height = min(style.TALLEST, LEGEND + ROW * len(widths))
    figure, axes = style.subplots(
        len(widths), len(variances), height=height, squeeze=False, sharex=True, sharey=True
    )
    looks = _looks(sorted(estimates["cosine"].unique()))
    bounds = rows.loc[rows["source"] == "paper", "ratio"]
    for width, axes_of_width in zip(widths, axes, strict=True):
        for variance, axis in zip(variances, axes_of_width, strict=True):
            panel = rows[(rows["width"] == width) & (rows["sigma_w2"] == variance)]
            for cosine, curves in panel.groupby("cosine"):
                _curves(axis, curves, looks[cosine])
            for bound in bounds:
                style.paper_line(axis, bound, zorder=1, **BOUND)
    titles = [rf"$\sigma_w^2$ = {variance:g}" for variance in variances]
    style.title_panels(axes.flat, titles + [""] * (axes.size - len(titles)))
    _scale(axes, rows)
    for axis, width in zip(axes[:, 0], widths, strict=True):
        axis.set_ylabel(f"$M$ = {width:g}")
    for axis in axes[-1]:
        axis.set_xlabel(r"$\lambda = L/M$")
    figure.supylabel(r"$E\,\Theta(x,\tilde x)\,/\,E\,\Theta(x,x)$")
    style.legend_above(figure, _handles(rows, looks), 4)
    return figure


def _looks(cosines: Sequence[float]) -> dict[float, tuple[str, str]]:
    """Cosine -> colour and marker; the largest cosine is the darkest."""
    shades = style.shades([-cosine for cosine in cosines], bright=BRIGHT)
    return {
        cosine: (shades[-cosine], marker) for cosine, marker in zip(cosines, MARKERS, strict=False)
    }


def _scale(axes: np.ndarray, rows: pd.DataFrame) -> None:
    """Set the scale, the limits and the ticks of all panels."""
    last = float(rows["depth_over_width"].max())
    ticks = [tick for tick in TICKS if tick <= 1.001 * last]
    lowest = float((rows["ratio"] - rows["standard_error"].fillna(0)).min())
    for axis in axes.flat:
        axis.set_xscale("function", functions=(_signed_root, np.square))
        axis.set_xlim(0, 1.05 * last)
        axis.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        axis.set_ylim(min(0.2, 0.95 * lowest), 1.03)
        axis.set_yticks([0.25, 0.5, 0.75, 1])
    for axis in axes[-1]:
        labels = axis.get_xticklabels()
        labels[0].set_ha("left")  # away from the labels of the panels beside it
        labels[-1].set_ha("right")


def _signed_root(shares: np.ndarray) -> np.ndarray:
    """A root that is defined left of 0 as well, for the margins."""
    return np.sign(shares) * np.sqrt(np.abs(shares))


def _curves(axis: Axes, rows: pd.DataFrame, look: tuple[str, str]) -> None:
    colour, marker = look
    rows = rows.sort_values("depth_over_width")
    for series, (dashes, _) in THEORY.items():
        curve = rows[rows["series"] == series]
        axis.plot(curve["depth_over_width"], curve["ratio"], dashes, color=colour, linewidth=0.9)
    samples = lines.samples_of(rows)
    for sample in samples:
        curve = rows[rows["sample"] == sample]
        x = curve["depth_over_width"]
        y = curve["ratio"]
        error = curve["standard_error"]
        if sample != samples[-1]:  # the paper's sample beside a larger one
            style.band(axis, x, y - error, y + error, colour)
            continue
        axis.errorbar(
            x,
            y,
            error,
            linestyle="--",
            color=colour,
            marker=marker,
            markersize=1.9,
            linewidth=0.7,
            elinewidth=0.6,
            capsize=0.8,
            markeredgewidth=0.4,
        )


def _handles(rows: pd.DataFrame, looks: Mapping[float, tuple[str, str]]) -> Iterator[Artist]:
    for cosine, (colour, marker) in looks.items():
        look = {"color": colour, "marker": marker, "linestyle": "none", "markersize": 3.0}
        yield style.handle(rf"$\langle x,\tilde x\rangle$ = {cosine:g}", **look)
    samples = lines.samples_of(rows)
    for sample in samples:
        count = int(rows.loc[rows["sample"] == sample, "networks"].max())
        label = f"{count:,} networks, ± s.e."
        if sample == samples[-1]:
            yield style.handle(label, color=NEUTRAL, linestyle="--", linewidth=0.7)
        else:
            yield Patch(color=NEUTRAL, alpha=0.2, label=label)
    for series, (dashes, label) in THEORY.items():
        if (rows["series"] == series).any():
            yield style.handle(label, color=NEUTRAL, linestyle=dashes, linewidth=0.9)
    if (rows["source"] == "paper").any():
        yield style.handle("bounds of Theorem 3.3 (paper)", color=style.GREY, **BOUND)
