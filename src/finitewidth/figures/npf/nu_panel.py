"""The panel of nu over time in npf Figure 3 and dgn Figure 6, and the note on ridges."""

import pandas as pd
from matplotlib.axes import Axes

from finitewidth.figures.style import COLOURS


def draw_nu(axis: Axes, rows: pd.DataFrame, symbol: str = "H") -> None:
    """Draw mean and spread of nu against epochs; ``symbol`` is the paper's path kernel symbol."""
    axis.errorbar(rows["x"], rows["y"], rows["spread"], color=COLOURS[0], marker="o", capsize=2)
    axis.set(xlabel="epoch", ylabel=rf"$\nu_t = y^\top \hat{{{symbol}}}_t^{{-1}} y$")
    note_ridges(axis, rows)


def note_ridges(axis: Axes, rows: pd.DataFrame) -> None:
    """Write how many kernels of a panel could only be inverted with a ridge, if there are any."""
    if ridged := int(rows["ridged"].sum()):
        text = f"{ridged} of {int(rows['runs'].sum())} kernels: with a ridge"
        axis.text(0.02, 0.02, text, transform=axis.transAxes, fontsize=6, color="0.35")
