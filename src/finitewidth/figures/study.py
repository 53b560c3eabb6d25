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
# how many are drawn: the first, the last, and some between them
MOST_MAPS = 4
MOST_LAYERS = 6
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
        mean_of_image = group.groupby("image")["theta"].transform("mean")
        ratios = np.sort((group["theta"] / mean_of_image).to_numpy())
        shares = np.arange(1, len(ratios) + 1) / len(ratios)
        axis.plot(ratios, shares, color=COLOURS[number], linestyle=STYLES[number], label=name)
    axis.plot([1, 1], [0, 1], color=GREY, linewidth=0.8, linestyle=(0, (5, 2)), zorder=0)
    axis.set(xlabel=r"$\Theta(x, x)$ over its mean", ylabel="share of values")
    axis.set_xlim(left=0)
    axis.set_ylim(0, 1.4)  # leaves room for the legend
    axis.set_yticks([0, 0.25, 0.5, 0.75, 1])
    axis.legend(loc="upper left")


def _dispersion(axis: Axes, rows: pd.DataFrame) -> None:
    """Draw r of both kinds of outputs: bars are 95 % intervals, dots reach over single images."""
    for number, row in enumerate(rows.itertuples()):
        axis.plot(
            [number] * 2,
            [row.smallest, row.largest],
            color=COLOURS[number],
            linewidth=0.7,
            linestyle=":",
            zorder=1,
        )
        _interval(axis, number, row)
    labels = [name.replace(" ", "\n", 1) for name in rows["outputs"]]
    axis.set_xticks(range(len(rows)), labels)
    axis.set_xlim(-0.6, len(rows) - 0.4)
    axis.axhline(1, color=GREY, linestyle=(0, (5, 2)), linewidth=0.8, zorder=0)
    highest = rows["high"].where(np.isfinite(rows["high"]), rows["r"])
    top = float(max(rows["largest"].max(), highest.max()))
    axis.set_ylim(1 - 0.08 * (top - 1), 1 + 1.1 * (top - 1))
    axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.4g}"))
    axis.set(xlabel="kernel of", ylabel=r"dispersion $r$ of $\Theta(x, x)$")


def _interval(axis: Axes, number: int, row: Any) -> None:
    """Draw r and its interval at place ``number``.

    Too few draws give a lower bound: the bar then has an arrow in place of its upper end.
    """
    has_end = np.isfinite(row.high)
    below = row.r - row.low
    above = row.high - row.r if has_end else 0.0
    axis.errorbar(
        [number],
        [row.r],
        [[below], [above]],
        color=COLOURS[number],
        marker=MARKERS[number],
        linestyle="none",
    )
    if not has_end:
        axis.annotate(
            "",
            (number, 1),
            (number, row.r),
            ("data", "axes fraction"),
            "data",
            arrowprops={"arrowstyle": "->", "color": COLOURS[number]},
        )


def training(tables: Mapping[str, pd.DataFrame]) -> Figure:
    """Draw losses and properties of the tangent kernel, and below it the kernel at some steps."""
    kernels = tables["kernels"]
    entries = tables["entries"]
    curves = {"training": tables["training"], "kernels": kernels[kernels["kernel"] == TANGENT]}
    steps = _evenly(curves["training"]["step"], MOST_MAPS)
    figure, (panels, maps) = style.grids((3.1, 1.75), ((2, 3), (1, len(steps))))
    for axis, (table, columns, label) in zip(panels, TRAINING, strict=True):
        _curves(axis, curves[table], columns, label)
        first_column = next(iter(columns))
        if first_column in LOGARITHMIC:
            axis.set_yscale("log")
            style.logarithmic(axis.yaxis)
    bar_label = r"$\Theta(x, \tilde{x})\,/\,\Theta_d$"
    _maps(figure, maps, entries[entries["kernel"] == TANGENT], steps, bar_label)
    titles = [""] * len(panels) + [f"step {step:g}" for step in steps]
    style.title_panels([*panels, *maps], titles)
    return figure


def gates(tables: Mapping[str, pd.DataFrame]) -> Figure:
    """Draw shares of gates and the kernel of the gates, and below it this kernel at some steps."""
    layers = tables["layers"]
    layers = layers[layers["layer"].isin(_evenly(layers["layer"], MOST_LAYERS))]
    kernels = tables["kernels"]
    kernels = kernels[kernels["kernel"] != TANGENT]
    name = kernels["kernel"].iloc[0]
    entries = tables["entries"]
    entries = entries[entries["kernel"] == name]
    steps = _evenly(kernels["step"], MOST_MAPS)

    figure, (panels, maps) = style.grids((1.7, 1.75), ((1, 3), (1, len(steps))), legend=0.45)
    for axis, (column, label) in zip(panels, GATES.items(), strict=False):
        _gate_curves(axis, layers, column, label)
    axis = panels[2]
    _curves(axis, kernels, GATE_KERNEL, "blocks, alignment")
    axis.set_ylim(0, 1.02)
    handles, labels = axis.get_legend_handles_labels()
    legend = axis.get_legend()
    assert legend is not None
    legend.remove()
    figure.legend(handles, labels, title=f"c  {name}", loc="outside upper right")
    _maps(figure, maps, entries, steps, f"{name}\nover mean diagonal")
    titles = ["", "", "", *(f"step {step:g}" for step in steps)]
    style.title_panels([*panels, *maps], titles)
    _layer_legend(figure, layers)
    return figure


def _gate_curves(axis: Axes, layers: pd.DataFrame, column: str, label: str) -> None:
    """Draw a share of gates of each layer against the steps of training."""
    for number, (_, rows) in enumerate(layers.groupby("layer")):
        axis.plot(rows["step"], rows[column], **_line(number))
    axis.set_ylim(0, max(0.05, 1.08 * float(layers[column].max())))
    axis.set_ylabel(label)
    style.steps_from_zero(axis, layers["step"])
    axis.set_xlabel("step")


def _layer_legend(figure: Figure, layers: pd.DataFrame) -> None:
    """Name the layers of the first two panels."""
    handles = []
    for number, (layer, rows) in enumerate(layers.groupby("layer")):
        units = int(rows["units"].iloc[0])
        activation = rows["activation"].iloc[0]
        label = f"layer {layer:g} ({activation}, {units:,} gates)"
        handles.append(style.handle(label, **_line(number)))
    figure.legend(handles=handles, title="a, b  layers", loc="outside upper left", ncols=2)


def _evenly(values: pd.Series, most: int) -> list[int]:
    """At most ``most`` of the different values, evenly spaced, the first and last among them."""
    ordered = sorted(values.unique())
    count = min(most, len(ordered))
    indices = np.linspace(0, len(ordered) - 1, count).round().astype(int)
    return [int(ordered[index]) for index in indices]


def _line(number: int) -> dict[str, Any]:
    return {
        "color": COLOURS[number],
        "marker": MARKERS[number],
        "linestyle": STYLES[number],
        "markersize": 2.6,
    }


def _curves(axis: Axes, rows: pd.DataFrame, labels: Mapping[str, str], ylabel: str) -> None:
    """Draw the columns of ``labels`` that ``rows`` has, with a legend if there are several."""
    columns = [column for column in labels if column in rows]
    for number, column in enumerate(columns):
        axis.plot(rows["step"], rows[column], label=labels[column], **_line(number))
    axis.set_ylabel(ylabel)
    style.steps_from_zero(axis, rows["step"])
    axis.set_xlabel("step")
    if len(columns) > 1:
        axis.legend()


def _maps(
    figure: Figure, axes: Sequence[Axes], rows: pd.DataFrame, steps: Sequence[int], label: str
) -> None:
    """Draw one kernel at some steps, each over its mean diagonal, with one scale of colours."""
    diagonal = rows[rows["row"] == rows["column"]].groupby("step")["value"].mean()
    shares = rows["value"] / rows["step"].map(diagonal)
    drawn = shares[rows["step"].isin(steps)]
    least = min(0.0, drawn.min())
    most = max(1e-9, drawn.max())
    for number, (axis, step) in enumerate(zip(axes, steps, strict=True)):
        entries = rows[rows["step"] == step]
        image = _draw_map(axis, entries, diagonal[step], named=number == 0, vmin=least, vmax=most)
    kernel_maps.add_bar(figure, image, axes, label, shrink=0.8, aspect=25)


def _draw_map(axis: Axes, rows: pd.DataFrame, scale: float, *, named: bool, **looks: Any) -> Any:
    """Draw a symmetric matrix over ``scale`` from its rows on and above the diagonal.

    ``named``: whether classes are named along the vertical axis, too. Returns the image.
    """
    matrix = kernel_maps.symmetric(rows, rows["value"] / scale)
    image = kernel_maps.image(axis, matrix, **looks)
    centres, _ = kernel_maps.classes_of(rows)
    step = -(-len(centres) // 10)  # ten labels at most
    labels = dict(list(centres.items())[::step])
    positions = list(labels.values())
    names = [str(label) for label in labels]
    axis.xaxis.set_ticks(positions, names)
    axis.yaxis.set_ticks(positions, names if named else [""] * len(names))
    for ticks in (axis.xaxis, axis.yaxis):
        ticks.set_tick_params(length=0)
    axis.set_xlabel("class")
    axis.set_ylabel("class" if named else "")
    return image
