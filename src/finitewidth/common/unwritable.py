"""Why a file or folder cannot be written, in words, and what to do about it."""

import errno
from pathlib import Path

from finitewidth.common.errors import ResultError

NO_SPACE = (errno.ENOSPC, errno.EDQUOT)
_REMEDIES = {
    errno.ENOSPC: "the disk is full; free some space and start again, finished work is kept",
    errno.EDQUOT: "your disk quota is used up; free some space and start again",
    errno.EROFS: "the file system is read-only; remount it writable, or run in a copy of the "
    "project elsewhere",
    errno.EACCES: "no permission to write there; change the folder's owner or mode",
    errno.ENOENT: "another run wrote here at the same time; start again",
}


def unwritable(error: OSError, path: str | Path) -> ResultError:
    """Return the error to raise if a file cannot be written; its message names it and the remedy.

    Args:
        error: what the operating system said.
        path: the file or folder.
    """
    remedy = _REMEDIES.get(error.errno, error.strerror or str(error))
    return ResultError(f"cannot write {path}: {remedy}")
