"""Control of trust Figures 3 and 4: a rate common to all networks, and one scaled to each of them.

Curves over the weight variance, one per depth: the lowest loss over that of the best constant
output, and the change of the kernel at the end of training. Both rates start from the same weights.
"""

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, NullLocator

from finitewidth.declarations.columns import SIGMA_B2, WIDTH
from finitewidth.figures import style
from finitewidth.kernels.ntk_init.phases import CHAOTIC_FROM, ORDERED_UP_TO
from finitewidth.measures.text_numbers import printed_number
from finitewidth.papers.trust import columns
from finitewidth.papers.trust.figures import descent_maps, looks
from finitewidth.records.tables import Table

TABLE = Table(
    columns.ACTIVATION,
    WIDTH,
    SIGMA_B2,
    columns.QUANTITY,
    columns.SERIES,
    columns.SOURCE,
    columns.PHASE_OF_CELL,
    columns.SIGMA_W2_OF_CELL,
    columns.DEPTH_OF_MAP,
    columns.VALUE_OF_CELL,
    columns.LOWEST_OF_CELL,
    columns.HIGHEST_OF_CELL,
    columns.SEEDS_OF_CELL,
    columns.DIVERGED_OF_CELL,
    columns.ETA_LAMBDA_OF_CELL,
    columns.RATE_RULE,
)
RULES = {"common": "common rate", "scaled": r"rate $1/\lambda_{\max}$"}
QUANTITIES = {
    "lowest_loss": "lowest loss over\nthat of the best constant",
    "change": "change of the NTK\nat the end",
}
HIGHEST = {"lowest_loss": 50.0, "change": 1.5}  # larger values are triangles at the upper edge
TICKS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50)  # of the axis of losses
BORDER: dict[str, Any] = {"color": "black", "linestyle": (0, (2, 2)), "linewidth": 0.7}
CONSTANT: dict[str, Any] = {"color": "0.4", "linestyle": (0, (1, 1.2)), "linewidth": 0.8}
STATED = "paper: bound at the border"
CURVE: dict[str, Any] = {"marker": "o", "markersize": 2.6}
MARKS: dict[str, tuple[dict[str, Any], str]] = {  # looks of a mark, and its label
    "steep": ({"marker": "o", "markerfacecolor": "white", "markersize": 3.6}, descent_maps.HATCHED),
    "diverged": ({"marker": "x", "markersize": 5, "markeredgewidth": 1.0}, "a seed diverged"),
    "above": ({"marker": "^", "markersize": 4.5, "gid": style.CLIPPED}, "above the axis"),
}


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return means and ranges over seeds in every cell that both rates have, and the borders.

    The tables are ``<activation>_<rule>_<table>`` for the tables of
    `finitewidth.papers.trust.experiments.descent`. The paper's values are of the common rate.
    """
    parts = []
    for activation, rule in product(("tanh", "relu"), RULES):
        cells = tables[f"{activation}_{rule}_cells"]
        borders = tables[f"{activation}_{rule}_borders"]
        scaled = tables[f"{activation}_scaled_cells"].iloc[0]
        rows = descent_maps.ends(cells, borders, scaled["width"])
        both_rates = (rows["sigma_b2"] == scaled["sigma_b2"]) & (rows["series"] != "constant")
        parts.append(rows[both_rates].assign(rate_rule=rule))
    rows = pd.concat(parts, ignore_index=True)
    bound = printed_number(tables["reported"], "trust", *descent_maps.BOUNDED)
    maps = rows.loc[rows["rate_rule"] == "common", ["activation", "width", "sigma_b2", "rate_rule"]]
    printed = maps.drop_duplicates().assign(
        quantity="change", series="bound", source="paper", phase="none", value=bound
    )
    return pd.concat([rows, printed])


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw a row of panels for losses and one for changes, a column per activation and rule."""
    pairs = list(product(rows["activation"].unique(), RULES))
    figure, axes = style.subplots(
        len(QUANTITIES), len(pairs), height=3.7, squeeze=False, sharex="col", sharey="row"
    )
    colours = style.shades(rows.loc[rows["series"] == "cell", "depth"], **looks.SHADES)
    for (quantity, label), across in zip(QUANTITIES.items(), axes, strict=True):
        line = rows[rows["quantity"] == quantity]
        for axis, (activation, rule) in zip(across, pairs, strict=True):
            in_panel = (line["activation"] == activation) & (line["rate_rule"] == rule)
            _panel(axis, line[in_panel], quantity, colours)
        across[0].set_ylabel(label)
        _scale(across[0], line, quantity)
    titles = [f"{looks.NAMES[activation]}, {RULES[rule]}" for activation, rule in pairs]
    style.title_panels(axes.flat, titles + [""] * len(pairs))
    for axis in axes[-1]:
        axis.set_xlabel(r"weight variance $\sigma_w^2$")
        axis.xaxis.set_major_locator(MaxNLocator(integer=True))
        descent_maps.below_bars(axis)
    style.legend_above(figure, _handles(rows, colours), 4)
    return figure


def _panel(axis: Axes, rows: pd.DataFrame, quantity: str, colours: Mapping[float, str]) -> None:
    """Draw a curve per depth, the border with the bars of both phases, and what is compared."""
    cells = rows[rows["series"] == "cell"]
    low = float(cells["sigma_w2"].min())
    high = float(cells["sigma_w2"].max())
    for border in rows.loc[rows["series"] == "border", "sigma_w2"]:
        axis.axvline(border, **BORDER)
        ends = {"ordered": (low, ORDERED_UP_TO * border), "chaotic": (CHAOTIC_FROM * border, high)}
        for phase, (first, last) in ends.items():
            if first <= last:
                descent_maps.phase_bar(axis, phase, (first, last))
    if quantity == "lowest_loss":
        axis.axhline(1, **CONSTANT)
    for bound in rows.loc[rows["series"] == "bound", "value"]:
        style.paper_line(axis, bound, label=STATED)
    for depth, curve in cells.groupby("depth"):
        _curve(axis, curve.sort_values("sigma_w2"), colours[depth], HIGHEST[quantity])


def _curve(axis: Axes, curve: pd.DataFrame, colour: str, highest: float) -> None:
    """A line through the means, bars from the least to the largest seed, and marks."""
    x = curve["sigma_w2"].to_numpy(float)
    y = np.minimum(curve["value"].to_numpy(float), highest)
    ranges = np.minimum(curve[["lowest", "highest"]].to_numpy(float), highest)  # (points, 2)
    axis.plot(x, y, color=colour, linewidth=1.0, **CURVE)
    axis.vlines(x, ranges[:, 0], ranges[:, 1], color=colour, linewidth=0.7)
    for name, marked in _marked(curve, highest).items():
        if not marked.any():
            continue
        # where all seeds diverged, the cross stands at the upper edge
        height = np.where(np.isnan(y) | (name == "above"), highest, y)
        look, _ = MARKS[name]
        axis.plot(
            x[marked],
            height[marked],
            color=colour,
            linestyle="none",
            clip_on=name != "above",
            **look,
        )


def _marked(curve: pd.DataFrame, highest: float) -> dict[str, np.ndarray]:
    """Name of a mark -> whether each point of a curve has it."""
    above = (curve["highest"] > highest).to_numpy()
    diverged = (curve["diverged"] > 0).to_numpy()
    steep = (curve["eta_lambda"] > descent_maps.STEEP).to_numpy()
    return {"steep": steep & ~diverged, "diverged": diverged, "above": above}


def _scale(axis: Axes, rows: pd.DataFrame, quantity: str) -> None:
    """Limits and ticks of a row of panels; the axis of losses is logarithmic."""
    # the paper's bound has a value, and no range
    values = rows.loc[rows["series"] != "border", ["value", "lowest", "highest"]].to_numpy(float)
    low = np.nanmin(values)
    high = min(float(np.nanmax(values)), HIGHEST[quantity])
    if quantity == "change":
        axis.set_ylim(0, 1.05 * high)
        return
    axis.set_yscale("log")
    axis.set_ylim(low / 1.2, max(1.2, 1.1 * high))
    style.numbers(axis.yaxis, TICKS)
    axis.yaxis.set_minor_locator(NullLocator())


def _handles(rows: pd.DataFrame, colours: Mapping[float, str]) -> Iterator[Artist]:
    """Entries of the legend, for what occurs in the rows."""
    for depth, colour in colours.items():
        yield style.handle(f"$L = {depth:g}$", color=colour, **CURVE)
    yield style.handle(r"border of the phases, $\chi_1 = 1$", **BORDER)
    yield from descent_maps.phase_handles()
    yield style.handle("best constant", **CONSTANT)
    yield style.handle(STATED, **looks.PAPER_LINE)
    cells = rows[rows["series"] == "cell"]
    marked = [_marked(line, HIGHEST[quantity]) for quantity, line in cells.groupby("quantity")]
    for name, (look, label) in MARKS.items():
        if any(by_name[name].any() for by_name in marked):
            yield style.handle(label, color=style.GREY, linestyle="none", **look)
