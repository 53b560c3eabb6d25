"""dgn Figure 5: ReLU and GaLU on images, random labels and random pixels."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from finitewidth.figures.style import COLOURS, band, panels

PANELS = {
    "mnist": "Images",
    "labels": "Random labels",
    "pixels": None,  # by setting
    "test": "Images: test",
}
PIXELS = {"random_pixels": "Random pixels", "permuted_pixels": "Pixels permuted"}
SERIES = {"ReLU": (0, "-"), "GaLU": (1, "--")}


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """The rows to draw: all that go into the CSV beside the figure."""
    return tables["curves"]


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Four panels: train accuracy on three kinds of images, test accuracy; mean and spread.

    ``settings``: ``pixels``, how the third kind is made.
    """
    pixels = PIXELS[settings["pixels"]]
    figure, axes = panels(4, [title or pixels for title in PANELS.values()])
    for axis, panel in zip(axes, PANELS, strict=True):
        shown = rows[rows["panel"] == panel]
        for series, (colour, line) in SERIES.items():
            curve = shown[shown["series"] == series]
            band(axis, curve, color=COLOURS[colour], linestyle=line, label=series)
        what = "test" if panel == "test" else "train"
        axis.set(xlabel="epoch", ylabel=f"{what} accuracy", ylim=(None, 1.02))
        axis.legend(loc="best")
    return figure
