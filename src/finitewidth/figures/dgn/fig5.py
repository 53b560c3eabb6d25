"""dgn Figure 5: ReLU and GaLU on images, random labels and random pixels."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from finitewidth.figures.style import COLOURS, band, panels

PANELS = {
    "mnist": "Images",
    "labels": "Random labels",
    "pixels": None,  # the title depends on the settings
    "test": "Images: test",
}
PIXELS = {"random_pixels": "Random pixels", "permuted_pixels": "Pixels permuted"}
SERIES = {"ReLU": (0, "-"), "GaLU": (1, "--")}


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return all rows of the table ``curves``."""
    return tables["curves"]


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw train accuracy on three kinds of images, and test accuracy: mean and spread over runs.

    ``settings["pixels"]`` says how the third kind of images is made: ``random_pixels`` or
    ``permuted_pixels``.
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
