"""Time and memory that jobs took, as their provenance records them."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Usage:
    """What a number of jobs took; nan where an earlier version did not record it."""

    jobs: int = 0
    wall: float = 0.0  # seconds of the work of each, one after another, without the start of Python
    cpu: float = 0.0  # CPU seconds of their whole processes
    memory: float = 0.0  # largest resident memory of one of them in MB

    def __add__(self, other: "Usage") -> "Usage":
        memory = (self.memory, other.memory)
        return Usage(
            jobs=self.jobs + other.jobs,
            wall=self.wall + other.wall,
            cpu=self.cpu + other.cpu,
            memory=math.nan if any(map(math.isnan, memory)) else max(memory),
        )


def total(parts: Iterable[Usage]) -> Usage:
    """Return what all jobs took."""
    return sum(parts, Usage())


def usage_in(stamp: Mapping[str, Any]) -> Usage:
    """Return what the job took that left the provenance ``stamp``, since its last start."""
    return Usage(
        jobs=1,
        wall=stamp.get("wall_seconds", math.nan),
        cpu=stamp.get("cpu_seconds", math.nan),
        memory=stamp.get("memory_mb", math.nan),
    )


def provenance_files(results: str | Path) -> list[Path]:
    """Return the provenance of all jobs in ``results/<preset>``, sorted."""
    results = Path(results)
    files = [*results.glob("*/experiments/*provenance.json")]
    files += results.glob("*/training/*/provenance.json")
    files += results.glob("provenance/**/*.json")  # of all other jobs
    return sorted(files)
