"""A provenance for tables that a test has made up."""

from pathlib import Path

from finitewidth.common import result_files
from finitewidth.common.provenance import code_of, digest_of

ROOT = Path(__file__).parents[1]


def write_provenance(results: Path) -> None:
    """Write the provenance of one job that has made all tables below ``results``."""
    digests = {str(file): digest_of(file) for file in results.rglob("*.csv")}
    stamp = {"job": "all", "digests": {"inputs": {}, "outputs": digests}}
    code = code_of(["finitewidth.common.errors"], [], ROOT)
    result_files.write_json(results / "provenance/all.json", stamp | {"code": code})
