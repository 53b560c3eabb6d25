"""trust Figures 1 and 7: maps of the kernel's dispersion over weight variance and depth."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Patch, PathPatch
from matplotlib.path import Path
from matplotlib.patheffects import withStroke

from finitewidth.figures import style
from finitewidth.measures.text_numbers import printed_number
from finitewidth.papers.trust.figures.looks import BORDER, NAMES, PRINTED_MARK
from finitewidth.records import fields

FIELDS = {
    "activation": fields.text("activation: tanh or relu"),
    "width": fields.integer("width M of the networks", "neurons"),
    "sigma_b2": fields.number("bias variance"),
    "series": fields.text("cell of a map, or border of the phases"),
    "source": fields.text("ours, or paper for the border as the paper prints it"),
    "sigma_w2": fields.number("weight variance; of a border, where it lies"),
    "depth": fields.number("depth L; NaN for a border, which has none", "weight layers"),
    "dispersion": fields.number("mean square over squared mean of the kernel"),
    "standard_error": fields.number(
        "standard error of the dispersion, 0 if it is exact, NaN if the draws do not suffice for it"
    ),
}
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
CONTOUR = {
    "color": "black",
    "linewidth": 0.6,
    "path_effects": [withStroke(linewidth=1.6, foreground="white")],
}
PRINTED = {**PRINTED_MARK, "marker": "v"}
HATCH, HATCHED = "/////", "#5f7481"


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return the rows to draw: our cells, exact where they can be, and borders of the phases.

    The table ``reported``, where there is one, has the border of ReLU networks without biases as
    the paper prints it.
    """
    cells = tables["cells"][tables["cells"]["sample"] != "paper"]
    cells = cells.rename(columns={"error": "standard_error"})
    keys = cells[["activation", "width", "sigma_b2"]].drop_duplicates()
    borders = tables["borders"].merge(keys).assign(series="border", source="ours")
    rows = [cells.assign(series="cell", source="ours"), borders]
    if "reported" in tables:
        sigma_w = printed_number(tables["reported"], "trust", "edge_of_chaos", "relu", "sigma_w")
        theirs = keys[(keys["activation"] == "relu") & (keys["sigma_b2"] == 0)]
        rows.append(theirs.assign(series="border", source="paper", sigma_w2=sigma_w**2))
    return pd.concat(rows).reindex(columns=list(FIELDS))


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw one row of maps per activation, and a map per width or bias variance in it."""
    activations = list(rows["activation"].unique())
    maps = rows[["width", "sigma_b2"]].drop_duplicates().sort_values(["width", "sigma_b2"])
    keys = list(maps.itertuples(index=False, name=None))
    figure, axes = style.subplots(
        len(activations),
        len(keys),
        height=0.65 + 1.45 * len(activations),
        squeeze=False,
        sharex="row",
        sharey=True,
    )
    for across, activation in zip(axes, activations, strict=True):
        for axis, (width, bias) in zip(across, keys, strict=True):
            own = (rows["width"] == width) & (rows["sigma_b2"] == bias)
            image = _map(axis, rows[own & (rows["activation"] == activation)])
    # what distinguishes the maps of a row: the width, the bias variance, or both
    forms = {"width": "$M = {:g}$", "sigma_b2": r"$\sigma_b^2 = {:g}$"}
    names = [name for name in forms if maps[name].nunique() > 1] or ["width"]
    titles = [
        ", ".join(forms[name].format(row[name]) for name in names)
        for row in maps.to_dict("records")
    ]
    style.title_panels(axes.flat, [f"{NAMES[a]}, {title}" for a in activations for title in titles])
    for axis in axes[:, 0]:
        axis.set_ylabel("depth $L$ [layers]")
    for axis in axes[-1]:
        axis.set_xlabel(r"weight variance $\sigma_w^2$")
    bar = figure.colorbar(image, ax=axes, extend="max", aspect=28, pad=0.015, label=RATIO)
    bar.set_ticks([1, EQUAL, 3, LARGEST], labels=["1", "2", "3", "4"])
    bar.ax.axhline(EQUAL, **CONTOUR)
    style.legend_above(figure, _handles(rows), handlelength=2.2)
    return figure


def _map(axis: Axes, rows: pd.DataFrame) -> Any:
    """Draw a map with its borders, the contour of equal moments, and where no error is known."""
    cells = rows[rows["series"] == "cell"]
    table = cells.pivot(index="depth", columns="sigma_w2", values="dispersion")
    x, y, ratio = table.columns.to_numpy(), table.index.to_numpy(), table.to_numpy()
    across, up = _edges(x), _edges(y)
    image = axis.pcolormesh(across, up, ratio, cmap=ZONES, vmin=1, vmax=LARGEST, rasterized=True)
    error = cells.pivot(index="depth", columns="sigma_w2", values="standard_error").to_numpy()
    unknown = [
        Path(
            [
                (across[j], up[i]),
                (across[j + 1], up[i]),
                (across[j + 1], up[i + 1]),
                (across[j], up[i + 1]),
                (across[j], up[i]),
            ],
            closed=True,
        )
        for i, j in np.argwhere(np.isnan(error))
    ]
    if unknown:  # hatched as one shape
        axis.add_patch(
            PathPatch(
                Path.make_compound_path(*unknown),
                facecolor="none",
                hatch=HATCH,
                edgecolor=HATCHED,
                linewidth=0,
            )
        )
    if min(ratio.shape) > 1 and np.nanmin(ratio) < EQUAL < np.nanmax(ratio):
        lines = axis.contour(
            x, y, ratio, levels=[EQUAL], colors=CONTOUR["color"], linewidths=CONTOUR["linewidth"]
        )
        lines.set_path_effects(CONTOUR["path_effects"])
    borders = rows[rows["series"] == "border"]
    left, right = across[[0, -1]]
    inside = borders[borders["sigma_w2"].between(left, right)]
    for place in inside.loc[inside["source"] == "ours", "sigma_w2"]:
        axis.axvline(place, **BORDER)
    for place in inside.loc[inside["source"] == "paper", "sigma_w2"]:
        axis.plot(place, 1, transform=axis.get_xaxis_transform(), **PRINTED)
    axis.set(xlim=(left, right), ylim=up[[0, -1]])
    return image


def _handles(rows: pd.DataFrame) -> Iterator[Artist]:
    cells = rows[rows["series"] == "cell"]
    yield style.handle(r"border of the phases, $\chi_1 = 1$", **BORDER)
    yield style.handle("standard deviation = mean", **CONTOUR)
    if cells["standard_error"].isna().any():
        yield Patch(
            facecolor=ZONES(1.0),
            linewidth=0,
            label="too few draws for an error",
            hatch=HATCH,
            edgecolor=HATCHED,
        )
    if (rows["source"] == "paper").any():
        yield style.handle(r"paper, as printed: $\sigma_w = 2$", **PRINTED)


def _edges(centres: np.ndarray) -> np.ndarray:
    """Return the edges of cells, halfway between their centres; a single cell has the width 1."""
    if len(centres) == 1:
        return centres[0] + np.array([-0.5, 0.5])
    middle = (centres[1:] + centres[:-1]) / 2
    return np.concatenate(
        [[centres[0] - (middle[0] - centres[0])], middle, [2 * centres[-1] - middle[-1]]]
    )
