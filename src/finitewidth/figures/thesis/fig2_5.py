"""thesis Figure 2.5: heat maps of the tangent kernel of one network at four times of training."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from finitewidth.figures import kernel_maps
from finitewidth.figures.style import subplots

WIDTH, HEIGHT = 6.9, 2.1  # inches
TITLE = 7.5  # points


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return the kernels of the smallest variance, which have the clearest blocks."""
    kernels = tables["kernels"][kernel_maps.COLUMNS]
    return kernels[kernels["sigma_w2"] == kernels["sigma_w2"].min()]


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw a heat map for each time."""
    steps = sorted(rows["step"].unique())
    figure, axes = subplots(1, len(steps), figsize=(WIDTH, HEIGHT), squeeze=False)
    for place, (axis, step) in enumerate(zip(axes[0], steps, strict=True)):
        labels = "xy" if place == 0 else "x"
        image = kernel_maps.draw_map(axis, rows[rows["step"] == step], labels)
        axis.set_title(f"$t$ = {step:g}", fontsize=TITLE)
        axis.set_xlabel("class", fontsize=TITLE, labelpad=1)
    axes[0][0].set_ylabel("class", fontsize=TITLE)
    kernel_maps.add_bar(figure, image, list(axes[0]), shrink=0.85, aspect=18, pad=0.01)
    return figure
