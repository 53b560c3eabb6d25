"""SHA-256 digests of files and folders.

This module imports only the standard library, because the workflow imports it at every start.
"""

import hashlib
from pathlib import Path

TIMESTAMP = ".snakemake_timestamp"  # Snakemake puts it into a folder when the job has ended


def digest_of(path: str | Path) -> str:
    """Return the SHA-256 of a regular file in hex; of a folder, that of names and digests.

    Raises:
        FileNotFoundError: there is no such file, or it is neither a regular file nor a folder. A
            device or a pipe would be read without end.
    """
    path = Path(path)
    if path.is_file():
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    if not path.is_dir():
        raise FileNotFoundError(f"{path} is no file")
    digest = hashlib.sha256()
    for file in sorted(path.rglob("*")):
        if file.is_file() and file.name != TIMESTAMP:
            digest.update(f"{digest_of(file)} {file.relative_to(path).as_posix()}\n".encode())
    return digest.hexdigest()
