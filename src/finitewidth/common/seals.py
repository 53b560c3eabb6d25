"""The digest that lies beside every result file, and the comparison with it.

A job seals its outputs when it ends: the SHA-256 of ``folder/name`` lies in
``folder/.sums/name.sha256``. The next job compares its inputs with their seals before it reads
them, so an altered, replaced or renamed file is noticed. `finitewidth.common.recorded` does both.

This module imports only the standard library, because the workflow imports it at every start.
"""

import hashlib
from pathlib import Path

from finitewidth.common.errors import ResultError

FOLDER = ".sums"
RESULTS = "results"  # only files below it are made by jobs
TIMESTAMP = ".snakemake_timestamp"  # Snakemake puts it into a folder when the job has ended


def digest_of(path: str | Path) -> str:
    """Return the SHA-256 of a file in hex; of a folder, that of names and digests of its files.

    Raises:
        FileNotFoundError: there is no such file.
    """
    path = Path(path)
    if not path.is_dir():
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    digest = hashlib.sha256()
    for file in sorted(path.rglob("*")):
        if file.is_file() and file.name != TIMESTAMP:
            digest.update(f"{digest_of(file)} {file.relative_to(path).as_posix()}\n".encode())
    return digest.hexdigest()


def seal_of(path: str | Path) -> Path:
    """Return the file with the digest of ``path``."""
    return Path(path).parent / FOLDER / f"{Path(path).name}.sha256"


def sealed_digest(path: str | Path) -> str | None:
    """Return the digest that the job wrote which made ``path``; None if it wrote none."""
    try:
        return seal_of(path).read_text(encoding="utf-8", errors="replace").strip()
    except (FileNotFoundError, NotADirectoryError):
        return None


def problem_of(path: str | Path, digest: str | None = None) -> str | None:
    """Say what is wrong with a file that a job wrote; None if it is as the job left it.

    Args:
        path: the file.
        digest: of the file as it is now; None to compute it.
    """
    sealed = sealed_digest(path)
    if sealed is None:
        return "was not written by a job of this project (it has no digest in .sums)"
    if sealed != (digest or digest_of(path)):
        return "is damaged (it differs from what its job wrote)"
    return None


def checked_digest(path: str | Path) -> str:
    """Return the digest of an input, after a comparison with its seal.

    Files outside the folder of results, such as printed numbers, are made by no job and have none.

    Raises:
        ResultError: the file is missing, or it is not what its job wrote. The message names the
            file and the remedy.
    """
    try:
        digest = digest_of(path)
    except FileNotFoundError:
        raise ResultError(f"{path} is missing; run the rule that makes it") from None
    if Path(path).parts[:1] == (RESULTS,) and (problem := problem_of(path, digest)):
        raise ResultError(f"{path} {problem}; delete it and run again")
    return digest
