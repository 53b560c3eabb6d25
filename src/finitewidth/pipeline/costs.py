"""The table of costs, ``workflow/costs.tsv``: what every job takes; and the forecast of a run.

Columns:
    preset: ``smoke``, ``quick``, ``laptop``, ``paper`` or one of the user, with its settings
        unmodified.
    job: as `finitewidth.pipeline.announced.job_name` names it: ``npf_fig3``, ``claims npf``, or
        ``npf/nu`` for a training.
    seconds: CPU seconds.
    memory_mb: largest resident memory in MB, the interpreter included.
    source: ``measured <date>``; with ``in a sum`` where only the time of several jobs together is
        known, which earlier estimates divide; or ``estimated`` where no run has been measured.

``finitewidth costs --preset quick`` replaces the rows of a preset by what its last run took.
Imports no torch: Snakemake reads the table at every start.
"""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import astuple, fields
from datetime import UTC, datetime
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Annotated

from pydantic import Field
from pydantic.dataclasses import dataclass

from finitewidth.common.errors import ResultError, unwritable
from finitewidth.common.number_words import rough_duration
from finitewidth.declarations.reported_numbers import read_rows
from finitewidth.pipeline.schedule import START, Step, ends
from finitewidth.records.usage import provenance_files, usage_in
from finitewidth.settings.presets import PRESETS

TABLE = "workflow/costs.tsv"
MEASURED, ESTIMATED = "measured", "estimated"


@dataclass(frozen=True)
class Cost:
    """One row of the table; its columns are explained above."""

    preset: Annotated[str, Field(pattern="^[a-z][a-z0-9_]*$")]
    job: str
    seconds: float
    memory_mb: float
    source: Annotated[str, Field(pattern=f"^({MEASURED}|{ESTIMATED})")]


COLUMNS = tuple(field.name for field in fields(Cost))


def read_costs(path: str | Path, preset: str) -> dict[str, Cost]:
    """The rows of one preset, by job."""
    return {row.job: row for row in read_table(path) if row.preset == preset}


def read_table(path: str | Path) -> list[Cost]:
    """Return all rows, in their order.

    Errors are those of `finitewidth.declarations.reported_numbers.read_rows`.
    """
    return [cost for _, cost in read_rows(path, COLUMNS, Cost, delimiter="\t")]


def write_table(path: str | Path, rows: Iterable[Cost]) -> None:
    """Write ``rows``, sorted by preset and job, numbers rounded to three digits."""
    order = {preset: place for place, preset in enumerate(PRESETS)}
    rows = sorted(rows, key=lambda row: (order.get(row.preset, len(order)), row.preset, row.job))
    cells = [
        [each if isinstance(each, str) else f"{float(f'{each:.3g}'):.10g}" for each in astuple(row)]
        for row in rows
    ]
    text = "".join("\t".join(line) + "\n" for line in [COLUMNS, *cells])
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise unwritable(error, path) from error


def measured(preset: str, results: str | Path) -> dict[str, Cost]:
    """Job -> its row, from the provenance of a run; without what has no CPU time or memory."""
    from finitewidth.records.result_files import read_json  # imports numpy

    rows = {}
    datasets = Path(results).absolute().parent / "data/provenance"  # those of all presets
    for file in [*provenance_files(results), *datasets.glob("*.json")]:
        record = read_json(file)
        usage = usage_in(record)
        job = record.get("job")  # one that was killed while it ended has left no name
        if job and not math.isnan(usage.cpu + usage.memory):
            day = datetime.fromtimestamp(file.stat().st_mtime, UTC).date()
            rows[job] = Cost(preset, job, usage.cpu, usage.memory, f"{MEASURED} {day}")
    return rows


def refresh(
    preset: str, results: str | Path, table: str | Path = TABLE, *, only_new: bool = False
) -> str:
    """Replace the rows of a preset by what a run took, and say how many and how much.

    The run, whose folder is ``results``, must have had the preset's own settings, on a CPU. With
    ``only_new``, the rows of jobs that have one already stay, as do all of other presets.
    """
    before, now = read_costs(table, preset), measured(preset, results)
    # the datasets, which presets share, are no run of this preset
    if not now or not provenance_files(results):
        raise ResultError(
            f"{results} has no provenance with CPU times; first run "
            f"`finitewidth run --preset {preset}`"
        )
    if only_new:
        now = {job: row for job, row in now.items() if job not in before}
    if not now:
        return f"every job of {results} has a row of preset {preset} already; nothing is changed"
    others = [row for row in read_table(table) if row.preset != preset]
    write_table(table, [*others, *(before | now).values()])
    replaced = [job for job in now if job in before]
    added = f"{len(now) - len(replaced)} rows of preset {preset} added"
    if not replaced:
        return added
    old, new = (sum(rows[job].seconds for job in replaced) for rows in (before, now))
    return f"{added}, {len(replaced)} replaced: {old:.0f} s before, {new:.0f} s now"


# --- what a complete run takes -------------------------------------------------------------------

# An assumption of ours: no GPU was at hand. The rows of the trainings of `collapse` at preset
# `paper` are operations, of which a core makes 45 GFLOP/s, so that a GPU makes 1.1 TFLOP/s. Those
# of Figures 3 to 11 are 2,040 hours of a GPU then. The authors report 312 for panes a to e, and
# about 1,350 for the others, which are 1,695 by the hours of one run (appendix C, compute).
CORES_OF_A_GPU = 25
LINE = "{:<24} {:>4} {:>6} {:>10} {:>10} {:>9} {:>7}"
NOTES = (
    "Times are sums over all jobs, started from nothing; a job that several artifacts need counts",
    "in each of them and once in a sum. Jobs without a row in the table are left out.",
    "`and a GPU` is an assumption, not measured: in trainings one GPU does the work of",
    f"{CORES_OF_A_GPU} cores. Networks of other presets than `paper` are too small for it.",
    "`estimated` is the share of the time that no run has measured at this preset. Memory is that",
    "of the largest job.",
)
Needs = Mapping[str, Collection[str]]  # job -> the jobs whose files it reads


def behind(needs: Needs, targets: Iterable[str]) -> set[str]:
    """Some jobs and all that they rest on."""
    jobs, waiting = set(), [*targets]
    while waiting:
        name = waiting.pop()
        if name not in jobs:
            jobs.add(name)
            waiting += needs[name]
    return jobs


def chains(needs: Needs, seconds: Mapping[str, float]) -> dict[str, list[str]]:
    """Job -> the longest chain of jobs that begins with it and ends with the last of a run.

    A job without ``seconds`` counts as none.
    """
    readers: dict[str, list[str]] = {name: [] for name in needs}
    for name, before in needs.items():
        for each in before:
            readers[each].append(name)
    longest: dict[str, list[str]] = {}
    for name in TopologicalSorter(readers).static_order():  # the readers of a job come before it
        after = [longest[each] for each in readers[name]]
        longest[name] = [name, *max(after, key=lambda each: length(each, seconds), default=())]
    return longest


def length(chain: Sequence[str], seconds: Mapping[str, float]) -> float:
    """Seconds of the jobs of a chain, one after another."""
    return sum(seconds.get(name, 0.0) for name in chain)


def forecast(
    needs: Needs,
    costs: Mapping[str, Cost],
    sums: Mapping[str, Iterable[str]],
    on_gpu: Collection[str] = (),
) -> str:
    """The forecast of ``finitewidth plan``: a line for each sum, and the longest chain of jobs.

    Each of ``sums`` has the jobs that are wanted; what they rest on is counted, too. The jobs
    ``on_gpu`` run on a GPU where there is one.
    """
    presets = dict.fromkeys(cost.preset for cost in costs.values())
    on_cores = {name: cost.seconds for name, cost in costs.items()}
    with_gpu = {
        name: seconds / CORES_OF_A_GPU if name in on_gpu else seconds
        for name, seconds in on_cores.items()
    }
    rows = [_line(name, behind(needs, targets), costs, with_gpu) for name, targets in sums.items()]
    lines = [
        f"preset {', '.join(presets)}, from workflow/costs.tsv",
        "",
        LINE.format("", "jobs", "no row", "one core", "and a GPU", "estimated", "memory"),
        *rows,
        "",
        "longest chain of jobs:",
        f"a core each {_longest_chain(needs, on_cores)}",
        f"a GPU each {_longest_chain(needs, with_gpu)}",
        _without_row(needs, costs),
        "",
        *NOTES,
    ]
    return "\n".join(lines)


def _longest_chain(needs: Needs, seconds: Mapping[str, float]) -> str:
    """The time of the longest chain of jobs, and that of each of its jobs."""
    chain = max(chains(needs, seconds).values(), key=lambda each: length(each, seconds))
    jobs = [f"{job} {rough_duration(seconds.get(job, 0.0))}" for job in chain]
    return f"{rough_duration(length(chain, seconds))} ({', '.join(jobs)})"


def _without_row(needs: Needs, costs: Mapping[str, Cost]) -> str:
    """How many jobs have no row in the table; up to five are named."""
    missing = [name for name in needs if name not in costs]
    line = f"jobs without a row in the table: {len(missing)} of {len(needs)}"
    if 0 < len(missing) <= 5:
        line += f" ({', '.join(missing)})"
    return line


SIZES = (1, 2, 8, 64)  # cores of the table of wall times
WALL = "{:>5} {:>10} {:>6} {:>10}  {}"
BUSY = 0.85  # share of the cores that work, from which they limit a run


def wall_times(steps: Mapping[str, Step], costs: Mapping[str, Cost], cores: int) -> str:
    """The wall times of a complete run on several numbers of ``cores``, and what limits it."""
    seconds = {name: step.wall for name, step in steps.items()}
    needs = {name: step.needs for name, step in steps.items()}
    chain = max(chains(needs, seconds).values(), key=lambda each: length(each, seconds))
    lines = []
    for number in sorted({*SIZES, cores}):
        found = ends(steps, number)
        wall = START + max(found.values())
        busy = sum(seconds.values()) / (number * wall)
        memory = memory_at_once(found, steps, {job: cost.memory_mb for job, cost in costs.items()})
        limit = "cores" if busy >= BUSY else "the longest chain of jobs"
        lines.append(
            WALL.format(
                number,
                rough_duration(wall),
                f"{100 * busy:.0f} %",
                f"{memory / 1000:,.1f} GB",
                limit,
            )
        )
    longest = max(chain, key=lambda job: seconds[job])
    return "\n".join(
        [
            "a whole run, forecast for idle cores as fast as those of the table:",
            "",
            WALL.format("cores", "wall time", "busy", "memory", "limited by"),
            *lines,
            "",
            f"the longest chain of jobs takes {rough_duration(length(chain, seconds))}, of which "
            f"{longest} {rough_duration(seconds[longest])}",
        ]
    )


def memory_at_once(
    found: Mapping[str, float], steps: Mapping[str, Step], memory: Mapping[str, float]
) -> float:
    """The largest sum of the memory of jobs that run side by side, from job -> its end."""
    changes = []
    for job, end in found.items():
        size = memory.get(job, 0.0)
        changes += [(end - steps[job].wall, size), (end, -size)]
    most = now = 0.0
    for _, change in sorted(changes):  # of those at one time, ends come first
        now += change
        most = max(most, now)
    return most


def _line(
    name: str, jobs: Collection[str], costs: Mapping[str, Cost], gpu: Mapping[str, float]
) -> str:
    rows = [costs[job] for job in jobs if job in costs]
    seconds = sum(row.seconds for row in rows)
    with_gpu = sum(gpu[row.job] for row in rows)
    estimated = sum(row.seconds for row in rows if row.source == ESTIMATED)
    largest = max((row.memory_mb for row in rows), default=0)
    return LINE.format(
        name,
        len(jobs),
        len(jobs) - len(rows) or "",
        rough_duration(seconds),
        rough_duration(with_gpu),
        f"{100 * estimated / seconds:.0f} %" if seconds else "",
        f"{largest / 1000:.2g} GB",
    )
