"""trust Figures 1 and 7: maps of the kernel's dispersion over weight variance and depth."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Patch, PathPatch
from matplotlib.path import Path
from matplotlib.patheffects import withStroke

from finitewidth.declarations.columns import SIGMA_B2, WIDTH
from finitewidth.figures import style
from finitewidth.measures.text_numbers import printed_number
from finitewidth.papers.trust import columns
from finitewidth.papers.trust.figures.looks import BORDER, NAMES, PRINTED_MARK
from finitewidth.records.tables import Table

TABLE = Table(
    columns.ACTIVATION,
    WIDTH,
    SIGMA_B2,
    columns.CELL_OR_BORDER,
    columns.SOURCE,
    columns.WHERE,
    columns.DEPTH_OF_CELL,
    columns.DISPERSION_OF_CELL,
    columns.STANDARD_ERROR,
)
# the paper's zones black, red and blue; lightness increases, so they differ in grey as well
ZONES = LinearSegmentedColormap.from_list(
    "zones",
    [
        (0, "#000000"),
        (1 / 6, "#5c1a00"),
        (1 / 3, "#d55e00"),
        (0.42, "#c98a6b"),
        (0.5, "#5fa3d6"),
        (1, "#d8f0ff"),
    ],
)
LARGEST = 4.0  # the colour is the same for all larger ratios
EQUAL = 2.0  # ratio at which the standard deviation is the mean
RATIO = r"$\mathrm{E}[\Theta(x,x)^2]\,/\,\mathrm{E}[\Theta(x,x)]^2$"
CONTOUR: dict[str, Any] = {
    "color": "black",
    "linewidth": 0.6,
    "path_effects": [withStroke(linewidth=1.6, foreground="white")],
}
PRINTED: dict[str, Any] = {**PRINTED_MARK, "marker": "v"}
MOST_IN_A_LINE = 3  # entries of the legend
HATCH = "/////"
HATCH_COLOUR = "#5f7481"


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return the rows to draw: our cells, exact where they can be, and borders of the phases.

    The table ``reported``, where there is one, has the border of ReLU networks without biases as
    the paper prints it.
    """
    cells = tables["cells"][tables["cells"]["sample"] != "paper"]
    cells = cells.rename(columns={"error": "standard_error"})
    maps = cells[["activation", "width", "sigma_b2"]].drop_duplicates()
    borders = tables["borders"].merge(maps)
    parts = [
        cells.assign(series="cell", source="ours"),
        borders.assign(series="border", source="ours"),
    ]
    if "reported" in tables:
        sigma_w = printed_number(tables["reported"], "trust", "edge_of_chaos", "relu", "sigma_w")
        unbiased = maps[(maps["activation"] == "relu") & (maps["sigma_b2"] == 0)]
        parts.append(unbiased.assign(series="border", source="paper", sigma_w2=sigma_w**2))
    return pd.concat(parts).reindex(columns=TABLE.names)


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw one row of maps per activation, and a map per width or bias variance in it."""
    activations = list(rows["activation"].unique())
    maps = rows[["width", "sigma_b2"]].drop_duplicates().sort_values(["width", "sigma_b2"])
    pairs = list(maps.itertuples(index=False, name=None))
    figure, axes = style.subplots(
        len(activations),
        len(pairs),
        height=0.65 + 1.45 * len(activations),
        squeeze=False,
        sharex="row",
        sharey=True,
    )
    for across, activation in zip(axes, activations, strict=True):
        for axis, (width, bias) in zip(across, pairs, strict=True):
            in_map = (rows["width"] == width) & (rows["sigma_b2"] == bias)
            image = _map(axis, rows[in_map & (rows["activation"] == activation)])
    column_titles = _column_titles(maps)
    titles = []
    for activation in activations:
        titles += [f"{NAMES[activation]}, {title}" for title in column_titles]
    style.title_panels(axes.flat, titles)
    for axis in axes[:, 0]:
        axis.set_ylabel("depth $L$ [layers]")
    for axis in axes[-1]:
        axis.set_xlabel(r"weight variance $\sigma_w^2$")
    bar = figure.colorbar(image, ax=axes, extend="max", aspect=28, pad=0.015, label=RATIO)
    bar.set_ticks([1, EQUAL, 3, LARGEST], labels=["1", "2", "3", "4"])
    bar.ax.axhline(EQUAL, **CONTOUR)
    handles = list(_handles(rows))
    in_a_line = len(handles) if len(handles) <= MOST_IN_A_LINE else 2
    style.legend_above(figure, handles, in_a_line, handlelength=2.2)
    return figure


def _column_titles(maps: pd.DataFrame) -> list[str]:
    """What distinguishes the maps of a row: the width, the bias variance, or both."""
    forms = {"width": "$M = {:g}$", "sigma_b2": r"$\sigma_b^2 = {:g}$"}
    different = [name for name in forms if maps[name].nunique() > 1] or ["width"]
    titles = []
    for row in maps.to_dict("records"):
        titles.append(", ".join(forms[name].format(row[name]) for name in different))
    return titles


def _map(axis: Axes, rows: pd.DataFrame) -> QuadMesh:
    """Draw a map with its borders, the contour of equal moments, and where no error is known."""
    cells = rows[rows["series"] == "cell"]
    table = cells.pivot(index="depth", columns="sigma_w2", values="dispersion")
    errors = cells.pivot(index="depth", columns="sigma_w2", values="standard_error")
    x = table.columns.to_numpy()
    y = table.index.to_numpy()
    ratio = table.to_numpy()  # (depths, weight variances)
    across = _edges(x)
    up = _edges(y)
    image = axis.pcolormesh(across, up, ratio, cmap=ZONES, vmin=1, vmax=LARGEST, rasterized=True)
    _hatch(axis, across, up, np.isnan(errors.to_numpy()))
    if min(ratio.shape) > 1 and np.nanmin(ratio) < EQUAL < np.nanmax(ratio):
        lines = axis.contour(
            x, y, ratio, levels=[EQUAL], colors=CONTOUR["color"], linewidths=CONTOUR["linewidth"]
        )
        lines.set_path_effects(CONTOUR["path_effects"])
    _borders(axis, rows[rows["series"] == "border"], across[0], across[-1])
    axis.set(xlim=across[[0, -1]], ylim=up[[0, -1]])
    return image


def _hatch(axis: Axes, across: np.ndarray, up: np.ndarray, chosen: np.ndarray) -> None:
    """Hatch the chosen cells, as one shape; ``across`` and ``up`` are the edges of all cells."""
    outlines = []
    for i, j in np.argwhere(chosen):
        left, right = across[j : j + 2]
        lower, upper = up[i : i + 2]
        corners = [(left, lower), (right, lower), (right, upper), (left, upper), (left, lower)]
        outlines.append(Path(corners, closed=True))
    if not outlines:
        return
    shape = PathPatch(
        Path.make_compound_path(*outlines),
        facecolor="none",
        hatch=HATCH,
        edgecolor=HATCH_COLOUR,
        linewidth=0,
    )
    axis.add_patch(shape)


def _borders(axis: Axes, borders: pd.DataFrame, left: float, right: float) -> None:
    """Draw our borders as lines and the printed ones as marks, those that lie in the map."""
    inside = borders[borders["sigma_w2"].between(left, right)]
    for variance in inside.loc[inside["source"] == "ours", "sigma_w2"]:
        axis.axvline(variance, **BORDER)
    for variance in inside.loc[inside["source"] == "paper", "sigma_w2"]:
        axis.plot(variance, 1, transform=axis.get_xaxis_transform(), **PRINTED)


def _handles(rows: pd.DataFrame) -> Iterator[Artist]:
    """Entries of the legend, for what occurs in the rows."""
    cells = rows[rows["series"] == "cell"]
    yield style.handle(r"border of the phases, $\chi_1 = 1$", **BORDER)
    yield style.handle("standard deviation = mean", **CONTOUR)
    if cells["standard_error"].isna().any():
        yield Patch(
            facecolor=ZONES(1.0),
            linewidth=0,
            label="too few draws for an error",
            hatch=HATCH,
            edgecolor=HATCH_COLOUR,
        )
    if (rows["source"] == "paper").any():
        yield style.handle(r"paper, as printed: $\sigma_w = 2$", **PRINTED)


def _edges(centres: np.ndarray) -> np.ndarray:
    """Return the edges of cells, halfway between their centres; a single cell has the width 1."""
    if len(centres) == 1:
        return centres[0] + np.array([-0.5, 0.5])
    middle = (centres[1:] + centres[:-1]) / 2
    first = centres[0] - (middle[0] - centres[0])
    last = 2 * centres[-1] - middle[-1]
    return np.concatenate([[first], middle, [last]])
