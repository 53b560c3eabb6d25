"""trust Figures 3 and 4: change of the kernel at the end of training, and lowest loss reached."""

from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.cm import ScalarMappable
from matplotlib.colorbar import Colorbar
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from finitewidth.figures import style
from finitewidth.measures.text_numbers import printed_number
from finitewidth.papers.trust import columns
from finitewidth.papers.trust.figures import descent_maps
from finitewidth.papers.trust.figures.looks import NAMES, Look
from finitewidth.records.tables import Table

TABLE = Table(*descent_maps.TABLE, columns.LOSS_SHOWN)
QUANTITIES = {"change": "change of the NTK at the end", "lowest_loss": "lowest loss"}
RATIO = "lowest loss over that of the best constant output"
# smallest and largest end of the colours of losses, over the loss of the best constant output
LEAST_FACTOR = 1.25
MOST_FACTOR = 10.0
# ticks times powers of 10, on a scale whose ends have a ratio of at least `NARROW`, and below it
WIDE_TICKS = (1, 2, 5)
NARROW_TICKS = (1, 1.5, 2, 3, 5, 7)
NARROW = 20.0
UNTRAINED = ("untrainable_depth", "ordered", "depth")  # the printed number


class EndLook(Look):
    """Which networks are shown."""

    width: int


def select(tables: Mapping[str, pd.DataFrame], settings: EndLook) -> pd.DataFrame:
    """Return the rows to draw: of both quantities, borders, and what the paper states."""
    rows = descent_maps.ends(tables["cells"], tables["borders"], settings.width)
    rows = descent_maps.shown_ranges(rows)
    maps = rows[descent_maps.MAP].drop_duplicates().assign(source="paper", phase="none")
    reported = tables["reported"]
    largest_change = printed_number(reported, "trust", *descent_maps.BOUNDED)
    depth = printed_number(reported, "trust", *UNTRAINED)
    bound = maps.assign(quantity="change", series="bound", value=largest_change)
    untrained = maps.assign(quantity="lowest_loss", series="untrained", depth=depth)
    return pd.concat([rows, bound, untrained])


def draw(rows: pd.DataFrame, settings: EndLook) -> Figure:
    """Draw a row of two maps per bias variance; losses have two scales below their colours."""
    activation = rows["activation"].iloc[0]
    biases = list(rows["sigma_b2"].unique())
    figure, axes = descent_maps.grid(2 * len(biases), 2)
    losses = rows.loc[(rows["quantity"] == "lowest_loss") & (rows["series"] == "cell"), "value"]
    scales = {"change": descent_maps.change_scale(), "lowest_loss": _loss_scale(losses)}
    titles = []
    for across, bias in zip(axes, biases, strict=True):
        for axis, (quantity, title) in zip(across, QUANTITIES.items(), strict=True):
            in_map = (rows["quantity"] == quantity) & (rows["sigma_b2"] == bias)
            scale, _ = scales[quantity]
            descent_maps.draw_map(axis, rows[in_map], scale)
            titles.append(f"{NAMES[activation]}, $\\sigma_b^2 = {bias:g}$: {title}")
    style.title_panels(axes.flat, titles)
    change_bar = _colour_bar(figure, axes[:, 0], *scales["change"])
    loss_bar = _colour_bar(figure, axes[:, 1], *scales["lowest_loss"])
    _scale_of_losses(loss_bar, rows.loc[rows["series"] == "constant", "loss"].iloc[0])
    for bound in rows.loc[rows["series"] == "bound", "value"].unique():
        change_bar.ax.plot(bound, 0.5, **descent_maps.BOUND)
    descent_maps.finish(figure, axes, rows)
    return figure


def _colour_bar(
    figure: Figure, axes: np.ndarray, scale: ScalarMappable, look: Mapping[str, Any]
) -> Colorbar:
    """Draw the scale of colours of a column of maps below it."""
    return figure.colorbar(scale, ax=axes, location="bottom", shrink=0.85, aspect=35, **look)


def _scale_of_losses(bar: Colorbar, constant: float) -> None:
    """Write the losses themselves above a bar of losses over that of the best constant output."""

    def loss_of(ratio: Any) -> Any:
        return ratio * constant

    def ratio_of(loss: Any) -> Any:
        return loss / constant

    above = bar.ax.secondary_xaxis("top", functions=(loss_of, ratio_of))
    ends: Any = bar.norm
    style.numbers(above.xaxis, _ticks(loss_of(ends.vmin), loss_of(ends.vmax)))
    for axis in (bar.ax, above):
        axis.xaxis.set_minor_locator(NullLocator())
    above.set_xlabel("lowest loss")


def _loss_scale(ratios: pd.Series) -> tuple[ScalarMappable, dict[str, Any]]:
    """Colours of losses: white for the best constant output, blue below it and red above.

    The scale is logarithmic and symmetric, so that equal factors have colours of equal strength.
    """
    logs = np.abs(np.log(ratios[ratios > 0]))
    largest = float(np.exp(logs.max())) if len(logs.dropna()) else LEAST_FACTOR
    end = min(max(largest, LEAST_FACTOR), MOST_FACTOR)
    look = {
        "label": RATIO,
        "extend": _extended_ends(ratios, end),
        "ticks": _ticks(1 / end, end),
        "format": "{x:g}",
    }
    return ScalarMappable(LogNorm(1 / end, end), "RdBu_r"), look


def _extended_ends(ratios: pd.Series, end: float) -> str:
    """The ends of the colours, from 1/end to end, beyond which ratios lie, as matplotlib has it."""
    below = float(ratios.min()) < 1 / end * 0.999
    above = float(ratios.max()) > end * 1.001
    if below and above:
        return "both"
    if below:
        return "min"
    return "max" if above else "neither"


def _ticks(low: float, high: float) -> tuple[float, ...]:
    """Ticks of a logarithmic scale between two values."""
    steps = NARROW_TICKS if high / low < NARROW else WIDE_TICKS
    ticks = (step * 10.0**power for power, step in product(range(-6, 6), steps))
    return tuple(tick for tick in ticks if low <= tick <= high)
