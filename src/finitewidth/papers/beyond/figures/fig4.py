"""``beyond`` Figure 4: losses, means over blocks of the kernel, and heat maps during training."""

import re
from collections.abc import Iterator, Mapping
from itertools import cycle
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.gridspec import SubplotSpec
from matplotlib.lines import Line2D

from finitewidth.data.catalogue import ROLES
from finitewidth.figures import kernel_maps, style
from finitewidth.papers.beyond import columns
from finitewidth.papers.beyond.figures.lines import colours
from finitewidth.records.tables import Table
from finitewidth.settings.sections import Section

# heights in inches: of the losses, of each line below them, of the legend
TOP = 1.6
LINE = 1.3
LEGEND = 0.45
MARKERS = ("^", "o", "D", "s", "v", "P")
TIMES = "#8c8c8c"  # lines at the times of the heat maps
LOSSES = {"test_loss": "test loss", "train_loss": "training loss"}
BLOCKS = {  # colour, marker, line, label
    "same_class": (style.COLOURS[2], "o", "-", r"$\Theta_c / \Theta_d$, same class"),
    "same_class_with_diagonal": (style.COLOURS[2], "", ":", "the same with the diagonal"),
    "other_class": (style.COLOURS[4], "s", "-", r"$\Theta_n / \Theta_d$, other classes"),
}
# columns of the reported numbers -> quantity; the authors' class mean counts the diagonal
PRINTED = {
    "same_class_over_diagonal": "same_class_with_diagonal",
    "other_class_over_diagonal": "other_class",
    "test": "test_loss",
    "train": "train_loss",
}
PAPER_MARKS = {"same_class_with_diagonal": "o", "other_class": "s"}
PLACE = re.compile(r"sigma_w2_(?P<sigma_w2>[0-9.]+)_step(?P<step>[0-9]+)")
TABLE = Table(
    columns.PANEL_OF_TRAINING,
    columns.SOURCE_OF_TRAINING,
    columns.DATA,
    columns.SIGMA_W2_AT_START,
    columns.STEP,
    columns.QUANTITY_SHOWN,
    columns.VALUE_SHOWN,
    columns.LOWEST_LOSS,
    columns.HIGHEST_LOSS,
    columns.DEVIATION_OF_ENTRIES,
    columns.READING_ERROR,
    columns.RUNS_SHOWN,
    columns.ROW_SHOWN,
    columns.COLUMN_SHOWN,
    columns.CLASS_ROW_SHOWN,
    columns.CLASS_COLUMN_SHOWN,
    columns.SHARE_SHOWN,
)


class Look(Section):
    """What the figure says of its data."""

    artifact: str
    datasets: dict[str, str]  # role of a dataset -> the images that play it


def select(tables: Mapping[str, pd.DataFrame], settings: Look) -> pd.DataFrame:
    """Return curves, kernels, and the paper's values at the end of its training."""
    names = {"y": "value", "spread": "standard_deviation", "low": "lowest", "high": "highest"}
    curves = tables["curves"].rename(columns=names).assign(panel="curve")
    is_loss = curves["quantity"].isin(LOSSES)
    curves[["lowest", "highest"]] = curves[["lowest", "highest"]].where(is_loss)
    maps = tables["kernels"][kernel_maps.COLUMNS].assign(panel="map", quantity="kernel")
    ours = pd.concat([curves, maps], ignore_index=True)
    ours = ours.assign(source="ours", data=settings.datasets["mnist"])
    paper = _paper_rows(tables["reported"])
    paper = paper[paper["sigma_w2"].isin(curves["sigma_w2"])]
    return pd.concat([ours, paper], ignore_index=True).reindex(columns=TABLE.names)


def _paper_rows(reported: pd.DataFrame) -> pd.DataFrame:
    """Values that were read off the paper's picture; a row's name has variance and step."""
    read = reported[reported["artifact"] == "beyond_fig4"].reset_index(drop=True)
    place = read["row"].str.extract(PLACE)
    return pd.DataFrame(
        {
            "panel": "curve",
            "source": "paper",
            "data": ROLES["mnist"],
            "sigma_w2": place["sigma_w2"].astype(float),
            "step": place["step"].astype(int),
            "quantity": read["column"].map(PRINTED),
            "value": read["value"].astype(float),
            "reading_error": read["reading_error"].astype(float),
        }
    )


def draw(rows: pd.DataFrame, settings: Look) -> Figure:
    """Draw the losses above, and below a line of ratios and heat maps for each variance."""
    variances = sorted(rows["sigma_w2"].unique())
    curves = rows[rows["panel"] == "curve"]
    maps = rows[rows["panel"] == "map"]
    steps = sorted(maps["step"].unique())
    figure = style.empty(height=LEGEND + TOP + LINE * len(variances))
    both = figure.add_gridspec(2, 1, height_ratios=(TOP, LINE * len(variances)))
    top, bottom = both[0], both[1]
    loss_axes = _loss_panels(figure, top, curves)
    axes = list(loss_axes)
    titles = [""] * len(loss_axes)
    map_axes: list[Axes] = []
    limits = _limits(curves)
    grid = bottom.subgridspec(len(variances), 1 + len(steps), width_ratios=(1.7, *[1] * len(steps)))
    for line, variance in enumerate(variances):
        ratio_axis = figure.add_subplot(grid[line, 0])
        _blocks(ratio_axis, curves[curves["sigma_w2"] == variance], steps)
        ratio_axis.set_ylim(limits)
        ratio_axis.set_ylabel(r"over $\Theta_d$")
        panels = [figure.add_subplot(grid[line, 1 + place]) for place in range(len(steps))]
        is_last = line == len(variances) - 1
        image = _maps(panels, maps[maps["sigma_w2"] == variance], steps, is_last)
        axes += [ratio_axis, *panels]
        map_axes += panels
        titles.append(rf"$\sigma_w^2$ = {variance:g}")
        titles += [f"$t$ = {step:g}" for step in steps]
    ratio_axis.set_xlabel("step $t$")
    kernel_maps.add_share_bar(figure, image, map_axes, shrink=0.6, aspect=30)
    style.title_panels(axes, titles)
    style.legend_above(figure, _handles(curves), 4)
    return figure


def _loss_panels(figure: Figure, cell: SubplotSpec, curves: pd.DataFrame) -> list[Axes]:
    """Draw both losses beside each other."""
    grid = cell.subgridspec(1, len(LOSSES))
    axes = [figure.add_subplot(grid[place]) for place in range(len(LOSSES))]
    for axis, (name, label) in zip(axes, LOSSES.items(), strict=True):
        _losses(axis, curves[curves["quantity"] == name])
        axis.set(xlabel="step $t$", ylabel=label)
    return axes


def _maps(panels: list[Axes], rows: pd.DataFrame, steps: list[float], is_last: bool) -> Any:
    """Draw the kernels of one variance at all steps; only outer panels have labels."""
    for place, (panel, step) in enumerate(zip(panels, steps, strict=True)):
        is_first = place == 0
        labelled = ("x" if is_last else "") + ("y" if is_first else "")
        image = kernel_maps.draw_map(panel, rows[rows["step"] == step], labelled)
        panel.set_xlabel(r"class of $\tilde{x}$" if is_last else "")
        panel.set_ylabel("class of $x$" if is_first else "")
    return image


def _losses(axis: Axes, rows: pd.DataFrame) -> None:
    """Draw a loss of all variances: medians of the runs, and bands from the least to the most."""
    shades = colours(rows["sigma_w2"].unique())
    by_variance = rows.groupby("sigma_w2")
    for (variance, of_variance), marker in zip(by_variance, cycle(MARKERS), strict=False):
        curve = of_variance[of_variance["source"] == "ours"].sort_values("step")
        axis.plot(curve["step"], curve["value"], color=shades[variance], marker=marker)
        style.band(axis, curve["step"], curve["lowest"], curve["highest"], shades[variance])
        _paper(axis, of_variance, marker)
    axis.set_yscale("log")
    style.steps_from_zero(axis, rows["step"])


def _blocks(axis: Axes, rows: pd.DataFrame, steps: list[float]) -> None:
    """Draw means over blocks; bars are the standard deviation of single entries."""
    for step in steps:
        axis.axvline(step, color=TIMES, linewidth=0.6, linestyle=":", zorder=0)
    for name, (colour, marker, dashes, _) in BLOCKS.items():
        of_block = rows[rows["quantity"] == name]
        curve = of_block[of_block["source"] == "ours"].sort_values("step")
        error = curve["standard_deviation"]
        axis.errorbar(
            curve["step"],
            curve["value"],
            error if error.notna().all() else None,
            color=colour,
            marker=marker,
            linestyle=dashes,
            markersize=2.6,
            linewidth=1,
            elinewidth=0.6,
            zorder=2 if marker else 3,
        )
        _paper(axis, of_block, PAPER_MARKS.get(name, "D"))
    axis.set_yticks([0, 0.5, 1])
    style.steps_from_zero(axis, rows["step"])


def _limits(curves: pd.DataFrame) -> tuple[float, float]:
    """Limits of all ratios, so that every bar is seen and lines can be compared."""
    ratios = curves[curves["quantity"].isin(BLOCKS)]
    error = ratios["standard_deviation"].fillna(ratios["reading_error"]).fillna(0)
    lowest = float((ratios["value"] - error).min())
    highest = float((ratios["value"] + error).max())
    return min(0.0, 1.05 * lowest), 1.05 * max(1.0, highest)


def _paper(axis: Axes, rows: pd.DataFrame, marker: str) -> None:
    paper = rows[rows["source"] == "paper"]
    if len(paper):
        errors = paper["reading_error"]
        style.paper_values(axis, paper["step"], paper["value"], errors, marker=marker)


def _handles(curves: pd.DataFrame) -> Iterator[Line2D]:
    variances = sorted(curves["sigma_w2"].unique())
    shades = colours(variances)
    for variance, marker in zip(variances, cycle(MARKERS), strict=False):
        label = rf"$\sigma_w^2$ = {variance:g} (losses)"
        yield style.handle(label, color=shades[variance], marker=marker)
    look: dict[str, Any]
    for colour, marker, dashes, label in BLOCKS.values():
        look = {"color": colour, "marker": marker, "linestyle": dashes}
        yield style.handle(label, linewidth=1, markersize=2.6, **look)
    paper_data = curves.loc[curves["source"] == "paper", "data"]
    if len(paper_data):
        data = paper_data.iloc[0]
        label = "paper" if set(curves["data"]) == {data} else f"paper ({data})"
        look = {"marker": "o", "markersize": 4.0, "markerfacecolor": "white", "color": style.GREY}
        yield style.handle(label, linestyle="none", markeredgewidth=0.9, **look)
