"""Are results what their jobs made? Their files, compared with the provenances of the jobs.

Nothing is written. A file that has the date of before passes for Snakemake, but not here.
"""

import json
import os
from collections.abc import Iterator
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel

from finitewidth.common.provenance import SOURCE_ROOT, code_changed, digest_of
from finitewidth.common.usage import provenance_files

REMEDY = "delete it and run again"
MADE_WITHOUT = ("logs", "benchmarks", "provenance", "report")  # folders below results/<preset>


class _Stamp(BaseModel):
    """What the provenance of a job has at least."""

    job: str
    digests: dict[Literal["inputs", "outputs"], dict[str, str]]
    code: dict[str, Any]


class Provenances:
    """The provenances of one run, and what they say of its files.

    ``stamps`` has file of a provenance -> its content; those that cannot be read are ``damaged``.
    """

    def __init__(self, results: str | Path, root: str | Path = SOURCE_ROOT.parent):
        """Read all provenances of a run; ``root`` is the folder of the project."""
        self.results, self._root = Path(results), Path(root)
        data = self.results.parent / "data"
        files = [*provenance_files(self.results), *provenance_files(data)]
        stamps = {str(file): _read(file) for file in files}
        self.stamps = {file: stamp for file, stamp in stamps.items() if stamp is not None}
        self.damaged = [file for file in stamps if file not in self.stamps]
        self._digest = cache(digest_of)
        self._code_changed = cache(lambda name: code_changed(self.stamps[name]["code"], self._root))

    @cached_property
    def _makers(self) -> dict[str, str]:
        """Output -> provenance of the job that made it."""
        return {
            file: name
            for name, stamp in self.stamps.items()
            for file in stamp["digests"]["outputs"]
        }

    def problem(self, file: str | Path) -> str | None:
        """Say what is wrong with a file that exists; None if it is what its job wrote."""
        name = self._makers.get(str(file))
        if name is None:
            return "has no provenance of this run"
        try:
            if self._digest(str(file)) != self.stamps[name]["digests"]["outputs"][str(file)]:
                return "was altered after its job had written it"
        except OSError as error:
            return f"cannot be read ({error.strerror or error})"
        return None

    def other_run(self, file: str | Path) -> str | None:
        """Say why a file is of another run than the files that are there now; None if it is not.

        Its job must have read these files, and its code must be that of today.
        """
        name = self._makers.get(str(file))
        if name is None:
            return None
        if read := next(self._other_inputs(name), None):
            return f"is of another run: its job read another {read}"
        if self._code_changed(name):
            return "is of another run: its job had other code"
        return None

    def _other_inputs(self, name: str) -> Iterator[str]:
        """Yield what the job read and what is not there any more."""
        for file, digest in self.stamps[name]["digests"]["inputs"].items():
            maker = self._makers.get(file)
            if maker is not None:
                now = self.stamps[maker]["digests"]["outputs"][file]
            elif Path(file).is_absolute() or ".." in Path(file).parts:
                continue  # a file of the project, where another workflow uses it as a module
            else:
                now = self._digest(file) if Path(file).is_file() else None
            if now != digest:
                yield file

    def problems(self) -> list[str]:
        """Return a line for everything that is wrong with the results."""
        lines = [f"{file}: is damaged; {REMEDY}" for file in self.damaged]
        files = [*filter(os.path.exists, self._makers)]
        for path in sorted(self.results.rglob("*")):  # those without a provenance
            below = path.relative_to(self.results).parts
            hidden = any(part.startswith(".") for part in below)
            if not (below[0] in MADE_WITHOUT or hidden or path.is_dir()
                    or path.name.endswith("provenance.json")):  # fmt: skip
                files.append(str(path))
        for file in dict.fromkeys(files):
            if problem := self.problem(file) or self.other_run(file):
                lines.append(f"{file}: {problem}; {REMEDY}")
        return lines


def _read(file: Path) -> dict[str, Any] | None:
    """Read a provenance; None if it is damaged."""
    try:
        stamp = json.loads(file.read_text(encoding="utf-8"))
        _Stamp.model_validate(stamp)
    except (OSError, ValueError):
        return None
    return stamp
