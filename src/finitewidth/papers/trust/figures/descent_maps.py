"""Maps over weight variance and depth of what `trust_descent_*` measures, for several figures.

A cell shows the mean over the seeds that did not diverge. It is hatched if the rate exceeds
2/lambda_max at the start, in the mean over seeds; it has a cross if a seed diverged, and is grey if
all did; it has a dot if all seeds had stopped before the number of steps that is shown. All cells
have the same size, whatever the distance of their weight variances and depths. Bars below a map
show which weight variances count as ordered and which as chaotic, with our margins.
"""

import math
from collections.abc import Iterator, Mapping
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle
from matplotlib.patheffects import withStroke
from matplotlib.transforms import offset_copy

from finitewidth.declarations.columns import SIGMA_B2, WIDTH
from finitewidth.figures import style
from finitewidth.kernels.ntk_init.phases import CHAOTIC_FROM, ORDERED_UP_TO
from finitewidth.papers.trust import columns
from finitewidth.papers.trust.figures import looks
from finitewidth.records.tables import Table

Colour = tuple[float, ...]  # red, green, blue and opacity

HEIGHT = 1.9  # inches, of a row of maps, whose cells have two lines of text
MOST_COLUMNS = 8  # of a map whose cells have their numbers written in them
MAP = ["activation", "width", "sigma_b2", "time"]
TABLE = Table(
    columns.ACTIVATION,
    WIDTH,
    SIGMA_B2,
    columns.TIME,
    columns.QUANTITY,
    columns.SERIES,
    columns.SOURCE,
    columns.PHASE_OF_CELL,
    columns.SIGMA_W2_OF_CELL,
    columns.DEPTH_OF_MAP,
    columns.VALUE_OF_CELL,
    columns.LOWEST_OF_CELL,
    columns.HIGHEST_OF_CELL,
    columns.SEEDS_OF_CELL,
    columns.DIVERGED_OF_CELL,
    columns.STOPPED_OF_CELL,
    columns.ETA_LAMBDA_OF_CELL,
)
BOUNDED = ("relative_ntk_change", "edge_of_chaos", "upper_bound")  # the printed number
CHANGE = r"change $\|\Theta^t-\Theta^0\|_F\,/\,\|\Theta^0\|_F$"
LOST = "0.8"  # grey of a cell whose seeds all diverged
LARGEST = 1.2  # the colour is the same for all larger changes
LEAST = 1e-3  # on a logarithmic scale: the colour is the same for all smaller changes
STEEP = 2.0  # eta_lambda from which on a rate is not stable at the start
HATCH = "///"
HATCHED = r"rate above $2/\lambda_{\max}$ at the start"
MARKS: dict[str, dict[str, Any]] = {
    "dot": {"marker": "o", "markersize": 2.0, "linestyle": "none"},
    "cross": {"marker": "x", "markersize": 3.5, "markeredgewidth": 0.9, "linestyle": "none"},
}
BOUND: dict[str, Any] = {**looks.PRINTED_MARK, "marker": "D", "markersize": 3.8}
BEYOND: dict[str, Any] = {**looks.PRINTED_MARK, "marker": "^"}  # a depth that the map does not have
# bars below the ordered and the chaotic weight variances, in the colours of the lines of ``beyond``
PHASES = {"ordered": "#2a6fa8", "chaotic": "#c2410c"}
PHASE_BAR: dict[str, Any] = {
    "linewidth": 2.6,
    "solid_capstyle": "butt",
    "zorder": 4,
    "path_effects": [withStroke(linewidth=3.6, foreground="white")],
}
BELOW = 3.2  # points from the edge of a map to the middle of a bar or mark


def change_scale(logarithmic: bool = False) -> tuple[ScalarMappable, dict[str, Any]]:
    """Colours of relative changes, the same in all figures of one kind, and looks of their bar."""
    if logarithmic:
        scale = ScalarMappable(LogNorm(LEAST, 1.0), "viridis")
        return scale, {"label": f"{CHANGE}, logarithmic", "extend": "both", "format": "{x:g}"}
    return ScalarMappable(Normalize(0, LARGEST), "viridis"), {"label": CHANGE, "extend": "max"}


def with_borders(cells: pd.DataFrame, borders: pd.DataFrame) -> pd.DataFrame:
    """The cells of all maps, and the border of the phases in each of them."""
    maps = cells[["activation", "sigma_b2", "width", "time", "quantity"]].drop_duplicates()
    lines = borders.merge(maps).assign(series="border", phase="none")
    return pd.concat([cells.assign(series="cell"), lines]).assign(source="ours")


def ends(cells: pd.DataFrame, borders: pd.DataFrame, width: int) -> pd.DataFrame:
    """The change at the end of training, and the lowest loss over that of the best constant.

    Beside those of `TABLE` it has the column ``loss``, the lowest loss itself.
    """
    last = cells[(cells["width"] == width) & (cells["time"] == cells["time"].max())]
    losses = last["quantity"] == "lowest_loss"
    constant = last.loc[losses, [*MAP, "quantity", "constant_loss"]].drop_duplicates()
    constant = constant.rename(columns={"constant_loss": "loss"})
    constant = constant.assign(series="constant", source="ours", phase="none", value=1.0)
    return pd.concat([with_borders(last, borders), constant])


def shown_ranges(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows without the ranges over seeds if maps have too many columns to write them."""
    if rows["sigma_w2"].nunique() > MOST_COLUMNS:
        return rows.assign(lowest=np.nan, highest=np.nan)
    return rows


def grid(count: int, across: int) -> tuple[Figure, np.ndarray]:
    """A figure of ``count`` maps, so many ``across``."""
    lines = math.ceil(count / across)
    figure, axes = style.subplots(
        lines,
        across,
        height=0.95 + HEIGHT * lines,
        squeeze=False,
        sharex=True,
        sharey=True,
    )
    for axis in axes.flat[count:]:
        axis.set_visible(False)
    return figure, axes


def draw_map(axis: Axes, rows: pd.DataFrame, scale: ScalarMappable) -> None:
    """Draw one map, with numbers in its cells if there are few."""
    cells = rows[rows["series"] == "cell"]
    table = cells.pivot(index="depth", columns="sigma_w2", values="value")
    _colour_cells(axis, table, scale)
    for phase in PHASES:
        variances = cells.loc[cells["phase"] == phase, "sigma_w2"]
        if len(variances):
            first = table.columns.get_loc(variances.min())
            last = table.columns.get_loc(variances.max())
            phase_bar(axis, phase, (first + 0.04, last + 0.96))
    # where borders lie between the centres of columns
    centres = np.arange(table.shape[1]) + 0.5
    borders = rows.loc[rows["series"] == "border", "sigma_w2"]
    positions = [float(np.interp(border, table.columns, centres)) for border in borders]
    for position in positions:
        axis.axvline(position, **looks.BORDER)
    numbered = table.shape[1] <= MOST_COLUMNS
    for row in cells.to_dict("records"):
        corner = (table.columns.get_loc(row["sigma_w2"]), table.index.get_loc(row["depth"]))
        _annotate(axis, row, corner, scale, numbered)
    for depth in rows.loc[rows["series"] == "untrained", "depth"]:
        _untrained(axis, depth, table, positions[0] if positions else table.shape[1])


def _colour_cells(axis: Axes, table: pd.DataFrame, scale: ScalarMappable) -> None:
    """Draw the cells of a map, of equal size, with the lowest depth below."""
    import seaborn as sns

    axis.set_facecolor(LOST)
    sns.heatmap(
        table,
        mask=table.isna(),
        cmap=scale.cmap,
        norm=scale.norm,
        cbar=False,
        rasterized=True,
        # the norm decides; without these, seaborn looks for limits and fails if all runs diverged
        vmin=0,
        vmax=1,
        xticklabels=[f"{value:g}" for value in table.columns],
        yticklabels=[f"{value:g}" for value in table.index],
        ax=axis,
    )
    axis.set(xlabel="", ylabel="", ylim=(0, len(table)))
    axis.tick_params(rotation=0, length=2)
    below_bars(axis)


def _annotate(
    axis: Axes,
    row: Mapping[str, Any],
    corner: tuple[int, int],
    scale: ScalarMappable,
    numbered: bool,
) -> None:
    """Draw the marks of the cell with this lower left corner; ``numbered`` maps have its number."""
    known = np.isfinite(row["value"])
    colour: Any = scale.cmap(scale.norm(row["value"])) if known else mpl.colors.to_rgba(LOST)
    mark_at = (0.88, 0.85) if numbered else (0.5, 0.5)
    _mark(axis, row, corner, colour, mark_at)
    if numbered and known:
        _write(axis, row, corner, colour)


def finish(figure: Figure, axes: np.ndarray, rows: pd.DataFrame) -> None:
    """Write the names of the axes, and a legend of what occurs."""
    for axis in axes[:, 0]:
        axis.set_ylabel("depth $L$ [layers]")
    for column in axes.T:
        lowest = [axis for axis in column if axis.get_visible()][-1]
        lowest.set_xlabel(r"weight variance $\sigma_w^2$")
        lowest.tick_params(labelbottom=True)
    style.legend_above(figure, _handles(rows), 3, handlelength=2.2)


def _handles(rows: pd.DataFrame) -> Iterator[Artist]:
    """Entries of the legend, for what occurs in the rows."""
    cells = rows[rows["series"] == "cell"]
    yield style.handle(r"border of the phases, $\chi_1 = 1$", **looks.BORDER)
    yield from phase_handles()
    if (cells["eta_lambda"] > STEEP).any():
        yield Patch(facecolor="white", edgecolor="0.5", hatch=HATCH, linewidth=0, label=HATCHED)
    if (cells["stopped"] == cells["seeds"]).any():
        yield style.handle("stopped before", color="black", **MARKS["dot"])
    if (cells["diverged"] > 0).any():
        all_diverged = (cells["diverged"] == cells["seeds"]).any()
        label = "a seed diverged (grey: all)" if all_diverged else "a seed diverged"
        yield style.handle(label, color="black", **MARKS["cross"])
    printed = rows[rows["source"] == "paper"]
    if (printed["series"] == "bound").any():
        yield style.handle("paper: bound at the border", **BOUND)
    untrained = printed.loc[printed["series"] == "untrained", "depth"]
    if len(untrained):
        depth = untrained.iloc[0]
        look = BEYOND if depth > cells["depth"].max() else looks.PRINTED_LINE
        label = f"paper: mostly untrained at $L = {depth:g}$"
        yield style.handle(label, **look)


def phase_bar(axis: Axes, phase: str, ends: tuple[float, float]) -> None:
    """Underline the weight variances of a phase, from one to the other end, below the axis."""
    figure = axis.get_figure(root=True)
    below = offset_copy(axis.get_xaxis_transform(), figure, y=-BELOW, units="points")
    look: dict[str, Any] = {"color": PHASES[phase], "clip_on": False, "gid": style.CLIPPED}
    axis.plot(ends, [0, 0], transform=below, **look, **PHASE_BAR)


def below_bars(axis: Axes) -> None:
    """Write the weight variances below the bars of the phases."""
    axis.tick_params(axis="x", pad=BELOW + 1.5)


def phase_handles() -> Iterator[Artist]:
    """Entries of a legend for the bars of the phases."""
    margins = {
        "ordered": rf"\leq {ORDERED_UP_TO:g}",
        "chaotic": rf"\geq {CHAOTIC_FROM:g}",
    }
    for phase, colour in PHASES.items():
        label = f"{phase}: ${margins[phase]}$ of the border"
        yield style.handle(label, color=colour, **PHASE_BAR)


def _untrained(axis: Axes, depth: float, table: pd.DataFrame, border: float) -> None:
    """A line at a depth across the ordered phase; a mark at the top of a map that ends before."""
    if depth > table.index.max():
        figure = axis.get_figure(root=True)
        below_edge = offset_copy(axis.transData, figure, y=-BELOW, units="points")
        axis.plot(border / 2, len(table), transform=below_edge, **BEYOND)
        return
    centres = np.arange(len(table)) + 0.5
    height = float(np.interp(depth, table.index, centres))
    axis.plot([0, border], [height, height], **looks.PRINTED_LINE)


def _mark(
    axis: Axes,
    row: Mapping[str, Any],
    corner: tuple[int, int],
    colour: Colour,
    mark_at: tuple[float, float],
) -> None:
    """Hatch the cell with this lower left corner, and draw a cross or dot at ``mark_at`` in it."""
    ink = _ink(colour)
    if row["eta_lambda"] > STEEP:
        axis.add_patch(
            Rectangle(corner, 1, 1, fill=False, hatch=HATCH, linewidth=0, edgecolor=(*ink, 0.3))
        )
    look: dict[str, Any] = {
        "color": ink,
        "path_effects": [withStroke(linewidth=2, foreground=colour)],
    }
    x = corner[0] + mark_at[0]
    y = corner[1] + mark_at[1]
    if row["diverged"]:
        axis.plot(x, y, **look, **MARKS["cross"])
    elif row["stopped"] == row["seeds"]:
        axis.plot(x, y, **look, **MARKS["dot"])


def _write(axis: Axes, row: Mapping[str, Any], corner: tuple[int, int], colour: Colour) -> None:
    """Write the number of a cell on its colour, clear of lines, and below it the range of seeds."""
    text = short(row["value"])
    several = row["seeds"] - row["diverged"] > 1
    if several and np.isfinite(row["lowest"]):
        lowest = short(row["lowest"])
        highest = short(row["highest"])
        if lowest != highest:
            text += f"\n{lowest}–{highest}"
    axis.text(
        corner[0] + 0.5,
        corner[1] + 0.48,
        text,
        fontsize=style.SMALLEST,
        color=_ink(colour),
        ha="center",
        va="center",
        linespacing=1.05,
        bbox={"boxstyle": "square,pad=0.08", "facecolor": colour, "edgecolor": "none"},
    )


def short(value: float) -> str:
    """Two digits after the point without a leading zero: .12, 1.03, <.001, 24."""
    if value >= 9.95:
        return f"{value:.0f}"
    if value >= 0.995:
        return f"{value:.2f}"
    if value >= 0.005:
        return f"{value:.2f}"[1:]
    if value >= 5e-4:
        return f"{value:.3f}"[1:]
    return "<.001" if value > 0 else "0"


def _ink(colour: Colour) -> tuple[float, float, float]:
    """Black or white, whichever has the larger contrast with a colour (WCAG 2.2)."""
    from seaborn.utils import relative_luminance

    return (0, 0, 0) if relative_luminance(colour) > 0.179 else (1, 1, 1)
