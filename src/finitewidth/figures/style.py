"""The look that all figures share: colour-blind safe, vector fonts, one footer."""

import matplotlib as mpl

mpl.use("Agg")  # a window system is neither needed nor wanted in a job

import matplotlib.pyplot as plt
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


def panels(count: int, titles: list[str]) -> tuple[Figure, list[Axes]]:
    """A row of panels with titles."""
    figure, axes = plt.subplots(
        1, count, figsize=(PANEL_WIDTH * count, PANEL_HEIGHT), layout="constrained", squeeze=False
    )
    for axis, title in zip(axes[0], titles, strict=True):
        axis.set_title(title)
    return figure, list(axes[0])


def add_footer(figure: Figure, text: str) -> None:
    """One line below everything: preset, data, runs, and what stands in for what."""
    figure.supxlabel(text, fontsize=6.5, color="0.35", x=0.01, ha="left")
