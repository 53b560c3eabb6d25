"""The rows of a table of results, one for each of our ways and each reference."""

import os
import statistics
from collections.abc import Iterable, Iterator
from datetime import date
from importlib import metadata
from pathlib import Path

import pandas as pd
import torch
from benchmarks import draws, stacked, trained
from benchmarks.timing import Comparison, Timer, ratio_of
from benchmarks.work import Machine, bound_of, measured

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
    machine = measured(timer, size, megabytes)
    facts = facts_of(timer, threads)
    rows = []
    for name in names:
        for comparison in PARTS[name].comparisons(timer.device, quick):
            found = list(rows_of(comparison, timer, machine))
            rows += [row | facts | {"load": round(os.getloadavg()[0], 1)} for row in found]
            for row in found:
                print(
                    f"{threads} threads, {name}, {row['case']}, {row['parameters']}: "
                    f"{row['ratio']:.3g} x {row['reference']}",
                    flush=True,
                )
    return pd.DataFrame(rows, columns=list(COLUMNS))


def rows_of(comparison: Comparison, timer: Timer, machine: Machine) -> Iterator[dict]:
    """Time the ways of a comparison in turn, and yield a row for each pair."""
    seconds = timer.in_turn([*comparison.ours, *comparison.references])
    times = seconds[: len(comparison.ours)], seconds[len(comparison.ours) :]
    for ours, spent in zip(comparison.ours, times[0], strict=True):
        bound = bound_of(ours.work, machine, comparison.dtype)
        median = statistics.median(spent)
        for reference, other in zip(comparison.references, times[1], strict=True):
            ratio = ratio_of(spent, other)
            yield {
                "benchmark": comparison.benchmark,
                "case": ours.name,
                "reference": reference.name,
                "sweep": comparison.sweep,
                "value": comparison.parameters[comparison.sweep],
                "parameters": ", ".join(f"{k} {v}" for k, v in comparison.parameters.items()),
                "unit": comparison.unit,
                "ours_seconds": median,
                "reference_seconds": statistics.median(other),
                "ratio": ratio.median,
                "low": ratio.low,
                "high": ratio.high,
                "rounds": timer.rounds,
                "flops": ours.work.flops,
                "reference_flops": reference.work.flops,
                "bytes": ours.work.bytes,
                "reference_bytes": reference.work.bytes,
                "random_numbers": ours.work.random_numbers,
                "bound": bound.name,
                "bound_seconds": bound.seconds,
                "share_of_bound": bound.seconds / median,
                "matmul_flops": machine.flops[comparison.dtype],
                "copy_bytes": machine.bandwidth,
                "normals": 1 / machine.normal,
            }


def facts_of(timer: Timer, threads: int) -> dict:
    """Return what describes the run and the machine."""
    found = environment()
    device = torch.cuda.get_device_name() if timer.device == "cuda" else "cpu"
    installed = {each.metadata["Name"]: each.version for each in metadata.distributions()}
    packages = [f"{name} {installed[name]}" for name in PACKAGES if name in installed]
    return {
        "threads": threads,
        "clock": timer.clock,
        "device": device,
        "processor": found["machine"]["processor"],
        "cores": found["machine"]["cores"],
        "versions": ", ".join([f"Python {found['python']}", *packages]),
        "commit": (found["git"]["commit"] or "none")[:10],
        "date": date.today().isoformat(),
    }


def file_name(rows: pd.DataFrame) -> str:
    """Return the name of the file for a machine: its processor and cores, or its GPU."""
    first = rows.iloc[0]
    cpu = f"{first['processor']} {first['cores']} cores"
    words = cpu if first["device"] == "cpu" else first["device"]
    for sign in ("(R)", "(TM)", "CPU"):
        words = words.replace(sign, " ")
    kept = "".join(letter if letter.isalnum() else " " for letter in words.lower())
    return "-".join(kept.split()) + ".csv"


def merged(old: pd.DataFrame, new: pd.DataFrame) -> pd.DataFrame:
    """Replace the rows of the benchmarks and numbers of threads that were measured again."""
    keys = ["benchmark", "threads"]
    again = pd.MultiIndex.from_frame(old[keys]).isin(pd.MultiIndex.from_frame(new[keys]))
    rows = pd.concat([old[~again], new], ignore_index=True)
    places = {name: place for place, name in enumerate(PARTS)}
    order = lambda column: column.map(places) if column.name == "benchmark" else column  # noqa: E731
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
