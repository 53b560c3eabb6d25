"""dgn Figure 5: ReLU and GaLU on images, random labels and random pixels."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from finitewidth.declarations import columns as shared
from finitewidth.figures import by_depth, style
from finitewidth.papers.dgn import columns
from finitewidth.papers.dgn.figures import gates
from finitewidth.records.tables import Table
from finitewidth.settings.sections import Section

PANELS = {  # the title of ``pixels`` is one of `PIXELS`
    "mnist": "images",
    "labels": "random labels",
    "pixels": "",
    "test": "images, test",
}
PIXELS = {"random_pixels": "random pixels", "permuted_pixels": "pixels permuted"}
TABLE = Table(
    columns.PANEL_OF_IMAGES,
    columns.SERIES_OF_IMAGES,
    columns.SOURCE_OF_ACCURACY,
    columns.EPOCH_OF_ACCURACY,
    columns.ACCURACY,
    columns.ACCURACY_DEVIATION,
    columns.RUNS_OF_ACCURACY,
    shared.DIVERGED_RUNS,
    columns.ALL_TRAINED_SHOWN,
)
SERIES = {"ReLU": "-", "GaLU": (0, (3.5, 1.5))}
PRINTED = {
    ("test_accuracy", "relu"): ("test", "ReLU"),
    ("test_accuracy", "galu"): ("test", "GaLU"),
    ("train_accuracy", "all"): ("mnist", "all"),
}
PAPER = "paper (MNIST), in grey with the same marks"
BESIDE = 1.08  # place of a value of the paper, in units of the last epoch


class Look(Section):
    """What the figure reads of the settings."""

    artifact: str
    pixels: str  # how the third kind of images is made: random_pixels or permuted_pixels
    trained: float  # train accuracy from which a run counts as trained


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return all rows of the table ``curves``, and the accuracies of the paper's text."""
    names = {"x": "epoch", "y": "accuracy", "spread": "standard_deviation"}
    ours = tables["curves"].rename(columns=names).assign(source="ours")
    printed = tables["reported"].query("artifact == 'dgn_text' and row == 'mnist'")
    paper = []
    for row in printed.to_dict("records"):
        panel, series = PRINTED[row["quantity"], row["column"]]
        paper.append(
            {
                "panel": panel,
                "series": series,
                "source": "paper",
                "accuracy": row["value"] / 100,
                "runs": 0,
                "diverged": 0,
            }
        )
    return pd.concat([ours, pd.DataFrame(paper)], ignore_index=True).reindex(columns=TABLE.names)


def draw(rows: pd.DataFrame, settings: Look) -> Figure:
    """Draw train accuracy on three kinds of images, and test accuracy.

    The paper's values stand beside the curves, since they belong to no epoch.
    """
    figure, axes = style.subplots(1, 4, height=2.4)
    titles = PANELS | {"pixels": PIXELS[settings.pixels]}
    style.title_panels(axes, list(titles.values()))
    ours = rows[rows["source"] == "ours"]
    for axis, panel in zip(axes, PANELS, strict=True):
        _panel(axis, rows[rows["panel"] == panel])
    by_depth.same_limits(axes[:3])
    for axis in axes[1:3]:
        axis.tick_params(labelleft=False)
    axes[0].set_ylabel("train accuracy (%)")
    axes[3].set_ylabel("test accuracy (%)")

    handles: dict[str, Artist] = {}  # label -> the first handle with this label
    for axis in axes:
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    labels = sorted(handles, key=lambda label: (label == PAPER, label.endswith("GaLU")))
    figure.legend(
        [handles[label] for label in labels],
        labels,
        loc="outside upper center",
        ncols=len(labels),
        title=f"mean and sample standard deviation, {by_depth.runs_of(ours, 'series')}",
    )
    return figure


def _panel(axis: Axes, rows: pd.DataFrame) -> None:
    ours = rows[rows["source"] == "ours"]
    for number, (series, line) in enumerate(SERIES.items()):
        curve = ours[ours["series"] == series]
        if len(curve):
            looks = {"linestyle": line, "label": series}
            gates.curve(axis, curve, "accuracy", series, number / 2, most=1.0, **looks)
    last = ours["epoch"].max() if len(ours) else 1
    for row in rows[rows["source"] == "paper"].to_dict("records"):
        look = gates.LOOKS.get(row["series"], {"marker": "D"})
        style.paper_values(
            axis, [BESIDE * last], [row["accuracy"]], label=PAPER, marker=look["marker"]
        )
    label = "epoch"
    untrained = gates.untrained(ours)
    if untrained:
        label += f"\nnot trained: {', '.join(untrained)}"
    axis.set_xlabel(label)
    gates.epochs(axis)
    axis.yaxis.set_major_formatter(PercentFormatter(xmax=1, decimals=0, symbol=""))
