"""Dispersion against depth over width: ``beyond`` Figures 1, 2, 7, 8, 9 and 10."""

from collections.abc import Iterator, Mapping
from itertools import cycle
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from finitewidth.figures import style
from finitewidth.papers.beyond.figures import lines
from finitewidth.papers.beyond.figures.lines import EDGE, MARKERS, NEUTRAL
from finitewidth.records import fields

# of Theorem 3.1: there is one limit at the edge, and one for all weight variances above it
LIMITS = {"at the edge": (0, (3, 1)), "chaotic": "-"}
PRINTED = "#8c8c8c"  # 3.4:1 on white; wide and behind all others
FORMULAS = {
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
ROW, LEGEND = 1.85, 0.75  # inches: height of a row of panels, and of the legend and labels
FIELDS = {
    "series": fields.text(
        "estimate, exact (diagonal), printed_limit (Theorem 3.1), printed_sums (Theorem 3.2 in the "
        "form of its proof), ordered_limit (Theorem 3.1, part 3) or high_variance (section 3.1)"
    ),
    "source": fields.text("ours, or paper for a number that the paper prints"),
    **lines.NETWORKS,
    "dispersion": fields.number("second moment of a kernel element over its squared mean"),
    "standard_error": fields.number(
        "standard error of an estimate; NaN for a formula, where no bar is drawn, and where the "
        "draws do not suffice"
    ),
    "marked": fields.integer("1 for a mark with a bar, hollow if the error is unknown, else 0"),
}


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Select the estimates of a ``group``, the paper's curve, the exact curve and printed numbers.

    With ``errors`` as bands, only the variances are selected that are shown with them.
    """
    group, bands = settings["group"], settings["errors"] == "bands"
    curve = GROUPS[group][0]
    estimates, theory = lines.of_group(tables, group, bands)
    numbers = {"high_variance": ("dispersion", "high_variance", "threshold")}
    printed = theory["curve"] == curve
    if curve == "printed_limit":  # the paper gives the limit of the ordered phase as a number
        numbers = {"ordered_limit": ("dispersion", "ordered", "limit"), **numbers}
        printed &= theory["sigma_w2"] >= EDGE
    shown = theory[printed | (theory["curve"] == "exact")]
    ours = lines.joined(estimates, shown, "dispersion")
    ours = ours.assign(marked=0) if bands else _marked(ours)
    paper = lines.from_paper(tables["reported"], "dispersion", numbers).assign(marked=0)
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
        phase = [v for v in variances if np.sign(v - EDGE) == np.sign(variance - EDGE)]
        near, own = (cosines, cosine) if cosines else (phase, variance)
        every = max(1, round((len(curve) - 1) / BARS))
        marked = np.zeros(len(curve), dtype=int)
        marked[max(1, round(every * (near.index(own) + 1) / len(near))) :: every] = 1
        marked[[0, -1]] = 1
        rows.loc[curve.index, "marked"] = marked
    estimated, marked = rows["series"] == "estimate", rows["marked"] == 1
    rows["standard_error"] = rows["standard_error"].where(estimated & marked)
    return rows[~estimated | marked | _joined_by_lines(rows)].sort_index()


def _joined_by_lines(rows: pd.DataFrame) -> pd.Series:
    """Whether a line joins estimates: not where their exact curve is drawn in the same panel."""
    return (rows["sample"] != "many") | rows["cosine"].notna().any()


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw one row of panels with the paper's number of draws and one with ours.

    As in the paper, estimates are dashed and its theory is solid. The last row also shows
    the exact curve of the diagonal elements.
    """
    column, off = GROUPS[settings["group"]][1], rows["cosine"].notna().any()
    estimates = rows[rows["series"] == "estimate"]
    samples, values = lines.samples_of(rows), list(estimates[column].unique())
    figure, axes = style.subplots(
        len(samples),
        len(values),
        height=LEGEND + ROW * len(samples),
        squeeze=False,
        sharex=True,
        sharey=True,
    )
    shades = lines.colours(sorted(estimates["sigma_w2"].unique()))
    titles = []
    for sample, line in zip(samples, axes, strict=True):
        count = int(estimates.loc[estimates["sample"] == sample, "networks"].max())
        for value, axis in zip(values, line, strict=True):
            titles.append(f"{PLACES[column]} = {value:g}, {count:,} networks")
            own = rows[(rows[column] == value) | (rows["source"] == "paper")]
            _theory(axis, own, shades, exact=sample == samples[-1])
            own = own[own["sample"] == sample]
            joined = settings["errors"] == "bands" or _joined_by_lines(rows)[own.index].all()
            _estimates(axis, own, shades, "--" if joined else "none")
    style.title_panels(axes.flat, titles)
    for axis in axes[-1]:
        axis.set_xlabel(r"depth over width, $\lambda = L/M$")
    pair = r"(x,\tilde x)" if off else "(x,x)"
    figure.supylabel(rf"$E[\Theta{pair}^2]\,/\,E[\Theta{pair}]^2$")
    error = rows["standard_error"].fillna(0)
    low, high = rows["dispersion"] - error, rows["dispersion"] + error
    lines.log_dispersion_axis(list(axes.flat), float(low.min()), max(1.3, float(high.max())))
    style.legend_above(figure, _handles(rows, shades, settings["errors"]), 4)
    return figure


def _theory(axis: Axes, rows: pd.DataFrame, shades: Mapping[float, str], exact: bool) -> None:
    curves = rows[(rows["source"] == "ours") & (rows["sample"] == "none")]
    for (series, variance), curve in curves.groupby(["series", "sigma_w2"]):
        curve = curve.sort_values("depth_over_width")
        x, y = curve["depth_over_width"], curve["dispersion"]
        if series == "printed_limit":
            line = LIMITS["chaotic" if variance > EDGE else "at the edge"]
            axis.plot(x, y, linestyle=line, color=PRINTED, linewidth=2.0, zorder=1)
        elif series == "printed_sums" or exact:
            axis.plot(x, y, color=shades[variance], **FORMULAS[series][1])
    for series, value in rows.loc[rows["source"] == "paper", ["series", "dispersion"]].to_numpy():
        style.paper_line(axis, value, linestyle=PAPER[series][0], zorder=1, linewidth=0.8)


def _estimates(axis: Axes, rows: pd.DataFrame, shades: Mapping[float, str], line: str) -> None:
    """Draw estimates as lines, with marks and error bars at some points or with bands.

    A hollow mark has no bar, because there are too few draws to know the error.
    """
    cosines, variances = sorted(rows["cosine"].dropna().unique()), sorted(rows["sigma_w2"].unique())
    for (variance, cosine), curve in rows.groupby(["sigma_w2", "cosine"], dropna=False):
        place = cosines.index(cosine) if cosines else variances.index(variance)
        colour, marker = shades[variance], MARKERS[place % len(MARKERS)]
        curve = curve.sort_values("depth_over_width")
        names = ("depth_over_width", "dispersion", "standard_error")
        x, y, error = (curve[name].to_numpy(float) for name in names)
        if line != "none":
            axis.plot(x, y, linestyle=line, color=colour, linewidth=0.9)
        marked = curve["marked"].to_numpy() == 1
        if not marked.any():
            style.band(axis, x, y - error, y + error, colour)
            continue
        known, unknown = marked & np.isfinite(error), marked & ~np.isfinite(error)
        mark = {"marker": marker, "color": colour, "linestyle": "none", "markersize": 3.0}
        axis.errorbar(x[known], y[known], error[known], elinewidth=0.8, markeredgewidth=0.4, **mark)
        axis.plot(
            x[unknown], y[unknown], markerfacecolor="white", markeredgewidth=0.7, zorder=3, **mark
        )


def _handles(rows: pd.DataFrame, shades: Mapping[float, str], errors: str) -> Iterator[Line2D]:
    estimates = rows[rows["series"] == "estimate"]
    cosines = sorted(estimates["cosine"].dropna().unique())
    lined = len(cosines) or errors == "bands"
    marks = [{"linestyle": "none", "marker": marker, "markersize": 3.5} for marker in MARKERS]
    for variance, mark in zip(sorted(estimates["sigma_w2"].unique()), cycle(marks), strict=False):
        look = {"linestyle": "-", "linewidth": 1.6} if lined else mark
        yield style.handle(rf"$\sigma_w^2$ = {variance:g}", color=shades[variance], **look)
    for cosine, mark in zip(cosines, cycle(marks), strict=False):
        yield style.handle(rf"$\langle x,\tilde x\rangle$ = {cosine:g}", color=NEUTRAL, **mark)
    known = ", ± s.e." if errors == "bands" else ""
    yield style.handle(f"estimate{known}", color=NEUTRAL, linestyle="--", linewidth=0.9)
    limits = rows.loc[rows["series"] == "printed_limit", "sigma_w2"]
    shown = {"at the edge": (limits <= EDGE).any(), "chaotic": (limits > EDGE).any()}
    for phase, dashes in LIMITS.items():
        if shown[phase]:
            label = f"Theorem 3.1, printed, {phase}{', diagonal' * bool(cosines)}"
            yield style.handle(label, color=PRINTED, linestyle=dashes, linewidth=2.0)
    series = set(rows["series"])
    for name, (label, look) in FORMULAS.items():
        if name in series:
            yield style.handle(label + " (diagonal)" * bool(cosines), color=NEUTRAL, **look)
    for name, (dashes, label) in PAPER.items():
        if name in series:
            yield style.handle(label, color=style.GREY, linestyle=dashes, linewidth=0.8)
