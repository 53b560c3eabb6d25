"""Helpers of the line plots of ``beyond``: colours by phase, one row of panels per sample size."""

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib as mpl
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, NullFormatter, ScalarFormatter

from finitewidth.figures.style import subplots

COLUMNS = (
    "series", "sample", "width", "alpha_0", "sigma_w2", "cosine", "depth", "x", "y", "spread",
    "draws",
)  # fmt: skip
SAMPLES = ("paper", "many")
MARKERS = "os^Dv<>Ph*"
SHADES = {"ordered": ("Blues", 0.45, 0.95), "chaotic": ("YlOrRd", 0.45, 0.85)}
PANEL_WIDTH, PANEL_HEIGHT, LEGEND_WIDTH = 2.9, 2.5, 1.7
DISPERSION_TICKS = (1, 1.1, 1.2, 1.5, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000)
FEWEST_BARS = 6


def of_group(table: pd.DataFrame, group: str, banded: bool) -> pd.DataFrame:
    """Select the rows of one group; with ``banded``, only those that are shown with error bands."""
    rows = table[table["group"] == group]
    return rows[rows["banded"]] if banded else rows


def joined(estimates: pd.DataFrame, theory: pd.DataFrame) -> pd.DataFrame:
    """Join estimates and curves in one table, whose column ``series`` names the curve."""
    parts = [estimates.assign(series="estimate"), theory.assign(series=theory["curve"], sample="")]
    return pd.concat(parts, ignore_index=True).reindex(columns=list(COLUMNS))


def colours(variances: Sequence[float]) -> dict[float, Any]:
    """Map each variance to a colour.

    It is blue below the edge of chaos, black at it, and orange to red above; larger variances are
    darker.
    """
    found: dict[float, Any] = {2.0: "black"}
    for phase, (name, low, high) in SHADES.items():
        own = sorted(v for v in variances if (v < 2 if phase == "ordered" else v > 2))
        for place, value in enumerate(own):
            share = place / (len(own) - 1) if len(own) > 1 else 1.0
            found[value] = mpl.colormaps[name](low + share * (high - low))
    return found


def opacity(cosines: Sequence[float]) -> dict[float, float]:
    """Map each cosine to an opacity; larger cosines are more opaque."""
    own = sorted(cosines)
    return {c: 1.0 - 0.7 * (len(own) - 1 - i) / max(1, len(own) - 1) for i, c in enumerate(own)}


def samples_of(rows: pd.DataFrame) -> list[str]:
    """Return the sample sizes that occur, the paper's first."""
    return [sample for sample in SAMPLES if (rows["sample"] == sample).any()]


def grid(rows: pd.DataFrame, columns: str, label: str) -> tuple[Figure, dict[Any, Axes]]:
    """Create a row of panels for each sample size and a column for each width or alpha_0.

    Args:
        rows: as of `joined`.
        columns: ``width`` or ``alpha_0``.
        label: of the vertical axes.

    Returns:
        The figure, and (sample, value of ``columns``) -> panel.
    """
    values, samples = list(rows[columns].unique()), samples_of(rows)
    figure, axes = subplots(
        len(samples),
        len(values),
        figsize=(PANEL_WIDTH * len(values) + LEGEND_WIDTH, PANEL_HEIGHT * len(samples) + 0.3),
        squeeze=False,
        sharex=True,
        sharey=True,
    )
    panels = {}
    for i, sample in enumerate(samples):
        draws = int(rows.loc[rows["sample"] == sample, "draws"].max())
        axes[i][0].set_ylabel(f"{label}\n{draws:,} draws")
        for j, value in enumerate(values):
            panels[sample, value] = axes[i][j]
            if i == 0:
                name = r"$\alpha_0 = n_0/M$" if columns == "alpha_0" else "$M$"
                axes[i][j].set_title(f"{name} = {value:g}")
            if i == len(samples) - 1:
                axes[i][j].set_xlabel(r"$\lambda = L/M$")
    return figure, panels


def log_dispersion_axis(axes: Sequence[Axes], highest: float) -> None:
    """Set a logarithmic vertical axis that starts just below 1, with plain tick labels."""
    for axis in axes:
        axis.set_yscale("log")
        axis.set_ylim(0.98 if highest < 3 else 0.9, highest * 1.15)
        ticks = [t for t in DISPERSION_TICKS if t <= highest * 1.1]
        wanted = ticks if highest < 3 else [t for t in ticks if t == int(t)]
        axis.yaxis.set_major_locator(FixedLocator(wanted))
        axis.yaxis.set_major_formatter(ScalarFormatter())
        axis.yaxis.set_minor_formatter(NullFormatter())
        axis.minorticks_off()


def estimate(axis: Axes, curve: pd.DataFrame, look: Mapping[str, Any], errors: str) -> None:
    """Draw estimates as a dashed line, with error bars at some points or with a band.

    Args:
        axis: to draw into.
        curve: x, y, spread.
        look: ``colour``, ``marker`` and ``alpha``; with ``points``, no line joins the points.
        errors: ``bars`` or ``bands``.
    """
    curve = curve.sort_values("x")
    colour, alpha, marker = look["colour"], look["alpha"], look["marker"]
    if errors == "bands":
        low, high = curve["y"] - curve["spread"], curve["y"] + curve["spread"]
        axis.fill_between(curve["x"], low, high, color=colour, alpha=0.25 * alpha, linewidth=0)
        axis.plot(curve["x"], curve["y"], "--", color=colour, alpha=alpha, linewidth=1.0)
        return
    every = max(1, len(curve) // FEWEST_BARS)
    line = "none" if look.get("points") else "--"
    some = curve.iloc[every - 1 :: every]
    if line != "none":
        axis.plot(curve["x"], curve["y"], line, color=colour, alpha=alpha, linewidth=1.0)
    axis.errorbar(
        some["x"], some["y"], some["spread"], fmt=marker, color=colour, alpha=alpha, capsize=1.5,
        markersize=3, elinewidth=0.9, linestyle="none",
    )  # fmt: skip


def handle(label: str, **look: Any) -> Line2D:
    """Return an entry of the legend."""
    return Line2D([], [], label=label, **look)


def legend(figure: Figure, handles: Sequence[Line2D]) -> None:
    """Add one legend to the right of all panels."""
    figure.legend(handles=list(handles), loc="outside right upper", handlelength=2.4)
