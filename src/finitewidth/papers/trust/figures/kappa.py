"""trust Figures 5 and 6: kappa_2, and kappa_1 / kappa_2, of infinitely wide networks by depth."""

from collections.abc import Mapping
from typing import Literal

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Colormap, ListedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from finitewidth.declarations.columns import SIGMA_B2, SIGMA_W2
from finitewidth.figures import style
from finitewidth.measures.text_numbers import printed_number
from finitewidth.papers.trust import columns
from finitewidth.papers.trust.figures.looks import NAMES, Look
from finitewidth.records.tables import Table

TABLE = Table(
    columns.ACTIVATION,
    columns.PHASE_OF_PANEL,
    SIGMA_W2,
    SIGMA_B2,
    columns.SOURCE,
    columns.KAPPA,
    columns.COVARIANCE_OF_CURVE,
    columns.DEPTH_OF_KAPPA,
    columns.KAPPA_VALUE,
)
PANEL = ["activation", "phase", "sigma_w2", "sigma_b2"]  # columns that tell the panels apart
PHASES = {"ordered": "ordered", "critical": "border", "chaotic": "chaotic"}
LABELS = {"kappa_2": r"$\kappa_2$", "kappa_ratio": r"$\kappa_1\,/\,\kappa_2$"}
STATED = r"paper: limit of the ordered phase, $L \to \infty$"
STEEP = 100.0  # value at the largest depth from which on an axis is logarithmic


class KappaLook(Look):
    """Which of the two quantities is shown."""

    show: Literal["kappa_2", "kappa_ratio"]


def select(tables: Mapping[str, pd.DataFrame], settings: KappaLook) -> pd.DataFrame:
    """Return the quantity ``show`` of the table ``kappa``; kappa_2 = 0 at depth 1 is left out."""
    quantity = settings.show
    positive = np.isfinite(tables["kappa"]["log_kappa_2"])
    kappa = tables["kappa"][positive].rename(columns={quantity: "value"})
    ours = kappa.assign(phase=kappa["phase"].map(PHASES), source="ours", quantity=quantity)
    if quantity != "kappa_ratio":
        return ours[TABLE.names]
    panels = ours[PANEL].drop_duplicates()
    stated = printed_number(tables["reported"], "trust", quantity, "ordered", "limit")
    ordered = panels[panels["phase"] == "ordered"]
    limit = ordered.assign(source="paper", quantity=quantity, value=stated)
    return pd.concat([ours, limit]).reindex(columns=TABLE.names)


def draw(rows: pd.DataFrame, settings: KappaLook) -> Figure:
    """Draw a row of panels per activation, and a panel per pair of variances in it."""
    import seaborn as sns

    quantity = rows["quantity"].iloc[0]
    panels = rows[PANEL].drop_duplicates()
    lines = [line for _, line in panels.groupby("activation", sort=False)]
    longest = max(map(len, lines))
    height = 0.35 + 1.55 * len(lines)
    figure, axes = style.subplots(len(lines), longest, height=height, squeeze=False)
    colours = ListedColormap(sns.color_palette("mako", 1000)[:630])  # all are seen on white
    used_axes = []
    titles = []
    for across, line in zip(axes, lines, strict=True):
        for axis in across[len(line) :]:
            axis.set_visible(False)
        for axis, panel in zip(across, line.to_dict("records"), strict=False):
            _panel(axis, rows.merge(pd.DataFrame([panel]), on=PANEL), quantity, colours)
            axis.set_xlabel("depth $L$ [layers]")
            used_axes.append(axis)
            pair = f"({panel['sigma_w2']:.3g}, {panel['sigma_b2']:g})"
            titles.append(f"{NAMES[panel['activation']]}, {panel['phase']}: {pair}")
        across[0].set_ylabel(LABELS[quantity])
    style.title_panels(used_axes, titles)
    figure.colorbar(
        ScalarMappable(Normalize(0, 1), colours),
        ax=axes,
        aspect=30,
        pad=0.015,
        label=r"covariance of the inputs, $x_s^\top x_r / n_0$",
    )
    handles = []
    for axis in used_axes:
        handles += axis.get_legend_handles_labels()[0]
    if handles:
        style.legend_above(figure, handles[:1])
    return figure


def _panel(axis: Axes, rows: pd.DataFrame, quantity: str, colours: Colormap) -> None:
    """Draw a curve per covariance, and the paper's limit of infinite depth at the right edge."""
    import seaborn as sns

    ours = rows[rows["source"] == "ours"]
    sns.lineplot(
        ours,
        x="depth",
        y="value",
        hue="covariance",
        hue_norm=(0, 1),
        palette=colours,
        estimator=None,
        errorbar=None,
        linewidth=0.9,
        legend=False,
        ax=axis,
    )
    for value in rows.loc[rows["source"] == "paper", "value"]:
        style.paper_values(
            axis, [1.0], [value], label=STATED, clip_on=False, transform=axis.get_yaxis_transform()
        )
    axis.set(xlabel="", ylabel="")
    axis.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10], integer=True))
    at_the_end = ours.loc[ours["depth"] == ours["depth"].max(), "value"]
    largest = ours["value"].max()
    if at_the_end.max() > STEEP:
        axis.set_yscale("log")
    elif quantity == "kappa_ratio":
        axis.set_yscale("log")
        style.numbers(axis.yaxis, (1, 1.5, 2, 3, 5, 10, 20))
        axis.set_ylim(0.9, 1.1 * largest)
    else:
        axis.set_ylim(0, 1.05 * largest)
