"""Maps over weight variance and depth of what `trust_descent_*` measures, for several figures.

A cell shows the mean over the seeds that did not diverge. It is hatched if the rate exceeds
2/lambda_max at the start, in the mean over seeds; it has a cross if a seed diverged, and is grey if
all did; it has a dot if all seeds had stopped before the number of steps that is shown. All cells
have the same size, whatever the distance of their weight variances and depths.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Colormap, LogNorm, Normalize
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle
from matplotlib.patheffects import withStroke

from finitewidth.figures.style import subplots

WIDTH = 6.9  # inches
MAP_HEIGHT = 2.15  # inches, of one row of maps
SMALL = 6.5  # points
MOST_COLUMNS = 8  # of a map whose cells hold their numbers
CELL = ["sigma_b2", "sigma_w2", "depth", "width"]
SEED = [*CELL, "seed"]
COLUMNS = [
    "activation", "panel", "line", "series", "x", "y", "value", "low", "high", "runs", "diverged",
    "stopped", "eta_lambda", "method",
]  # fmt: skip
NAMES = {"tanh": "tanh", "relu": "ReLU"}
CHANGE = r"$\|\Theta^t-\Theta^0\|_F\,/\,\|\Theta^0\|_F$"
LOST = "0.8"  # grey of a cell whose seeds all diverged
LARGEST = 1.0  # the colour is the same for all larger changes
LEAST = 1e-3  # the same for smaller ones, on a logarithmic scale
MARKS = {
    "dot": {"marker": "o", "markersize": 2.2, "linestyle": ""},
    "cross": {"marker": "x", "markersize": 3.5, "markeredgewidth": 0.9, "linestyle": ""},
}


@dataclass(frozen=True)
class Scale:
    """Colours of a map: norm, colour map, and label, arrows and ticks of the bar."""

    norm: Normalize
    colours: str
    label: str
    extend: str
    ticks: tuple[float, ...] | None = None

    def bar(self, figure: Figure, axes: np.ndarray, **where: Any) -> None:
        """Add a colour bar below some axes."""
        bar = figure.colorbar(ScalarMappable(self.norm, self.colours), ax=axes, location="bottom",
                              extend=self.extend, ticks=self.ticks, **where)  # fmt: skip
        bar.set_label(self.label, fontsize=7.5)
        bar.ax.tick_params(labelsize=7)


def change_scale(logarithmic: bool = False) -> Scale:
    """Colours of relative changes, the same in all figures of one kind."""
    if logarithmic:
        return Scale(LogNorm(LEAST, LARGEST), "viridis", CHANGE, "both")
    return Scale(Normalize(0, LARGEST), "viridis", CHANGE, "max")


def cells(seeds: pd.DataFrame, networks: pd.DataFrame, value: str, panel: str) -> pd.DataFrame:
    """Rows of one panel: mean and range over seeds in every cell.

    Args:
        seeds: one row per network with ``value``, nan if it diverged, and ``time``.
        networks: the table of the experiment.
        value: name of a column of ``seeds``.
        panel: name of the panel.
    """
    # a network that reached the shown number of steps has not stopped before
    about = networks[[*SEED, "eta_lambda", "method", "steps_taken", "diverged"]]
    rows = seeds[[*SEED, "activation", "time", value]].merge(about, on=SEED)
    rows["stopped"] = (rows["steps_taken"] < rows["time"]) & (rows["diverged"] == 0)
    found = rows.groupby(["activation", *CELL], as_index=False, sort=False).agg(
        value=(value, "mean"), low=(value, "min"), high=(value, "max"), runs=("seed", "size"),
        diverged=("diverged", "sum"), stopped=("stopped", "sum"), eta_lambda=("eta_lambda", "mean"),
        method=("method", lambda names: " / ".join(sorted(set(names)))),
    )  # fmt: skip
    names = {"sigma_w2": "x", "depth": "y", "sigma_b2": "line"}
    return found.rename(columns=names).assign(panel=panel, series="cell")


def with_borders(rows: Sequence[pd.DataFrame], borders: pd.DataFrame) -> pd.DataFrame:
    """The rows of all panels, and the border of the phases in each of them."""
    every = pd.concat(rows)
    lines = borders.rename(columns={"sigma_w2": "x", "sigma_b2": "line"})
    keys = every[["activation", "panel", "line"]].drop_duplicates()
    return pd.concat([every, lines.merge(keys).assign(series="border")])[COLUMNS]


def grid(rows: pd.DataFrame, lines: Sequence[float], columns: int) -> tuple[Figure, np.ndarray]:
    """A figure with a row of maps per bias variance, wrapped after ``columns`` maps."""
    panels = rows["panel"].nunique()
    count = -(-panels // columns) * len(lines)
    return subplots(
        count, columns, squeeze=False, sharex=True, sharey=True,
        figsize=(WIDTH, 0.75 + MAP_HEIGHT * count),
    )  # fmt: skip


def draw_map(axis: Axes, rows: pd.DataFrame, scale: Scale, spans: bool = False) -> None:
    """Draw one map, with numbers in its cells if there are few.

    Args:
        axis: where to draw.
        rows: of one panel and one bias variance.
        scale: the colours.
        spans: whether cells also hold the range over seeds.
    """
    shown = rows[rows["series"] == "cell"]
    table = shown.pivot(index="y", columns="x", values="value")
    colours, (lines, columns) = _colours(scale), table.shape
    axis.set_facecolor(LOST)
    axis.pcolormesh(np.ma.masked_invalid(table), cmap=colours, norm=scale.norm, rasterized=True)
    for border in rows.loc[rows["series"] == "border", "x"]:
        place = np.interp(border, table.columns, np.arange(columns) + 0.5)
        axis.axvline(place, color="white", linewidth=2.4)
        axis.axvline(place, color="black", linestyle="--", linewidth=1.2)
    for row in shown.to_dict("records"):
        corner = table.columns.get_loc(row["x"]), table.index.get_loc(row["y"])
        known = np.isfinite(row["value"])
        colour = colours(scale.norm(row["value"])) if known else (*[float(LOST)] * 3, 1.0)
        _mark(axis, row, corner, colour)
        if columns <= MOST_COLUMNS:
            _write(axis, row, corner, colour, spans)
    axis.set_xticks(np.arange(columns) + 0.5, [f"{value:g}" for value in table.columns])
    axis.set_yticks(np.arange(lines) + 0.5, [f"{value:g}" for value in table.index])
    axis.tick_params(labelsize=7, length=2)


def finish(figure: Figure, axes: np.ndarray, rows: pd.DataFrame) -> None:
    """Write the names of the axes, and a key of the marks that occur."""
    for axis in axes[:, 0]:
        axis.set_ylabel("depth $L$", fontsize=8)
    for axis in axes[-1]:
        axis.set_xlabel(r"$\sigma_w^2$", fontsize=8)
    shown = rows[rows["series"] == "cell"]
    handles = [Line2D([], [], color="black", linestyle="--", label="border of the phases")]
    if (shown["eta_lambda"] > 2).any():
        handles.append(Patch(facecolor="white", edgecolor="0.3", hatch="////",
                             label=r"rate > $2/\lambda_{max}$ at the start"))  # fmt: skip
    if (shown["stopped"] == shown["runs"]).any():
        handles.append(_dot("dot", "stopped before"))
    if (shown["diverged"] > 0).any():
        lost = (shown["diverged"] == shown["runs"]).any()
        handles.append(_dot("cross", f"a seed diverged{' (grey: all)' * bool(lost)}"))
    figure.legend(handles=handles, loc="outside upper center", ncols=len(handles), fontsize=7)


def _dot(marker: str, label: str) -> Line2D:
    return Line2D([], [], color="black", label=label, **MARKS[marker])


def _colours(scale: Scale) -> Colormap:
    return mpl.colormaps[scale.colours]


def _mark(axis: Axes, row: Mapping[str, Any], corner: tuple[int, int], colour: tuple) -> None:
    """Hatching, cross and dot of the cell with this lower left corner."""
    ink = _ink(colour)
    if row["eta_lambda"] > 2:
        axis.add_patch(Rectangle(corner, 1, 1, fill=False, hatch="////", linewidth=0,
                                 edgecolor=(*ink, 0.3)))  # fmt: skip
    place = corner[0] + 0.88, corner[1] + 0.85
    if row["diverged"]:
        axis.plot(*place, color=ink, **MARKS["cross"])
    elif row["stopped"] == row["runs"]:
        axis.plot(*place, color=ink, **MARKS["dot"])


def _write(
    axis: Axes, row: Mapping[str, Any], corner: tuple[int, int], colour: tuple, spans: bool
) -> None:
    """The number of a cell; a rim in the cell's colour keeps it clear of lines."""
    if not np.isfinite(row["value"]):
        return
    text = short(row["value"])
    if spans and row["runs"] - row["diverged"] > 1:
        text += f"\n{short(row['low'])}–{short(row['high'])}"
    axis.text(
        corner[0] + 0.5, corner[1] + 0.48, text, fontsize=SMALL, color=_ink(colour), ha="center",
        va="center", linespacing=1.1, path_effects=[withStroke(linewidth=4, foreground=colour)],
    )  # fmt: skip


def short(value: float) -> str:
    """Two digits after the point without a leading zero: .12, 1.3, 0, 24."""
    if value >= 9.95:
        return f"{value:.0f}"
    if value >= 0.995:
        return f"{value:.1f}"
    return f"{value:.2f}"[1:] if value >= 0.005 else (f"{value:.3f}"[1:] if value >= 5e-4 else "0")


def _ink(colour: tuple) -> tuple[float, float, float]:
    """Black on light colours, white on dark ones."""
    red, green, blue = colour[:3]
    return (0, 0, 0) if 0.299 * red + 0.587 * green + 0.114 * blue > 0.45 else (1, 1, 1)
