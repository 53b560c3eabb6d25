"""dgn Figure 7: two digits classified with adaptable, learnt and frozen gates."""

from collections.abc import Mapping
from typing import Any, Literal

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from finitewidth.declarations import columns as shared
from finitewidth.figures import by_depth, style
from finitewidth.papers.dgn import columns
from finitewidth.papers.dgn.figures import gates
from finitewidth.records.tables import Table

FOUR = ("soft-GaLU", "soft-ReLU", "ReLU", "GaLU")
PANELS = {
    "train": ("training", FOUR),
    "test": ("generalisation", FOUR),
    "gates": ("frozen gates, learnt or not", ("learnt gates", "unlearnt gates")),
    "adaptable": ("same start, gates adaptable or frozen", ("ReLU", "frozen ReLU")),
}
LINES = {"train": "-", "test": (0, (1, 1.2))}
TABLE = Table(
    columns.PANEL_OF_GATES,
    columns.SERIES_OF_GATES,
    columns.SPLIT,
    columns.EPOCH_SHOWN,
    columns.SQUARED_ERROR,
    columns.SQUARED_ERROR_DEVIATION,
    columns.TEST_ACCURACY_AT_EPOCH,
    columns.TEST_IMAGES_SHOWN,
    shared.RUNS,
    shared.DIVERGED_RUNS,
    columns.ALL_TRAINED_OF_CURVE,
)


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return all rows of the table ``curves``."""
    names = {"x": "epoch", "y": "squared_error", "spread": "standard_deviation"}
    return tables["curves"].rename(columns=names).reindex(columns=TABLE.names)


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw four panels of squared errors; legends show the test accuracies after the last epoch."""
    figure, axes = style.subplots(2, 2, height=4.6, sharex=True, sharey=True)
    style.title_panels(axes.flat, [title for title, _ in PANELS.values()])
    for axis, (panel, (_, series)) in zip(axes.flat, PANELS.items(), strict=True):
        _panel(axis, rows[rows["panel"] == panel], series)
    for axis in axes[:, 0]:
        axis.set_ylabel("mean squared error")
    for axis in axes[1]:
        axis.set_xlabel("epoch")
        gates.epochs(axis)
    handles = []
    for split, line in LINES.items():
        if split in set(rows["split"]):
            handles.append(style.handle(f"{split} images", color=style.GREY, linestyle=line))
    runs = by_depth.runs_of(rows, "series")
    style.legend_above(figure, handles, title=f"mean and sample standard deviation, {runs}")
    return figure


def _panel(axis: Axes, rows: pd.DataFrame, series: tuple[str, ...]) -> None:
    """Draw the lines of one panel, each network with one legend entry; test errors are dotted."""
    axis.set_yscale("log")
    untrained = gates.untrained(rows)
    for number, name in enumerate(series):
        network = rows[rows["series"] == name]
        title = name + gates.UNTRAINED if name in untrained else name
        has_both = network["split"].nunique() > 1
        for shift, (split, curve) in enumerate(network.groupby("split", sort=False)):
            if split == "test":
                at_end = curve.sort_values("epoch")["test_accuracy"].iloc[-1]
                label: str | None = f"{title}: {100 * at_end:.1f} %"
            else:
                label = None if has_both else title
            first_mark = (number + shift / 2) / len(series)
            gates.curve(
                axis,
                curve,
                "squared_error",
                name,
                first_mark,
                linestyle=LINES[split],
                label=label,
            )
    _legend(axis, rows)


def _legend(axis: Axes, rows: pd.DataFrame) -> None:
    """Add a legend of the networks, with the number of test images if their errors are drawn."""
    splits = set(rows["split"])
    if not splits:
        return
    # errors of test images stay above those of training images, which share the axis
    corner: Literal["lower left", "upper right"]
    corner = "lower left" if splits == {"test"} else "upper right"
    title = None
    if "test" in splits:
        title = f"test images right (of {rows['test_images'].iloc[0]:g})"
    axis.legend(loc=corner, title=title, alignment="left")
