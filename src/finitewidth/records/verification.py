"""Provenances read from disk, and whether files are what the jobs wrote that left them.

Nothing is written. A provenance may be damaged or come from anywhere, so its types are checked, and
files that it names are read only below the folder of the results.
"""

import json
import os
from collections.abc import Mapping
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from finitewidth.common.errors import ResultError
from finitewidth.records.provenance import digest_of
from finitewidth.records.usage import provenance_files

REMEDY = "delete it and run again"
ALTERED = "was altered after its job had written it"
LARGEST = 64 * 2**20  # bytes of a provenance
Digests = dict[str, str]


class _Code(BaseModel):
    modules: Digests
    files: Digests


class _Digests(BaseModel):
    inputs: Digests
    outputs: Digests


class _Git(BaseModel):
    commit: str | None
    dirty: bool | None


class _Machine(BaseModel):
    model_config = ConfigDict(extra="allow")
    cores: int | None = None
    processor: str | None = None


class _Provenance(BaseModel):
    """What every provenance has (`finitewidth.pipeline.runs.recorded` writes it)."""

    model_config = ConfigDict(extra="allow")
    job: str
    plan: str
    parameters: dict[str, Any]
    code: _Code
    upstream: dict[str, str]
    digests: _Digests
    python: str
    versions: dict[str, str]
    machine: _Machine
    git: _Git
    wall_seconds: float
    cpu_seconds: float
    memory_mb: float


class DamagedProvenanceError(Exception):
    """A file is no provenance, or one of an earlier version of the project."""


def read_provenance(file: str | Path) -> dict[str, Any] | None:
    """Read a provenance; None if there is no such file.

    Raises:
        DamagedProvenanceError: the file is something else.
    """
    try:
        if not os.path.exists(file):
            return None
        if not os.path.isfile(file) or os.path.getsize(file) > LARGEST:
            raise DamagedProvenanceError(file)
        text = Path(file).read_text(encoding="utf-8")
        provenance = json.loads(text)
        _Provenance.model_validate(provenance)
        if "\\ud" in text.lower():  # half of a character, which nobody can write or show
            json.dumps(provenance, ensure_ascii=False).encode()
    except (OSError, ValueError, RecursionError) as error:
        raise DamagedProvenanceError(file) from error
    return provenance


def provenance_of(file: str | Path, stamp: str | Path) -> dict[str, Any]:
    """Read ``stamp``, the provenance of the job that made a file.

    Raises:
        ResultError: it is missing or damaged. The message has the remedy.
    """
    try:
        provenance = read_provenance(stamp)
    except DamagedProvenanceError as error:
        raise ResultError(f"{stamp} is damaged; {REMEDY}") from error
    if provenance is None:
        raise ResultError(
            f"{stamp}, the provenance of {file}, is missing; delete {file} and run again"
        )
    return provenance


class Provenances:
    """The provenances of one run, and what they say of its files.

    ``stamps`` has file of a provenance -> its content; those that cannot be read are ``damaged``.
    """

    def __init__(self, results: str | Path):
        """Read all provenances of a run, and those of the datasets beside it."""
        self.results = Path(results)
        self.stamps: dict[str, dict[str, Any]] = {}
        self.damaged: list[str] = []
        data = self.results.parent / "data"
        for file in [*provenance_files(self.results), *provenance_files(data)]:
            try:
                provenance = read_provenance(file)
            except DamagedProvenanceError:
                self.damaged.append(str(file))
            else:
                if provenance is not None:
                    self.stamps[str(file)] = provenance
        self._digest = cache(digest_of)

    @cached_property
    def makers(self) -> Mapping[str, str]:
        """Output -> provenance of the job that made it, of files below the results."""
        folder = os.path.normpath(self.results.parent)
        return {
            file: name
            for name, stamp in self.stamps.items()
            for file in stamp["digests"]["outputs"]
            if "\0" not in file and os.path.normpath(file).startswith(f"{folder}{os.sep}")
        }

    def problem(self, file: str | Path) -> str | None:
        """Say what is wrong with a file that exists; None if it is what its job wrote."""
        name = self.makers.get(str(file))
        if name is None:
            return "has no provenance of this run"
        try:
            if self._digest(str(file)) != self.stamps[name]["digests"]["outputs"][str(file)]:
                return ALTERED
        except OSError as error:
            return f"cannot be read ({error.strerror or error})"
        return None
