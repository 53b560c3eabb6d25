"""``beyond`` Figure 5: limiting dispersion at the edge of chaos for several input dimensions."""

from collections.abc import Mapping
from typing import Any

import matplotlib as mpl
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from finitewidth.figures.beyond.lines import log_dispersion_axis
from finitewidth.figures.style import panels

TITLES = {"printed": "Theorem 3.1, printed", "corrected": "Theorem 3.1, corrected"}
SHADES = mpl.colormaps["viridis"]


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return all rows of the table ``limits``."""
    return tables["limits"]


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw the printed form of the theorem and, with ``corrected``, the corrected form."""
    forms = [form for form in TITLES if form == "printed" or settings["corrected"]]
    figure, axes = panels(len(forms), [TITLES[form] for form in forms])
    alphas = sorted(rows.loc[rows["phase"] == "critical", "alpha_0"].unique())
    norm = mpl.colors.Normalize(min(alphas), max(alphas) if len(alphas) > 1 else min(alphas) + 1)
    for axis, form in zip(axes, forms, strict=True):
        _lines(axis, rows[rows["form"] == form], norm)
        axis.set_xlabel(r"$\lambda = L/M$")
        axis.legend(loc="upper left")
    axes[0].set_ylabel(r"$E[\Theta(x,x)^2]\,/\,E[\Theta(x,x)]^2$, limit")
    log_dispersion_axis(axes, float(rows.loc[rows["form"].isin(forms), "y"].max()))
    figure.colorbar(
        mpl.cm.ScalarMappable(norm, SHADES), ax=axes, label=r"$\alpha_0 = n_0/M$", pad=0.02
    )
    return figure


def _lines(axis: Axes, rows: pd.DataFrame, norm: mpl.colors.Normalize) -> None:
    for (phase, alpha_0), curve in rows.groupby(["phase", "alpha_0"]):
        chaotic = phase == "chaotic"
        axis.plot(
            curve["x"],
            curve["y"],
            color="black" if chaotic else SHADES(norm(alpha_0)),
            linewidth=2.0 if chaotic else 1.2,
            zorder=3 if chaotic else 2,
            label="chaotic phase" if chaotic else None,
        )
