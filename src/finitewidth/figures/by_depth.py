"""Panels with one curve per depth: cumulative spectra, and errors of two dynamics."""

from collections.abc import Sequence
from typing import Any

import matplotlib as mpl
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

SHADES = ("viridis", 0.0, 0.92)
LINES = {"gradient descent": "-", "linear recursion": "--", "ideal": ":"}
SMALLEST = 1e-8  # lowest limit of a logarithmic axis of squared errors


def colours(depths: Sequence[int]) -> dict[int, Any]:
    """Map each depth to a colour: dark for shallow networks, bright for deep ones."""
    name, low, high = SHADES
    own = sorted(set(depths))
    steps = max(1, len(own) - 1)
    return {d: mpl.colormaps[name](low + (high - low) * i / steps) for i, d in enumerate(own)}


def spectra(axis: Axes, rows: pd.DataFrame, column: str = "cumulative") -> None:
    """Plot cumulative sums of the ascending eigenvalues against their index.

    Args:
        axis: to draw into.
        rows: depth, index and ``column``.
        column: ``cumulative`` (of K_0 / d) or ``scaled`` (of K_0 / rho_max).
    """
    shades = colours(rows["depth"])
    for depth, curve in rows.groupby("depth"):
        axis.plot(curve["index"], curve[column], color=shades[depth])
    unit = r"\rho_{\max}" if column == "scaled" else "d"
    axis.set(xlabel="eigenvalues, ascending", ylabel=rf"cumulative sum, $K_0/{unit}$")
    axis.set_ylim(bottom=0)
    if rows.empty:
        note_lost(axis, rows)
    else:
        axis.set_xlim(0, rows["index"].max() * 1.02)


def errors(axis: Axes, rows: pd.DataFrame, scale: str) -> None:
    """Plot |e_t|^2 / |e_0|^2 against steps on a logarithmic axis.

    The linear recursion, which holds the kernel fixed, is dashed.

    Args:
        axis: to draw into.
        rows: depth, dynamics, time, ratio.
        scale: of the vertical axis, ``log`` or ``linear``.
    """
    shades = colours(rows["depth"])
    later = rows[rows["time"] > 0]
    for (depth, dynamics), curve in later.groupby(["depth", "dynamics"]):
        thin = 1.4 if dynamics == "gradient descent" else 0.9
        axis.plot(curve["time"], curve["ratio"], LINES[dynamics], color=shades[depth],
                  linewidth=thin)  # fmt: skip
    axis.set_xscale("log")
    axis.set(xlabel="step $t$", ylabel=r"$\Vert e_t\Vert^2 / \Vert e_0\Vert^2$", yscale=scale)
    if scale == "log":
        axis.set_ylim(max(SMALLEST, later["ratio"].min() / 2), 1.5)
    else:
        axis.set_ylim(0, 1.05)
    note_lost(axis, rows)


def legend(figure: Figure, depths: Sequence[int], dynamics: Sequence[str] = ()) -> None:
    """Add one legend to the right of all panels, with the depths and the line styles."""
    handles = [
        Line2D([], [], color=colour, label=f"$d$ = {depth}")
        for depth, colour in colours(depths).items()
    ]
    handles += [Line2D([], [], color="0.3", linestyle=LINES[name], label=name)
                for name in dynamics]  # fmt: skip
    figure.legend(handles=handles, loc="outside right center", handlelength=1.8)


def runs_of(rows: pd.DataFrame) -> str:
    """Return the number of runs in words.

    The text is ``10 runs``, ``3 to 10 runs`` if the curves average different numbers of runs, or
    ``no run`` if all runs diverged: a curve has no rows if none of its runs stayed finite.
    """
    if rows.empty:
        return "no run"
    fewest, most = int(rows["runs"].min()), int(rows["runs"].max())
    return f"{most} runs" if fewest == most else f"{fewest} to {most} runs"


def width_of(rows: pd.DataFrame) -> str:
    """Return ``$w$ = 25``, or ``$w$`` if there are no rows."""
    return f"$w$ = {rows['width'].iloc[0]:g}" if len(rows) else "$w$"


def note_lost(axis: Axes, rows: pd.DataFrame) -> None:
    """Write into a panel which curves are missing because all of their runs diverged."""
    lost = "" if len(rows) else "no run without divergence"
    if len(rows) and rows["dynamics"].notna().all():
        descended = set(rows[rows["dynamics"] == "gradient descent"]["depth"])
        missing = [f"{depth:g}" for depth in sorted(set(rows["depth"]) - descended)]
        lost = f"no gradient descent without divergence: $d$ = {', '.join(missing)}" * bool(missing)
    if lost:
        axis.text(0.02, 0.02, lost, transform=axis.transAxes, fontsize=6, color="0.35")
