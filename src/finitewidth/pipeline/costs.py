"""The table of costs, ``workflow/costs.tsv``: what every job takes, preset by preset.

Columns:
    preset: ``smoke``, ``quick``, ``laptop`` or ``paper``, with its settings unmodified.
    job: as `finitewidth.pipeline.announced.job_name` names it: ``npf_fig3``, ``claims npf``, or
        ``npf/nu`` for a training.
    seconds: CPU seconds.
    memory_mb: largest resident memory in MB, the interpreter included.
    source: ``measured <date>``, or ``estimated`` where no run has been measured.

``finitewidth costs --preset quick`` replaces the rows of a preset by what its last run took.
Imports no torch: Snakemake reads the table at every start.
"""

import csv
import math
from collections.abc import Iterable
from dataclasses import astuple, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, ValidationError
from pydantic.dataclasses import dataclass

from finitewidth.common.errors import ConfigError, ResultError
from finitewidth.common.settings import PRESETS
from finitewidth.common.usage import provenance_files, usage_in

TABLE = "workflow/costs.tsv"
MEASURED, ESTIMATED = "measured", "estimated"
DATASETS = "data/provenance"  # below results, which has the datasets of all presets


@dataclass(frozen=True)
class Cost:
    """One row of the table; its columns are explained above."""

    preset: Literal[PRESETS]
    job: str
    seconds: float
    memory_mb: float
    source: Annotated[str, Field(pattern=f"^({MEASURED}|{ESTIMATED})")]

    @property
    def estimated(self) -> bool:
        """Whether the job has not been measured at this preset."""
        return self.source == ESTIMATED


COLUMNS = tuple(field.name for field in fields(Cost))


def read_costs(path: str | Path, preset: str) -> dict[str, Cost]:
    """The rows of one preset, by job. Errors as of `read_table`."""
    return {row.job: row for row in read_table(path) if row.preset == preset}


def read_table(path: str | Path) -> list[Cost]:
    """All rows, in their order.

    Raises:
        ConfigError: the file is missing or has other columns, or a cell is not what its column
            wants.
    """
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        raise ConfigError(f"{path} is missing; it belongs to the project, restore it") from None
    reader = csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
    if (header := tuple(next(reader, ()))) != COLUMNS:
        raise ConfigError(f"{path}, line 1: columns are {header}, wanted {COLUMNS}")
    rows = []
    for number, cells in enumerate(reader, 2):
        try:
            rows.append(Cost(**dict(zip(COLUMNS, cells, strict=True))))
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = f"{path}, line {number}, column {first['loc'][0]}"
            raise ConfigError(f"{where}: {first['msg']}, not {first['input']!r}") from None
        except ValueError:
            raise ConfigError(f"{path}, line {number}: it has {len(cells)} cells") from None
    return rows


def write_table(path: str | Path, rows: Iterable[Cost]) -> None:
    """Write ``rows``, sorted by preset and job, numbers rounded to three digits."""
    rows = sorted(rows, key=lambda row: (PRESETS.index(row.preset), row.job))
    cells = [
        [each if isinstance(each, str) else f"{float(f'{each:.3g}'):.10g}" for each in astuple(row)]
        for row in rows
    ]
    text = "".join("\t".join(line) + "\n" for line in [COLUMNS, *cells])
    Path(path).write_text(text, encoding="utf-8")


def measured(preset: str, results: str | Path) -> dict[str, Cost]:
    """Job -> its row, from the provenance of a run; without what has no CPU time or memory.

    Raises:
        ResultError: a provenance is damaged.
    """
    from finitewidth.common.result_files import read_json  # imports numpy

    rows = {}
    datasets = Path(results).absolute().parent / DATASETS
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

    Raises:
        ResultError: there is no provenance, or a file of it is damaged.
        ConfigError: the table is damaged.
    """
    before, now = read_costs(table, preset), measured(preset, results)
    if not now:
        raise ResultError(f"{results} has no provenance with CPU times; first run "
                          f"`finitewidth run --preset {preset}`")  # fmt: skip
    if only_new:
        now = {job: row for job, row in now.items() if job not in before}
    others = [row for row in read_table(table) if row.preset != preset]
    write_table(table, [*others, *(before | now).values()])
    replaced = [job for job in now if job in before]
    old, new = (sum(rows[job].seconds for job in replaced) for rows in (before, now))
    return (f"{len(now) - len(replaced)} rows of preset {preset} added, {len(replaced)} replaced: "
            f"{old:.0f} s before, {new:.0f} s now")  # fmt: skip
