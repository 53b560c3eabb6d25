"""Dispersion against depth over width: ``beyond`` Figures 1, 2, 7, 8, 9 and 10."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from finitewidth.figures.beyond.lines import (
    MARKERS,
    colours,
    estimate,
    grid,
    handle,
    joined,
    legend,
    log_dispersion_axis,
    of_group,
    opacity,
)

CURVES = {"printed_limit": "Theorem 3.1, printed", "printed_sums": "Theorem 3.2, printed"}
EXACT = "exact at finite width"
GREY = "0.6"


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Select the estimates of one group, its printed curve and its exact curve.

    Args:
        tables: ``estimates`` and ``theory``.
        settings: ``group`` (phases or near), ``curve`` (printed_limit or printed_sums), and
            ``banded`` (default False): only the variances that are shown with error bands.
    """
    banded = settings.get("banded", False)
    estimates, theory = (
        of_group(tables[name], settings["group"], banded) for name in ("estimates", "theory")
    )
    return joined(estimates, theory[theory["curve"].isin((settings["curve"], "exact"))])


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw one row of panels with the paper's number of draws and one with ours.

    As in the paper, estimates are dashed and the printed theory is solid. With ``exact``, the last
    row also shows the exact curve of the diagonal elements.

    Args:
        rows: as selected; ``series`` is estimate, printed_limit, printed_sums or exact.
        settings: ``columns`` (width or alpha_0), ``errors`` (bars or bands) and ``exact``.
    """
    off = rows["cosine"].notna().any()
    pair = r"(x,\tilde x)" if off else "(x,x)"
    label = rf"$E[\Theta{pair}^2]\,/\,E[\Theta{pair}]^2$"
    figure, panels = grid(rows, settings["columns"], label)
    shades = colours(sorted(rows["sigma_w2"].unique()))
    last = list(panels)[-1][0]
    for (sample, value), axis in panels.items():
        own = rows[rows[settings["columns"]] == value]
        exact = settings["exact"] and sample == last
        _theory(axis, own, shades, exact)
        # no line between the points where the exact curve is drawn for the same element
        points = exact and not off and sample == "many"
        _estimates(axis, own[own["sample"] == sample], shades, settings["errors"], points)
    highest = rows.loc[rows["sample"].isin(["many", ""]), "y"].max()
    log_dispersion_axis(list(panels.values()), float(max(highest, 1.3)))
    legend(figure, _handles(rows, shades, settings["exact"]))
    return figure


def _theory(axis: Axes, rows: pd.DataFrame, shades: Mapping[float, Any], exact: bool) -> None:
    for (series, variance), curve in rows[rows["sample"] == ""].groupby(["series", "sigma_w2"]):
        curve = curve.sort_values("x")
        if series == "printed_limit":
            axis.plot(curve["x"], curve["y"], "-", color=GREY, linewidth=2.2, zorder=1)
        elif series == "printed_sums":
            axis.plot(curve["x"], curve["y"], "-", color=shades[variance], linewidth=1.2)
        elif exact:
            axis.plot(curve["x"], curve["y"], ":", color=shades[variance], linewidth=1.4)


def _estimates(
    axis: Axes, rows: pd.DataFrame, shades: Mapping[float, Any], errors: str, points: bool
) -> None:
    dark = opacity(rows["cosine"].dropna().unique())
    places = {value: place for place, value in enumerate(shades_in_order(shades))}
    for (variance, cosine), curve in rows.groupby(["sigma_w2", "cosine"], dropna=False):
        marker = sorted(dark).index(cosine) if cosine in dark else places[variance]
        look = {
            "colour": shades[variance],
            "alpha": dark.get(cosine, 1.0),
            "marker": MARKERS[marker % len(MARKERS)],
            "points": points,
        }
        estimate(axis, curve, look, errors)


def shades_in_order(shades: Mapping[float, Any]) -> list[float]:
    """Return the variances in ascending order."""
    return sorted(shades)


def _handles(rows: pd.DataFrame, shades: Mapping[float, Any], exact: bool) -> list[Line2D]:
    cosines = sorted(rows["cosine"].dropna().unique())
    found = []
    for place, variance in enumerate(shades_in_order(shades)):
        if variance in set(rows["sigma_w2"]):
            marker = "none" if len(cosines) else MARKERS[place % len(MARKERS)]
            label = rf"$\sigma_w^2$ = {variance:g}"
            found.append(handle(label, color=shades[variance], linestyle="--", marker=marker))
    for place, (cosine, alpha) in enumerate(opacity(cosines).items()):
        label = rf"$\langle x,\tilde x\rangle$ = {cosine:g}"
        found.append(
            handle(label, color="black", alpha=alpha, linestyle="none", marker=MARKERS[place])
        )
    series = set(rows["series"])
    where = " (diagonal)" if len(cosines) else ""
    for curve, label in CURVES.items():
        if curve in series:
            colour = GREY if curve == "printed_limit" else "black"
            width = 2.2 if curve == "printed_limit" else 1.2
            found.append(handle(label + where, color=colour, linestyle="-", linewidth=width))
    if exact:
        found.append(handle(EXACT + where, color="black", linestyle=":"))
    return found
