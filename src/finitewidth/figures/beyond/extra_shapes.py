"""Dispersions of growing, constant and shrinking networks against each other, as maps."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import SymLogNorm
from matplotlib.figure import Figure

from finitewidth.figures.beyond.lines import handle
from finitewidth.figures.style import COLOURS, subplots

WIDTH, HEIGHT = 6.9, 6.7  # inches
SMALL, MEDIUM = 6.8, 7.5  # points
EDGE = 2.0  # sigma_w^2 at the edge of chaos
ROWS = {"own": r"own $n_0$ (Figure 6)", "common": r"same $n_0$ for all"}
SHORT = {"own": r"own $n_0$", "common": r"same $n_0$"}
LINES = {"own": "-", "common": "--"}
# lines that coincide stay visible, because later ones are thinner
LOOKS = {"growing": (COLOURS[0], 2.0), "constant": ("black", 1.3), "shrinking": (COLOURS[2], 0.8)}


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return the ratios of dispersions and the coefficients of layers."""
    ratios = tables["ratios"].assign(panel="map")
    return pd.concat([ratios, tables["layers"].assign(panel="layers")], ignore_index=True)


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw a row of maps for each kind of input, and the coefficients of layers below.

    Args:
        rows: as of `select`.
        settings: ``largest``, the log10 of a ratio from which on the colour stays the same, and
            ``linear``, the one up to which the scale of colours is linear.
    """
    figure, axes = subplots(3, 3, figsize=(WIDTH, HEIGHT), height_ratios=(1.1, 1.1, 1))
    maps, layers = rows[rows["panel"] == "map"], rows[rows["panel"] == "layers"]
    scale = SymLogNorm(settings["linear"], vmin=-settings["largest"], vmax=settings["largest"])
    pairs = list(maps[["first", "second"]].drop_duplicates().itertuples(index=False, name=None))
    for (kind, label), line in zip(ROWS.items(), axes, strict=False):
        own = maps[maps["input"] == kind]
        for axis, (first, second) in zip(line, pairs, strict=True):
            image = _map(axis, own[(own["first"] == first) & (own["second"] == second)], scale)
            axis.set_title(f"{first} / {second}", fontsize=MEDIUM)
        line[0].set_ylabel(f"{label}\ndepth $L$", fontsize=MEDIUM)
    for axis in axes[1]:
        axis.set_xlabel(r"$\sigma_w^2$", fontsize=MEDIUM)
    _bar(figure, image, axes[:2], settings)
    for axis, (variance, own) in zip(axes[2], layers.groupby("sigma_w2"), strict=True):
        _layers(axis, own)
        depth = int(own["depth"].iloc[0])
        axis.set_title(rf"$\sigma_w^2$ = {variance:g}, $L$ = {depth}", fontsize=MEDIUM)
    axes[2][0].set_ylabel(
        "coefficient of layer $k$:\n$c_k$ " r"in $r-1\approx\Sigma_k\,c_k/n_k$", fontsize=MEDIUM
    )
    for axis in axes.flat:
        axis.tick_params(labelsize=SMALL)
        if axis not in axes[:, 0]:
            axis.tick_params(labelleft=False)
    _legend(axes[2][2])
    return figure


def _map(axis: Axes, rows: pd.DataFrame, scale: SymLogNorm) -> Any:
    """Draw the colours, the line where both dispersions are equal, and the edge of chaos."""
    table = rows.pivot(index="depth", columns="sigma_w2", values="y")
    x, y, ratio = table.columns.to_numpy(), table.index.to_numpy(), table.to_numpy()
    image = axis.pcolormesh(
        x, y, ratio, cmap="RdBu_r", norm=scale, shading="nearest", rasterized=True
    )
    if ratio.min() < 0 < ratio.max():
        unequal = np.ma.masked_equal(ratio, 0)  # networks that are the same
        axis.contour(x, y, unequal, levels=[0], colors="black", linewidths=1.0)
    axis.axvline(EDGE, color="0.25", linestyle=":", linewidth=1.1)
    axis.set(xlim=(x[0], x[-1]), ylim=(y[0], y[-1]))
    return image


def _bar(figure: Figure, image: Any, axes: np.ndarray, settings: Mapping[str, Any]) -> None:
    """Add the scale of colours to the right of the maps."""
    largest, linear = settings["largest"], settings["linear"]
    bar = figure.colorbar(image, ax=axes, extend="both", aspect=35, pad=0.02)
    steps = [
        step for step in (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0) if linear <= step <= largest
    ]
    bar.set_ticks([*(-step for step in reversed(steps)), 0, *steps], minor=False)
    bar.minorticks_off()
    bar.ax.set_yticklabels([f"−{s:g}" for s in reversed(steps)] + ["0"] + [f"{s:g}" for s in steps])
    bar.ax.tick_params(labelsize=SMALL)
    bar.set_label(
        rf"$\log_{{10}}$ of the ratio of $r$; colours end at ±{largest:g}", fontsize=MEDIUM
    )


def _layers(axis: Axes, rows: pd.DataFrame) -> None:
    for name, (colour, width) in LOOKS.items():
        for kind, line in rows[rows["architecture"] == name].groupby("input"):
            line = line.sort_values("x")
            axis.plot(line["x"], line["y"], LINES[kind], color=colour, linewidth=width)
    axis.set(xlim=(0, 1), ylim=(0, 5.2))
    axis.set_xlabel("place of the layer $k/L$", fontsize=MEDIUM)


def _legend(axis: Axes) -> None:
    """Add the legend of all panels beside the last one, below the scale of colours."""
    handles = [handle(name, color=look, linewidth=width) for name, (look, width) in LOOKS.items()]
    handles += [
        handle(SHORT[kind], color="black", linestyle=line, linewidth=1.2)
        for kind, line in LINES.items()
    ]
    handles += [
        handle("equal $r$ (maps)", color="black", linewidth=1.0),
        handle("edge of chaos", color="0.25", linestyle=":", linewidth=1.1),
    ]
    found = axis.legend(
        handles=handles, loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=SMALL,
        handlelength=1.3,
    )  # fmt: skip
    found.set_in_layout(False)  # it lies in the margin that the scale of colours needs
