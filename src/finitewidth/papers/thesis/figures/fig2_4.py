"""thesis Figure 2.4: double descent of the risk of least-squares solutions of the smallest norm."""

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MultipleLocator

from finitewidth.figures import style
from finitewidth.papers.thesis import columns
from finitewidth.records.tables import Table

HEIGHT = 2.5  # inches
ERRORS = 2  # standard errors in a bar
NEAR = 0.075  # distance from 1 that the last panel shows
PRINTED = style.COLOURS[2]

LOOKS = {  # colour, line, width, label; later curves are thinner, so that all can be seen
    "exact": ("black", "-", 2.2, "exact mean, $N$ = {samples}"),
    "corrected": (style.COLOURS[1], (0, (3, 1.5)), 1.2, r"limit $N \to \infty$"),
    "printed": (PRINTED, ":", 1.6, "limit as printed"),
}
MARKS = {  # marker, face, label
    "mean": ("o", style.COLOURS[0], "drawn: mean"),
    "median": ("D", "white", "drawn: median, 10 to 90 %"),
}
TICKS = (0.1, 0.2, 0.5, 1, 2, 5, 10)
TABLE = Table(
    columns.SIGNAL_TO_NOISE,
    columns.SIGMA2_SHOWN,
    columns.SERIES,
    columns.RATIO_SHOWN,
    columns.SAMPLES_SHOWN,
    columns.RISK,
    columns.STANDARD_ERROR,
    columns.LOWEST_DRAWN,
    columns.HIGHEST_DRAWN,
)
COLUMNS = ("case", "noise", "series", "x", "size", "risk", "standard_error", "lowest", "highest")


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return drawn risks and curves.

    A drawn risk is a mean with its standard error where the risk has a variance, and a median
    elsewhere.
    """
    drawn = tables["drawn"]
    has_variance = drawn["has_variance"].astype(bool)
    means = drawn[has_variance].assign(series="mean")
    means = means.rename(columns={"mean": "risk", "mean_error": "standard_error"})
    medians = drawn[~has_variance].assign(series="median")
    medians = medians.rename(columns={"median": "risk", "low": "lowest", "high": "highest"})
    curves = tables["curves"].rename(columns={"curve": "series", "y": "risk"})
    single = tables["shape"].melt(["case", "noise"], ["lowest", "printed_root"], "series", "x")
    single = single.dropna(subset=["x"])

    parts = [part.reindex(columns=COLUMNS) for part in (means, medians, curves, single)]
    rows = pd.concat(parts, ignore_index=True)
    rows = rows.rename(columns={"x": "ratio", "size": "samples", "noise": "noise_variance"})
    # a case is named like "r^2/sigma^2 = 4"
    signal_to_noise = rows["case"].str.rpartition("= ")[2].astype(float)
    return rows.assign(signal_to_noise=signal_to_noise).reindex(columns=TABLE.names)


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw a panel for each variance of the noise, and one of the surroundings of ratio 1.

    Only the last one shows the limit, which the other panels could not tell from the exact mean.
    """
    cases = list(dict.fromkeys(rows["signal_to_noise"]))
    near = rows[(rows["signal_to_noise"] == cases[0]) & ((rows["ratio"] - 1).abs() <= NEAR)]
    widths = [1.15] * len(cases)
    if near["series"].isin(list(MARKS)).any():
        widths.append(1)
    figure, axes = style.subplots(1, len(widths), height=HEIGHT, squeeze=False, width_ratios=widths)
    panels = axes[0]
    titles = []
    for axis, case in zip(panels, cases, strict=False):
        of_case = rows[rows["signal_to_noise"] == case]
        _panel(axis, of_case, [name for name in LOOKS if name != "corrected"])
        _all_ratios(axis, of_case)
        noise = of_case["noise_variance"].iloc[0]
        titles.append(rf"$\sigma^2$ = {noise:g}, $r^2/\sigma^2$ = {case:g}")
    for axis in panels[len(cases) :]:
        _panel(axis, near, LOOKS)
        axis.set_xlim(1 - NEAR, 1 + NEAR)
        _limits(axis, near, 2)
        axis.xaxis.set_major_locator(MultipleLocator(0.05))
        titles.append(r"as a, near $\gamma$ = 1")
    style.title_panels(panels, titles)
    for axis in panels:
        axis.set_xlabel(r"parameters over samples, $\gamma = P/N$")
    panels[0].set_ylabel(r"risk beyond the noise, $\Vert\hat{w} - w^*\Vert^2$")
    handles, labels = panels[-1].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(labels))
    return figure


def _panel(axis: Axes, rows: pd.DataFrame, names: Iterable[str]) -> None:
    """Draw drawn risks and the curves of these ``names`` on a logarithmic axis of risks."""
    axis.axvline(1, color="0.55", linewidth=0.6, zorder=0)
    samples = int(rows["samples"].iloc[0])
    for name in names:
        colour, line, width, label = LOOKS[name]
        curve = rows[rows["series"] == name].sort_values("ratio")
        axis.plot(
            curve["ratio"],
            curve["risk"].where(curve["risk"] > 0),
            linestyle=line,
            color=colour,
            linewidth=width,
            label=label.format(samples=samples),
        )
    for name, (marker, face, label) in MARKS.items():
        drawn = rows[rows["series"] == name].sort_values("ratio")
        if name == "median":
            error = (drawn["risk"] - drawn["lowest"], drawn["highest"] - drawn["risk"])
        else:
            error = ERRORS * drawn["standard_error"]
        axis.errorbar(
            drawn["ratio"],
            drawn["risk"],
            error,
            marker=marker,
            markerfacecolor=face,
            color=style.COLOURS[0],
            elinewidth=0.9,
            linestyle="none",
            zorder=4,
            label=label,
        )
    axis.set_yscale("log")


def _limits(axis: Axes, rows: pd.DataFrame, room: float) -> None:
    """Let the axis of risks end a factor ``room`` below the marks, and a factor 2 above.

    Curves may leave the panel; a mark says so.
    """
    marks = rows[rows["series"].isin(list(MARKS))]
    low = marks[["risk", "lowest"]].min(axis=None) / room
    high = marks[["risk", "highest"]].max(axis=None) * 2
    style.clip(axis, (low, high))


def _all_ratios(axis: Axes, rows: pd.DataFrame) -> None:
    """Set the axes of all ratios, and mark along the bottom where the printed limit is negative."""
    axis.set_xscale("log")
    _limits(axis, rows, 4)
    drawn = rows.loc[rows["series"].isin(list(MARKS)), "ratio"]
    lowest = drawn.min()
    highest = drawn.max()
    style.numbers(axis.xaxis, [tick for tick in TICKS if lowest <= tick <= highest])
    if not lowest <= 1 < highest:
        return
    root = rows.loc[rows["series"] == "printed_root", "ratio"].iloc[0]
    end = min(root, highest)
    along = axis.get_xaxis_transform()
    words: dict[str, Any] = {"fontsize": style.SMALLEST, "transform": along}
    axis.text(
        0.88, 0.98, "interpolation\nthreshold", color=style.GREY, ha="right", va="top", **words
    )
    axis.plot((1, end), (0.02, 0.02), ":", color=PRINTED, linewidth=2.4, transform=along)
    axis.text(1.05, 0.04, "printed < 0", color=PRINTED, ha="left", va="bottom", **words)
