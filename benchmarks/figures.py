"""The figures of the page: seconds or draws per second of all ways, with the bound of ours."""

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
        own = rows[rows["benchmark"] == name]
        if own.empty:
            continue
        files[name] = folder / f"benchmarks_{name}_{machine}.png"
        make(own).savefig(files[name], metadata={"Software": None})
    return files


def of_draws(rows: pd.DataFrame) -> Figure:
    """Draws per second against each size; a row of panels for each number of threads."""
    sizes = list(dict.fromkeys(rows["sweep"]))
    fixed = dict(list(rows.groupby("sweep")))
    panels = [(threads, size) for threads in sorted(set(rows["threads"])) for size in sizes]
    figure, axes = grid(panels, len(sizes), sharey=True)
    for axis, (threads, size) in zip(axes, panels, strict=True):
        own = fixed[size][fixed[size]["threads"] == threads]
        curves(axis, own, size, rate=True)
    titles = [f"{said(threads)}, {constant(fixed[size], size)}" for threads, size in panels]
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
    panels = [(threads, case) for threads in sorted(set(rows["threads"])) for case in cases]
    figure, axes = grid(panels, len(cases), sharey=True)
    for axis, (threads, case) in zip(axes, panels, strict=True):
        own = rows[(rows["threads"] == threads) & (rows["case"] == case)]
        curves(axis, own, own["sweep"].iloc[0], rate=False, name="ours")
    style.title_panels(axes, [case for _, case in panels])
    for axis, (threads, _) in list(zip(axes, panels, strict=True))[:: len(cases)]:
        axis.set_ylabel(f"{label}\n{said(threads)}")
    return with_legend(figure, axes)


def curves(axis: Axes, rows: pd.DataFrame, size: str, *, rate: bool, name: str = "") -> None:
    """Plot ours, their bounds and the references against a size, in logarithmic axes."""

    def height(seconds: pd.Series) -> pd.Series:
        return 1 / seconds if rate else seconds

    for number, (case, own) in enumerate(rows.groupby("case", sort=False)):
        own = own.drop_duplicates("value").sort_values("value")
        colour = OURS[SAMPLERS.get(case, number)]
        looks = {"color": colour, "marker": MARKERS[SAMPLERS.get(case, number)]}
        axis.plot(own["value"], height(own["ours_seconds"]), label=name or case, **looks)
        axis.plot(
            own["value"],
            height(own["bound_seconds"]),
            color=colour,
            linestyle=DOTTED,
            label="bound of ours" if name else f"bound, {case}",
        )
    for number, (reference, own) in enumerate(rows.groupby("reference", sort=False)):
        own = own.drop_duplicates("value").sort_values("value")
        axis.plot(
            own["value"],
            height(own["reference_seconds"]),
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


SAMPLERS = {draws.CHAIN: 0, draws.VECTORS: 1, draws.MATRICES: 2}


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


def said(threads: int) -> str:
    return {1: "one thread", 2: "two threads"}.get(threads, f"{threads} threads")


def constant(rows: pd.DataFrame, size: str) -> str:
    """Return the sizes that do not vary, as ``L = 50, S = 1``."""
    words = dict(word.split() for word in rows["parameters"].iloc[0].split(", "))
    letters = {"width": "M", "depth": "L", "inputs": "S"}
    return ", ".join(f"${letters[k]}$ = {v}" for k, v in words.items() if k != size)
