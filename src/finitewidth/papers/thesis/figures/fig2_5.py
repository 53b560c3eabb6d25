"""thesis Figure 2.5: heat maps of the tangent kernel of one network at four times of training."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from finitewidth.figures import kernel_maps, style
from finitewidth.records import fields

HEIGHT = 2.15  # inches
FIELDS = {
    "sigma_w2": fields.number("variance of the initial weights, times the width of the layer"),
    "step": fields.integer("step of the training", "step"),
    "row": fields.integer("place of the first image; images are sorted by class"),
    "column": fields.integer("place of the second image, not before the first: maps are symmetric"),
    "class_row": fields.integer("class of the first image"),
    "class_column": fields.integer("class of the second image"),
    "share": fields.number("kernel of both images over the mean of its diagonal at this step"),
}


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return the kernels of the smallest variance; the thesis does not give the variance."""
    kernels = tables["kernels"][list(FIELDS)]
    return kernels[kernels["sigma_w2"] == kernels["sigma_w2"].min()]


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw a heat map for each time."""
    steps = sorted(rows["step"].unique())
    figure, axes = style.subplots(1, len(steps), height=HEIGHT, squeeze=False)
    panels = axes[0]
    for number, (axis, step) in enumerate(zip(panels, steps, strict=True)):
        labels = "xy" if number == 0 else "x"
        image = kernel_maps.draw_map(axis, rows[rows["step"] == step], labels)
        axis.set_xlabel(r"class of $\tilde{x}$")
    style.title_panels(panels, [f"step {step:g}" for step in steps])
    panels[0].set_ylabel("class of $x$")
    kernel_maps.add_share_bar(figure, image, list(panels), shrink=0.9, aspect=18)
    return figure
