"""Time and memory of the jobs of a run, from Snakemake's benchmark files."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class Cost:
    """Wall and CPU time of a job in seconds and its peak memory in MiB; None if not measured."""

    job: str
    wall: float | None
    cpu: float | None
    memory: float | None


def read_cost(file: str | Path, job: str) -> Cost | None:
    """Read the last line of a benchmark file; None if the file is missing or empty.

    Snakemake writes ``-`` or ``NA`` for values that it could not measure in a short job.
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
    """Read all benchmark files below ``folder``; jobs with the longest wall time come first."""
    folder = Path(folder)
    files = sorted(folder.rglob("*.tsv"))
    named = [(file, _name(file.relative_to(folder))) for file in files]
    costs = [cost for file, name in named if (cost := read_cost(file, name))]
    return sorted(costs, key=lambda cost: -(cost.wall or 0))


def total(values: Iterable[float | None]) -> float:
    """Return the sum of the values that were measured."""
    return sum(value for value in values if value is not None)


def _name(below: Path) -> str:
    """``npf/npf_nu.tsv`` -> ``npf_nu``; the folder is kept if the rule has wildcards."""
    flat = below.stem.split("_")[0] == below.parts[0]
    return below.stem if flat else below.with_suffix("").as_posix()


def _number(text: str | None) -> float | None:
    try:
        return float(text or "")
    except ValueError:
        return None
