"""npf Figure 3 and npf0 Figure 3: accuracy by stage, nu and kernel sizes during training."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter

from finitewidth.figures.npf.nu_panel import draw_nu
from finitewidth.figures.style import COLOURS, panels

COLUMNS = ("panel", "series", "x", "y", "spread", "runs", "failed", "ridged", "condition_number")
REFERENCES = {"ReLU": (1, "--"), "CNTK on CIFAR-10, as printed": (2, "-."), "FRNPF": (3, ":")}
SIZES = {
    "trace of K^v": (0, "-", "trace of $K^v$"),
    "trace of K^f": (1, "-", "trace of $K^f$"),
    "Frobenius norm of K^v": (0, "--", r"$\Vert K^v\Vert_F$"),
    "Frobenius norm of K^f": (1, "--", r"$\Vert K^f\Vert_F$"),
}


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return the rows to draw, from the tables ``stages``, ``nu`` and ``kvf``."""
    parts = [tables[name] for name in ("stages", "nu", "kvf")]
    return pd.concat(parts).reindex(columns=list(COLUMNS))


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw three panels.

    Args:
        rows: as selected.
        settings: ``unit`` of the accuracy in the first panel, ``percent`` (npf) or ``fraction``
            (npf0), and ``decoupled``, the paper's name for the networks of the last panel.
    """
    figure, (left, middle, right) = panels(
        3,
        [
            "Gates learnt for ever longer",
            r"$\nu_t$ while ReLU learns",
            f"Kernels while {settings['decoupled']} learns",
        ],
    )
    _stages(left, rows[rows["panel"] == "stages"], settings["unit"])
    draw_nu(middle, rows[rows["panel"] == "nu"])
    _sizes(right, rows[rows["panel"] == "kvf"])
    return figure


def _stages(axis: Axes, rows: pd.DataFrame, unit: str) -> None:
    curve = rows[rows["series"] == "FLNPF"]
    axis.errorbar(
        curve["x"],
        curve["y"],
        curve["spread"],
        color=COLOURS[0],
        marker="o",
        capsize=2,
        label="FLNPF",
    )
    for series, (colour, line) in REFERENCES.items():
        height = rows[rows["series"] == series]["y"].iloc[0]
        axis.axhline(height, color=COLOURS[colour], linestyle=line, linewidth=1, label=series)
    axis.xaxis.set_major_locator(MaxNLocator(integer=True))
    if unit == "percent":
        axis.yaxis.set_major_formatter(PercentFormatter(xmax=1, decimals=0, symbol=""))
    axis.set(xlabel="stage", ylabel="test accuracy (%)" if unit == "percent" else "test accuracy")
    axis.legend(loc="lower right", fontsize=6, handlelength=1.5, borderaxespad=0.2)


def _sizes(axis: Axes, rows: pd.DataFrame) -> None:
    for series, (colour, line, label) in SIZES.items():
        curve = rows[rows["series"] == series]
        axis.errorbar(
            curve["x"], curve["y"], curve["spread"],
            color=COLOURS[colour], linestyle=line, marker="o", capsize=2, label=label,
        )  # fmt: skip
    if rows["y"].min() > 0:  # all sizes are 0 for the output softmax_sum
        axis.set_yscale("log")
    axis.set(xlabel="epoch", ylabel="size")
    axis.legend(loc="best")
