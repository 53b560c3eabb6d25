"""trust Figures 5 and 6: kappa_2, and kappa_1 / kappa_2, of infinitely wide networks by depth."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, MaxNLocator, NullFormatter, ScalarFormatter

from finitewidth.figures.style import subplots

COLUMNS = ["activation", "panel", "series", "x", "log_kappa_2", "log_ratio"]
NAMES = {"erf": "erf", "relu": "ReLU"}
PHASES = {"ordered": "ordered", "critical": "border", "chaotic": "chaotic"}
LABELS = {
    "log_kappa_2": r"$\kappa_2$",
    "log_ratio": r"$\kappa_1\,/\,\kappa_2$",
}
COLOURS = colormaps["viridis"]


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return the rows of the table ``kappa``; the series is the covariance of the inputs."""
    rows = tables["kappa"].rename(columns={"covariance": "series", "depth": "x"})
    rows["panel"] = [
        f"{PHASES[row.phase]}: ({row.sigma_w2:.3g}, {row.sigma_b2:g})" for row in rows.itertuples()
    ]
    # kappa_2 is 0 at depth 1 for covariance 0
    return rows.loc[np.isfinite(rows["log_kappa_2"]), COLUMNS]


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw one row of panels per activation.

    ``settings["show"]`` is ``log_kappa_2`` or ``log_ratio``.
    """
    activations = list(rows["activation"].unique())
    most = int(rows.groupby("activation")["panel"].nunique().max())
    figure, axes = subplots(
        len(activations), most, squeeze=False,
        figsize=(2.3 * most + 0.9, 2.3 * len(activations)),
    )  # fmt: skip
    for line, activation in enumerate(activations):
        here = rows[rows["activation"] == activation]
        names = list(here["panel"].unique())
        for axis in axes[line][len(names) :]:
            axis.set_axis_off()
        for axis, panel in zip(axes[line], names, strict=False):
            _panel(axis, here[here["panel"] == panel], settings["show"])
            axis.set_title(f"{NAMES[activation]}, {panel}", fontsize=8.5)
            axis.set_xlabel("depth $L$")
        axes[line][0].set_ylabel(LABELS[settings["show"]])
    figure.colorbar(
        ScalarMappable(Normalize(0, 1), COLOURS), ax=axes, shrink=0.8, aspect=30,
        label=r"covariance of the inputs, $x_s^\top x_r / n_0$",
    )  # fmt: skip
    return figure


def _panel(axis: Axes, rows: pd.DataFrame, show: str) -> None:
    for series, curve in rows.groupby("series"):
        axis.plot(curve["x"], np.exp(curve[show]), color=COLOURS(series), linewidth=1.1)
    axis.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=4))
    largest = np.exp(rows[show].max())
    deepest = np.exp(rows.loc[rows["x"] == rows["x"].max(), show].max())
    if deepest > 100:
        axis.set_yscale("log")
    elif show == "log_ratio":
        axis.set_yscale("log")
        axis.yaxis.set_major_locator(FixedLocator([1, 2, 3, 5, 10, 20]))
        axis.yaxis.set_major_formatter(ScalarFormatter())
        axis.yaxis.set_minor_formatter(NullFormatter())
        axis.set_ylim(0.9, 1.1 * largest)
    else:
        axis.set_ylim(0, 1.05 * largest)
