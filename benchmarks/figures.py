"""The figures of the page: seconds or draws per second of all ways, with the bound of ours."""

from itertools import product
from pathlib import Path

import pandas as pd
from benchmarks import draws, stacked, trained
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator, ScalarFormatter

from finitewidth.figures import style

OURS = style.COLOURS
REFERENCES = (style.COLOURS[3], style.COLOURS[4], style.COLOURS[5])
MARKERS = "osD^v"
DOTTED = (0, (1, 1.5))
SAMPLERS = {draws.CHAIN: 0, draws.VECTORS: 1, draws.MATRICES: 2}  # numbers of their looks
LABELS = {
    "width": "width $M$",
    "depth": "depth $L$",
    "inputs": "inputs $S$",
    "replicas": "replicas $R$",
}


def draw(rows: pd.DataFrame, folder: Path, machine: str) -> dict[str, Path]:
    """Draw a figure for each benchmark of a table, and return the files by benchmark."""
    style.apply()
    figures = {draws.NAME: of_draws, trained.NAME: of_trained, stacked.NAME: of_stacked}
    files = {}
    for name, make in figures.items():
        results = rows[rows["benchmark"] == name]
        if results.empty:
            continue
        files[name] = folder / f"benchmarks_{name}_{machine}.png"
        make(results).savefig(files[name], metadata={"Software": None})
    return files


def of_draws(rows: pd.DataFrame) -> Figure:
    """Draws per second against each size; a row of panels for each number of threads."""
    sizes = list(dict.fromkeys(rows["sweep"]))
    by_size = dict(list(rows.groupby("sweep")))
    panels = list(product(sorted(set(rows["threads"])), sizes))
    figure, axes = grid(panels, len(sizes), sharey=True)
    titles = []
    for axis, (threads, size) in zip(axes, panels, strict=True):
        sweep = by_size[size]
        curves(axis, sweep[sweep["threads"] == threads], size, rate=True)
        titles.append(f"{threads_in_words(threads)}, {constant(sweep, size)}")
    style.title_panels(axes, titles)
    for axis in axes[:: len(sizes)]:
        axis.set_ylabel("kernels drawn per second")
    return with_legend(figure, axes)


def of_trained(rows: pd.DataFrame) -> Figure:
    """Seconds of a kernel against the number of inputs, for networks with several numbers."""
    several = rows.groupby("case")["value"].transform("nunique") > 1
    return of_cases(rows[several], "seconds for a kernel")


def of_stacked(rows: pd.DataFrame) -> Figure:
    """Seconds of a step of one network against the number of replicas, for all networks."""
    return of_cases(rows, "seconds for a step of a network")


def of_cases(rows: pd.DataFrame, label: str) -> Figure:
    """Seconds of a unit; a row of panels for each number of threads, and a column for each case."""
    cases = list(dict.fromkeys(rows["case"]))
    panels = list(product(sorted(set(rows["threads"])), cases))
    figure, axes = grid(panels, len(cases), sharey=True)
    for axis, (threads, case) in zip(axes, panels, strict=True):
        sweep = rows[(rows["threads"] == threads) & (rows["case"] == case)]
        curves(axis, sweep, sweep["sweep"].iloc[0], rate=False, name="ours")
    style.title_panels(axes, [case for _, case in panels])
    for first in range(0, len(panels), len(cases)):  # panels on the left
        threads, _ = panels[first]
        axes[first].set_ylabel(f"{label}\n{threads_in_words(threads)}")
    return with_legend(figure, axes)


def curves(axis: Axes, rows: pd.DataFrame, size: str, *, rate: bool, name: str = "") -> None:
    """Plot ours, their bounds and the references against a size, in logarithmic axes."""

    def height(seconds: pd.Series) -> pd.Series:
        return 1 / seconds if rate else seconds

    for number, (case, sizes) in enumerate(rows.groupby("case", sort=False)):
        sizes = sizes.drop_duplicates("value").sort_values("value")
        look = SAMPLERS.get(case, number)
        axis.plot(
            sizes["value"],
            height(sizes["ours_seconds"]),
            color=OURS[look],
            marker=MARKERS[look],
            label=name or case,
        )
        axis.plot(
            sizes["value"],
            height(sizes["bound_seconds"]),
            color=OURS[look],
            linestyle=DOTTED,
            label="bound of ours" if name else f"bound, {case}",
        )
    for number, (reference, sizes) in enumerate(rows.groupby("reference", sort=False)):
        sizes = sizes.drop_duplicates("value").sort_values("value")
        axis.plot(
            sizes["value"],
            height(sizes["reference_seconds"]),
            color=REFERENCES[number],
            marker=MARKERS[-1 - number % 2],
            linestyle="--",
            label=reference,
        )
    axis.set_xscale("log")
    axis.set_yscale("log")
    axis.set_xticks(sorted(set(rows["value"])))
    axis.xaxis.set_major_formatter(ScalarFormatter())
    axis.xaxis.set_minor_locator(NullLocator())
    axis.set_xlabel(LABELS[size])


def grid(panels: list, columns: int, **layout: object) -> tuple[Figure, list[Axes]]:
    count = len(panels) // columns
    figure, axes = style.subplots(count, columns, height=2.0 * count + 0.6, squeeze=False, **layout)
    return figure, list(axes.flat)


def with_legend(figure: Figure, axes: list[Axes]) -> Figure:
    """Put one legend of all panels below the figure."""
    entries = {}
    for axis in axes:
        for artist, label in zip(*axis.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, artist)
    figure.legend(entries.values(), entries.keys(), loc="outside lower center", ncols=4)
    return figure


def threads_in_words(threads: int) -> str:
    return {1: "one thread", 2: "two threads"}.get(threads, f"{threads} threads")


def constant(rows: pd.DataFrame, size: str) -> str:
    """Return the sizes that do not vary, as ``L = 50, S = 1``."""
    words = dict(word.split() for word in rows["parameters"].iloc[0].split(", "))
    letters = {"width": "M", "depth": "L", "inputs": "S"}
    return ", ".join(f"${letters[k]}$ = {v}" for k, v in words.items() if k != size)
