"""npf Figure 3 and npf0 Figure 3: accuracy by stage, nu and kernel sizes during training."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter
from matplotlib.transforms import ScaledTranslation

from finitewidth.figures import style
from finitewidth.figures.style import COLOURS
from finitewidth.papers.npf.columns import networks as columns
from finitewidth.papers.npf.figures import nu_panel
from finitewidth.records.tables import Table
from finitewidth.settings.sections import Section
from finitewidth.tables.numbers import runs_said

TABLE = Table(
    columns.PANEL_SHOWN,
    columns.ACCURACY_SOURCE,
    columns.SERIES_SHOWN,
    columns.STAGE_SHOWN,
    columns.EPOCH_SHOWN,
    columns.ACCURACY_SHOWN,
    columns.NU_SHOWN,
    columns.SIZE_SHOWN,
    columns.SPREAD_SHOWN,
    columns.READING_ERROR,
    columns.RUNS_SHOWN,
    columns.RIDGED_SHOWN,
    columns.TRAINED_SHOWN,
)
FLNPF = "FLNPF"
UNTRAINED = ", not trained"
REFERENCES = {"ReLU": (2, "--"), "FRNPF": (3, ":"), "CNTK": (4, "-.")}  # colour, line
NAMES = {"flnpf": FLNPF, "relu": "ReLU", "frnpf": "FRNPF", "cntk": "CNTK"}
SIZES = {  # network (value or feature), colour, line, mark, label
    "trace of K^v": (0, 0, "-", "o", "trace $K^{}$"),
    "Frobenius norm of K^v": (0, 0, "--", "o", r"$\Vert K^{}\Vert_F$"),
    "trace of K^f": (1, 3, "-", "s", "trace $K^{}$"),
    "Frobenius norm of K^f": (1, 3, "--", "s", r"$\Vert K^{}\Vert_F$"),
}


class Look(Section):
    """The notation of a version of the paper."""

    artifact: str
    unit: Literal["percent", "fraction"]  # of the accuracy in the first panels
    decoupled: str  # the paper's name for the networks of the last panel
    networks: list[str]  # its letters for their value and their feature network


def select(tables: Mapping[str, pd.DataFrame], settings: Look) -> pd.DataFrame:
    """Return the rows of ``stages``, ``nu`` and ``kvf``, and the paper's values of ``reported``.

    The CNTK is a value of the paper alone: it was not computed on our images.
    """
    stages = tables["stages"]
    stages = stages[stages["series"].isin([FLNPF, "ReLU", "FRNPF"])]
    parts = [
        stages.rename(columns={"x": "stage", "y": "accuracy"}).assign(panel="stages"),
        nu_panel.nu_rows(tables["nu"]).assign(panel="nu", series="nu"),
        tables["kvf"].rename(columns={"x": "epoch", "y": "size"}).assign(panel="sizes"),
    ]
    named = [part.rename(columns={"spread": "standard_deviation"}) for part in parts]
    ours = pd.concat(named).assign(source="ours")
    rows = pd.concat([ours, _printed(tables["reported"])], ignore_index=True)
    return rows.reindex(columns=TABLE.names)


def _printed(reported: pd.DataFrame) -> pd.DataFrame:
    """Return the paper's accuracies as fractions."""
    rows = reported[reported["artifact"].isin(["npf_fig3", "npf0_fig3"])]
    stage = rows["row"].str.extract(r"^stage(\d+)$", expand=False).astype(float)
    return pd.DataFrame(
        {
            "panel": "stages",
            "source": "paper",
            "series": rows["column"].map(NAMES),
            "stage": stage,
            "accuracy": rows["value"] / 100,
            "reading_error": rows["reading_error"] / 100,
            "runs": rows["runs"],
        }
    )


def draw(rows: pd.DataFrame, settings: Look) -> Figure:
    """Draw the stages of our runs, those of the paper, nu, and sizes of kernels.

    The paper's values have a panel of their own, on the same scale, since they may be for other
    images than ours.
    """
    has_untrained = (rows["trained"] == 0).any()
    height = 2.5 if has_untrained else 2.2  # for a longer legend
    figure, axes = style.subplots(1, 4, height=height, width_ratios=[1, 0.8, 1, 1])
    ours, paper, middle, right = axes
    paper.sharex(ours)
    paper.sharey(ours)
    stages = rows[rows["panel"] == "stages"]
    _stages(ours, stages[stages["source"] == "ours"])
    _paper(paper, stages[stages["source"] == "paper"])
    if settings.unit == "percent":
        ours.yaxis.set_major_formatter(PercentFormatter(xmax=1, decimals=0, symbol=""))
        ours.set(ylabel="test accuracy (%)")
    else:
        ours.set(ylabel="test accuracy")
    paper.tick_params(labelleft=False)
    for axis in (ours, paper):
        axis.xaxis.set_major_locator(MaxNLocator(integer=True))
        axis.set(xlabel="stage")
    nu_panel.draw_nu(middle, rows[rows["panel"] == "nu"])
    _sizes(right, rows[rows["panel"] == "sizes"], settings.networks)
    titles = [
        f"ours, {_runs_of(stages[stages['source'] == 'ours'])}",
        "paper (CIFAR-10)",
        f"ReLU learns, {_runs_of(rows[rows['panel'] == 'nu'])}",
        f"{settings.decoupled} learns, {_runs_of(rows[rows['panel'] == 'sizes'])}",
    ]
    style.title_panels(axes, titles)
    return figure


def _runs_of(rows: pd.DataFrame) -> str:
    """The number of runs in the means of a panel: ``5 runs``, ``2 to 3 runs`` or ``no run``."""
    counts = rows["runs"].dropna()
    return runs_said(counts).removeprefix("over ") if counts.any() else "no run"


def _stages(axis: Axes, rows: pd.DataFrame) -> None:
    """Draw our runs; stages of which not all runs are trained have open marks."""
    curve = rows[rows["series"] == FLNPF]
    style.bars(
        axis,
        curve["stage"],
        curve["accuracy"],
        curve["standard_deviation"],
        color=COLOURS[0],
        marker="o",
        label=FLNPF,
    )
    untrained = curve[curve["trained"] == 0]
    if len(untrained):
        axis.plot(
            untrained["stage"],
            untrained["accuracy"],
            "o",
            color=COLOURS[0],
            zorder=5,
            markerfacecolor="white",
            label=FLNPF + UNTRAINED,
        )
    for row in _references(rows):
        _reference(axis, row)
    _legend(axis)


def _reference(axis: Axes, row: Mapping[str, Any]) -> None:
    """Draw a horizontal line with a band of a standard deviation on both sides."""
    number, line = REFERENCES[row["series"]]
    colour = COLOURS[number]
    label = row["series"] + (UNTRAINED if row["trained"] == 0 else "")
    middle = row["accuracy"]
    spread = row["standard_deviation"]
    axis.axhline(middle, color=colour, linestyle=line, label=label)
    if spread > 0:
        low = middle - spread
        high = middle + spread
        axis.axhspan(low, high, color=colour, alpha=0.15, linewidth=0, zorder=0)


def _paper(axis: Axes, rows: pd.DataFrame) -> None:
    """Draw the paper's values; errors of reading them off are smaller than the marks."""
    curve = rows[rows["series"] == FLNPF]
    style.paper_values(axis, curve["stage"], curve["accuracy"], label=FLNPF)
    for row in _references(rows):
        _, line = REFERENCES[row["series"]]
        style.paper_line(axis, row["accuracy"], linestyle=line, label=row["series"])
    _legend(axis)


def _references(rows: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of reference lines with a value, the highest first."""
    is_reference = rows["series"].isin(list(REFERENCES)) & np.isfinite(rows["accuracy"])
    records = rows[is_reference].to_dict("records")
    return sorted(records, key=lambda row: -row["accuracy"])


def _legend(axis: Axes, length: float = 1.7, size: float = style.SMALLEST) -> None:
    """Put the legend, with lines of ``length`` letters, below the panel, where it hides nothing."""
    _, labels = axis.get_legend_handles_labels()
    is_long = any(UNTRAINED in label for label in labels)
    below = ScaledTranslation(-0.15, -0.33, axis.figure.dpi_scale_trans)  # inches
    axis.legend(
        loc="upper left",
        bbox_to_anchor=(0, 0),
        bbox_transform=axis.transAxes + below,
        ncols=1 if is_long else 2,
        columnspacing=0.8,
        handlelength=length,
        handletextpad=0.4,
        borderaxespad=0,
        fontsize=size,
    )


def _sizes(axis: Axes, rows: pd.DataFrame, networks: Sequence[str]) -> None:
    for series, (network, colour, line, mark, label) in SIZES.items():
        curve = rows[rows["series"] == series]
        style.bars(
            axis,
            curve["epoch"],
            curve["size"],
            curve["standard_deviation"],
            label=label.replace("{}", networks[network]),
            elinewidth=0.7,
            color=COLOURS[colour],
            linestyle=line,
            marker=mark,
            markersize=2.2,
        )
    if rows["size"].min() > 0:  # all sizes are 0 for the output softmax_sum
        axis.set_yscale("log")
    axis.set(xlabel="epoch", ylabel="size of the kernel")
    _legend(axis, length=2.2, size=style.TEXT)
