"""Refresh the table of costs from the provenance of a finished run."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from statistics import mean

from finitewidth.common.errors import ResultError
from finitewidth.common.result_files import read_json
from finitewidth.common.settings import PRESETS
from finitewidth.common.usage import provenance_files, usage_in
from finitewidth.pipeline.costs.table import (
    ESTIMATED,
    MEASURED,
    TABLE,
    Cost,
    read_costs,
    read_table,
    row_of,
    write_table,
)
from finitewidth.pipeline.costs.work import REFERENCE_YARDSTICK, yardstick

DATASETS = "data/provenance"  # below results, which has the datasets of all presets


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
    nothing else running. Rows of jobs without provenance stay as they are.

    Args:
        preset: its name.
        results_folder: ``results/<preset>``; provenance names files from the folder of ``results``.
        table_path: the table, which is rewritten.
        only_new: keep the rows of jobs that have one already.
        seconds_here: of `yardstick` on this machine, when the run was made; measured by default.

    Returns:
        What changed, a line for each job: seconds before and now, and their ratio.

    Raises:
        ResultError: there is no provenance, or a file of it is damaged.
        ConfigError: the table is damaged.
    """
    before = read_costs(table_path, preset).rows
    now = measured(preset, Path(results_folder).absolute(), seconds_here or yardstick(), before)
    if not now:
        raise ResultError(
            f"{results_folder} has no provenance with CPU times; first run "
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

    Memory that an earlier version did not record stays as it was ``before``.
    """
    pace = seconds_here / REFERENCE_YARDSTICK
    found: dict[str, list[_Job]] = defaultdict(list)
    for file in [*provenance_files(results), *(results.parent / DATASETS).glob("*.json")]:
        record = read_json(file)
        if "job" not in record:  # it was killed while it ended
            continue
        usage, made = usage_in(record), record["digests"]["outputs"]
        row = kind_of(record["job"], made)
        if row is None or math.isnan(usage.cpu):
            continue
        size = sum(size_of(results.parents[1] / file) for file in made)
        found[row].append(_Job(usage.cpu / pace, usage.memory, size, file.stat().st_mtime))
    return {
        row: _row(preset, row, jobs, before.get(row, Cost(preset, row, 0, 0, None, "")))
        for row, jobs in found.items()
    }


def kind_of(job: str, made: Iterable[str]) -> str | None:
    """The row of a job that made some files; None for a training, which has no row."""
    if "/" in job:
        return None
    folders = {Path(file).parent.name for file in made}
    kind = next((kind for kind in ("figure", "table") if f"{kind}s" in folders), None)
    return kind or row_of(job.split(" ")[0])


def size_of(path: Path) -> int:
    """Bytes of a file, or of all files in a folder; 0 if it is not there any more."""
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file())


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
    """Reference seconds, MB, bytes and time of the end of one job."""

    seconds: float
    memory: float
    size: int
    ended: float


def _row(preset: str, name: str, jobs: Sequence[_Job], before: Cost) -> Cost:
    memory = [job.memory for job in jobs if not math.isnan(job.memory)]
    day = datetime.fromtimestamp(max(job.ended for job in jobs), UTC).date()
    return Cost(
        preset=preset,
        job=name,
        seconds=mean(job.seconds for job in jobs),
        memory_mb=max(memory, default=before.memory_mb),
        disk_kb=mean(job.size for job in jobs) / 1e3,
        source=f"{MEASURED} {day} {metadata.version('finitewidth')}",
    )
