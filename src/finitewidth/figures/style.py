"""The look that all figures share: colour-blind safe, vector fonts, one footer."""

from typing import Any

import matplotlib as mpl
import matplotlib.style
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

# Seaborn's look through matplotlib's own copies of it: importing seaborn costs a second per figure
SHEETS = ("seaborn-v0_8-paper", "seaborn-v0_8-ticks", "seaborn-v0_8-colorblind")
COLOURS = mpl.style.library["seaborn-v0_8-colorblind"]["axes.prop_cycle"].by_key()["color"]
PANEL_WIDTH, PANEL_HEIGHT = 3.5, 2.9  # inches


def apply() -> None:
    """Set the style; the same input then gives the same bytes, whenever it is drawn."""
    mpl.style.use(SHEETS)
    mpl.rcParams.update(
        {
            "font.family": "DejaVu Sans",  # ships with matplotlib: the same on any machine
            "pdf.fonttype": 42,  # fonts as text, not as pictures of letters
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
    """A figure of its own and a grid of axes; ``layout`` as of ``Figure.subplots``.

    Without pyplot, which would keep every figure of the process and choose a window system.
    """
    figure = Figure(figsize=figsize, layout="constrained")
    ratios = {k: layout.pop(k) for k in ("height_ratios", "width_ratios") if k in layout}
    return figure, figure.subplots(rows, columns, **layout, gridspec_kw=ratios)


def panels(count: int, titles: list[str]) -> tuple[Figure, list[Axes]]:
    """A row of panels with titles."""
    figure, axes = subplots(1, count, figsize=(PANEL_WIDTH * count, PANEL_HEIGHT), squeeze=False)
    for axis, title in zip(axes[0], titles, strict=True):
        axis.set_title(title)
    return figure, list(axes[0])


def band(axis: Axes, curve: pd.DataFrame, **line: Any) -> None:
    """A line through ``x``, ``y`` and the area within one ``spread`` of it."""
    axis.plot(curve["x"], curve["y"], **line)
    low, high = curve["y"] - curve["spread"], curve["y"] + curve["spread"]
    axis.fill_between(curve["x"], low, high, color=line["color"], alpha=0.2, linewidth=0)


def add_footer(figure: Figure, text: str) -> None:
    """One line below everything: preset, data, runs, and what stands in for what."""
    figure.supxlabel(text, fontsize=6.5, color="0.35", x=0.01, ha="left")
