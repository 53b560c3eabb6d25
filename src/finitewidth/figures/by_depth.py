"""Panels with one curve per depth: cumulative spectra, and errors under both dynamics."""

from collections.abc import Sequence
from typing import Any

import matplotlib as mpl
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

SHADES = ("viridis", 0.0, 0.92)
LINES = {"gradient descent": "-", "linear recursion": "--", "ideal": ":"}
SMALLEST = 1e-8  # what a logarithmic axis of squared errors shows at least


def colours(depths: Sequence[int]) -> dict[int, Any]:
    """Dark for shallow, bright for deep networks."""
    name, low, high = SHADES
    own = sorted(set(depths))
    steps = max(1, len(own) - 1)
    return {d: mpl.colormaps[name](low + (high - low) * i / steps) for i, d in enumerate(own)}


def spectra(axis: Axes, rows: pd.DataFrame, column: str = "cumulative") -> None:
    """Sums of ascending eigenvalues against their number."""
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
    """|e_t|^2/|e_0|^2 against steps (logarithmic), dashed where the kernel is held fixed."""
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
    """One legend to the right of all panels: depths, and what lines mean."""
    handles = [
        Line2D([], [], color=colour, label=f"$d$ = {depth}")
        for depth, colour in colours(depths).items()
    ]
    handles += [Line2D([], [], color="0.3", linestyle=LINES[name], label=name)
                for name in dynamics]  # fmt: skip
    figure.legend(handles=handles, loc="outside right center", handlelength=1.8)


def runs_of(rows: pd.DataFrame) -> str:
    """``10 runs``, or ``3 to 10 runs`` where not all curves average as many.

    ``no run`` where all diverged: a curve without a sound run has no rows.
    """
    if rows.empty:
        return "no run"
    fewest, most = int(rows["runs"].min()), int(rows["runs"].max())
    return f"{most} runs" if fewest == most else f"{fewest} to {most} runs"


def width_of(rows: pd.DataFrame) -> str:
    """``$w$ = 25``, without the number where there are no rows."""
    return f"$w$ = {rows['width'].iloc[0]:g}" if len(rows) else "$w$"


def note_lost(axis: Axes, rows: pd.DataFrame) -> None:
    """In a panel: which curves it lacks since none of their runs stayed finite."""
    lost = "" if len(rows) else "no run without divergence"
    if len(rows) and rows["dynamics"].notna().all():
        descended = set(rows[rows["dynamics"] == "gradient descent"]["depth"])
        missing = [f"{depth:g}" for depth in sorted(set(rows["depth"]) - descended)]
        lost = f"no gradient descent without divergence: $d$ = {', '.join(missing)}" * bool(missing)
    if lost:
        axis.text(0.02, 0.02, lost, transform=axis.transAxes, fontsize=6, color="0.35")
