"""The table of costs, ``workflow/costs.tsv``: what every job takes.

Columns:
    preset: ``smoke``, ``quick``, ``laptop``, ``paper`` or one of the user, with its settings
        unmodified.
    job: as `finitewidth.pipeline.job_names` names it: ``npf_fig3``, ``claims npf``, or
        ``npf/nu`` for a training.
    seconds: CPU seconds.
    memory_mb: largest resident memory in MB, the interpreter included.
    source: ``measured <date>``; with ``in a sum`` where only the time of several jobs together is
        known, which earlier estimates divide; or ``estimated`` where no run has been measured.

``finitewidth costs --preset quick`` replaces the rows of a preset by what its last run took.
Imports no torch: Snakemake reads the table at every start.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import astuple, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

from pydantic import Field
from pydantic.dataclasses import dataclass

from finitewidth.common.errors import ResultError, unwritable
from finitewidth.declarations.reported_numbers import read_rows
from finitewidth.records.usage import provenance_files, usage_in
from finitewidth.settings.presets import PRESETS

TABLE = "workflow/costs.tsv"
MEASURED = "measured"
ESTIMATED = "estimated"


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
    lines = ["\t".join(COLUMNS)]
    for row in sorted(rows, key=_position):
        lines.append("\t".join(map(_cell, astuple(row))))
    text = "".join(f"{line}\n" for line in lines)
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise unwritable(error, path) from error


def _position(row: Cost) -> tuple[int, str, str]:
    """The position of a row in the table: our presets first, from the smallest to the largest."""
    known = row.preset in PRESETS
    return PRESETS.index(row.preset) if known else len(PRESETS), row.preset, row.job


def _cell(value: str | float) -> str:
    if isinstance(value, str):
        return value
    return f"{float(f'{value:.3g}'):.10g}"


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

    Rows of other presets stay.

    Args:
        preset: of the run, which had its unmodified settings and was made on a CPU
        results: folder of the run
        table: file of the table
        only_new: whether the rows of jobs that have one already stay as well

    Raises:
        ResultError: the run has left no provenance with CPU times, or the table cannot be written.
    """
    before = read_costs(table, preset)
    now = measured(preset, results)
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
    return _summary(preset, before, now)


def _summary(preset: str, before: Mapping[str, Cost], now: Mapping[str, Cost]) -> str:
    """How many rows are new, how many are replaced, and how long these jobs took."""
    replaced = [job for job in now if job in before]
    added = f"{len(now) - len(replaced)} rows of preset {preset} added"
    if not replaced:
        return added
    seconds_before = sum(before[job].seconds for job in replaced)
    seconds_now = sum(now[job].seconds for job in replaced)
    return (
        f"{added}, {len(replaced)} replaced: {seconds_before:.0f} s before, {seconds_now:.0f} s now"
    )
