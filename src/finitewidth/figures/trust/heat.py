"""trust Figures 1 and 7: maps of the kernel's dispersion over weight variance and depth."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from finitewidth.figures.style import subplots

COLUMNS = ["activation", "panel", "series", "x", "y", "value", "spread", "draws"]
NAMES = {"tanh": "tanh", "relu": "ReLU"}
# the paper's zones black, red and blue; lightness increases, so they differ in grey as well
ZONES = LinearSegmentedColormap.from_list(
    "zones", [(0, "#000000"), (1 / 6, "#5c1a00"), (1 / 3, "#d55e00"), (0.42, "#c98a6b"),
              (0.5, "#5fa3d6"), (1, "#d8f0ff")],
)  # fmt: skip
LARGEST = 4.0  # the colour is the same for all larger ratios


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return the rows to draw, from the tables ``cells`` and ``borders``.

    Panels are named by width and bias variance. The series are ``ours`` (exact values where there
    are any), ``paper`` (the paper's number of draws) and ``border`` (of the phases).
    """
    cells = tables["cells"].rename(
        columns={"sigma_w2": "x", "depth": "y", "dispersion": "value", "error": "spread"}
    )
    cells["series"] = cells["sample"].replace("exact", "ours")
    keys = cells[["activation", "width", "sigma_b2"]].drop_duplicates()
    borders = tables["borders"].rename(columns={"sigma_w2": "x"}).merge(keys)
    borders["series"] = "border"
    rows = pd.concat([cells, borders])
    rows["panel"] = [
        f"M = {width}, σ_b² = {bias:g}"
        for width, bias in zip(rows["width"], rows["sigma_b2"], strict=True)
    ]
    return rows[COLUMNS]


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw one row of maps per activation; ``settings["sample"]`` is ``ours`` or ``paper``."""
    activations, names = list(rows["activation"].unique()), list(rows["panel"].unique())
    figure, axes = subplots(
        len(activations), len(names), squeeze=False, sharey=True,
        figsize=(1.2 + 2.2 * len(names), 2.4 * len(activations)),
    )  # fmt: skip
    for line, activation in enumerate(activations):
        for axis, panel in zip(axes[line], names, strict=True):
            here = rows[(rows["activation"] == activation) & (rows["panel"] == panel)]
            image = _map(axis, here, settings["sample"])
            axis.set_title(f"{NAMES[activation]}, ${_math(panel)}$")
        axes[line][0].set_ylabel("depth $L$")
    for axis in axes[-1]:
        axis.set_xlabel(r"$\sigma_w^2$")
    bar = figure.colorbar(
        image, ax=axes, extend="max", shrink=0.8, aspect=30,
        label=r"$E[\Theta(x,x)^2]\,/\,E[\Theta(x,x)]^2$",
    )  # fmt: skip
    bar.set_ticks([1, 2, 3, 4], labels=["1", "2: std = mean", "3", "4"])
    bar.ax.axhline(2, color="white", linewidth=1)
    return figure


def _math(panel: str) -> str:
    return panel.replace("σ_b²", r"\sigma_b^2")


def _map(axis: Axes, rows: pd.DataFrame, sample: str) -> Any:
    table = rows[rows["series"] == sample].pivot(index="y", columns="x", values="value")
    x, y, ratio = table.columns.to_numpy(), table.index.to_numpy(), table.to_numpy()
    image = axis.pcolormesh(
        _edges(x), _edges(y), ratio, cmap=ZONES, vmin=1, vmax=LARGEST, rasterized=True
    )
    if ratio.min() < 2 < ratio.max():
        axis.contour(x, y, ratio, levels=[2], colors="white", linewidths=0.8)
    border = rows.loc[rows["series"] == "border", "x"].iloc[0]
    axis.axvline(border, color="white", linestyle="--", linewidth=1.2)
    axis.set(xlim=_edges(x)[[0, -1]], ylim=_edges(y)[[0, -1]])
    return image


def _edges(centres: np.ndarray) -> np.ndarray:
    """Return the edges of cells, halfway between their centres."""
    middle = (centres[1:] + centres[:-1]) / 2
    return np.concatenate(
        [[centres[0] - (middle[0] - centres[0])], middle, [2 * centres[-1] - middle[-1]]]
    )
