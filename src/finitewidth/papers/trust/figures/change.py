"""trust Figures 3 and 4: change of the kernel at the end of training, and lowest loss reached."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from finitewidth.figures import style
from finitewidth.measures.text_numbers import printed_number
from finitewidth.papers.trust.figures import descent_maps
from finitewidth.papers.trust.figures.looks import NAMES
from finitewidth.records import fields

FIELDS = {
    **descent_maps.FIELDS,
    **descent_maps.RANGES,
    "loss": fields.number(
        "lowest loss itself, mean over seeds that did not diverge; of the series constant, that of "
        "the best constant output; NaN for other rows"
    ),
}
QUANTITIES = {"change": "change of the NTK at the end", "lowest_loss": "lowest loss"}
RATIO = "lowest loss over that of the best constant output"
LEAST_FACTOR, MOST_FACTOR = 1.25, 10.0  # ends of the colours of losses, over the constant's
TICKS = (1, 2, 5), (1, 1.5, 2, 3, 5, 7)  # times powers of 10, on a wide and on a narrow scale
NARROW = 20.0  # ratio of the ends of a narrow scale
UNTRAINED = "untrainable_depth", "ordered", "depth"
HEIGHT = 1.85  # inches, of a row of maps, whose cells have two lines of text


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return the rows to draw: of both quantities, borders, and what the paper states."""
    rows = descent_maps.ends(tables["cells"], tables["borders"], settings["width"])
    if rows["sigma_w2"].nunique() > descent_maps.MOST_COLUMNS:
        rows = rows.assign(lowest=float("nan"), highest=float("nan"))
    maps = rows[descent_maps.MAP].drop_duplicates().assign(source="paper", phase="none")
    limit, deep = (
        printed_number(tables["reported"], "trust", *key)
        for key in (descent_maps.BOUNDED, UNTRAINED)
    )
    bound = maps.assign(quantity="change", series="bound", value=limit)
    untrained = maps.assign(quantity="lowest_loss", series="untrained", depth=deep)
    return pd.concat([rows, bound, untrained])


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw a row of two maps per bias variance; losses have two scales below their colours."""
    activation, biases = rows["activation"].iloc[0], list(rows["sigma_b2"].unique())
    figure, axes = descent_maps.grid(2 * len(biases), 2, HEIGHT)
    losses = rows.loc[(rows["quantity"] == "lowest_loss") & (rows["series"] == "cell"), "value"]
    scales = {"change": descent_maps.change_scale(), "lowest_loss": _loss_scale(losses)}
    titles = []
    for across, bias in zip(axes, biases, strict=True):
        for axis, (quantity, title) in zip(across, QUANTITIES.items(), strict=True):
            own = rows[(rows["quantity"] == quantity) & (rows["sigma_b2"] == bias)]
            descent_maps.draw_map(axis, own, scales[quantity][0])
            titles.append(f"{NAMES[activation]}, $\\sigma_b^2 = {bias:g}$: {title}")
    style.title_panels(axes.flat, titles)
    left, right = (
        figure.colorbar(scale, ax=column, location="bottom", shrink=0.85, aspect=35, **look)
        for column, (scale, look) in zip(axes.T, scales.values(), strict=True)
    )
    # the losses themselves above the bar of losses over that of a constant
    constant = rows.loc[rows["series"] == "constant", "loss"].iloc[0]
    above = right.ax.secondary_xaxis(
        "top", functions=(lambda ratio: ratio * constant, lambda loss: loss / constant)
    )
    style.numbers(above.xaxis, _ticks(constant * right.norm.vmin, constant * right.norm.vmax))
    for axis in (right.ax, above):
        axis.xaxis.set_minor_locator(NullLocator())
    above.set_xlabel("lowest loss")
    for bound in rows.loc[rows["series"] == "bound", "value"].unique():
        left.ax.plot(bound, 0.5, **descent_maps.BOUND)
    descent_maps.finish(figure, axes, rows)
    return figure


def _loss_scale(ratios: pd.Series) -> tuple[ScalarMappable, dict[str, Any]]:
    """Colours of losses: white for the best constant output, blue below it and red above.

    The scale is logarithmic and symmetric, so that equal factors have colours of equal strength.
    """
    logs = np.abs(np.log(ratios[ratios > 0]))
    wanted = float(np.exp(logs.max())) if len(logs.dropna()) else LEAST_FACTOR
    end = min(max(wanted, LEAST_FACTOR), MOST_FACTOR)
    below, above = float(ratios.min()) < 1 / end * 0.999, float(ratios.max()) > end * 1.001
    extend = {(0, 0): "neither", (1, 0): "min", (0, 1): "max", (1, 1): "both"}[below, above]
    look = {"label": RATIO, "extend": extend, "ticks": _ticks(1 / end, end), "format": "{x:g}"}
    return ScalarMappable(LogNorm(1 / end, end), "RdBu_r"), look


def _ticks(low: float, high: float) -> tuple[float, ...]:
    steps = TICKS[int(high / low < NARROW)]
    found = (step * 10.0**power for power in range(-6, 6) for step in steps)
    return tuple(tick for tick in found if low <= tick <= high)
