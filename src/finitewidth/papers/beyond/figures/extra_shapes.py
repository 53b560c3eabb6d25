"""Dispersions of growing, constant and shrinking networks against each other, as maps."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import SymLogNorm
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke

from finitewidth.common import fields
from finitewidth.figures.style import COLOURS, handle, legend_above, subplots, title_panels
from finitewidth.papers.beyond.figures.lines import EDGE, NEUTRAL

STROKE = [withStroke(linewidth=2.2, foreground="white")]  # lines are seen on all colours
# the common input dimension first: there only the order of the widths differs
ROWS = {"common": r"same $n_0$ for all", "own": r"own $n_0$ (Figure 6)"}
LINES = {"own": ("-", r"own $n_0$"), "common": ("--", r"same $n_0$")}
# lines that coincide stay visible, because later ones are thinner
LOOKS = {"growing": (COLOURS[0], 2.0), "constant": ("black", 1.3), "shrinking": (COLOURS[3], 0.8)}
FIELDS = {
    "panel": fields.text("map (a pair of architectures) or layers (coefficients of layers)"),
    "input": fields.text("own: input dimensions of Figure 6; common: that of constant widths"),
    "sigma_w2": fields.number("variance of the weights times the width"),
    "depth": fields.integer("layers with weights, L"),
    "first": fields.text("architecture in the numerator of a map; none for layers"),
    "second": fields.text("architecture in the denominator of a map; none for layers"),
    "log10_ratio": fields.number(
        "logarithm to the base 10 of the exact dispersion of the first over that of the second; "
        "NaN for layers"
    ),
    "architecture": fields.text("growing, constant or shrinking widths; none for maps"),
    "layer_over_depth": fields.number("number of a hidden layer over L; NaN for maps"),
    "coefficient": fields.number(
        "coefficient of the layer's reciprocal width in the dispersion to first order; NaN for maps"
    ),
}


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return the ratios of dispersions and the coefficients of layers."""
    ratios = tables["ratios"].rename(columns={"y": "log10_ratio"})
    layers = tables["layers"].rename(columns={"x": "layer_over_depth", "y": "coefficient"})
    parts = [
        ratios.assign(panel="map", architecture="none"),
        layers.assign(panel="layers", first="none", second="none"),
    ]
    return pd.concat(parts, ignore_index=True)


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw a row of maps for each kind of input, and the coefficients of layers below."""
    figure, axes = subplots(3, 3, height=5.6, height_ratios=(1, 1, 0.95))
    maps, layers = rows[rows["panel"] == "map"], rows[rows["panel"] == "layers"]
    largest, linear = settings["largest"], settings["linear"]
    scale = SymLogNorm(linear, vmin=-largest, vmax=largest)
    pairs = list(maps[["first", "second"]].drop_duplicates().itertuples(index=False, name=None))
    titles = [f"{first} / {second}" for first, second in pairs] * 2
    for (kind, label), line in zip(ROWS.items(), axes, strict=False):
        own = maps[maps["input"] == kind]
        for axis, (first, second) in zip(line, pairs, strict=True):
            image = _map(axis, own[(own["first"] == first) & (own["second"] == second)], scale)
        line[0].set_ylabel(f"{label}\ndepth $L$")
    for axis in axes[1]:
        axis.set_xlabel(r"weight variance $\sigma_w^2$")
    bar = figure.colorbar(image, ax=axes[:2], extend="both", aspect=35, pad=0.02)
    steps = [s for s in (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0) if linear <= s <= largest]
    ticks = [*(-step for step in reversed(steps)), 0, *steps]
    labels = [f"{tick:g}".replace("-", "−") if tick else "equal" for tick in ticks]
    bar.set_ticks(ticks, labels=labels)
    bar.minorticks_off()
    bar.set_label(rf"$\log_{{10}}$ of the ratio of $r$; colours end at ±{largest:g}")
    for axis, (variance, own) in zip(axes[2], layers.groupby("sigma_w2"), strict=True):
        _layers(axis, own)
        titles.append(rf"$\sigma_w^2$ = {variance:g}, $L$ = {own['depth'].iloc[0]}")
    axes[2][0].set_ylabel("coefficient of layer $k$:\n$c_k$ " r"in $r-1\approx\Sigma_k\,c_k/n_k$")
    for axis in axes[:, 1:].flat:
        axis.tick_params(labelleft=False)
    for axis in axes[0]:
        axis.tick_params(labelbottom=False)
    title_panels(axes.flat, titles)
    legend_above(figure, _handles(), 6)
    return figure


def _map(axis: Axes, rows: pd.DataFrame, scale: SymLogNorm) -> Any:
    table = rows.pivot(index="depth", columns="sigma_w2", values="log10_ratio")
    x, y, ratio = table.columns.to_numpy(), table.index.to_numpy(), table.to_numpy()
    image = axis.pcolormesh(
        x, y, ratio, cmap="RdBu_r", norm=scale, shading="nearest", rasterized=True
    )
    if ratio.min() < 0 < ratio.max():
        unequal = np.ma.masked_equal(ratio, 0)  # networks that are the same
        equal = axis.contour(x, y, unequal, levels=[0], colors="black", linewidths=1.0)
        equal.set_path_effects(STROKE)
    axis.axvline(EDGE, color=NEUTRAL, linestyle=":", linewidth=1.1, path_effects=STROKE)
    axis.set(xlim=(x[0], x[-1]), ylim=(y[0], y[-1]))
    return image


def _layers(axis: Axes, rows: pd.DataFrame) -> None:
    for name, (colour, width) in LOOKS.items():
        for kind, line in rows[rows["architecture"] == name].groupby("input"):
            line = line.sort_values("layer_over_depth")
            x, y = line["layer_over_depth"], line["coefficient"]
            axis.plot(x, y, LINES[kind][0], color=colour, linewidth=width)
    axis.set(xlim=(0, 1), ylim=(0, 5.2), xlabel="place of the layer $k/L$")


def _handles() -> Iterator[Line2D]:
    for name, (look, width) in LOOKS.items():
        yield handle(name, color=look, linewidth=width)
    for line, label in LINES.values():
        yield handle(label, color=NEUTRAL, linestyle=line, linewidth=1.2)
    yield handle("edge of chaos", color=NEUTRAL, linestyle=":", linewidth=1.1)
