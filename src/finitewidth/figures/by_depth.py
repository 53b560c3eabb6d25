"""Panels with one curve per depth: cumulative spectra, and errors of two dynamics."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import cycle
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from finitewidth.figures import style
from finitewidth.records.tables import Table, integer, number, text

SCALE = "inferno"
BRIGHT = 0.65  # brighter colours are too pale on white
MARKS = "os^DvPX"
DESCENT = "gradient descent"
RECURSION = "linear recursion"
LINES = {DESCENT: "-", RECURSION: (0, (3.5, 1.5)), "ideal": ":"}
Looks = dict[int, dict[str, Any]]  # depth -> colour and mark
SMALLEST = 1e-8  # lowest limit of a logarithmic axis of squared errors
THICK = 2.2  # points, of a curve that is set off
MARKED = 5  # how many points of a curve have a mark, about
NAMED = 2  # at most so many depths are named that average fewer runs than the others

# columns of figures with both kinds of panels
TABLE = Table(
    text("panel", "kind of panel: spectrum or errors"),
    text("network", "kind of network"),
    number("width", "units of each hidden layer"),
    integer("depth", "number of layers of weights"),
    text("dynamics", "gradient descent or linear recursion; none for a spectrum"),
    number("index", "number of an eigenvalue in ascending order", missing="the row is an error"),
    number(
        "sum",
        "sum of the eigenvalues up to this one, in the unit of the figure",
        missing="the row is an error",
    ),
    number("step", "number of steps of gradient descent", "step", missing="the row is a spectrum"),
    number(
        "error_ratio",
        "squared error over that at the start, mean over runs",
        missing="the row is a spectrum",
    ),
    integer("runs", "number of runs in the mean"),
    integer("diverged", "number of runs left out, because they diverged"),
)


# columns that `rows_of` adds if they are asked for
SPREAD = number(
    "standard_deviation",
    "sample standard deviation over runs of the sum of eigenvalues",
    missing="the row is an error or of a single run",
)
GEOMETRIC = Table(
    number(
        "geometric_mean",
        "squared error over that at the start, geometric mean over runs",
        missing="the row is a spectrum",
    ),
    number(
        "lowest",
        "the geometric mean, less two standard errors of the mean logarithm",
        missing="the row is a spectrum or of a single run",
    ),
    number(
        "highest",
        "the geometric mean, plus two standard errors of the mean logarithm",
        missing="the row is a spectrum or of a single run",
    ),
)
# columns that `with_ranges` adds
RANGE = Table(
    number(
        "least",
        "least squared error over that at the start of any run in the mean",
        missing="the row is a spectrum",
    ),
    number(
        "greatest",
        "greatest squared error over that at the start of any run in the mean",
        missing="the row is a spectrum",
    ),
)


def rows_of(
    tables: Mapping[str, pd.DataFrame], figure: str, sums: str, table: Table = TABLE
) -> pd.DataFrame:
    """Join the spectra and errors that are means over the runs of a figure in one table.

    The errors at the start are left out: their ratio is 1 by definition, and a logarithmic axis
    cannot show step 0.

    Args:
        tables: ``spectra`` has figure, network, width, depth, index, runs, diverged and the column
            ``sums``; ``errors`` figure, network, width, depth, dynamics, time, ratio, runs,
            diverged.
        figure: the key of the figure in these tables, which may hold the rows of several.
        sums: ``cumulative`` (of K_0 / d) or ``scaled`` (of K_0 over its largest eigenvalue).
        table: the result, with columns of `TABLE`, `SPREAD` and `GEOMETRIC`. `SPREAD` needs the
            column ``sums``_spread of ``spectra``, `GEOMETRIC` the columns geometric,
            geometric_low and geometric_high of ``errors``.
    """
    spectra = tables["spectra"]
    spectra_names = {sums: "sum", f"{sums}_spread": "standard_deviation"}
    spectra = spectra[spectra["figure"] == figure].rename(columns=spectra_names)
    spectra = spectra.assign(dynamics="none", panel="spectrum")

    errors = tables["errors"]
    errors = errors[(errors["figure"] == figure) & (errors["time"] > 0)]
    names = {
        "time": "step",
        "ratio": "error_ratio",
        "geometric": "geometric_mean",
        "geometric_low": "lowest",
        "geometric_high": "highest",
    }
    errors = errors.rename(columns=names).assign(panel="errors")

    both = [spectra, errors]
    # an empty table would change the types of the columns
    rows = pd.concat([part for part in both if len(part)] or both, ignore_index=True)
    return rows.reindex(columns=table.names)


def with_ranges(rows: pd.DataFrame, runs: pd.DataFrame) -> pd.DataFrame:
    """Add the columns `RANGE` to the rows of a figure: the ends of its runs at each step.

    Args:
        rows: those of `rows_of`.
        runs: network, depth, dynamics, run, time and ratio of every run, also of those that the
            figure does not show.
    """
    shown = (rows["runs"] + rows["diverged"]).max()  # the first runs of all
    curves_of_run = [runs[key] for key in ("network", "depth", "dynamics", "run")]
    converged = runs["ratio"].notna().groupby(curves_of_run).transform("all")
    in_means = runs[converged & (runs["run"] < shown)].rename(columns={"time": "step"})
    points = ["network", "depth", "dynamics", "step"]
    ends = in_means.groupby(points)["ratio"].agg(least="min", greatest="max")
    return rows.drop(columns=RANGE.names, errors="ignore").join(ends, on=points)


def looks(depths: Iterable[int]) -> Looks:
    """Map each depth to a colour and a mark: dark for shallow networks, bright for deep ones."""
    shades = style.shades(depths, name=SCALE, bright=BRIGHT)
    looks_of_depths = {}
    for (depth, shade), mark in zip(shades.items(), cycle(MARKS), strict=False):
        looks_of_depths[depth] = {"color": shade, "marker": mark}
    return looks_of_depths


def curves(
    axis: Axes,
    rows: pd.DataFrame,
    x: str,
    y: str,
    look_of: Looks,
    line: Any = "-",
    thick: float | None = None,
    spread: str | None = None,
) -> None:
    """Plot a curve per depth, with marks at different places for different depths.

    Args:
        axis: the panel.
        rows: depth and the columns ``x`` and ``y``.
        x: column of the horizontal axis.
        y: column of the vertical axis.
        look_of: depth -> its look, of `looks`.
        line: style of the lines.
        thick: depth whose curve has a thick line.
        spread: column with half the length of the error bars at the marks; None for no bars.
    """
    for order, (depth, look) in enumerate(look_of.items()):
        curve = rows[rows["depth"] == depth].sort_values(x)
        every = max(1, len(curve) // MARKED)
        first = round(order * every / len(look_of)) if every > 1 else 0
        thickness: dict[str, Any] = {"linewidth": THICK, "zorder": 3} if depth == thick else {}
        axis.plot(curve[x], curve[y], linestyle=line, markevery=(first, every), **look, **thickness)
        if spread:
            marked = curve.iloc[first::every]
            bars = {"linestyle": "none", "color": look["color"], "elinewidth": 0.7}
            style.bars(axis, marked[x], marked[y], marked[spread], **bars)


def spectra(
    axis: Axes, rows: pd.DataFrame, look_of: Looks, unit: str = "d", lowest: float | None = None
) -> None:
    r"""Plot cumulative sums of the ascending eigenvalues against their index.

    Args:
        axis: the panel.
        rows: depth, index and sum, and standard_deviation if there are error bars.
        look_of: depth -> its look, of `looks`.
        unit: what the kernel is divided by: ``d`` or ``\rho_{\max}``.
        lowest: lower end of a logarithmic vertical axis, at which the curves begin, too; None for
            a linear axis.
    """
    drawn = rows if lowest is None else rows[rows["sum"] >= lowest]
    spread = "standard_deviation" if "standard_deviation" in drawn else None
    curves(axis, drawn, "index", "sum", look_of, spread=spread)
    axis.set_xlabel("eigenvalue, in ascending order")
    axis.set_ylabel(f"sum of eigenvalues of $K_0/{unit}$")
    if rows.empty:
        _write_in_corner(axis, "no run without divergence")
        return
    axis.set_xlim(0, rows["index"].max() * 1.02)
    if lowest is None:
        axis.set_ylim(0, rows["sum"].max() * 1.04)
    else:
        axis.set_yscale("log")
        axis.set_ylim(lowest, rows["sum"].max() * 1.5)


def errors(
    axis: Axes,
    rows: pd.DataFrame,
    look_of: Looks,
    scale: str,
    note: str = "",
    *,
    mean: str = "error_ratio",
    thick: float | None = None,
) -> None:
    """Plot |e_t|^2 / |e_0|^2 against steps on a logarithmic axis.

    The linear recursion, which holds the kernel fixed, is dashed. A logarithmic vertical axis ends
    below the curves of gradient descent; others may leave it.

    Args:
        axis: the panel.
        rows: depth, dynamics, step and the column ``mean``.
        look_of: depth -> its look, of `looks`.
        scale: of the vertical axis, ``log`` or ``linear``.
        note: a text for the lower left corner.
        mean: ``error_ratio``, or ``geometric_mean`` with a band from ``lowest`` to ``highest``
            around the curves of gradient descent. The band of ``error_ratio`` goes from ``least``
            to ``greatest`` if ``rows`` have them.
        thick: depth whose curve of gradient descent is thick.
    """
    axis.set(xscale="log", yscale=scale, xlabel="step $t$")
    axis.set_ylabel(r"$\Vert e_t\Vert^2 \,/\, \Vert e_0\Vert^2$")
    descent = rows[rows["dynamics"] == DESCENT]
    recursion = rows[rows["dynamics"] == RECURSION]
    without_marks = {depth: look | {"marker": ""} for depth, look in look_of.items()}
    curves(axis, recursion, "step", mean, without_marks, LINES[RECURSION])
    curves(axis, descent, "step", mean, look_of, LINES[DESCENT], thick)
    low, high = ("lowest", "highest") if mean in GEOMETRIC.names else ("least", "greatest")
    if low in descent:
        for depth, look in look_of.items():
            curve = descent[descent["depth"] == depth].sort_values("step")
            style.band(axis, curve["step"], curve[low], curve[high], look["color"])
    if len(rows):
        limiting = descent if len(descent) else rows
        _limit_errors(axis, scale, limiting[mean].min())
    texts = [text for text in (lost(rows), note) if text]
    if texts:
        _write_in_corner(axis, "\n".join(texts))


def _limit_errors(axis: Axes, scale: str, least: float) -> None:
    """End the vertical axis of errors below their ``least``, and above 1."""
    if scale == "log":
        style.clip(axis, (max(SMALLEST, least / 2), 1.5))
    else:
        style.clip(axis, (0, 1.05))


def two_networks(
    parts: Mapping[str, pd.DataFrame],
    order: Sequence[str],
    same: Sequence[str],
    lowest: float | None = None,
) -> Figure:
    """Draw spectra of K_0 over its largest eigenvalue, and errors on a linear scale.

    Args:
        parts: name of a kind of network -> its rows. Each has a column of panels.
        order: the panels ``spectrum`` and ``errors`` of a column, from above.
        same: those of them that have equal vertical scales; the others say that they do not.
        lowest: lower end of logarithmic axes of the spectra; None for linear ones.
    """
    figure, axes = style.subplots(2, len(parts), height=4.0)
    look_of = looks(pd.concat(list(parts.values()))["depth"])
    titles = []
    errors_of = {}
    for panel, line in zip(order, axes, strict=True):
        for axis, (name, both) in zip(line, parts.items(), strict=True):
            rows = both[both["panel"] == panel]
            if panel == "spectrum":
                spectra(axis, rows, look_of, r"\rho_{\max}", lowest)
                titles.append(f"{name}: spectrum, {runs_of(rows)}")
            else:
                errors(axis, rows, look_of, "linear")
                titles.append(f"{name}: errors")
                errors_of[name] = rows
        _scales(line, panel in same)
    style.title_panels(axes.flat, titles)
    legends(figure, look_of, errors_of)
    return figure


def _scales(line: Sequence[Axes], same: bool) -> None:
    """Give a row of panels one vertical scale and one label, or say that their scales differ."""
    if same:
        same_limits(line)
    for axis in line[1:]:
        axis.set_ylabel("")
        axis.tick_params(labelleft=not same)
    if same:
        return
    for axis in line:
        axis.text(
            0.03,
            0.95,
            "vertical scales differ",
            transform=axis.transAxes,
            va="top",
            fontsize=style.SMALLEST,
            color=style.GREY,
        )


def same_limits(axes: Iterable[Axes]) -> None:
    """Give panels of one quantity the same vertical limits, which contain all curves."""
    panels = [axis for axis in axes if axis.has_data()]
    if not panels:
        return
    limits = [axis.get_ylim() for axis in panels]
    low = min(low for low, _ in limits)
    high = max(high for _, high in limits)
    for axis in panels:
        axis.set_ylim(low, high)


def legends(
    figure: Figure, look_of: Looks, parts: Mapping[str, pd.DataFrame] | None = None
) -> None:
    """Add a legend of the depths to the right of all panels, and one of the lines above.

    Args:
        figure: the figure.
        look_of: depth -> its look, of `looks`.
        parts: name of a kind of network -> its rows of errors. The legend of the lines says how
            many runs their curves average; without ``parts`` there is no such legend.
    """
    handles = [style.handle(f"{depth:g}", **look) for depth, look in look_of.items()]
    figure.legend(handles=handles, title="depth $d$", loc="outside right center")
    if parts is None:
        return
    lines = []
    for dynamics in (DESCENT, RECURSION):
        drawn = {name: rows[rows["dynamics"] == dynamics] for name, rows in parts.items()}
        if any(len(rows) for rows in drawn.values()):
            look = {"color": style.GREY, "linestyle": LINES[dynamics]}
            lines.append(style.handle(f"{dynamics} ({_runs_of_all(drawn)})", **look))
    style.legend_above(figure, lines, handlelength=2.4)


def _runs_of_all(parts: Mapping[str, pd.DataFrame]) -> str:
    """Return the number of runs of each kind of network in words, or once if all are equal."""
    runs = {name: runs_of(rows) for name, rows in parts.items()}
    different = set(runs.values())
    if len(different) == 1:
        return different.pop()
    return "; ".join(f"{name}: {count}" for name, count in runs.items())


def runs_of(rows: pd.DataFrame, by: str = "depth") -> str:
    """Return the number of runs in words.

    The text is ``10 runs``, or ``10 runs ($d$ = 20: 7)`` if the curve of depth 20 averages fewer,
    because the others diverged. If many curves average fewer, it is ``7 to 10 runs``. If no curve
    averages all runs, the text is ``7 of 10 runs``. It is ``no run`` if there are no rows: a curve
    has none if none of its runs stayed finite.

    Args:
        rows: runs (in the mean), diverged (left out) and the column ``by``.
        by: the column whose values tell the curves apart.
    """
    if rows.empty:
        return "no run"
    fewest = int(rows["runs"].min())
    most = int(rows["runs"].max())
    started = int((rows["runs"] + rows["diverged"]).max())
    fewer = rows[rows["runs"] < most].groupby(by)["runs"].min()
    too_many_to_name = len(fewer) > NAMED

    count = f"{fewest} to {most}" if too_many_to_name else str(most)
    if most < started:
        count += f" of {started}"
    text = "1 run" if count == "1" else f"{count} runs"
    if too_many_to_name or fewer.empty:
        return text
    name = "$d$ = {:g}" if by == "depth" else "{}"
    exceptions = [f"{name.format(key)}: {runs:g}" for key, runs in fewer.items()]
    return f"{text} ({', '.join(exceptions)})"


def width_of(rows: pd.DataFrame) -> str:
    """Return ``$w$ = 25``, or ``$w$`` if there are no rows."""
    return f"$w$ = {rows['width'].iloc[0]:g}" if len(rows) else "$w$"


def lost(rows: pd.DataFrame) -> str:
    """Say which curves of errors are missing because all of their runs diverged."""
    if rows.empty:
        return "no run without divergence"
    with_descent = set(rows[rows["dynamics"] == DESCENT]["depth"])
    missing = [depth for depth in sorted(rows["depth"].unique()) if depth not in with_descent]
    if not missing:
        return ""
    depths = ", ".join(f"{depth:g}" for depth in missing)
    return f"all descents diverged: $d$ = {depths}"


def _write_in_corner(axis: Axes, text: str) -> None:
    axis.text(
        0.03,
        0.03,
        text,
        transform=axis.transAxes,
        fontsize=style.SMALLEST,
        color=style.GREY,
        linespacing=1.3,
    )
