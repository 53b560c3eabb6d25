"""The style of all figures: sizes, fonts, colours, panel letters and the mark of a stand-in.

A figure is drawn at the size at which it is printed: one column (`SINGLE`) or the width of a page
(`DOUBLE`). Titles, labels, ticks and legends have one size, `TEXT`; notes in a panel, `SMALLEST`.
"""

import string
from collections.abc import Iterable, Sequence
from math import prod
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.rcsetup import cycler
from matplotlib.ticker import (
    FixedLocator,
    Locator,
    LogLocator,
    NullFormatter,
    NullLocator,
    StrMethodFormatter,
)

# widths in inches
SINGLE = 3.3  # one column of a journal
DOUBLE = 6.9  # the width of its page
TALLEST = 8.8  # inches: leaves room for a caption
TEXT = 7.5  # points, of titles, labels, ticks and legends; indices have 0.7 of it
SMALLEST = 6.5  # points, of notes within a panel

# blue, orange, green, red, purple, brown: contrast with white at least 3.2:1, CIEDE2000 between any
# two at least 17, also with deuteranopia and protanopia; half of seaborn's "colorblind" is paler
COLOURS = ("#0173b2", "#cf7a0a", "#24776c", "#b03427", "#4a1256", "#33180c")
SHADES = "viridis"  # for ordered quantities such as depth
GREY = "#595959"  # the paper's values, notes and reference lines; 7:1 on white
# identifiers of artists, which the tests look for
CLIPPED = "clipped"
PAPER = "paper"
CAPS = ("_", "|", 0, 1, 2, 3)  # marks that matplotlib draws at the ends of error bars

INK = ".15"  # of seaborn: nearly black
TICKS = {
    "color": INK,
    "labelsize": TEXT,
    "major.width": 0.6,
    "minor.width": 0.4,
    "major.size": 2.5,
    "minor.size": 1.5,
    "major.pad": 2.0,
}
RC: dict[Any, Any] = {  # by the names of matplotlib
    # seaborn's theme "ticks" where it differs from matplotlib's defaults; written out, because
    # importing seaborn takes half a second in every job
    "axes.axisbelow": True,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "grid.color": ".8",
    "lines.solid_capstyle": "round",
    "patch.edgecolor": "w",
    "patch.force_edgecolor": True,
    "text.color": INK,
    "axes.prop_cycle": cycler(color=COLOURS),
    "font.family": "DejaVu Sans",  # ships with matplotlib, so it is the same everywhere
    "font.size": TEXT,
    "axes.titlesize": TEXT,
    "axes.labelsize": TEXT,
    "legend.fontsize": TEXT,
    "legend.title_fontsize": TEXT,
    "figure.titlesize": TEXT,
    "figure.labelsize": TEXT,
    "axes.titlelocation": "left",
    "axes.titley": 1.0,  # without it every draw looks for labels that a title could cover
    "axes.titlepad": 4.0,
    "axes.labelpad": 2.5,
    "axes.linewidth": 0.6,
    "grid.linewidth": 0.4,
    "lines.linewidth": 1.1,
    "lines.markersize": 3.2,
    "lines.markeredgewidth": 0.7,
    "patch.linewidth": 0.6,
    "hatch.linewidth": 0.5,
    **{f"{axis}tick.{name}": value for axis in "xy" for name, value in TICKS.items()},
    "errorbar.capsize": 1.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "legend.handlelength": 1.8,
    "legend.borderaxespad": 0.3,
    "legend.labelspacing": 0.3,
    "legend.columnspacing": 1.2,
    "figure.constrained_layout.w_pad": 0.02,
    "figure.constrained_layout.h_pad": 0.03,
    "pdf.fonttype": 42,  # fonts are embedded, and text can be searched and edited
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "finitewidth",
    "savefig.dpi": 300,
}


def apply() -> None:
    """Set the style, whatever the user's own file of settings says.

    Equal rows then give equal files.
    """
    mpl.rcdefaults()
    mpl.rcParams.update(RC)


class _Printed(Figure):
    """A figure that is laid out once, before its first file, and then drawn once per file.

    All its files show one layout, whichever of them are written and in which order. Before it
    writes a file, matplotlib draws a figure without output, so that the layout engine runs. That
    drawing is left out, since the layout is known by then.
    """

    laid_out = False

    def savefig(self, *args: Any, **kwargs: Any) -> None:
        if not self.laid_out and self._has_layout():
            self._lay_out()
        super().savefig(*args, **kwargs)

    def draw(self, renderer: Any) -> None:
        only_for_layout = self.canvas.is_saving() and self.laid_out and self._has_layout()
        if not only_for_layout:
            super().draw(renderer)

    def _has_layout(self) -> bool:
        """Whether an engine places the axes of this figure."""
        return bool(self.axes) and isinstance(self.get_layout_engine(), ConstrainedLayoutEngine)

    def _lay_out(self) -> None:
        """Let the engine place the axes, with letters as large as in a PNG file.

        Positions are rounded. Their last bits depend on addresses in memory, and could move an edge
        that lies between two pixels.
        """
        dpi = self.dpi
        self.dpi = mpl.rcParams["savefig.dpi"]
        engine = self.get_layout_engine()
        assert engine is not None
        engine.execute(self)
        self.dpi = dpi
        for axis in self.axes:
            in_layout = axis.get_in_layout()
            bounds = np.round(axis.get_position(original=True).bounds, 9)
            axis.set_position(bounds, "original")  # takes the axes out of the layout
            axis.set_in_layout(in_layout)
        self.laid_out = True


def subplots(
    rows: int, columns: int, *, height: float, width: float = DOUBLE, **layout: Any
) -> tuple[Figure, np.ndarray]:
    """Create a figure of a printed width with a grid of axes.

    pyplot is not used, because it keeps every figure in memory and chooses a graphical back end.

    Args:
        rows: rows of the grid.
        columns: columns of the grid.
        height: inches, at most `TALLEST`.
        width: inches, `SINGLE` or `DOUBLE`.
        layout: arguments of ``Figure.subplots``, and ``height_ratios`` and ``width_ratios``.
    """
    figure = empty(height=height, width=width)
    ratios: dict[str, Any] = {}
    for name in ("height_ratios", "width_ratios"):
        if name in layout:
            ratios[name] = layout.pop(name)
    return figure, figure.subplots(rows, columns, **layout, gridspec_kw=ratios)


def one_panel(*, height: float, width: float = SINGLE) -> tuple[Figure, Axes]:
    """Create a figure with a single axis; see `subplots`."""
    figure = empty(height=height, width=width)
    return figure, figure.subplots()


def empty(*, height: float, width: float = DOUBLE) -> Figure:
    """Create a figure of a printed width without axes; see `subplots`."""
    if width not in (SINGLE, DOUBLE) or not 0 < height <= TALLEST:
        raise ValueError(
            f"a figure of {width} by {height} inches does not fit a page: its width "
            f"is {SINGLE} or {DOUBLE}, its height at most {TALLEST}"
        )
    return _Printed(figsize=(width, height), layout="constrained")


def grids(
    heights: Sequence[float], shapes: Sequence[tuple[int, int]], legend: float = 0.0
) -> tuple[Figure, list[list[Axes]]]:
    """Create a figure of grids of panels, one below the other, and the panels of each grid.

    Args:
        heights: the height of each grid in inches.
        shapes: rows and columns of each grid.
        legend: the height of the legend in inches.
    """
    figure = empty(height=sum(heights) + legend)
    cells = figure.add_gridspec(len(heights), 1, height_ratios=heights)
    panels = []
    for row, shape in zip(range(len(heights)), shapes, strict=True):
        grid = cells[row].subgridspec(*shape)
        panels.append([figure.add_subplot(grid[number]) for number in range(prod(shape))])
    return figure, panels


def title_panels(axes: Iterable[Axes], titles: Sequence[str]) -> None:
    """Give every panel, in reading order, its letter in bold and a title, also of mathematics."""
    panels = list(axes)
    for letter, axis, title in zip(_letters(len(panels)), panels, titles, strict=True):
        label = rf"$\mathbf{{{letter}}}$"
        if title:
            label += f"  {title}"
        axis.set_title(label, loc="left")


def _letters(count: int) -> list[str]:
    """``a`` to ``z``, then ``aa``, ``ab`` and so on."""
    alphabet = string.ascii_lowercase
    pairs = [first + second for first in alphabet for second in alphabet]
    return [*alphabet, *pairs][:count]


def numbers(ruler: Axis, ticks: Locator | Sequence[float] | None = None) -> None:
    """Write plain numbers along an axis that is not linear.

    ``ticks`` are the values to write, or a locator that finds them; by default the ticks stay
    where they are.
    """
    if ticks is not None:
        ruler.set_major_locator(ticks if isinstance(ticks, Locator) else FixedLocator(ticks))
    ruler.set_major_formatter(StrMethodFormatter("{x:g}"))
    ruler.set_minor_formatter(NullFormatter())


def logarithmic(ruler: Axis) -> None:
    """Write plain numbers along a logarithmic axis; a short one has them at 1, 2, 5, 10, ... ."""
    low, high = ruler.get_view_interval()
    short = high < 100 * low
    multiples = (1.0, 2.0, 5.0) if short else (1.0,)
    numbers(ruler, LogLocator(subs=multiples))


def steps_from_zero(axis: Axes, steps: Any) -> None:
    """Scale steps by their logarithm, and linearly up to the first, so that 0 can be seen."""
    steps = np.asarray(steps, dtype=float)
    first = steps[steps > 0].min()
    last = steps.max()
    axis.set_xscale("symlog", linthresh=first, linscale=0.4)
    axis.set_xlim(-0.2 * first, 1.35 * last)
    ticks = [10.0**power for power in range(9) if first <= 10**power <= last] or [last]
    numbers(axis.xaxis, [0, *ticks])
    axis.xaxis.set_minor_locator(NullLocator())


def handle(label: str, **look: Any) -> Line2D:
    """Return an entry of a legend."""
    return Line2D([], [], label=label, **look)


def legend_above(
    figure: Figure, handles: Iterable[Artist], columns: int | None = None, **looks: Any
) -> None:
    """Add a legend in ``columns``, or in one line, above all panels, by ``Figure.legend``."""
    entries = list(handles)
    figure.legend(
        handles=entries, loc="outside upper center", ncols=columns or len(entries), **looks
    )


def shades(
    values: Iterable[Any], *, name: str = SHADES, dark: float = 0.0, bright: float = 0.85
) -> dict[Any, str]:
    """Map ordered values to colours of one scale, the smallest to the darkest.

    Args:
        values: the values; repeated ones count once.
        name: a colour map of matplotlib or seaborn.
        dark: where on the colour map the smallest value lies, from 0 to 1.
        bright: where on the colour map the largest value lies.
    """
    if name not in mpl.colormaps:
        import seaborn  # noqa: F401  its import adds its scales, such as "mako"
    ordered = sorted(set(values))
    steps = np.linspace(dark, bright, len(ordered)) if len(ordered) > 1 else [dark]
    scale = mpl.colormaps[name]
    colours = [mpl.colors.to_hex(scale(step)) for step in steps]
    return dict(zip(ordered, colours, strict=True))


def band(axis: Axes, x: Any, low: Any, high: Any, colour: str) -> None:
    """Fill the band between two curves."""
    axis.fill_between(x, low, high, color=colour, alpha=0.2, linewidth=0)


def bars(axis: Axes, x: Any, y: Any, error: Any, **line: Any) -> Any:
    """Plot a curve with error bars of half the length ``error``, NaN for none."""
    x, y, error = (np.asarray(values, dtype=float) for values in (x, y, error))
    return axis.errorbar(x, y, error, **line)


def clip(axis: Axes, y: tuple[float, float]) -> None:
    """Set the limits of the vertical axis, with triangles at them where a drawn curve goes on."""
    axis.set_ylim(y)
    x = axis.get_xlim()
    for line in list(axis.lines):
        is_mark = line.get_gid() == CLIPPED or line.get_marker() in CAPS
        if not is_mark and line.get_transform() == axis.transData:
            _mark_exits(axis, line, x, y)


def _mark_exits(axis: Axes, line: Line2D, x: tuple[float, float], y: tuple[float, float]) -> None:
    """Draw a triangle where a curve first leaves the limits ``y``, above and below."""
    left, right = sorted(x)
    low, high = sorted(y)
    across, up = (np.asarray(values, dtype=float) for values in line.get_data())
    visible = (across >= left) & (across <= right)
    for outside, limit, marker in ((up > high, high, "^"), (up < low, low, "v")):
        points = np.flatnonzero(outside & visible)
        if not len(points):
            continue
        line.set_gid(CLIPPED)
        axis.plot(
            across[points[0]],
            limit,
            marker,
            color=line.get_color(),
            markersize=3.5,
            clip_on=False,
            gid=CLIPPED,
            zorder=5,
        )


def paper_values(
    axis: Axes, x: Any, y: Any, error: Any = None, *, label: str = "paper", **looks: Any
) -> Any:
    """Plot values of the paper as hollow grey marks.

    ``error`` is their printed spread, or the error of reading them off a picture. ``label`` says
    for which data the values are, if not for those of our own. ``looks`` are for ``Axes.errorbar``.
    """
    looks = {"marker": "D", "markersize": 4.0, "zorder": 4, **looks}
    return axis.errorbar(
        x,
        y,
        error,
        linestyle="none",
        color=GREY,
        markerfacecolor="white",
        markeredgecolor=GREY,
        markeredgewidth=0.9,
        elinewidth=0.8,
        label=label,
        gid=PAPER,
        **looks,
    )


def paper_line(axis: Axes, y: float, *, label: str = "paper", **looks: Any) -> Artist:
    """Draw a value of the paper that belongs to no place on the horizontal axis as a grey line."""
    looks = {"linestyle": (0, (5, 2)), "linewidth": 0.9, **looks}
    return axis.axhline(y, color=GREY, label=label, gid=PAPER, **looks)


def add_mark(figure: Figure, text: str) -> None:
    """Write below the drawing, in small grey letters, what stands in for the paper's setting.

    A text that is too long for the figure is broken between two of its parts.
    """
    if not text:
        return
    longest = int(72 * figure.get_figwidth() / (0.56 * SMALLEST))  # letters of a line
    lines = []
    line = ""
    for part in text.split(" · "):
        longer = f"{line} · {part}" if line else part
        if line and len(longer) > longest:
            lines.append(line)
            line = part
        else:
            line = longer
    lines.append(line)
    figure.supxlabel("\n".join(lines), fontsize=SMALLEST, color=GREY, x=0.995, ha="right")
