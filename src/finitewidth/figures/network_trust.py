"""Figure of the answer of ``trust`` about a torch network."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from finitewidth.figures import style
from finitewidth.figures.style import COLOURS, GREY


def panels(answer: Any) -> Figure:
    """Draw a `finitewidth.library.module_trust.NetworkTrust`.

    Panels without numbers are left out: the limit, growth with width, training.
    """
    drawn = [_distribution]
    if answer.limit is not None:
        drawn.append(_mean_against_limit)
    if len(answer.growth):
        drawn.append(_growth)
    if len(answer.training):
        drawn.append(_training)
    columns = min(len(drawn), 2)
    rows = -(-len(drawn) // columns)
    width = style.SINGLE if columns == 1 else style.DOUBLE
    figure, axes = style.subplots(rows, columns, height=2.3 * rows, width=width, squeeze=False)
    for axis, draw in zip(axes.flat, drawn, strict=False):
        draw(axis, answer)
    for axis in axes.flat[len(drawn) :]:
        axis.set_axis_off()
    style.title_panels(axes.flat[: len(drawn)], [""] * len(drawn))
    return figure


def _distribution(axis: Axes, answer: Any) -> None:
    """Draw the shares of networks and inputs whose Theta(x, x) is at most a value."""
    if answer.limit is not None:
        reference = np.diagonal(answer.limit)
        label = "limit"
    else:
        reference = answer.diagonals.mean(axis=0)
        label = "mean"
    values = np.sort((answer.diagonals / reference).ravel())
    shares = np.arange(1, len(values) + 1) / len(values)
    axis.plot(values, shares, color=COLOURS[0])
    axis.axvline(1, color=GREY, linewidth=0.8, linestyle=(0, (5, 2)), zorder=0)
    axis.set(xlabel=rf"$\Theta(x, x)$ over its {label}", ylabel="share of networks")


def _mean_against_limit(axis: Axes, answer: Any) -> None:
    """Draw each entry of the mean kernel, with two standard errors, against the limit."""
    entries = np.triu_indices(len(answer.limit))
    limit = answer.limit[entries]
    mean = answer.mean_kernel[entries]
    error = 2 * answer.mean_error[entries]
    style.bars(axis, limit, mean, error, color=COLOURS[0], marker="o", linestyle="none")
    ends = [min(limit.min(), mean.min()), max(limit.max(), mean.max())]
    axis.plot(ends, ends, color=GREY, linewidth=0.8, linestyle=(0, (5, 2)), zorder=0)
    axis.set(xlabel=r"$\Theta$ of infinite width", ylabel="mean over networks")


def _growth(axis: Axes, answer: Any) -> None:
    """Draw the distance to the limit against the width, with a guide of slope -1/2."""
    rows = answer.growth
    _curve(axis, rows["width"], rows["distance"], rows)
    widths = rows["width"].to_numpy(dtype=float)
    guide = rows["distance"].iloc[-1] * (widths / widths[-1]) ** -0.5
    axis.plot(widths, guide, color=GREY, linewidth=0.8, linestyle=(0, (5, 2)), label="slope -1/2")
    axis.set_xscale("log")
    axis.set_yscale("log")
    style.numbers(axis.xaxis, list(widths))
    style.logarithmic(axis.yaxis)
    axis.legend()
    axis.set(xlabel="width", ylabel="distance to the limit")


def _training(axis: Axes, answer: Any) -> None:
    """Draw how far the kernel moves."""
    rows = answer.training
    _curve(axis, rows["step"], rows["change"], rows)
    style.steps_from_zero(axis, rows["step"])
    axis.set_ylim(bottom=0)
    axis.set(xlabel="step", ylabel="change of the kernel")


def _curve(axis: Axes, x: Any, y: Any, rows: Any) -> None:
    """Draw a curve with bars from the column ``low`` to the column ``high``."""
    errors = np.array([y - rows["low"], rows["high"] - y], dtype=float)
    style.bars(axis, x, y, errors, color=COLOURS[0], marker="o")
