"""dgn Figure 2: one diagonal and one off-diagonal entry of the kernel of fixed random gates."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator

from finitewidth.figures import by_depth
from finitewidth.figures.style import COLOURS, panels

FIGURE = "dgn_fig2"
LABELS = {"diagonal": "$K_0(s, s)/d$", "off_diagonal": "$K_0(s, s')/d$"}


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return the rows of the table ``entries`` that belong to the wide networks."""
    entries = tables["entries"]
    return entries[(entries["figure"] == FIGURE) & (entries["network"] == "wide")]


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw mean and standard error of both entries against depth, and the ideal value dotted."""
    where = f"{by_depth.width_of(rows)}, {by_depth.runs_of(rows)}"
    figure, axes = panels(2, [f"One diagonal entry: {where}", f"One off-diagonal entry: {where}"])
    for axis, (entry, label) in zip(axes, LABELS.items(), strict=True):
        axis.errorbar(rows["depth"], rows[entry], rows[f"{entry}_error"], marker="o", capsize=2,
                      color=COLOURS[0], label="mean, standard error")  # fmt: skip
        axis.plot(rows["depth"], rows[f"{entry}_ideal"], ":", color="black", label="ideal")
        axis.xaxis.set_major_locator(FixedLocator(rows["depth"].unique()))
        axis.set(xlabel="depth $d$", ylabel=label)
        axis.legend(loc="best")
    axes[0].set_ylim(0, 1.5)
    return figure
