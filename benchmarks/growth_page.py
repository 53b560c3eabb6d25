"""The figures and parts of the page about growth and about infinitely wide networks."""

from pathlib import Path

import numpy as np
import pandas as pd
from benchmarks import cells, figures, growth, rows, side_by_side, wide_times
from benchmarks.growth import TRACED, WIDE, Sizes
from benchmarks.networks import JACOBIAN, NEURAL_TANGENTS, OURS
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from finitewidth.figures import style

LOOKS = {
    OURS: {"color": style.COLOURS[0], "marker": "o"},
    JACOBIAN: {"color": style.COLOURS[3], "marker": "^", "linestyle": "--"},
    NEURAL_TANGENTS: {"color": style.COLOURS[4], "marker": "v", "linestyle": "--"},
}
LABELS = {
    "inputs": "inputs",
    "outputs": "outputs",
    "channels": "parameters",
    "depth": "convolutions",
    "side": "positions of an image",
}
NAMES = {TRACED: "traced", WIDE: "wide"}  # in names of files
TITLES = {TRACED: "Kernels of given networks", WIDE: "Kernels of infinitely wide networks"}
START = Sizes()
GROWTH = f"""## How time and memory grow

A network of {START.depth} convolutions of {START.channels} channels and a mean over positions, with
{START.outputs} outputs, and {START.inputs} images of {START.side}×{START.side}; one size grows in
each panel, and the network of infinite width has no mean over positions. A curve ends at the last
size that a way computes within {growth.LIMIT} seconds, its imports and compiling included, and
within {side_by_side.LIMIT / 1e9:.0f} GB; a cross marks an end. Times are those of a call after the
first one, in the fastest round. Kernels of networks are float32, and limits float64. All ways agree
to {side_by_side.TOLERANCE:g} of the largest entry, which is checked. Ours are `traced_kernel` and
`wide_kernel` at their default budget; *{JACOBIAN}* and *{NEURAL_TANGENTS}* are as in the table
above, with `empirical_ntk_fn` for networks and `kernel_fn` for the limit.
"""
SUBNORMAL = """Gradients of torch's initialisation vanish with depth. From 128 convolutions on they
leave the range of normal float32 numbers, and a processor computes with others many times slower,
in all ways.
"""
LIMITS = """## Kernels of infinitely wide networks

`wide_kernel` beside the `kernel_fn` of neural-tangents of the same network, compiled before. Both
are float64, and each is computed in a process of its own. The difference is the largest one, over
the largest entry.
"""


def of_growth(table: pd.DataFrame, folder: Path) -> list[str]:
    """Draw the figures of one machine, and return their part of the page."""
    machine = rows.file_name(table).removesuffix(".csv")
    style.apply()
    parts = [GROWTH, _measured(table)]
    for kernel, results in table.groupby("kernel", sort=False):
        picture = folder / f"benchmarks_growth_{NAMES[kernel]}_{machine}.png"
        drawn(results).savefig(picture, metadata={"Software": None})
        parts.append(f"![{TITLES[kernel]}]({picture.name})\n")
    return [
        *parts,
        SUBNORMAL,
        "The *exponent* is the slope of the time between the last two sizes in logarithmic axes.\n",
        cells.markdown(ends(table)),
        f"All numbers are in `benchmarks/results/growth/{machine}.csv`. Its columns:\n",
        cells.meanings(growth.COLUMNS),
    ]


def of_wide(table: pd.DataFrame) -> list[str]:
    """Return the part of the page about the times of one machine."""
    lines = [_line_of_wide(row) for _, row in table.iterrows()]
    machine = rows.file_name(table).removesuffix(".csv")
    return [
        LIMITS,
        _measured(table),
        cells.markdown(pd.DataFrame(lines)),
        f"All numbers are in `benchmarks/results/wide/{machine}.csv`. Its columns:\n",
        cells.meanings(wide_times.COLUMNS),
    ]


def _line_of_wide(row: pd.Series) -> dict[str, str]:
    """Return the cells of one network and way."""
    line = {
        "network": row["network"],
        "inputs": row["inputs"],
        "way": row["way"],
        "time": row["state"],
        "memory": "",
        "time over ours": "",
        "difference": "",
    }
    if row["state"] != side_by_side.MEASURED:
        return line
    line["time"] = cells.duration(row["seconds"])
    line["memory"] = f"{cells.prefixed(row['memory'])}B"
    if row["way"] != OURS:
        line["time over ours"] = cells.number(row["ratio"])
        line["difference"] = f"{row['apart']:.1e}"
    return line


def drawn(table: pd.DataFrame) -> Figure:
    """Return seconds and memory against each size."""
    sweeps = list(dict.fromkeys(table["sweep"]))
    figure, axes = style.subplots(2, len(sweeps), height=4.2, squeeze=False, sharey="row")
    for column, sweep in enumerate(sweeps):
        results = table[table["sweep"] == sweep]
        _curves(axes[0, column], results, sweep, "seconds")
        _curves(axes[1, column], results, sweep, "memory")
        axes[1, column].set_xlabel(LABELS[sweep])
    axes[0, 0].set_ylabel("seconds")
    axes[1, 0].set_ylabel("memory (GB)")
    return figures.with_legend(figure, list(axes.flat))


def _curves(axis: Axes, table: pd.DataFrame, sweep: str, quantity: str) -> None:
    """Plot all ways, with a cross where one ends."""
    for way, results in table.groupby("way", sort=False):
        done = results[results["state"] == side_by_side.MEASURED].sort_values("value")
        if done.empty:
            continue
        x = _sizes(done, sweep)
        y = done[quantity] if quantity == "seconds" else done[quantity] / 1e9
        axis.plot(x, y, label=way, markersize=3, **LOOKS[way])
        if len(done) < len(results):
            axis.plot(x.iloc[-1:], y.iloc[-1:], "x", color=LOOKS[way]["color"], markersize=9)
    axis.set_xscale("log")
    axis.set_yscale("log")
    axis.xaxis.set_minor_formatter(NullFormatter())


def _sizes(table: pd.DataFrame, sweep: str) -> pd.Series:
    """Return what grows, as the axis of a sweep shows it (`LABELS`)."""
    if sweep == "channels":
        return table["parameters"]
    if sweep == "side":
        return table["value"] ** 2
    return table["value"]


def ends(table: pd.DataFrame) -> pd.DataFrame:
    """Return for each size and way where it ends, why, and how its time grows before."""
    lines = []
    for (kernel, sweep, way), results in table.groupby(["kernel", "sweep", "way"], sort=False):
        measured = results["state"] == side_by_side.MEASURED
        done = results[measured].sort_values("value")
        if done.empty:
            continue
        failed = results[~measured]
        last = done.iloc[-1]
        lines.append(
            {
                "kernel": kernel,
                "size": sweep,
                "way": way,
                "largest measured": last["value"],
                "its time": cells.duration(last["seconds"]),
                "its memory": f"{cells.prefixed(last['memory'])}B",
                "exponent": cells.number(_exponent(done)) if len(done) > 1 else "",
                "the next": _next(failed) if len(failed) else "not tried",
            }
        )
    return pd.DataFrame(lines)


def _exponent(done: pd.DataFrame) -> float:
    """Return the slope of the time between the last two sizes in logarithmic axes."""
    before = done.iloc[-2]
    last = done.iloc[-1]
    seconds = np.log(last["seconds"] / before["seconds"])
    return seconds / np.log(last["value"] / before["value"])


def _next(failed: pd.DataFrame) -> str:
    """Say what happened at the size after the last one that was measured."""
    first = failed.sort_values("value").iloc[0]
    return f"{first['value']}: {first['state']}"


def _measured(table: pd.DataFrame) -> str:
    """Return when and how a table was measured."""
    first = table.iloc[0]
    load = cells.span(table["load"], "{:.1f}".format)
    machine = f"{first['processor']}, {first['cores']} cores"
    threads = figures.threads_in_words(first["threads"])
    return (
        f"Measured on {machine}, with {threads} and\n{first['versions']},\n"
        f"on {first['date']}, at commit {first['commit']}. The load was {load}.\n"
    )
