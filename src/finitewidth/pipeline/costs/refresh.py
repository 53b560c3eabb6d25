"""Refresh the table of costs from the benchmark files of a finished run."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from statistics import mean

from finitewidth.common.errors import ResultError
from finitewidth.common.settings import PRESETS
from finitewidth.pipeline.costs.table import (
    ESTIMATED,
    KINDS,
    MEASURED,
    TABLE,
    Cost,
    read_costs,
    read_table,
    write_table,
)
from finitewidth.pipeline.costs.work import REFERENCE_YARDSTICK, yardstick
from finitewidth.report.costs import read_cost

OFTEN = 16  # seconds during which Snakemake reads the CPU time of a job every half second
SELDOM = 30  # seconds between two readings from then on
MIB = 2**20 / 1e6  # in MB


def refresh(
    preset: str,
    results_folder: str | Path,
    table_path: str | Path = TABLE,
    seconds_here: float | None = None,
    *,
    only_new: bool = False,
) -> str:
    """Replace a preset's rows by what its finished run took.

    A job that has no row at another preset yet gets the same row there, marked as estimated.

    The run must have had the preset's own settings and have been made on this machine, with
    nothing else running. Rows of jobs that left no benchmark file stay as they are.

    Args:
        preset: its name.
        results_folder: ``results/<preset>``; datasets are looked for beside it.
        table_path: the table, which is rewritten.
        only_new: keep the rows of jobs that have one already.
        seconds_here: of `yardstick` on this machine, when the run was made; measured by default.

    Returns:
        What changed, a line for each job: seconds before and now, and their ratio.

    Raises:
        ResultError: there are no benchmark files.
        ConfigError: the table is damaged.
    """
    before = read_costs(table_path, preset).rows
    now = measured(preset, Path(results_folder), seconds_here or yardstick(), before)
    if not now:
        raise ResultError(
            f"{results_folder} has no benchmark files; first run "
            f"`snakemake --cores 2 --config preset={preset}`"
        )
    if only_new:
        now = {job: row for job, row in now.items() if job not in before}
    others = [row for row in read_table(table_path) if row.preset != preset]
    known = {(row.preset, row.job) for row in others}
    estimates = [
        replace(row, preset=name, source=ESTIMATED)
        for name in PRESETS
        for job, row in now.items()
        if name != preset and (name, job) not in known
    ]
    write_table(table_path, [*others, *estimates, *{**before, **now}.values()])
    return comparison(before, now)


def measured(
    preset: str, results: Path, seconds_here: float, before: Mapping[str, Cost]
) -> dict[str, Cost]:
    """Name of a row -> what its jobs took in the run that left ``results``: mean, largest memory.

    Memory and sizes that are not known stay as they were ``before``.
    """
    pace = seconds_here / REFERENCE_YARDSTICK
    found: dict[str, list[_Job]] = defaultdict(list)
    for file in _benchmarks(results):
        taken = read_cost(file, file.stem)
        if taken is not None and taken.wall is not None:
            row, made = _made(file, results)
            size = sum(each.stat().st_size for each in made) if made else None
            seconds = cpu_seconds(taken.wall, taken.cpu) / pace
            # a short job may have been read only once, before it had done anything
            memory = taken.memory if taken.cpu else None
            found[row].append(_Job(seconds, memory, size, file.stat().st_mtime))
    return {
        row: _row(preset, row, jobs, before.get(row, Cost(preset, row, 0, 0, None, "")))
        for row, jobs in found.items()
    }


def cpu_seconds(wall: float, cpu: float | None) -> float:
    """CPU seconds of a whole job that ran on one thread.

    Snakemake reads a job's CPU time at intervals, so that its figure lacks what came after the
    last reading. The job is taken to have gone on at the same rate.

    Args:
        wall: seconds from start to end.
        cpu: CPU seconds at the last reading; None or 0 if there was none.
    """
    first, pause = (OFTEN, SELDOM) if wall >= OFTEN else (0, 0.5)
    last = first + (wall - first) // pause * pause
    if not cpu or last == 0:
        return wall
    return min(cpu * wall / last, max(cpu, wall))


def comparison(before: Mapping[str, Cost], now: Mapping[str, Cost]) -> str:
    """A line for each row: seconds before (``~``: estimated) and now, and their ratio."""
    lines = [f"{'job':<24} {'before':>9} {'now':>9} {'ratio':>6}"]
    for job, cost in sorted(now.items()):
        old = before.get(job)
        shown = f"{'~' * old.estimated}{old.seconds:.3g}" if old else "none"
        ratio = f"{old.seconds / cost.seconds:.2f}" if old and cost.seconds else ""
        lines.append(f"{job:<24} {shown:>9} {cost.seconds:>9.3g} {ratio:>6}")
    return "\n".join(lines)


@dataclass(frozen=True)
class _Job:
    """Reference seconds, MiB, bytes and time of the end of one job."""

    seconds: float
    memory: float | None
    size: int | None
    ended: float


def _row(preset: str, name: str, jobs: Sequence[_Job], before: Cost) -> Cost:
    memory = [MIB * job.memory for job in jobs if job.memory is not None]
    sizes = [job.size / 1e3 for job in jobs if job.size is not None]
    day = datetime.fromtimestamp(max(job.ended for job in jobs), UTC).date()
    return Cost(
        preset=preset,
        job=name,
        seconds=mean(job.seconds for job in jobs),
        memory_mb=max(memory, default=before.memory_mb),
        disk_kb=mean(sizes) if sizes else before.disk_kb,
        source=f"{MEASURED} {day} {metadata.version('finitewidth')}",
    )


def _benchmarks(results: Path) -> list[Path]:
    """Benchmark files of a run and of the datasets, trainings excepted."""
    folders = (results / "benchmarks", results.parent / "data" / "benchmarks")
    files = [file for folder in folders for file in sorted(folder.rglob("*.tsv"))]
    return [file for file in files if file.parent.name != "training"]


def _made(benchmark: Path, results: Path) -> tuple[str, list[Path]]:
    """The row of the job that left a benchmark file, and the files that it made."""
    job, folder = benchmark.stem, benchmark.parent.name
    if folder in KINDS:
        return folder, list((results / folder).glob(f"{job}_*"))
    if not benchmark.is_relative_to(results):
        return "dataset", list(benchmark.parents[1].glob(f"{job}.npz"))
    for kind in ("figure", "table"):
        if files := list((results / folder / f"{kind}s").glob(f"{job}.*")):
            return kind, files
    name = job.removeprefix(f"{folder}_")
    longer = [file.stem.removeprefix(f"{folder}_") for file in benchmark.parent.glob(f"{job}_*")]
    files = (results / folder / "experiments").glob(f"{name}_*")
    return job, [f for f in files if not f.name.startswith(tuple(f"{each}_" for each in longer))]
