"""The panel of nu over time that npf Figure 3 and dgn Figure 6 share."""

import pandas as pd
from matplotlib.axes import Axes

from finitewidth.figures.style import COLOURS


def draw_nu(axis: Axes, rows: pd.DataFrame) -> None:
    """Mean and spread of nu over epochs."""
    axis.errorbar(rows["x"], rows["y"], rows["spread"], color=COLOURS[0], marker="o", capsize=2)
    axis.set(xlabel="epoch", ylabel=r"$\nu_t = y^\top \hat{H}_t^{-1} y$")
