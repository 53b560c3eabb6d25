"""Provenances for results that a test has made up."""

from pathlib import Path
from typing import Any

from finitewidth.records import result_files
from finitewidth.records.provenance import digest_of, environment


def provenance(job: str, outputs: dict[str, str], **facts: Any) -> dict[str, Any]:
    """A provenance of a job that has read nothing; ``outputs`` has file -> digest."""
    return {
        "job": job,
        "plan": "0" * 16,
        "parameters": {},
        "code": {"modules": {}, "files": {}},
        "upstream": {},
        "digests": {"inputs": {}, "outputs": outputs},
        "wall_seconds": 1.0,
        "cpu_seconds": 1.0,
        "memory_mb": 100.0,
        **environment(),
        **facts,
    }


def write_provenance(results: Path) -> None:
    """Write the provenance of one job that has made all tables below ``results``."""
    digests = {str(file): digest_of(file) for file in results.rglob("*.csv")}
    result_files.write_json(results / "provenance/all.json", provenance("all", digests))
