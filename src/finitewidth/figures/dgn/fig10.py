"""dgn Figure 10: a deep linear network with one example; kernel, error and weights over time."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator

from finitewidth.figures import by_depth
from finitewidth.figures.style import COLOURS, panels

COLUMNS = ("quantity", "dynamics", "depth", "time", "value", "value_spread", "ideal", "runs",
           "diverged")  # fmt: skip
SMALLEST = 1e-6
LABELS = {
    "error": r"$e_t^2 / e_0^2$",
    "kernel": "$K_t / K_0$",
    "weights": r"$\Vert\Theta_t\Vert_2 / \Vert\Theta_0\Vert_2$",
}


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return the rows to draw, from the tables ``start`` (K_0 by depth) and ``curves``."""
    start = tables["start"].rename(columns={"kernel": "value", "kernel_spread": "value_spread"})
    parts = [start.assign(quantity="start", time=0), tables["curves"]]
    return pd.concat(parts, ignore_index=True).reindex(columns=list(COLUMNS))


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw K_0 by depth, and error, kernel and norm of all weights against steps."""
    runs = by_depth.runs_of(rows[rows["quantity"] == "start"])
    figure, axes = panels(4, [f"Kernel at the start, {runs}", "Error", "Kernel", "Weights"])
    _start(axes[0], rows[rows["quantity"] == "start"])
    for axis, (quantity, label) in zip(axes[1:], LABELS.items(), strict=True):
        _over_time(axis, rows[rows["quantity"] == quantity])
        axis.set(xlabel="step $t$", ylabel=label)
    axes[1].set_yscale("log")
    axes[1].set_ylim(SMALLEST, 1.5)
    by_depth.legend(figure, rows["depth"], ("gradient descent", "linear recursion", "ideal"))
    return figure


def _start(axis: Axes, rows: pd.DataFrame) -> None:
    axis.errorbar(rows["depth"], rows["value"], rows["value_spread"], marker="o", capsize=2,
                  color=COLOURS[0], label="mean and spread")  # fmt: skip
    axis.plot(rows["depth"], rows["ideal"], ":", color="black", label="$E[K_0] = d$")
    axis.xaxis.set_major_locator(FixedLocator(rows["depth"].unique()))
    axis.set(xlabel="depth $d$", ylabel="$K_0$")
    axis.set_ylim(bottom=0)
    axis.legend(loc="upper left")


def _over_time(axis: Axes, rows: pd.DataFrame) -> None:
    shades = by_depth.colours(rows["depth"])
    for (depth, dynamics), curve in rows[rows["dynamics"] != "ideal"].groupby(
        ["depth", "dynamics"]
    ):
        axis.plot(
            curve["time"], curve["value"], by_depth.LINES[dynamics], color=shades[depth],
            linewidth=1.4 if dynamics == "gradient descent" else 0.9,
        )  # fmt: skip
    ideal = rows[rows["dynamics"] == "ideal"].drop_duplicates("time")
    axis.plot(ideal["time"], ideal["value"], ":", color="black", linewidth=1.2)
