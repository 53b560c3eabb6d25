"""Dispersions of growing, constant and shrinking networks against each other, as maps."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import SymLogNorm
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.patheffects import AbstractPathEffect, withStroke

from finitewidth.figures.style import (
    COLOURS,
    handle,
    legend_above,
    logarithmic,
    numbers,
    subplots,
    title_panels,
)
from finitewidth.papers.beyond import columns
from finitewidth.papers.beyond.figures.lines import EDGE, NEUTRAL
from finitewidth.records.tables import Table
from finitewidth.settings.sections import Section

STROKE: list[AbstractPathEffect] = [
    withStroke(linewidth=2.2, foreground="white")
]  # lines are seen on all colours
# kind of input, and architectures whose dispersions are divided
MAPS = (
    ("common", "growing", "constant"),
    ("own", "growing", "constant"),
    ("own", "growing", "shrinking"),
)
LINES = {"own": ("-", r"own $n_0$"), "common": ("--", r"same $n_0$")}
# lines that coincide stay visible, because later ones are thinner
LOOKS = {
    "growing": (COLOURS[4], 2.0),
    "constant": (COLOURS[1], 1.3),
    "shrinking": (COLOURS[2], 0.8),
}
# the sign is seen in grey print as well
HATCH = "/////"
HATCHED = "#6b3a34"
MAP_COLOURS = "RdBu_r"
BAR_STEPS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
EQUAL: dict[str, Any] = {"color": "black", "linewidth": 1.0, "path_effects": STROKE}
FIRST_ORDER: dict[str, Any] = {
    "color": "black",
    "linestyle": (0, (3, 2)),
    "linewidth": 1.2,
    "path_effects": STROKE,
}
EDGE_LINE: dict[str, Any] = {"color": NEUTRAL, "linestyle": ":", "linewidth": 1.1}
PHASES = {
    "ordered": ("ordered", "s", COLOURS[0]),
    "critical": ("at the edge", "x", "black"),
    "chaotic": ("chaotic", "^", COLOURS[3]),
}
SUFFICIENT = 0.5  # n_0 over the mean width from which on docs/theory.md proves the first order
SUFFICIENT_LINE: dict[str, Any] = {"color": NEUTRAL, "linestyle": "-.", "linewidth": 1.0}
TABLE = Table(
    columns.PANEL_OF_SHAPES,
    columns.INPUT_SHOWN,
    columns.PHASE_SHOWN,
    columns.SIGMA_W2_OF_PANEL,
    columns.DEPTH_OF_PANEL,
    columns.INPUT_WIDTH_SHOWN,
    columns.INPUT_OVER_WIDTH_SHOWN,
    columns.FIRST_SHOWN,
    columns.SECOND_SHOWN,
    columns.LOG10_RATIO_SHOWN,
    columns.SHAPES_SHOWN,
    columns.HIGHER_SHOWN,
    columns.ARCHITECTURE_SHOWN,
    columns.LAYER_OVER_DEPTH_SHOWN,
    columns.COEFFICIENT_SHOWN,
)
WORDS = ("input", "phase", "first", "second", "architecture")


class Look(Section):
    """The scale of logarithms of ratios, which is linear around 0."""

    artifact: str
    largest: float  # size at which colours end
    linear: float  # size up to which the scale is linear


def select(tables: Mapping[str, pd.DataFrame], settings: Look) -> pd.DataFrame:
    """Return the ratios of dispersions, where they are 1, and the coefficients of layers."""
    ratios = tables["ratios"]
    is_drawn = ratios.set_index(["input", "first", "second"]).index.isin(MAPS)
    reversal = {"first": "growing", "second": "shrinking"}
    parts = {
        "inputs": tables["inputs"].assign(**reversal),
        "threshold": tables["thresholds"],
        "random": tables["random"].assign(**reversal),
        "counts": tables["counts"],
        "map": ratios[is_drawn],
        "layers": tables["layers"],
    }
    names = {
        "inputs": {"y": "log10_ratio"},
        "threshold": {"first_order": "input_width"},
        "random": {"y": "log10_ratio", "x": "input_over_width"},
        "counts": {},
        "map": {"y": "log10_ratio"},
        "layers": {"x": "layer_over_depth", "y": "coefficient"},
    }
    panels = [part.rename(columns=names[name]).assign(panel=name) for name, part in parts.items()]
    rows = pd.concat(panels, ignore_index=True)
    return rows.fillna(dict.fromkeys(WORDS, "none"))


def draw(rows: pd.DataFrame, settings: Look) -> Figure:
    """Draw maps over input dimensions and random widths, maps over depths, and coefficients."""
    figure, axes = subplots(3, 3, height=6.0, height_ratios=(1, 1, 0.9))
    parts = dict(iter(rows.groupby("panel")))
    largest = settings.largest
    linear = settings.linear
    scale = SymLogNorm(linear, vmin=-largest, vmax=largest)
    top, middle, bottom = axes
    # the titles of the panels, row by row
    titles = _inputs_row(top, parts, scale)
    _random(top[2], parts["random"], linear)
    titles.append("the same, random widths")
    titles += _depths_row(middle, parts["map"], scale)
    for axis in (*top[:2], *middle):
        axis.set_xlabel(r"weight variance $\sigma_w^2$")
    _bar(figure, scale, largest, axes[:2])
    titles += _layers_row(bottom, parts["layers"])
    for axis in (top[1], *middle[1:], *bottom[1:]):
        axis.tick_params(labelleft=False)
    title_panels(axes.flat, titles)
    legend_above(figure, _handles(parts["counts"].set_index("phase")), 5)
    return figure


def _inputs_row(
    axes: Sequence[Axes], parts: Mapping[str, pd.DataFrame], scale: SymLogNorm
) -> list[str]:
    """Draw the maps over input dimensions, one for each depth, and return their titles."""
    titles = []
    thresholds = parts["threshold"]
    for axis, (depth, ratios) in zip(axes, parts["inputs"].groupby("depth"), strict=False):
        _inputs(axis, ratios, thresholds[thresholds["depth"] == depth], scale)
        titles.append(rf"growing / shrinking, $L$ = {depth:g}")
    axes[0].set_ylabel("input dimension $n_0$")
    return titles


def _depths_row(axes: Sequence[Axes], ratios: pd.DataFrame, scale: SymLogNorm) -> list[str]:
    """Draw the maps over depths, one for each of `MAPS`, and return their titles."""
    titles = []
    keys = ratios.set_index(["input", "first", "second"]).index
    for axis, key in zip(axes, MAPS, strict=True):
        kind, first, second = key
        _depths(axis, ratios[keys == key], scale)
        _, label = LINES[kind]
        titles.append(f"{first} / {second}, {label}")
    axes[0].set_ylabel("depth $L$")
    return titles


def _layers_row(axes: Sequence[Axes], layers: pd.DataFrame) -> list[str]:
    """Draw the coefficients of layers, a panel for each variance, and return their titles."""
    titles = []
    for axis, (variance, coefficients) in zip(axes, layers.groupby("sigma_w2"), strict=True):
        _layers(axis, coefficients)
        depth = coefficients["depth"].iloc[0]
        titles.append(rf"$\sigma_w^2$ = {variance:g}, $L$ = {depth:g}")
    axes[0].set_ylabel("coefficient of layer $k$:\n$c_k$ " r"in $r-1\approx\Sigma_k\,c_k/n_k$")
    return titles


def _inputs(axis: Axes, rows: pd.DataFrame, limits: pd.DataFrame, scale: SymLogNorm) -> None:
    """Draw the growing network against its reverse over all input dimensions."""
    _map(axis, rows, "input_width", scale)
    limits = limits.sort_values("sigma_w2")
    lowest = rows["input_width"].min()
    highest = rows["input_width"].max()
    within = limits[limits["input_width"].between(lowest, highest)]
    axis.plot(within["sigma_w2"], within["input_width"], **FIRST_ORDER)
    axis.set_yscale("log")
    axis.set(ylim=(lowest, highest))
    logarithmic(axis.yaxis)


def _depths(axis: Axes, rows: pd.DataFrame, scale: SymLogNorm) -> None:
    _map(axis, rows, "depth", scale)
    axis.set(ylim=(rows["depth"].min(), rows["depth"].max()))


def _map(axis: Axes, rows: pd.DataFrame, up: str, scale: SymLogNorm) -> None:
    """Draw ratios over weight variances; hatch where the first network has the larger r."""
    table = rows.pivot(index=up, columns="sigma_w2", values="log10_ratio")
    x = table.columns.to_numpy()
    y = table.index.to_numpy()
    ratio = table.to_numpy()
    axis.pcolormesh(x, y, ratio, cmap=MAP_COLOURS, norm=scale, shading="nearest", rasterized=True)
    unequal = np.ma.masked_equal(ratio, 0)  # networks that are the same
    if ratio.max() > 0:
        levels = [0, ratio.max()]
        larger = axis.contourf(x, y, unequal, levels=levels, colors="none", hatches=[HATCH])
        larger.set(edgecolor=HATCHED, linewidth=0)
    if ratio.min() < 0 < ratio.max():
        looks = {"colors": EQUAL["color"], "linewidths": EQUAL["linewidth"]}
        equal = axis.contour(x, y, unequal, levels=[0], **looks)
        equal.set_path_effects(STROKE)
    axis.axvline(EDGE, **EDGE_LINE, path_effects=STROKE)
    axis.set(xlim=(x[0], x[-1]))


def _random(axis: Axes, rows: pd.DataFrame, linear: float) -> None:
    """Draw ratios for random widths over n_0 by the mean width."""
    for name, (_, marker, colour) in PHASES.items():
        phase = rows[rows["phase"] == name]
        axis.plot(
            phase["input_over_width"],
            phase["log10_ratio"],
            marker,
            color=colour,
            markersize=1.6,
            markeredgewidth=0.4,
            markerfacecolor="none",
            rasterized=True,
        )
    axis.axhline(0, color="black", linewidth=0.8)
    axis.axvline(SUFFICIENT, **SUFFICIENT_LINE)
    axis.set_xscale("log")
    axis.set_yscale("symlog", linthresh=linear, linscale=0.5)
    logarithmic(axis.xaxis)
    numbers(axis.yaxis, [-0.1, -0.01, -linear, 0, linear, 0.01])
    axis.set(xlabel="$n_0$ over the mean width", ylabel=r"$\log_{10}$ of the ratio")


def _bar(figure: Figure, scale: SymLogNorm, largest: float, axes: np.ndarray) -> None:
    """Draw the bar of colours of all maps."""
    colours = ScalarMappable(scale, MAP_COLOURS)
    bar = figure.colorbar(colours, ax=axes, extend="both", aspect=35, pad=0.02)
    steps = [step for step in BAR_STEPS if scale.linthresh <= step <= largest]
    ticks = [*(-step for step in reversed(steps)), 0, *steps]
    labels = ["equal" if tick == 0 else f"{tick:g}".replace("-", "−") for tick in ticks]
    bar.set_ticks(ticks, labels=labels)
    bar.minorticks_off()
    bar.set_label(rf"$\log_{{10}}$ of the ratio of $r$; colours end at ±{largest:g}")


def _layers(axis: Axes, rows: pd.DataFrame) -> None:
    for name, (colour, width) in LOOKS.items():
        for kind, line in rows[rows["architecture"] == name].groupby("input"):
            line = line.sort_values("layer_over_depth")
            dashes, _ = LINES[kind]
            x = line["layer_over_depth"]
            axis.plot(x, line["coefficient"], dashes, color=colour, linewidth=width)
    axis.set(xlim=(0, 1), ylim=(0, 5.2), xlabel="place of the layer $k/L$")
    numbers(axis.xaxis, [0, 0.5, 1])


def _handles(counts: pd.DataFrame) -> Iterator[Artist]:
    yield handle("equal, exact", **EQUAL)
    yield handle("equal, to first order", **FIRST_ORDER)
    yield Patch(
        facecolor="white", edgecolor=HATCHED, hatch=HATCH, linewidth=0, label="first is larger"
    )
    for name, (look, width) in LOOKS.items():
        yield handle(name, color=look, linewidth=width)
    for name, (words, marker, colour) in PHASES.items():
        higher, shapes = counts.loc[name, ["higher", "shapes"]]
        label = f"{words}: {higher:g} of {shapes:g}"
        yield handle(label, color=colour, marker=marker, linestyle="none", markerfacecolor="none")
    for line, label in LINES.values():
        yield handle(label, color=NEUTRAL, linestyle=line, linewidth=1.2)
    yield handle("edge of chaos", **EDGE_LINE)
    yield handle("half the mean width", **SUFFICIENT_LINE)
