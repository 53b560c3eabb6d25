"""thesis Figure 2.5: heat maps of the tangent kernel of one network at four times of training."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from finitewidth.figures import kernel_maps, style
from finitewidth.papers.thesis import columns
from finitewidth.records.tables import Table

HEIGHT = 2.15  # inches
TABLE = Table(
    columns.SIGMA_W2,
    columns.STEP,
    columns.ROW,
    columns.COLUMN,
    columns.CLASS_ROW,
    columns.CLASS_COLUMN,
    columns.SHARE,
)


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return the kernels of the smallest variance; the thesis does not give the variance."""
    kernels = tables["kernels"][TABLE.names]
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
