"""dgn Figure 7: two digits classified with adaptable, learnt and frozen gates."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from finitewidth.figures.style import COLOURS, band, panels

PANELS = {
    "train": ("Training", {"soft-GaLU": 2, "soft-ReLU": 3, "ReLU": 0, "GaLU": 1}),
    "test": ("Generalisation", {"soft-GaLU": 2, "soft-ReLU": 3, "ReLU": 0, "GaLU": 1}),
    "gates": ("Frozen gates, learnt or not", {"learnt gates": 3, "unlearnt gates": 1}),
    "adaptable": ("Same start, gates adaptable or frozen", {"ReLU": 0, "frozen ReLU": 5}),
}
LINES = {"train": "-", "test": ":"}


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return all rows of the table ``curves``."""
    return tables["curves"]


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw four panels of squared errors; legends show the final test accuracies."""
    figure, axes = panels(4, [title for title, _ in PANELS.values()])
    for axis, (panel, (_, series)) in zip(axes, PANELS.items(), strict=True):
        _panel(axis, rows[rows["panel"] == panel], series)
    axes[0].set_ylabel("mean squared error, train")
    axes[1].set_ylabel("mean squared error, test")
    for axis in axes[2:]:
        axis.set_ylabel("mean squared error")
        axis.plot([], [], color="0.3", linestyle="-", label="train")
        axis.plot([], [], color="0.3", linestyle=":", label="test")
        axis.margins(y=0.2)  # room for four lines of legend above the curves
        axis.legend(fontsize=6.5, loc="upper right")
    return figure


def _panel(axis: Axes, rows: pd.DataFrame, series: Mapping[str, int]) -> None:
    """Draw the lines of one panel, each with one legend entry; test errors are dotted."""
    both = rows["split"].nunique() > 1
    for name, colour in series.items():
        for split, curve in rows[rows["series"] == name].groupby("split", sort=False):
            right = f" ({curve['test_accuracy'].iloc[-1]:.1%} right)" if split == "test" else ""
            band(
                axis, curve, color=COLOURS[colour], linestyle=LINES[split] if both else "-",
                label=None if both and split == "train" else name + right,
            )  # fmt: skip
    axis.set(xlabel="epoch", yscale="log")
    axis.legend(fontsize=6.5)
