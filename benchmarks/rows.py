"""The rows of a table of results, one for each of our ways and each reference."""

import math
import os
import statistics
from collections.abc import Callable, Iterable, Iterator
from datetime import date
from importlib import metadata
from pathlib import Path

import pandas as pd
import torch
from benchmarks import draws, stacked, trained
from benchmarks.machine import Bound, Machine, bound_of, measured_rates
from benchmarks.timing import Comparison, Timer, Way, ratio_of

from finitewidth.records.provenance import environment

PARTS = {part.NAME: part for part in (draws, trained, stacked)}
PACKAGES = ("torch", "torchvision", "numpy", "nngeometry")  # the last one need not be installed
# columns and what they say; the page and the tests follow this list
COLUMNS = {
    "benchmark": "draws, trained or stacked",
    "case": "our way",
    "reference": "the way that it is compared with",
    "sweep": "the size that is varied",
    "value": "this size",
    "parameters": "all sizes",
    "unit": "the unit of work, to which seconds, flops, bytes and random numbers refer",
    "ours_seconds": "median over rounds",
    "reference_seconds": "median over rounds",
    "ratio": "reference over ours: median of the ratios of single rounds",
    "low": "first quartile of these ratios",
    "high": "third quartile",
    "rounds": "number of rounds",
    "flops": "operations of our matrix products",
    "reference_flops": "those of the reference",
    "bytes": "what we read and write at least",
    "reference_bytes": "those of the reference",
    "random_numbers": "that we draw",
    "bound": "the rate that bounds our time: products, memory or random numbers",
    "bound_seconds": "what this rate leaves at least",
    "share_of_bound": "bound_seconds over ours_seconds",
    "matmul_flops": "measured operations per second of a large matrix product of this type",
    "copy_bytes": "measured bytes per second of a large copy, read and written",
    "normals": "measured normal numbers per second",
    "threads": "number of threads",
    "clock": "cpu: CPU seconds of the process; wall: seconds that pass",
    "load": "load average of the last minute at the time of the case",
    "device": "cpu, or the name of a GPU",
    "processor": "of the machine",
    "cores": "of the machine",
    "versions": "of the packages",
    "commit": "of the code",
    "date": "of the run",
}


def measure(names: list[str], timer: Timer, threads: int, quick: bool) -> pd.DataFrame:
    """Run benchmarks and return their rows; say on the terminal what has been done."""
    size, megabytes = (64, 1) if quick else (1024, 256)
    machine = measured_rates(timer, size, megabytes)
    facts = facts_of(timer, threads)
    rows = []
    for name in names:
        for comparison in PARTS[name].comparisons(timer.device, quick):
            measured = list(rows_of(comparison, timer, machine))
            load = load_average()
            for row in measured:
                rows.append(row | facts | {"load": load})
                print(
                    f"{threads} threads, {name}, {row['case']}, {row['parameters']}: "
                    f"{row['ratio']:.3g} x {row['reference']}",
                    flush=True,
                )
    return pd.DataFrame(rows, columns=list(COLUMNS))


def table_of(
    name: str,
    lines: Iterable[dict],
    title: Callable[[dict], str],
    threads: int,
    columns: Iterable[str],
) -> pd.DataFrame:
    """Collect rows of kernels that are measured in processes of their own.

    Args:
        name: of the benchmark.
        lines: the rows, each measured when it is asked for; with its way, state and seconds.
        title: returns what a row is about, for the terminal.
        threads: number of threads.
        columns: of the table.

    Returns:
        The rows, with what describes the run and the machine.
    """
    facts = facts_of(Timer("cpu", "wall", 1, 0.0), threads)
    rows = []
    for line in lines:
        rows.append(facts | line | {"load": load_average()})
        seconds = line.get("seconds", math.nan)
        print(
            f"{threads} threads, {name}, {title(line)}, {line['way']}: "
            f"{line['state']}, {seconds:.3g} s",
            flush=True,
        )
    return pd.DataFrame(rows, columns=list(columns))


def load_average() -> float:
    """Return the load average of the last minute."""
    return round(os.getloadavg()[0], 1)


def rows_of(comparison: Comparison, timer: Timer, machine: Machine) -> Iterator[dict]:
    """Time the ways of a comparison in turn, and yield a row for each pair."""
    seconds = timer.in_turn([*comparison.ours, *comparison.references])
    ours_seconds = seconds[: len(comparison.ours)]
    reference_seconds = seconds[len(comparison.ours) :]
    shared = {
        "benchmark": comparison.benchmark,
        "sweep": comparison.sweep,
        "value": comparison.parameters[comparison.sweep],
        "parameters": ", ".join(f"{k} {v}" for k, v in comparison.parameters.items()),
        "unit": comparison.unit,
        "rounds": timer.rounds,
        "matmul_flops": machine.flops[comparison.dtype],
        "copy_bytes": machine.bandwidth,
        "normals": 1 / machine.normal,
    }
    for ours, spent in zip(comparison.ours, ours_seconds, strict=True):
        columns = columns_of_ours(ours, spent, bound_of(ours.work, machine, comparison.dtype))
        for reference, other in zip(comparison.references, reference_seconds, strict=True):
            yield shared | columns | columns_of_reference(reference, other, spent)


def columns_of_ours(way: Way, seconds: list[float], bound: Bound) -> dict:
    """Return the columns about our way, from its seconds in each round."""
    median = statistics.median(seconds)
    return {
        "case": way.name,
        "ours_seconds": median,
        "flops": way.work.flops,
        "bytes": way.work.bytes,
        "random_numbers": way.work.random_numbers,
        "bound": bound.name,
        "bound_seconds": bound.seconds,
        "share_of_bound": bound.seconds / median,
    }


def columns_of_reference(way: Way, seconds: list[float], ours: list[float]) -> dict:
    """Return the columns about a reference, from its seconds and ours in each round."""
    ratio = ratio_of(ours, seconds)
    return {
        "reference": way.name,
        "reference_seconds": statistics.median(seconds),
        "ratio": ratio.median,
        "low": ratio.low,
        "high": ratio.high,
        "reference_flops": way.work.flops,
        "reference_bytes": way.work.bytes,
    }


def facts_of(timer: Timer, threads: int) -> dict:
    """Return what describes the run and the machine."""
    run = environment()
    machine = run["machine"]
    device = torch.cuda.get_device_name() if timer.device == "cuda" else "cpu"
    installed = {package.metadata["Name"]: package.version for package in metadata.distributions()}
    packages = [f"{name} {installed[name]}" for name in PACKAGES if name in installed]
    return {
        "threads": threads,
        "clock": timer.clock,
        "device": device,
        "processor": machine["processor"],
        "cores": machine["cores"],
        "versions": ", ".join([f"Python {run['python']}", *packages]),
        "commit": (run["git"]["commit"] or "none")[:10],
        "date": date.today().isoformat(),
    }


def file_name(rows: pd.DataFrame) -> str:
    """Return the name of the file for a machine: its processor and cores, or its GPU."""
    first = rows.iloc[0]
    cpu = f"{first['processor']} {first['cores']} cores"
    words = cpu if first["device"] == "cpu" else first["device"]
    for sign in ("(R)", "(TM)", "CPU"):
        words = words.replace(sign, " ")
    letters = "".join(letter if letter.isalnum() else " " for letter in words.lower())
    return "-".join(letters.split()) + ".csv"


def merged(old: pd.DataFrame, new: pd.DataFrame) -> pd.DataFrame:
    """Replace the rows of the benchmarks and numbers of threads that were measured again."""
    keys = ["benchmark", "threads"]
    again = pd.MultiIndex.from_frame(old[keys]).isin(pd.MultiIndex.from_frame(new[keys]))
    rows = pd.concat([old[~again], new], ignore_index=True)
    numbers = {name: number for number, name in enumerate(PARTS)}

    def order(column: pd.Series) -> pd.Series:
        return column.map(numbers) if column.name == "benchmark" else column

    return rows.sort_values(keys, key=order, kind="stable", ignore_index=True)


def read(file: Path, columns: Iterable[str] = COLUMNS) -> pd.DataFrame:
    """Read a table of results.

    Raises:
        SystemExit: it has other columns, or no rows.
    """
    rows = pd.read_csv(file)
    if list(rows) != list(columns) or rows.empty:
        raise SystemExit(f"{file}: its columns are not those of today's code; measure again")
    return rows
