"""thesis Figure 2.4: double descent of the risk of least-squares solutions of the smallest norm."""

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MultipleLocator

from finitewidth.figures import style
from finitewidth.records import fields

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
FIELDS = {
    "signal_to_noise": fields.number("r^2 / sigma^2, squared norm of the weights over the noise"),
    "noise_variance": fields.number("sigma^2, variance of the noise"),
    "series": fields.text(
        "mean or median of drawn risks; exact: their exact mean; corrected: its limit; printed: "
        "the limit with the sign that the paper prints; printed_root: the ratio up to which the "
        "latter is negative; lowest: where the limit is lowest above ratio 1"
    ),
    "ratio": fields.number("gamma = P/N, parameters over samples"),
    "samples": fields.number(
        "N, number of samples of the drawn risks and the exact mean; missing for a single ratio"
    ),
    "risk": fields.number(
        "risk beyond the noise, squared distance from the true weights; missing for a single ratio"
    ),
    "standard_error": fields.number("standard error of a mean"),
    "lowest": fields.number("quantile 10 % of the drawn risks, of a median"),
    "highest": fields.number("quantile 90 % of the drawn risks, of a median"),
}
COLUMNS = ("case", "noise", "series", "x", "size", "risk", "standard_error", "lowest", "highest")


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return drawn risks and curves.

    A drawn risk is a mean with its standard error where the risk has a variance, and a median
    elsewhere.
    """
    drawn = tables["drawn"]
    known = drawn["has_variance"].astype(bool)
    means, medians = drawn[known], drawn[~known]
    means = means.rename(columns={"mean": "risk", "mean_error": "standard_error"})
    medians = medians.rename(columns={"median": "risk", "low": "lowest", "high": "highest"})
    curves = tables["curves"].rename(columns={"curve": "series", "y": "risk"})
    single = tables["shape"].melt(["case", "noise"], ["lowest", "printed_root"], "series", "x")
    single = single.dropna(subset=["x"])
    parts = means.assign(series="mean"), medians.assign(series="median"), curves, single
    rows = pd.concat([part.reindex(columns=COLUMNS) for part in parts], ignore_index=True)
    rows = rows.rename(columns={"x": "ratio", "size": "samples", "noise": "noise_variance"})
    ratios = rows["case"].str.rpartition("= ")[2].astype(float)
    return rows.assign(signal_to_noise=ratios).reindex(columns=list(FIELDS))


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw a panel for each variance of the noise, and one of the surroundings of ratio 1.

    Only the last one shows the limit, which the other panels could not tell from the exact mean.
    """
    cases = list(dict.fromkeys(rows["signal_to_noise"]))
    near = rows[(rows["signal_to_noise"] == cases[0]) & ((rows["ratio"] - 1).abs() <= NEAR)]
    ratios = [*[1.15] * len(cases), *[1] * bool(near["series"].isin(list(MARKS)).any())]
    figure, axes = style.subplots(1, len(ratios), height=HEIGHT, squeeze=False, width_ratios=ratios)
    titles = []
    for axis, case in zip(axes[0], cases, strict=False):
        own = rows[rows["signal_to_noise"] == case]
        _panel(axis, own, [name for name in LOOKS if name != "corrected"])
        _whole(axis, own)
        noise = own["noise_variance"].iloc[0]
        titles.append(rf"$\sigma^2$ = {noise:g}, $r^2/\sigma^2$ = {case:g}")
    for axis in axes[0][len(cases) :]:
        _panel(axis, near)
        axis.set_xlim(1 - NEAR, 1 + NEAR)
        _limits(axis, near, 2)
        axis.xaxis.set_major_locator(MultipleLocator(0.05))
        titles.append(r"as a, near $\gamma$ = 1")
    style.title_panels(axes[0], titles)
    for axis in axes[0]:
        axis.set_xlabel(r"parameters over samples, $\gamma = P/N$")
    axes[0][0].set_ylabel(r"risk beyond the noise, $\Vert\hat{w} - w^*\Vert^2$")
    handles, labels = axes[0][-1].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(labels))
    return figure


def _panel(axis: Axes, rows: pd.DataFrame, shown: Iterable[str] = LOOKS) -> None:
    """Draw drawn risks and the curves ``shown`` on a logarithmic axis of risks."""
    axis.axvline(1, color="0.55", linewidth=0.6, zorder=0)
    for name in shown:
        colour, line, width, label = LOOKS[name]
        curve = rows[rows["series"] == name].sort_values("ratio")
        named = label.format(samples=int(rows["samples"].iloc[0]))
        axis.plot(
            curve["ratio"],
            curve["risk"].where(curve["risk"] > 0),
            linestyle=line,
            color=colour,
            linewidth=width,
            label=named,
        )
    for name, (marker, face, label) in MARKS.items():
        own = rows[rows["series"] == name].sort_values("ratio")
        error = ERRORS * own["standard_error"]
        if name == "median":
            error = (own["risk"] - own["lowest"], own["highest"] - own["risk"])
        axis.errorbar(
            own["ratio"],
            own["risk"],
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


def _limits(axis: Axes, rows: pd.DataFrame, below: float) -> None:
    """Let the axis of risks end beyond what is drawn; curves may leave it with a mark."""
    drawn = rows[rows["series"].isin(list(MARKS))]
    low = drawn[["risk", "lowest"]].min(axis=None) / below
    style.clip(axis, (low, drawn[["risk", "highest"]].max(axis=None) * 2))


def _whole(axis: Axes, rows: pd.DataFrame) -> None:
    """Set the axes of all ratios, and mark along the bottom where the printed limit is negative."""
    axis.set_xscale("log")
    _limits(axis, rows, 4)
    drawn = rows.loc[rows["series"].isin(list(MARKS)), "ratio"]
    ticks = [tick for tick in TICKS if drawn.min() <= tick <= drawn.max()]
    style.numbers(axis.xaxis, ticks)
    if drawn.min() <= 1 < drawn.max():
        root = min(rows.loc[rows["series"] == "printed_root", "ratio"].iloc[0], drawn.max())
        along = axis.get_xaxis_transform()
        words = {"fontsize": style.SMALLEST, "transform": along}
        axis.text(
            0.88, 0.98, "interpolation\nthreshold", color=style.GREY, ha="right", va="top", **words
        )
        axis.plot((1, root), (0.02, 0.02), ":", color=PRINTED, linewidth=2.4, transform=along)
        axis.text(1.05, 0.04, "printed < 0", color=PRINTED, ha="left", va="bottom", **words)
