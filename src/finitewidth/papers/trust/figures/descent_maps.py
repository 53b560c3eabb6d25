"""Maps over weight variance and depth of what `trust_descent_*` measures, for several figures.

A cell shows the mean over the seeds that did not diverge. It is hatched if the rate exceeds
2/lambda_max at the start, in the mean over seeds; it has a cross if a seed diverged, and is grey if
all did; it has a dot if all seeds had stopped before the number of steps that is shown. All cells
have the same size, whatever the distance of their weight variances and depths. Bars below a map
show which weight variances count as ordered and which as chaotic, with our margins.
"""

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

from finitewidth.figures import style
from finitewidth.kernels.ntk_init.phases import CHAOTIC_FROM, ORDERED_UP_TO
from finitewidth.papers.trust.figures import looks
from finitewidth.records import fields

MOST_COLUMNS = 8  # of a map whose cells contain their numbers
MAP = ["activation", "width", "sigma_b2", "time"]
FIELDS = {
    "activation": fields.text("activation: tanh or relu"),
    "width": fields.integer("width M of the networks", "neurons"),
    "sigma_b2": fields.number("bias variance"),
    "time": fields.integer("number of gradient descent steps", "step"),
    "quantity": fields.text(
        "change (of the kernel, over its norm at the start) or lowest_loss (reached in training, "
        "over that of the best constant output)"
    ),
    "series": fields.text(
        "cell of a map, border of the phases, or what the paper states: bound (of the change at "
        "the border) or untrained (depth at which most ordered networks do not learn)"
    ),
    "source": fields.text("ours or paper"),
    "phase": fields.text(
        f"of a cell: ordered, up to {ORDERED_UP_TO:g} of the border's weight variance; chaotic, "
        f"from {CHAOTIC_FROM:g} of it on; or between. none for other rows"
    ),
    "sigma_w2": fields.number("weight variance; NaN for what the paper states"),
    "depth": fields.number("depth L; NaN for borders and bounds", "weight layers"),
    "value": fields.number("mean of the quantity over seeds that did not diverge"),
    "seeds": fields.number("number of seeds"),
    "diverged": fields.number("number of seeds that diverged"),
    "stopped": fields.number("number of seeds that had stopped before this number of steps"),
    "eta_lambda": fields.number(
        "learning rate times largest eigenvalue of the kernel at the start, mean over seeds"
    ),
}
RANGES = {  # of `ends`, besides
    "lowest": fields.number("smallest value of all seeds; NaN where it is not shown"),
    "highest": fields.number("largest value of all seeds; NaN where it is not shown"),
}
BOUNDED = "relative_ntk_change", "edge_of_chaos", "upper_bound"  # as printed
CHANGE = r"change $\|\Theta^t-\Theta^0\|_F\,/\,\|\Theta^0\|_F$"
LOST = "0.8"  # grey of a cell whose seeds all diverged
LARGEST = 1.2  # the colour is the same for all larger changes
LEAST = 1e-3  # the same for smaller ones, on a logarithmic scale
STEEP = 2.0  # eta_lambda from which on a rate is not stable at the start
HATCH = "///"
HATCHED = r"rate above $2/\lambda_{\max}$ at the start"
MARKS = {
    "dot": {"marker": "o", "markersize": 2.0, "linestyle": "none"},
    "cross": {"marker": "x", "markersize": 3.5, "markeredgewidth": 0.9, "linestyle": "none"},
}
BOUND = {**looks.PRINTED_MARK, "marker": "D", "markersize": 3.8}
BEYOND = {**looks.PRINTED_MARK, "marker": "^"}  # a depth that the map does not have
# bars below the ordered and the chaotic weight variances, in the colours of the lines of ``beyond``
PHASES = {"ordered": "#2a6fa8", "chaotic": "#c2410c"}
PHASE_BAR = {
    "linewidth": 3.2,
    "solid_capstyle": "butt",
    "zorder": 4,
    "path_effects": [withStroke(linewidth=4.2, foreground="white")],
}


def change_scale(logarithmic: bool = False) -> tuple[ScalarMappable, dict[str, Any]]:
    """Colours of relative changes, the same in all figures of one kind, and looks of their bar."""
    norm = LogNorm(LEAST, 1.0) if logarithmic else Normalize(0, LARGEST)
    looks_of_bar = {"label": CHANGE, "extend": "both" if logarithmic else "max"}
    return ScalarMappable(norm, "viridis"), looks_of_bar


def with_borders(cells: pd.DataFrame, borders: pd.DataFrame) -> pd.DataFrame:
    """The cells of all maps, and the border of the phases in each of them."""
    maps = cells[["activation", "sigma_b2", "width", "time", "quantity"]].drop_duplicates()
    lines = borders.merge(maps).assign(series="border", phase="none")
    return pd.concat([cells.assign(series="cell"), lines]).assign(source="ours")


def ends(cells: pd.DataFrame, borders: pd.DataFrame, width: int) -> pd.DataFrame:
    """The change at the end of training, and the lowest loss over that of the best constant.

    The columns are `FIELDS`, `RANGES` and ``loss``, the lowest loss itself.
    """
    last = cells[(cells["width"] == width) & (cells["time"] == cells["time"].max())]
    best = last.loc[last["quantity"] == "lowest_loss", [*MAP, "quantity", "constant_loss"]]
    best = (
        best.drop_duplicates()
        .rename(columns={"constant_loss": "loss"})
        .assign(series="constant", source="ours", phase="none", value=1.0)
    )
    return pd.concat([with_borders(last, borders), best])


def grid(count: int, columns: int, height: float = 1.6) -> tuple[Figure, np.ndarray]:
    """A figure with this number of maps, ``columns`` beside each other, in rows of a height."""
    lines = -(-count // columns)
    figure, axes = style.subplots(
        lines,
        columns,
        height=0.85 + height * lines,
        squeeze=False,
        sharex=True,
        sharey=True,
    )
    for axis in axes.flat[count:]:
        axis.set_visible(False)
    return figure, axes


def draw_map(axis: Axes, rows: pd.DataFrame, scale: ScalarMappable) -> None:
    """Draw one map, with numbers in its cells if there are few.

    With columns ``lowest`` and ``highest``, cells show these too.
    """
    import seaborn as sns

    shown = rows[rows["series"] == "cell"]
    table = shown.pivot(index="depth", columns="sigma_w2", values="value")
    numbered = table.shape[1] <= MOST_COLUMNS
    axis.set_facecolor(LOST)
    sns.heatmap(
        table,
        mask=table.isna(),
        cmap=scale.cmap,
        norm=scale.norm,
        cbar=False,
        rasterized=True,
        vmin=0,
        vmax=1,  # or seaborn looks for them, in vain if all runs diverged; norm counts
        xticklabels=[f"{value:g}" for value in table.columns],
        yticklabels=[f"{value:g}" for value in table.index],
        ax=axis,
    )
    axis.set(xlabel="", ylabel="", ylim=(0, len(table)))
    axis.tick_params(rotation=0, length=2)
    for phase in PHASES:
        own = shown.loc[shown["phase"] == phase, "sigma_w2"]
        if len(own):
            first, last = (table.columns.get_loc(value) for value in (own.min(), own.max()))
            phase_bar(axis, phase, (first + 0.04, last + 0.96))
    # where borders lie between the centres of columns
    centres = np.arange(table.shape[1]) + 0.5
    borders = rows.loc[rows["series"] == "border", "sigma_w2"]
    places = [float(np.interp(border, table.columns, centres)) for border in borders]
    for place in places:
        axis.axvline(place, **looks.BORDER)
    for row in shown.to_dict("records"):
        corner = table.columns.get_loc(row["sigma_w2"]), table.index.get_loc(row["depth"])
        known = np.isfinite(row["value"])
        colour = scale.cmap(scale.norm(row["value"])) if known else mpl.colors.to_rgba(LOST)
        _mark(axis, row, corner, colour, (0.88, 0.85) if numbered else (0.5, 0.5))
        if numbered and known:
            _write(axis, row, corner, colour)
    for depth in rows.loc[rows["series"] == "untrained", "depth"]:
        _untrained(axis, depth, table, places[0] if places else table.shape[1])


def finish(figure: Figure, axes: np.ndarray, rows: pd.DataFrame) -> None:
    """Write the names of the axes, and a legend of what occurs."""
    for axis in axes[:, 0]:
        axis.set_ylabel("depth $L$ [layers]")
    for axis in axes.flat:
        if axis.get_subplotspec().is_last_row() and axis.get_visible():
            axis.set_xlabel(r"weight variance $\sigma_w^2$")
    style.legend_above(figure, _handles(rows), 3, handlelength=2.2)


def _handles(rows: pd.DataFrame) -> Iterator[Artist]:
    shown = rows[rows["series"] == "cell"]
    yield style.handle(r"border of the phases, $\chi_1 = 1$", **looks.BORDER)
    yield from phase_handles()
    if (shown["eta_lambda"] > STEEP).any():
        yield Patch(facecolor="white", edgecolor="0.5", hatch=HATCH, linewidth=0, label=HATCHED)
    if (shown["stopped"] == shown["seeds"]).any():
        yield style.handle("stopped before", color="black", **MARKS["dot"])
    if (shown["diverged"] > 0).any():
        lost = (shown["diverged"] == shown["seeds"]).any()
        label = f"a seed diverged{' (grey: all)' * bool(lost)}"
        yield style.handle(label, color="black", **MARKS["cross"])
    theirs = rows[rows["source"] == "paper"]
    if (theirs["series"] == "bound").any():
        yield style.handle("paper (MNIST): bound at the border", **BOUND)
    for depth in theirs.loc[theirs["series"] == "untrained", "depth"].head(1):
        look = BEYOND if depth > shown["depth"].max() else looks.PRINTED_LINE
        label = f"paper (MNIST): ordered phase mostly untrained, $L = {depth:g}$"
        yield style.handle(label, **look)


def phase_bar(axis: Axes, phase: str, ends: tuple[float, float], **where: Any) -> None:
    """Underline the weight variances of a phase."""
    look = {"color": PHASES[phase], "clip_on": False, "gid": style.CLIPPED}
    axis.plot(ends, [0, 0], **look, **PHASE_BAR, **where)


def phase_handles() -> Iterator[Artist]:
    """Entries of a legend for the bars of the phases."""
    margins = rf"\leq {ORDERED_UP_TO:g}", rf"\geq {CHAOTIC_FROM:g}"
    for (phase, colour), margin in zip(PHASES.items(), margins, strict=True):
        yield style.handle(f"{phase}: ${margin}$ of the border", color=colour, **PHASE_BAR)


def _untrained(axis: Axes, depth: float, table: pd.DataFrame, border: float) -> None:
    """A line at a depth across the ordered phase; a mark at the edge of a map that ends before."""
    if depth > table.index.max():
        axis.plot(border / 2, len(table), **BEYOND)
        return
    place = float(np.interp(depth, table.index, np.arange(len(table)) + 0.5))
    axis.plot([0, border], [place, place], **looks.PRINTED_LINE)


def _mark(axis: Axes, row: Mapping, corner: tuple, colour: tuple, inside: tuple) -> None:
    """Hatching of the cell with this lower left corner, and a cross or dot ``inside`` it."""
    ink = _ink(colour)
    if row["eta_lambda"] > STEEP:
        axis.add_patch(
            Rectangle(corner, 1, 1, fill=False, hatch=HATCH, linewidth=0, edgecolor=(*ink, 0.3))
        )
    look = {"color": ink, "path_effects": [withStroke(linewidth=2, foreground=colour)]}
    place = corner[0] + inside[0], corner[1] + inside[1]
    if row["diverged"]:
        axis.plot(*place, **look, **MARKS["cross"])
    elif row["stopped"] == row["seeds"]:
        axis.plot(*place, **look, **MARKS["dot"])


def _write(axis: Axes, row: Mapping[str, Any], corner: tuple[int, int], colour: tuple) -> None:
    """The number of a cell; it stands on the cell's colour, clear of lines."""
    text = short(row["value"])
    if row["seeds"] - row["diverged"] > 1 and np.isfinite(row.get("lowest", np.nan)):
        ends = short(row["lowest"]), short(row["highest"])
        text += f"\n{ends[0]}–{ends[1]}" * (ends[0] != ends[1])
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
    return f"{value:.3f}"[1:] if value >= 5e-4 else "<.001" if value > 0 else "0"


def _ink(colour: tuple) -> tuple[float, float, float]:
    """Black or white, whichever has the larger contrast with a colour (WCAG 2.2)."""
    from seaborn.utils import relative_luminance

    return (0, 0, 0) if relative_luminance(colour) > 0.179 else (1, 1, 1)
