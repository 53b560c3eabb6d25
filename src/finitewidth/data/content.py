"""A digest of the content of an image folder, on which the dataset made from it depends.

Reading many pictures takes a while. The digest is therefore stored with the state of the folder
(names, sizes, times and numbers of all files) and computed again only when the state differs. The
time of the last change of a file (``ctime``) is part of the state: unlike the time of modification,
no program can set it back.

This module imports only the standard library, because the workflow imports it at every start.
"""

import contextlib
import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from finitewidth.common.provenance import remembered
from finitewidth.data.places import SPLITS, entries, folder_of, registered

LARGEST = 1 << 30  # bytes; no picture is as large, and reading the dataset refuses it
KNOWN = Path("results/data/.contents.json")


def tree_of(source: str, data_config: Mapping[str, Any], known: Path | None = KNOWN) -> str | None:
    """Return the folder of images that a source is read from, and a digest of its content.

    Args:
        source: name of a dataset.
        data_config: the ``data:`` section of the settings.
        known: as for `content_of`.

    Returns:
        The folder and the digest; None if the source is read from no folder of images.
    """
    tree = registered(data_config)["imagefolder"].get(source)
    if tree is None:
        return None
    return f"{tree} {content_of(folder_of(tree, data_config), known)}".strip()


def content_of(folder: Path, known: Path | None = KNOWN) -> str:
    """Return a digest (16 hex digits) of the names and bytes of all files of an image folder.

    It is "" if the folder contains no files. A file that cannot be read counts by its name, and
    reading the dataset says what is wrong with it. The file ``known`` has digests that are known
    already; with None all files are read.
    """
    files = [
        os.path.join(split, label.name, file.name)
        for split in SPLITS for label in entries(folder / split)
        for file in entries(Path(label.path))
    ]  # fmt: skip
    if not files:
        return ""
    if known is None:
        return _digest(folder, files)
    digests = remembered(known)
    state = _state(folder, files)
    if state not in digests:
        digests[state] = _digest(folder, files)
    return digests[state]


def _state(folder: Path, files: list[str]) -> str:
    digest = hashlib.sha256(os.fsencode(folder.absolute()))
    for file in files:
        facts: tuple[int, ...] = ()
        with contextlib.suppress(OSError):
            found = os.stat(os.path.join(folder, file), follow_symlinks=False)
            facts = (found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)
        digest.update(os.fsencode(f"\0{file} {facts}"))
    return digest.hexdigest()


def _digest(folder: Path, files: list[str]) -> str:
    digest = hashlib.sha256()
    for name in files:
        digest.update(os.fsencode(f"\0{name} "))
        file = folder / name
        with contextlib.suppress(OSError):
            if file.is_file() and file.stat().st_size <= LARGEST:  # a pipe would wait for ever
                with file.open("rb") as stream:
                    digest.update(hashlib.file_digest(stream, "sha256").digest())
    return digest.hexdigest()[:16]
