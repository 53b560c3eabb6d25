"""The exceptions of the project, the one of a file that cannot be written, and words of messages.

A message names the key or file, what was found, what is allowed and what to do.
"""

import difflib
import errno
from pathlib import Path
from typing import Any


class FinitewidthError(Exception):
    """Base class of all exceptions of the project."""


class ConfigError(FinitewidthError, ValueError):
    """A setting or an argument is unknown, out of range or contradicts another."""


class DataError(FinitewidthError):
    """A dataset is missing, truncated or altered, or it cannot be downloaded."""


class ResultError(FinitewidthError):
    """A result file is missing or damaged, or it cannot be written."""


NO_SPACE = (errno.ENOSPC, errno.EDQUOT)
_REMEDIES = {
    errno.ENOSPC: "the disk is full; free some space and start again, finished work is kept",
    errno.EDQUOT: "your disk quota is used up; free some space and start again",
    errno.EROFS: "the file system is read-only; remount it writable, or run in a copy of the "
    "project elsewhere",
    errno.EACCES: "no permission to write there; change the folder's owner or mode, or run in a "
    "clone of your own",
    errno.ENOENT: "another run wrote here at the same time; start again",
}


def unwritable(error: OSError, path: str | Path) -> ResultError:
    """Return the error to raise if a file or folder cannot be written, with the remedy."""
    remedy = _REMEDIES.get(error.errno or 0, error.strerror or str(error))
    return ResultError(f"cannot write {path}: {remedy}")


def one_of(values: Any) -> str:
    """Return ``it must be one of …`` with all values."""
    return "it must be one of " + ", ".join(str(value) for value in values)


def nearest(word: Any, known: Any) -> str:
    """Return `` (did you mean …?)`` with the known word closest to ``word``; empty without one."""
    close = difflib.get_close_matches(str(word), [str(k) for k in known], n=1)
    return f" (did you mean {close[0]}?)" if close else ""
