"""A digest of the content of an image folder, on which the dataset made from it depends.

Reading many pictures takes a while. The digest is therefore stored with the state of the folder
(names, sizes, times and numbers of all files) and computed again only when the state differs. The
time of the last change of a file (``ctime``) is part of the state: unlike the time of modification,
no program can set it back.

This module imports only the standard library, because the workflow imports it at every start.
"""

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from finitewidth.common.disk_cache import remembered
from finitewidth.data.places import SPLITS, entries

KNOWN = Path("results/data/.contents.json")


def content_of(folder: Path, known: Path = KNOWN) -> str:
    """Return a digest (16 hex digits) of the names and bytes of all files of an image folder.

    Args:
        folder: with ``train`` and ``test``.
        known: the file of digests that are known already.

    Returns:
        The digest; "" if the folder contains no files. A file that cannot be read counts by its
        name, and reading the dataset says what is wrong with it.
    """
    files = list(_files(folder))
    if not files:
        return ""
    digests = remembered(known)
    state = _state(folder, files)
    if state not in digests:
        digests[state] = _digest(folder, files)
    return digests[state]


def _files(folder: Path) -> Iterator[str]:
    for split in SPLITS:
        for label in entries(folder / split):
            for file in entries(Path(label.path)):
                yield os.path.join(split, label.name, file.name)


def _state(folder: Path, files: list[str]) -> str:
    digest = hashlib.sha256(os.fsencode(folder.absolute()))
    for file in files:
        found = os.stat(os.path.join(folder, file), follow_symlinks=False)
        facts = (found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)
        digest.update(os.fsencode(f"\0{file} {facts}"))
    return digest.hexdigest()


def _digest(folder: Path, files: list[str]) -> str:
    digest = hashlib.sha256()
    for file in files:
        digest.update(os.fsencode(f"\0{file} ") + _bytes_of(folder / file))
    return digest.hexdigest()[:16]


def _bytes_of(file: Path) -> bytes:
    """Return the digest of a file; nothing if it is no file or cannot be read."""
    try:
        if not file.is_file():  # a pipe would wait for ever
            return b""
        with file.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").digest()
    except OSError:
        return b""
