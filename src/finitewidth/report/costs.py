"""What a run took: Snakemake's benchmark files, one per job, summed per kind of job."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class Cost:
    """Wall and CPU time in seconds and the largest memory in MiB; None where not measured."""

    job: str
    wall: float | None
    cpu: float | None
    memory: float | None


def read_cost(file: str | Path, job: str) -> Cost | None:
    """The last line of a benchmark file; None if there is no such file, or nothing in it.

    Snakemake writes ``-`` or ``NA`` for what it could not measure in a short job.
    """
    file = Path(file)
    lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
    if len(lines) < 2:
        return None
    row = dict(zip(lines[0].split("\t"), lines[-1].split("\t"), strict=False))
    return Cost(
        job=job,
        wall=_number(row.get("s")),
        cpu=_number(row.get("cpu_time")),
        memory=_number(row.get("max_rss")),
    )


def read_costs(folder: str | Path) -> list[Cost]:
    """The cost of every job that left a benchmark below ``folder``, the longest first."""
    folder = Path(folder)
    files = sorted(folder.rglob("*.tsv"))
    named = [(file, _name(file.relative_to(folder))) for file in files]
    costs = [cost for file, name in named if (cost := read_cost(file, name))]
    return sorted(costs, key=lambda cost: -(cost.wall or 0))


def total(values: Iterable[float | None]) -> float:
    """The sum of what was measured."""
    return sum(value for value in values if value is not None)


def _name(below: Path) -> str:
    """``npf/npf_nu.tsv`` -> ``npf_nu``; a job of a rule with wildcards keeps its folder."""
    flat = below.stem.split("_")[0] == below.parts[0]
    return below.stem if flat else below.with_suffix("").as_posix()


def _number(text: str | None) -> float | None:
    try:
        return float(text or "")
    except ValueError:
        return None
