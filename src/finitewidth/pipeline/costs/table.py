"""The table of costs: what every job except a training takes, preset by preset.

``workflow/costs.tsv`` has a row for each preset and job. Trainings are not listed, because a
formula gives their cost (`finitewidth.pipeline.costs.trainings`). An experiment is listed by the
name of its rule. Jobs that resemble each other share a row, the mean of all of them (`KINDS`).

Columns:
    preset: ``smoke``, ``quick``, ``laptop`` or ``paper``, with its settings unmodified.
    job: an experiment, or one of `KINDS`.
    seconds: CPU seconds on one core of the reference machine (`finitewidth.pipeline.costs.work`).
    memory_mb: largest resident memory in MB, the interpreter included.
    disk_kb: size of the files written in kB; empty where it is not known.
    source: ``measured <date> <version>``, the day of the run and the version of finitewidth; or
        ``estimated``: not measured at this preset yet, but scaled from another preset by counts
        of operations, and good to a factor of about three.

``python -m finitewidth costs --preset quick`` replaces the rows of a finished run by what its
provenance says (`finitewidth.pipeline.costs.refresh`).
"""

import csv
from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass, fields, replace
from pathlib import Path

from finitewidth.common.errors import ConfigError
from finitewidth.common.settings import PRESETS

TABLE = "workflow/costs.tsv"
KINDS = ("dataset", "figure", "table", "claims", "captions", "datapackages", "report")
MEASURED, ESTIMATED = "measured", "estimated"


@dataclass(frozen=True)
class Cost:
    """One row of the table; its columns are explained above."""

    preset: str
    job: str
    seconds: float
    memory_mb: float
    disk_kb: float | None
    source: str

    @property
    def estimated(self) -> bool:
        """Whether the job has not been measured at this preset."""
        return self.source == ESTIMATED


UNKNOWN = Cost("", "", seconds=600, memory_mb=2000, disk_kb=None, source=ESTIMATED)
COLUMNS = tuple(field.name for field in fields(Cost))


@dataclass(frozen=True)
class Costs:
    """The rows of one preset.

    Attributes:
        preset: its name.
        rows: job -> row.
    """

    preset: str
    rows: Mapping[str, Cost]

    def __getitem__(self, job: str) -> Cost:
        """The row of a job; `UNKNOWN` for a new one, which has none before its first run."""
        return self.rows.get(job) or replace(UNKNOWN, preset=self.preset, job=job)


def row_of(rule: str) -> str:
    """The name of the row of a rule's jobs; captions have one rule for each paper."""
    return "captions" if rule.startswith("captions_") else rule


def read_costs(path: str | Path, preset: str) -> Costs:
    """The rows of one preset. Errors as of `read_table`."""
    return Costs(preset, {row.job: row for row in read_table(path) if row.preset == preset})


def read_table(path: str | Path) -> list[Cost]:
    """All rows, in their order.

    Raises:
        ConfigError: the file is missing or has other columns; a cell is not what its column wants;
            or a job has two rows at one preset.
    """
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        raise ConfigError(f"{path} is missing; it belongs to the project, restore it") from None
    reader = csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
    if (header := tuple(next(reader, ()))) != COLUMNS:
        raise ConfigError(f"{path}, line 1: columns are {header}, wanted {COLUMNS}")
    rows: dict[tuple[str, str], Cost] = {}
    for number, cells in enumerate(reader, 2):
        try:
            row = _row(*cells)
            if rows.setdefault((row.preset, row.job), row) is not row:
                raise ValueError(f"{row.job} has a row at preset {row.preset} already")
        except (TypeError, ValueError) as error:
            raise ConfigError(f"{path}, line {number}: {error}") from None
    return list(rows.values())


def _row(preset: str, job: str, seconds: str, memory: str, disk: str, source: str) -> Cost:
    if preset not in PRESETS:
        raise ValueError(f"preset {preset!r} is not one of {', '.join(PRESETS)}")
    if source.split(" ")[0] not in (MEASURED, ESTIMATED):
        raise ValueError(f"source {source!r} begins with neither {MEASURED!r} nor {ESTIMATED!r}")
    return Cost(preset, job, float(seconds), float(memory), float(disk) if disk else None, source)


def write_table(path: str | Path, rows: Iterable[Cost]) -> None:
    """Write ``rows``, sorted by preset and job, numbers rounded to three digits."""
    rows = sorted(rows, key=lambda row: (PRESETS.index(row.preset), row.job))
    lines = ["\t".join(COLUMNS), *("\t".join(map(_cell, astuple(row))) for row in rows)]
    Path(path).write_text("\n".join(lines) + "\n", encoding="utf-8")


def _cell(value: str | float | None) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else f"{float(f'{value:.3g}'):g}"
