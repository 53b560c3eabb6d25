"""Ratio of off-diagonal to diagonal mean against depth over width: ``beyond`` Figures 3 and 11."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from finitewidth.figures.beyond.lines import (
    MARKERS,
    colours,
    estimate,
    grid,
    handle,
    joined,
    legend,
    of_group,
    opacity,
)

GROUP = "ratio"
BOUND = 0.25  # Theorem 3.3


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Select the estimates, equation 18 below sigma_w2 = 2, and the mean-field ratio.

    Args:
        tables: ``estimates`` and ``theory``.
        settings: ``banded`` (default False): only the variances and cosines that are shown with
            error bands.
    """
    banded = settings.get("banded", False)
    estimates, theory = (of_group(tables[name], GROUP, banded) for name in ("estimates", "theory"))
    return joined(estimates, theory[(theory["curve"] != "printed") | (theory["sigma_w2"] < 2)])


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw one row of panels with the paper's number of draws and one with ours.

    Args:
        rows: as selected; ``series`` is estimate, printed or infinite_width.
        settings: ``errors`` (bars or bands) and ``mean_field``: whether the last row also shows
            the ratio at infinite width, with both parts of the kernel.
    """
    label = r"$E\,\Theta(x,\tilde x)\,/\,E\,\Theta(x,x)$"
    figure, panels = grid(rows, "width", label)
    shades = colours(sorted(rows["sigma_w2"].unique()))
    dark = opacity(rows["cosine"].unique())
    markers = {variance: MARKERS[place] for place, variance in enumerate(sorted(shades))}
    last = list(panels)[-1][0]
    for (sample, width), axis in panels.items():
        own = rows[rows["width"] == width]
        for (series, variance, cosine), curve in own.groupby(["series", "sigma_w2", "cosine"]):
            look = {
                "colour": shades[variance], "alpha": dark[cosine], "marker": markers[variance],
            }  # fmt: skip
            if series == "estimate":
                estimate(axis, curve[curve["sample"] == sample], look, settings["errors"])
            elif series == "printed" or (settings["mean_field"] and sample == last):
                axis.plot(
                    curve["x"], curve["y"], "-" if series == "printed" else ":",
                    color=shades[variance], alpha=dark[cosine], linewidth=1.2,
                )  # fmt: skip
        axis.axhline(BOUND, color="0.6", linestyle="-.", linewidth=0.8, zorder=1)
        axis.set_ylim(0, 1.05)
    used = sorted(set(rows["sigma_w2"]))
    handles = [
        handle(rf"$\sigma_w^2$ = {v:g}", color=shades[v], linestyle="--", marker=markers[v])
        for v in used
    ]
    handles += [
        handle(rf"$\langle x,\tilde x\rangle$ = {c:g}", color="black", alpha=a, linestyle="--")
        for c, a in dark.items()
    ]
    handles.append(handle("equation 18, printed", color="black", linestyle="-"))
    if settings["mean_field"]:
        handles.append(handle("infinite width, both parts", color="black", linestyle=":"))
    handles.append(handle("lower bound 1/4", color="0.6", linestyle="-.", linewidth=0.8))
    legend(figure, handles)
    return figure
