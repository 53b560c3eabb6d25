"""``beyond`` Figure 5: limiting dispersion at the edge of chaos for several input dimensions."""

from collections.abc import Mapping
from typing import Any

import matplotlib as mpl
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from finitewidth.figures.style import subplots, title_panels
from finitewidth.papers.beyond import columns
from finitewidth.papers.beyond.figures.lines import log_dispersion_axis
from finitewidth.records.tables import Table

TITLES = {"printed": "Theorem 3.1, printed", "corrected": "corrected"}
RATIO = "corrected over printed"
# violet to orange, as in the paper from 0.1 to 1; the yellow beyond is too faint on white
SCALE = mpl.colors.ListedColormap(mpl.colormaps["plasma"](range(10, 155)))
CHAOTIC: dict[str, Any] = {
    "color": "black",
    "linewidth": 1.6,
    "zorder": 3,
    "label": "chaotic phase",
}
TABLE = Table(
    columns.FORM,
    columns.PHASE_OF_LIMIT,
    columns.ALPHA_0_OF_LIMIT,
    columns.LIMIT_OF_DEPTH_OVER_WIDTH,
    columns.LIMIT_SHOWN,
    columns.LIMIT_OVER_PRINTED,
)


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return both forms of the theorem, and their ratio to the printed one."""
    return tables["limits"].rename(columns={"x": "depth_over_width", "y": "dispersion"})


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw each form of the theorem in a panel, and their ratio in another."""
    figure, axes = subplots(1, 3, height=2.35)
    printed, corrected, ratio = axes
    alphas = sorted(rows.loc[rows["phase"] == "critical", "alpha_0"].unique())
    smallest = alphas[0]
    largest = alphas[-1] if len(alphas) > 1 else smallest + 1
    norm = mpl.colors.Normalize(smallest, largest)
    for axis, form in zip((printed, corrected), TITLES, strict=True):
        _lines(axis, rows[rows["form"] == form], "dispersion", norm)
    _lines(ratio, rows[rows["form"] == "corrected"], "over_printed", norm)
    printed.set_ylabel(r"limit of $E[\Theta(x,x)^2]\,/\,E[\Theta(x,x)]^2$")
    ratio.set_ylabel(RATIO)
    corrected.tick_params(labelleft=False)
    log_dispersion_axis((printed, corrected), 1.0, float(rows["dispersion"].max()))
    title_panels(axes, [*TITLES.values(), RATIO])
    for axis in axes:
        axis.set_xlabel(r"depth over width, $\lambda = L/M$")
    printed.legend(loc="upper left")
    bar = figure.colorbar(
        mpl.cm.ScalarMappable(norm, SCALE),
        ax=list(axes),
        label=r"$\alpha_0 = n_0/M$",
        pad=0.02,
        aspect=25,
    )
    bar.outline.set_linewidth(0.5)
    return figure


def _lines(axis: Axes, rows: pd.DataFrame, value: str, norm: mpl.colors.Normalize) -> None:
    for (phase, alpha_0), curve in rows.groupby(["phase", "alpha_0"]):
        look = CHAOTIC
        if phase == "critical":
            look = {"color": SCALE(norm(alpha_0)), "linewidth": 1.0, "zorder": 2}
        curve = curve.sort_values("depth_over_width")
        axis.plot(curve["depth_over_width"], curve[value], **look)
