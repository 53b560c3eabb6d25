"""Temporary folders that say whose they are, and the deletion of those that killed jobs left.

A folder is ours only if a file in it says so: the file holds a token, and the folder is named by
the digest of this token. Nobody gives another folder such a name by chance, so nothing of the user
is deleted, whatever it is called. A link is never followed.
"""

import contextlib
import hashlib
import secrets
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

MARK = ".finitewidth-temporary"
LEFT = 24 * 3600  # seconds; younger folders may belong to a job that is running
_LONGEST = 200  # characters of a mark


def name_of(token: str, purpose: str) -> str:
    """Return the name of the folder that a token marks.

    Args:
        token: the content of the mark.
        purpose: what the folder is for, such as ``fetch``.
    """
    return f".finitewidth-{purpose}-{hashlib.sha256(token.encode()).hexdigest()[:32]}"


@contextlib.contextmanager
def temporary_folder(place: Path, purpose: str) -> Iterator[Path]:
    """Make a marked folder in ``place`` and delete it at the end of the block.

    Raises:
        OSError: the folder cannot be made or written.
    """
    token = secrets.token_hex(32)
    folder = place / name_of(token, purpose)
    folder.mkdir()
    try:
        (folder / MARK).write_text(token, encoding="ascii")
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def remove_left(place: Path, purpose: str) -> None:
    """Delete marked folders in ``place`` that killed jobs left more than a day ago."""
    for folder in place.glob(f".finitewidth-{purpose}-*"):
        with contextlib.suppress(OSError):
            if _is_ours(folder, purpose) and (folder / MARK).stat().st_mtime < time.time() - LEFT:
                shutil.rmtree(folder, ignore_errors=True)


def _is_ours(folder: Path, purpose: str) -> bool:
    """Whether a folder, which is no link, contains the token of its name."""
    mark = folder / MARK
    if folder.is_symlink() or mark.is_symlink() or not mark.is_file():
        return False
    if mark.stat().st_size > _LONGEST:
        return False
    return name_of(mark.read_bytes().decode("ascii", "replace"), purpose) == folder.name
