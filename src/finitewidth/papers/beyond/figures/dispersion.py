"""Dispersion against depth over width: ``beyond`` Figures 1, 2, 7, 8, 9 and 10."""

from collections.abc import Iterator, Mapping
from itertools import cycle
from typing import Any, Literal

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from finitewidth.figures import style
from finitewidth.papers.beyond import columns
from finitewidth.papers.beyond.figures import lines
from finitewidth.papers.beyond.figures.lines import EDGE, MARKERS, NEUTRAL
from finitewidth.records.tables import Table
from finitewidth.settings.sections import Section

# of Theorem 3.1: there is one limit at the edge, and one for all weight variances above it
LIMITS = {"at the edge": (0, (3, 1)), "chaotic": "-"}
PRINTED = "#8c8c8c"  # 3.4:1 on white; wide and behind all others
FORMULAS: dict[str, tuple[str, dict[str, Any]]] = {
    "printed_sums": ("Theorem 3.2, form of its proof", {"linestyle": "-", "linewidth": 1.0}),
    "exact": ("exact at finite width", {"linestyle": ":", "linewidth": 1.2}),
}
PAPER = {  # numbers of the paper's text: style of the line, label
    "ordered_limit": ((0, (6, 2)), "limit below the edge (paper)"),
    "high_variance": ((0, (1, 2)), "high variance above (paper)"),
}
# group -> curve of the paper, and what differs between the columns of panels
GROUPS = {"phases": ("printed_limit", "width"), "near": ("printed_sums", "alpha_0")}
PLACES = {"width": r"$M$", "alpha_0": r"$\alpha_0$"}
BARS = 5  # error bars of a curve between its first and its last
# heights in inches: of a row of panels, and of the legend and labels
ROW = 1.85
LEGEND = 0.75
TABLE = Table(
    columns.SERIES_OF_DISPERSION,
    columns.SOURCE,
    *lines.NETWORKS,
    columns.DISPERSION_SHOWN,
    columns.DISPERSION_ERROR_SHOWN,
    columns.MARKED,
)


class Look(Section):
    """What differs between the figures."""

    artifact: str
    group: Literal["phases", "near"]  # of networks
    errors: Literal["bars", "bands"]


def select(tables: Mapping[str, pd.DataFrame], settings: Look) -> pd.DataFrame:
    """Select the estimates of a ``group``, the paper's curve, the exact curve and printed numbers.

    With ``errors`` as bands, only the variances are selected that are shown with them.
    """
    bands = settings.errors == "bands"
    curve, _ = GROUPS[settings.group]
    estimates, theory = lines.tables_of_group(tables, settings.group, bands)
    numbers = {"high_variance": ("dispersion", "high_variance", "threshold")}
    printed = theory["curve"] == curve
    if curve == "printed_limit":  # the paper gives the limit of the ordered phase as a number
        numbers = {"ordered_limit": ("dispersion", "ordered", "limit"), **numbers}
        printed &= theory["sigma_w2"] >= EDGE
    curves = theory[printed | (theory["curve"] == "exact")]
    ours = lines.estimates_and_curves(estimates, curves, "dispersion")
    ours = ours.assign(marked=0) if bands else _marked(ours)
    paper = lines.printed_rows(tables["reported"], "dispersion", numbers).assign(marked=0)
    return pd.concat([ours, paper], ignore_index=True)


def _marked(rows: pd.DataFrame) -> pd.DataFrame:
    """Choose the points with a mark and a bar; leave out points without a mark or a line.

    They are the first, the last and some between; curves that lie close together have others.
    """
    rows = rows.sort_values("depth_over_width", kind="stable").assign(marked=0)
    estimates = rows[rows["series"] == "estimate"]
    variances = sorted(estimates["sigma_w2"].unique())
    cosines = sorted(estimates["cosine"].dropna().unique())
    keys = ["sample", "width", "alpha_0", "sigma_w2", "cosine"]
    for (*_, variance, cosine), curve in estimates.groupby(keys, dropna=False):
        # curves of one phase lie close together, and so do those of different cosines
        if cosines:
            number, count = cosines.index(cosine), len(cosines)
        else:
            phase = [v for v in variances if np.sign(v - EDGE) == np.sign(variance - EDGE)]
            number, count = phase.index(variance), len(phase)
        rows.loc[curve.index, "marked"] = _marks(len(curve), number, count)
    is_estimate = rows["series"] == "estimate"
    is_marked = rows["marked"] == 1
    rows["standard_error"] = rows["standard_error"].where(is_estimate & is_marked)
    return rows[~is_estimate | is_marked | _joined_by_lines(rows)].sort_index()


def _marks(points: int, number: int, count: int) -> np.ndarray:
    """1 at the marked points of curve ``number`` of ``count`` that lie close together, else 0."""
    spacing = max(1, round((points - 1) / BARS))
    first = max(1, round(spacing * (number + 1) / count))
    marks = np.zeros(points, dtype=int)
    marks[first::spacing] = 1
    marks[[0, -1]] = 1
    return marks


def _joined_by_lines(rows: pd.DataFrame) -> pd.Series:
    """Whether a line joins estimates: not where their exact curve is drawn in the same panel."""
    return (rows["sample"] != "many") | rows["cosine"].notna().any()


def draw(rows: pd.DataFrame, settings: Look) -> Figure:
    """Draw one row of panels with the paper's number of draws and one with ours.

    As in the paper, estimates are dashed and its theory is solid. The last row also shows
    the exact curve of the diagonal elements.
    """
    _, column = GROUPS[settings.group]
    estimates = rows[rows["series"] == "estimate"]
    samples = lines.samples_of(rows)
    values = list(estimates[column].unique())
    figure, axes = style.subplots(
        len(samples),
        len(values),
        height=LEGEND + ROW * len(samples),
        squeeze=False,
        sharex=True,
        sharey=True,
    )
    shades = lines.colours(sorted(estimates["sigma_w2"].unique()))
    are_joined = _joined_by_lines(rows)
    titles = []
    for sample, axes_of_sample in zip(samples, axes, strict=True):
        count = int(estimates.loc[estimates["sample"] == sample, "networks"].max())
        for value, axis in zip(values, axes_of_sample, strict=True):
            titles.append(f"{PLACES[column]} = {value:g}, {count:,} networks")
            panel = rows[(rows[column] == value) | (rows["source"] == "paper")]
            _theory(axis, panel, shades, exact=sample == samples[-1])
            drawn = panel[panel["sample"] == sample]
            with_line = settings.errors == "bands" or are_joined[drawn.index].all()
            _estimates(axis, drawn, shades, "--" if with_line else "none")
    style.title_panels(axes.flat, titles)
    for axis in axes[-1]:
        axis.set_xlabel(r"depth over width, $\lambda = L/M$")
    pair = r"(x,\tilde x)" if rows["cosine"].notna().any() else "(x,x)"
    figure.supylabel(rf"$E[\Theta{pair}^2]\,/\,E[\Theta{pair}]^2$")
    error = rows["standard_error"].fillna(0)
    low = rows["dispersion"] - error
    high = rows["dispersion"] + error
    lines.log_dispersion_axis(list(axes.flat), float(low.min()), max(1.3, float(high.max())))
    style.legend_above(figure, _handles(rows, shades, settings.errors), 4)
    return figure


def _theory(axis: Axes, rows: pd.DataFrame, shades: Mapping[float, str], exact: bool) -> None:
    curves = rows[(rows["source"] == "ours") & (rows["sample"] == "none")]
    for (series, variance), curve in curves.groupby(["series", "sigma_w2"]):
        curve = curve.sort_values("depth_over_width")
        x = curve["depth_over_width"]
        y = curve["dispersion"]
        if series == "printed_limit":
            dashes = LIMITS["chaotic" if variance > EDGE else "at the edge"]
            axis.plot(x, y, linestyle=dashes, color=PRINTED, linewidth=2.0, zorder=1)
        elif series == "printed_sums" or exact:
            _, look = FORMULAS[series]
            axis.plot(x, y, color=shades[variance], **look)
    for series, value in rows.loc[rows["source"] == "paper", ["series", "dispersion"]].to_numpy():
        dashes, _ = PAPER[series]
        style.paper_line(axis, value, linestyle=dashes, zorder=1, linewidth=0.8)


def _estimates(axis: Axes, rows: pd.DataFrame, shades: Mapping[float, str], line: str) -> None:
    """Draw estimates as lines, with marks and error bars at some points or with bands.

    A hollow mark has no bar, because there are too few draws to know the error.
    """
    cosines = sorted(rows["cosine"].dropna().unique())
    variances = sorted(rows["sigma_w2"].unique())
    for (variance, cosine), curve in rows.groupby(["sigma_w2", "cosine"], dropna=False):
        number = cosines.index(cosine) if cosines else variances.index(variance)
        look = {"color": shades[variance], "marker": MARKERS[number % len(MARKERS)]}
        _estimate(axis, curve.sort_values("depth_over_width"), look, line)


def _estimate(axis: Axes, curve: pd.DataFrame, look: dict[str, Any], line: str) -> None:
    """Draw one curve of `_estimates`."""
    x = curve["depth_over_width"].to_numpy(float)
    y = curve["dispersion"].to_numpy(float)
    error = curve["standard_error"].to_numpy(float)
    if line != "none":
        axis.plot(x, y, linestyle=line, color=look["color"], linewidth=0.9)
    marked = curve["marked"].to_numpy() == 1
    if not marked.any():
        style.band(axis, x, y - error, y + error, look["color"])
        return
    mark: dict[str, Any] = look | {"linestyle": "none", "markersize": 3.0}
    known = marked & np.isfinite(error)
    unknown = marked & ~np.isfinite(error)
    hollow: dict[str, Any] = {"markerfacecolor": "white", "markeredgewidth": 0.7, "zorder": 3}
    axis.errorbar(x[known], y[known], error[known], elinewidth=0.8, markeredgewidth=0.4, **mark)
    axis.plot(x[unknown], y[unknown], **hollow, **mark)


def _handles(rows: pd.DataFrame, shades: Mapping[float, str], errors: str) -> Iterator[Line2D]:
    estimates = rows[rows["series"] == "estimate"]
    cosines = sorted(estimates["cosine"].dropna().unique())
    variances = sorted(estimates["sigma_w2"].unique())
    marks = [{"linestyle": "none", "marker": marker, "markersize": 3.5} for marker in MARKERS]
    by_colour = len(cosines) or errors == "bands"
    for variance, mark in zip(variances, cycle(marks), strict=False):
        look = {"linestyle": "-", "linewidth": 1.6} if by_colour else mark
        yield style.handle(rf"$\sigma_w^2$ = {variance:g}", color=shades[variance], **look)
    for cosine, mark in zip(cosines, cycle(marks), strict=False):
        yield style.handle(rf"$\langle x,\tilde x\rangle$ = {cosine:g}", color=NEUTRAL, **mark)
    label = "estimate, ± s.e." if errors == "bands" else "estimate"
    if (estimates["standard_error"].isna() & (estimates["marked"] == 1)).any():
        label += ", hollow: error not known"
    yield style.handle(label, color=NEUTRAL, linestyle="--", linewidth=0.9)
    yield from _theory_handles(rows, diagonal=bool(cosines))


def _theory_handles(rows: pd.DataFrame, diagonal: bool) -> Iterator[Line2D]:
    """Name the formulas; ``diagonal`` says that they are of other elements than the estimates."""
    limits = rows.loc[rows["series"] == "printed_limit", "sigma_w2"]
    occurs = {"at the edge": (limits <= EDGE).any(), "chaotic": (limits > EDGE).any()}
    for phase, dashes in LIMITS.items():
        if occurs[phase]:
            label = f"Theorem 3.1, printed, {phase}"
            label += ", diagonal" if diagonal else ""
            yield style.handle(label, color=PRINTED, linestyle=dashes, linewidth=2.0)
    series = set(rows["series"])
    for name, (label, look) in FORMULAS.items():
        if name in series:
            yield style.handle(label + (" (diagonal)" if diagonal else ""), color=NEUTRAL, **look)
    for name, (dashes, label) in PAPER.items():
        if name in series:
            yield style.handle(label, color=style.GREY, linestyle=dashes, linewidth=0.8)
