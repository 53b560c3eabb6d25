"""``beyond`` Figure 4: losses, means over blocks of the kernel, and heat maps during training."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, StrMethodFormatter

from finitewidth.figures import kernel_maps
from finitewidth.figures.style import COLOURS

WIDTH, TOP, LINE = 6.9, 1.75, 1.3  # inches: of the figure, heights of the losses and of each line
SMALL, MEDIUM = 6.8, 7.5  # points
MARKERS = ("^", "o", "D", "s", "v", "P")
SHADES = (COLOURS[0], "#E69F00", COLOURS[3], "0.3", COLOURS[5])  # not those of the blocks
LOSSES = {"test_loss": "test loss", "train_loss": "training loss"}
BLOCKS = {  # colour, marker, line, label
    "same_class": (COLOURS[1], "o", "-", r"$\Theta_c / \Theta_d$, same class"),
    "same_class_with_diagonal": (COLOURS[1], "", ":", "the same with the diagonal"),
    "other_class": (COLOURS[2], "s", "-", r"$\Theta_n / \Theta_d$, other classes"),
}
LETTERS = "abcdefghijklmnop"


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return curves and kernels; ``panel`` is ``curve`` or ``map``."""
    curves = tables["curves"].assign(panel="curve")
    maps = tables["kernels"][kernel_maps.COLUMNS].assign(panel="map")
    return pd.concat([curves, maps], ignore_index=True)


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw the losses above, and below a line of ratios and heat maps for each variance."""
    variances = sorted(rows["sigma_w2"].unique())
    curves, maps = (rows[rows["panel"] == panel] for panel in ("curve", "map"))
    steps = sorted(maps["step"].unique())
    figure = Figure(figsize=(WIDTH, TOP + 0.35 + LINE * len(variances)), layout="constrained")
    figure.get_layout_engine().set(w_pad=0.02, h_pad=0.03, wspace=0.02, hspace=0.03)
    grid = figure.add_gridspec(3, 1, height_ratios=(TOP, 0.15, LINE * len(variances)))
    top = grid[0].subgridspec(1, len(LOSSES))
    for place, (name, label) in enumerate(LOSSES.items()):
        axis = figure.add_subplot(top[place])
        _losses(axis, curves[curves["quantity"] == name])
        axis.set_title(f"{LETTERS[place]}) {label}", fontsize=MEDIUM, loc="left")
    lines = grid[2].subgridspec(len(variances), 1 + len(steps), width_ratios=(2, *[1] * len(steps)))
    drawn = []
    for line, variance in enumerate(variances):
        axis = figure.add_subplot(lines[line, 0])
        _blocks(axis, curves[curves["sigma_w2"] == variance], steps)
        name = f"{LETTERS[len(LOSSES) + line]}) $\\sigma_w^2$ = {variance:g}"
        axis.set_title(name, fontsize=MEDIUM, loc="left")
        for place, step in enumerate(steps):
            panel = figure.add_subplot(lines[line, place + 1])
            own = maps[(maps["sigma_w2"] == variance) & (maps["step"] == step)]
            labels = ("x" if line == len(variances) - 1 else "") + ("y" if place == 0 else "")
            image = kernel_maps.draw_map(panel, own, labels)
            panel.set_title(f"$t$ = {step:g}", fontsize=SMALL, pad=3)
            drawn.append(panel)
    axis.set_xlabel("step $t$", fontsize=MEDIUM, labelpad=1)
    kernel_maps.add_bar(figure, image, drawn, shrink=0.6, aspect=30, pad=0.02)
    _legend(figure.add_subplot(grid[1]))
    return figure


def _losses(axis: Axes, rows: pd.DataFrame) -> None:
    """Draw a loss of all variances: medians of the runs, and bands from the least to the most."""
    for place, (variance, curve) in enumerate(rows.groupby("sigma_w2")):
        colour = SHADES[place % len(SHADES)]
        axis.plot(curve["step"], curve["y"], color=colour, marker=MARKERS[place % len(MARKERS)],
                  markersize=3.2, linewidth=1.1, label=rf"$\sigma_w^2$ = {variance:g}")  # fmt: skip
        axis.fill_between(curve["step"], curve["low"], curve["high"], color=colour, alpha=0.2,
                          linewidth=0)  # fmt: skip
    axis.set_yscale("log")
    _steps(axis, rows)
    axis.set_xlabel("step $t$", fontsize=MEDIUM, labelpad=1)
    axis.legend(fontsize=SMALL, handlelength=2, borderaxespad=0.2)


def _blocks(axis: Axes, rows: pd.DataFrame, steps: list[float]) -> None:
    """Draw means over blocks; bars are the standard deviation of single entries."""
    for step in steps:
        axis.axvline(step, color="0.85", linewidth=0.8, zorder=0)
    for name, (colour, marker, style, _) in BLOCKS.items():
        curve = rows[rows["quantity"] == name]
        axis.errorbar(
            curve["step"], curve["y"], curve["spread"] if curve["spread"].notna().all() else None,
            color=colour, marker=marker, linestyle=style, markersize=2.6, linewidth=1,
            elinewidth=0.6, zorder=2 if marker else 3,
        )  # fmt: skip
    axis.set_ylim(0, 1.35)
    axis.set_yticks([0, 0.5, 1])
    _steps(axis, rows)


def _steps(axis: Axes, rows: pd.DataFrame) -> None:
    """Scale steps by their square roots, so that early ones can be told apart."""
    last = float(rows["step"].max())
    axis.set_xscale("function", functions=(_root, np.square))
    axis.set_xlim(-0.0004 * last, 1.03 * last)
    unit = 10 ** np.floor(np.log10(last))
    marks = [0, *(share * unit for share in (0.1, 0.5, *range(1, 10)) if share * unit <= last)]
    if len(marks) > 6:
        marks = [mark for mark in marks if mark / unit in (0, 0.1, 0.5, 1, 2, 3, 6, 9)]
    axis.xaxis.set_major_locator(FixedLocator(marks))
    axis.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axis.tick_params(labelsize=SMALL, length=2.5, pad=2)


def _root(steps: np.ndarray) -> np.ndarray:
    """Return square roots with the sign, so that the margin left of 0 is defined."""
    steps = np.asarray(steps, float)
    return np.sign(steps) * np.sqrt(np.abs(steps))


def _legend(axis: Axes) -> None:
    """Name the lines of all ratios, on an axis that shows nothing else."""
    for colour, marker, style, label in BLOCKS.values():
        axis.plot([], [], color=colour, marker=marker, linestyle=style, markersize=3, linewidth=1,
                  label=label)  # fmt: skip
    axis.axis("off")
    axis.legend(loc="center", ncols=len(BLOCKS), fontsize=SMALL)
