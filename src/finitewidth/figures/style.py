"""The style of all figures: colour-blind safe colours, fonts as text, and a footer."""

from typing import Any

import matplotlib as mpl
import matplotlib.style
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

# matplotlib's copies of seaborn's styles; importing seaborn itself takes a second per figure
SHEETS = ("seaborn-v0_8-paper", "seaborn-v0_8-ticks", "seaborn-v0_8-colorblind")
COLOURS = mpl.style.library["seaborn-v0_8-colorblind"]["axes.prop_cycle"].by_key()["color"]
PANEL_WIDTH, PANEL_HEIGHT = 3.5, 2.9  # inches
FOOTER = 6.5  # points; a character is about half as wide


def apply() -> None:
    """Set the style. Equal rows then give equal files."""
    mpl.style.use(SHEETS)
    mpl.rcParams.update(
        {
            "font.family": "DejaVu Sans",  # ships with matplotlib, so it is the same everywhere
            "pdf.fonttype": 42,  # text that can be searched and edited
            "svg.hashsalt": "finitewidth",
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.titlesize": 10,
            "axes.labelsize": 9,
            "legend.fontsize": 7.5,
            "legend.frameon": False,
            "lines.linewidth": 1.4,
            "lines.markersize": 4,
            "savefig.dpi": 200,
        }
    )


def subplots(
    rows: int, columns: int, *, figsize: tuple[float, float], **layout: Any
) -> tuple[Figure, np.ndarray]:
    """Create a figure with a grid of axes.

    pyplot is not used, because it keeps every figure in memory and chooses a graphical back end.

    Args:
        rows: number of rows of the grid.
        columns: number of columns of the grid.
        figsize: width and height in inches.
        **layout: arguments of ``Figure.subplots``, and ``height_ratios`` and ``width_ratios``.
    """
    figure = Figure(figsize=figsize, layout="constrained")
    ratios = {k: layout.pop(k) for k in ("height_ratios", "width_ratios") if k in layout}
    return figure, figure.subplots(rows, columns, **layout, gridspec_kw=ratios)


def panels(count: int, titles: list[str]) -> tuple[Figure, list[Axes]]:
    """Create a figure with one row of ``count`` panels, each with a title."""
    figure, axes = subplots(1, count, figsize=(PANEL_WIDTH * count, PANEL_HEIGHT), squeeze=False)
    for axis, title in zip(axes[0], titles, strict=True):
        axis.set_title(title)
    return figure, list(axes[0])


def band(axis: Axes, curve: pd.DataFrame, **line: Any) -> None:
    """Plot ``y`` against ``x``, and the band within one ``spread`` of it."""
    axis.plot(curve["x"], curve["y"], **line)
    low, high = curve["y"] - curve["spread"], curve["y"] + curve["spread"]
    axis.fill_between(curve["x"], low, high, color=line["color"], alpha=0.2, linewidth=0)


def add_footer(figure: Figure, text: str) -> None:
    """Add a line below the figure: preset, datasets and their stand-ins, number of runs.

    A line that is too long for the figure is broken between two of its parts.
    """
    most = int(72 * figure.get_figwidth() / (0.52 * FOOTER))
    lines = [""]
    for part in text.split(" · "):
        longer = f"{lines[-1]} · {part}" if lines[-1] else part
        lines = [*lines[:-1], longer] if len(longer) <= most else [*lines, part]
    figure.supxlabel("\n".join(lines), fontsize=FOOTER, color="0.35", x=0.01, ha="left")
