"""Why a file or folder cannot be written, in words, and what to do about it.

This module imports only the standard library, because the workflow imports it at every start.
"""

import contextlib
import errno
import os
import tempfile
from pathlib import Path

from finitewidth.common.errors import ResultError

PROBE = 1 << 16  # bytes that a folder must be able to take
NO_SPACE = (errno.ENOSPC, errno.EDQUOT)
_REMEDIES = {
    errno.ENOSPC: "the disk is full; free some space and start again, finished work is kept",
    errno.EDQUOT: "your disk quota is used up; free some space and start again",
    errno.EROFS: "the file system is read-only; remount it writable, or run in a copy of the "
    "project elsewhere",
    errno.EACCES: "no permission to write there; change the folder's owner or mode",
    errno.ENOENT: "another run wrote here at the same time; start again",
}
_NO_INODES = (
    "the disk can take no more files (it has no free inodes); delete some files and start again, "
    "finished work is kept"
)


def unwritable(error: OSError, path: str | Path) -> ResultError:
    """Return the error to raise if a file cannot be written; its message names it and the remedy.

    Args:
        error: what the operating system said.
        path: the file or folder.
    """
    remedy = _REMEDIES.get(error.errno, error.strerror or str(error))
    if error.errno == errno.ENOSPC and _has_no_inodes(Path(path)):
        remedy = _NO_INODES
    return ResultError(f"cannot write {path}: {remedy}")


def _has_no_inodes(path: Path) -> bool:
    """Whether the file system of a path has a fixed number of files, and it is reached."""
    with contextlib.suppress(OSError, StopIteration):
        above = (path.absolute(), *path.absolute().parents)
        there = os.statvfs(next(each for each in above if each.exists()))
        return there.f_files > 0 and there.f_favail == 0
    return False


def refuse_full(folder: str | Path) -> None:
    """Refuse a folder that can take no file.

    Raises:
        ResultError: a file of `PROBE` bytes cannot be written.
    """
    try:
        with tempfile.TemporaryFile(dir=folder) as stream:
            stream.write(bytes(PROBE))
            stream.flush()
    except OSError as error:
        raise unwritable(error, folder) from error


def refuse_full_temporary_folder() -> None:
    """Refuse a folder for temporary files that can take none; Snakemake needs one.

    Raises:
        ResultError: the folder that TMPDIR names, or that of the system, is full.
    """
    named = next((name for name in ("TMPDIR", "TEMP", "TMP") if os.environ.get(name)), None)
    folder = Path(os.environ[named] if named else "/tmp")
    if not folder.is_dir():
        return  # Snakemake makes it, or uses another
    try:
        refuse_full(folder)
    except ResultError as error:
        where = f"as {named} says" if named else "as TMPDIR is not set"
        raise ResultError(
            f"{error}. Temporary files go there, {where}; or set TMPDIR to another folder"
        ) from error
