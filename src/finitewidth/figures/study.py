"""Figures of a study of one network: initialisations, training, gates.

Each function takes the tables of `finitewidth.library.study.Study`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from finitewidth.figures import kernel_maps, style
from finitewidth.figures.style import COLOURS, GREY

TANGENT = "tangent kernel"
MAPS = {"mean over draws": "mean over draws", "deviation over draws": "standard deviation"}
MARKERS = ("o", "s", "^", "D", "v", "P")
STYLES = ("-", "--", ":", "-.", (0, (5, 1)), (0, (1, 1)))
MOST_MAPS, MOST_LAYERS = 4, 6  # that are drawn: the first, the last, and some between them
LOGARITHMIC = ("train_loss", "eigenvalue")
TRAINING: tuple[tuple[str, dict[str, str], str], ...] = (  # table, columns, label
    ("training", {"train_loss": "training", "test_loss": "test"}, "loss"),
    ("training", {"train_accuracy": "training", "test_accuracy": "test"}, "accuracy"),
    ("training", {"eigenvalue": ""}, r"$\lambda_{\max}$ over images"),
    (
        "kernels",
        {"same_class": "same class", "other_class": "other classes"},
        r"mean over $\Theta_d$",
    ),
    ("kernels", {"alignment": ""}, "alignment with labels"),
    ("kernels", {"change": ""}, r"$|\Theta - \Theta_0|\,/\,|\Theta_0|$"),
)
GATES = {"changed": "share of gates changed", "active": "share of gates on"}
GATE_KERNEL = {"same_class": "same class", "other_class": "other classes", "alignment": "alignment"}


def dispersion(tables: Mapping[str, pd.DataFrame]) -> Figure:
    """Draw the diagonal over random initialisations, its dispersion, and mean and deviation."""
    figure, axes = style.subplots(1, 4, height=2.3, width_ratios=(1.35, 0.95, 1, 1))
    _distribution(axes[0], tables["draws"])
    _dispersion(axes[1], tables["dispersion"])
    entries = tables["entries"]
    mean = entries[entries["kernel"] == "mean over draws"]
    scale = mean.loc[mean["row"] == mean["column"], "value"].mean()
    for number, (name, axis) in enumerate(zip(MAPS, axes[2:], strict=True)):
        rows = entries[entries["kernel"] == name]
        image = _draw_map(axis, rows, scale, named=number == 0)
        kernel_maps.add_bar(figure, image, axis, "", location="bottom", aspect=25)
    style.title_panels(axes, ["", "", *MAPS.values()])
    return figure


def _distribution(axis: Axes, rows: pd.DataFrame) -> None:
    """Draw which share of draws and images has at most a value, for both kinds of outputs."""
    for number, (name, group) in enumerate(rows.groupby("outputs", sort=False)):
        ratio = group["theta"] / group.groupby("image")["theta"].transform("mean")
        values = np.sort(ratio.to_numpy())
        share = np.arange(1, len(values) + 1) / len(values)
        axis.plot(values, share, color=COLOURS[number], linestyle=STYLES[number], label=name)
    axis.plot([1, 1], [0, 1], color=GREY, linewidth=0.8, linestyle=(0, (5, 2)), zorder=0)
    axis.set(xlabel=r"$\Theta(x, x)$ over its mean", ylabel="share of values")
    axis.set_xlim(left=0)
    axis.set_ylim(0, 1.4)  # leaves room for the legend
    axis.set_yticks([0, 0.25, 0.5, 0.75, 1])
    axis.legend(loc="upper left")


def _dispersion(axis: Axes, rows: pd.DataFrame) -> None:
    """Draw r of both kinds of outputs: bars are 95 % intervals, dots reach over single images.

    Too few draws give a lower bound: the bar then has an arrow in place of its upper end.
    """
    for number, row in enumerate(rows.itertuples()):
        axis.plot(
            [number] * 2,
            [row.smallest, row.largest],
            color=COLOURS[number],
            linewidth=0.7,
            linestyle=":",
            zorder=1,
        )
        bounded = np.isfinite(row.high)
        above = row.high - row.r if bounded else 0.0
        axis.errorbar(
            [number],
            [row.r],
            [[row.r - row.low], [above]],
            color=COLOURS[number],
            marker=MARKERS[number],
            linestyle="none",
        )
        if not bounded:
            axis.annotate(
                "",
                (number, 1),
                (number, row.r),
                ("data", "axes fraction"),
                "data",
                arrowprops={"arrowstyle": "->", "color": COLOURS[number]},
            )
    axis.set_xticks(range(len(rows)), [name.replace(" ", "\n", 1) for name in rows["outputs"]])
    axis.set_xlim(-0.6, len(rows) - 0.4)
    axis.axhline(1, color=GREY, linestyle=(0, (5, 2)), linewidth=0.8, zorder=0)
    highest = rows["high"].where(np.isfinite(rows["high"]), rows["r"])
    top = float(max(rows["largest"].max(), highest.max()))
    axis.set_ylim(1 - 0.08 * (top - 1), 1 + 1.1 * (top - 1))
    axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.4g}"))
    axis.set(xlabel="kernel of", ylabel=r"dispersion $r$ of $\Theta(x, x)$")


def training(tables: Mapping[str, pd.DataFrame]) -> Figure:
    """Draw losses and properties of the tangent kernel, and below it the kernel at some steps."""
    kernels = tables["kernels"]
    rows = {"training": tables["training"], "kernels": kernels[kernels["kernel"] == TANGENT]}
    entries = tables["entries"]
    times = _some(rows["training"]["step"], MOST_MAPS)
    figure, (axes, drawn) = style.grids((3.1, 1.75), ((2, 3), (1, len(times))))
    for axis, (table, columns, label) in zip(axes, TRAINING, strict=True):
        _curves(axis, rows[table], columns, label)
        if next(iter(columns)) in LOGARITHMIC:
            axis.set_yscale("log")
            style.logarithmic(axis.yaxis)
    bar = r"$\Theta(x, \tilde{x})\,/\,\Theta_d$"
    _maps(figure, drawn, entries[entries["kernel"] == TANGENT], times, bar)
    style.title_panels([*axes, *drawn], [""] * len(axes) + [f"step {time:g}" for time in times])
    return figure


def gates(tables: Mapping[str, pd.DataFrame]) -> Figure:
    """Draw shares of gates and the kernel of the gates, and below it this kernel at some steps."""
    layers, kernels, entries = tables["layers"], tables["kernels"], tables["entries"]
    layers = layers[layers["layer"].isin(_some(layers["layer"], MOST_LAYERS))]
    kernels = kernels[kernels["kernel"] != TANGENT]
    name = kernels["kernel"].iloc[0]
    times = _some(kernels["step"], MOST_MAPS)
    figure, (axes, drawn) = style.grids((1.7, 1.75), ((1, 3), (1, len(times))), legend=0.45)
    for axis, (column, label) in zip(axes, GATES.items(), strict=False):
        for number, (_, rows) in enumerate(layers.groupby("layer")):
            axis.plot(rows["step"], rows[column], **_line(number))
        axis.set_ylim(0, max(0.05, 1.08 * float(layers[column].max())))
        axis.set_ylabel(label)
        style.steps_from_zero(axis, layers["step"])
        axis.set_xlabel("step")
    _curves(axes[2], kernels, GATE_KERNEL, "blocks, alignment")
    axes[2].set_ylim(0, 1.02)
    handles, labels = axes[2].get_legend_handles_labels()
    axes[2].get_legend().remove()
    figure.legend(handles, labels, title=f"c  {name}", loc="outside upper right")
    _maps(figure, drawn, entries[entries["kernel"] == name], times, f"{name}\nover mean diagonal")
    style.title_panels([*axes, *drawn], ["", "", "", *(f"step {time:g}" for time in times)])
    _layer_legend(figure, layers)
    return figure


def _layer_legend(figure: Figure, layers: pd.DataFrame) -> None:
    """Name the layers of the first two panels."""
    handles = []
    for number, (layer, rows) in enumerate(layers.groupby("layer")):
        units, activation = int(rows["units"].iloc[0]), rows["activation"].iloc[0]
        label = f"layer {layer:g} ({activation}, {units:,} gates)"
        handles.append(style.handle(label, **_line(number)))
    figure.legend(handles=handles, title="a, b  layers", loc="outside upper left", ncols=2)


def _some(values: pd.Series, most: int) -> list[int]:
    """At most ``most`` of the different values, evenly spaced, the first and last among them."""
    every = sorted(values.unique())
    places = np.linspace(0, len(every) - 1, min(most, len(every))).round().astype(int)
    return [int(every[place]) for place in places]


def _line(number: int) -> dict[str, Any]:
    return {
        "color": COLOURS[number],
        "marker": MARKERS[number],
        "linestyle": STYLES[number],
        "markersize": 2.6,
    }


def _curves(axis: Axes, rows: pd.DataFrame, labels: Mapping[str, str], ylabel: str) -> None:
    """Draw those of some columns that there are, with a legend if there are several."""
    columns = [column for column in labels if column in rows]
    for number, column in enumerate(columns):
        axis.plot(rows["step"], rows[column], label=labels[column], **_line(number))
    axis.set_ylabel(ylabel)
    style.steps_from_zero(axis, rows["step"])
    axis.set_xlabel("step")
    if len(columns) > 1:
        axis.legend()


def _maps(
    figure: Figure, axes: Sequence[Axes], rows: pd.DataFrame, times: Sequence[int], label: str
) -> None:
    """Draw one kernel at some times, each over its mean diagonal, with one scale of colours."""
    diagonal = rows[rows["row"] == rows["column"]].groupby("step")["value"].mean()
    shares = rows["value"] / rows["step"].map(diagonal)
    shown = shares[rows["step"].isin(times)]
    least, most = min(0.0, shown.min()), max(1e-9, shown.max())
    for number, (axis, time) in enumerate(zip(axes, times, strict=True)):
        now = rows[rows["step"] == time]
        image = _draw_map(axis, now, diagonal[time], named=number == 0, vmin=least, vmax=most)
    kernel_maps.add_bar(figure, image, axes, label, shrink=0.8, aspect=25)


def _draw_map(axis: Axes, rows: pd.DataFrame, scale: float, *, named: bool, **looks: Any) -> Any:
    """Draw a symmetric matrix over ``scale`` from its rows on and above the diagonal.

    ``named`` tells whether classes are named along the vertical axis, too.
    """
    drawn = kernel_maps.image(axis, kernel_maps.symmetric(rows, rows["value"] / scale), **looks)
    centres, _ = kernel_maps.classes_of(rows)
    kept = dict(list(centres.items())[:: -(-len(centres) // 10)])  # ten labels at most
    for ticks, words in ((axis.xaxis, True), (axis.yaxis, named)):
        ticks.set_ticks(list(kept.values()), [str(c) if words else "" for c in kept])
        ticks.set_tick_params(length=0)
    axis.set_xlabel("class")
    axis.set_ylabel("class" if named else "")
    return drawn
