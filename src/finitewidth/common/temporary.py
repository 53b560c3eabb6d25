"""Temporary folders that say whose they are, and the deletion of those that killed jobs left.

A folder is ours only if a file in it says so: the file holds a token, and the folder is named by
the digest of this token. Nobody gives another folder such a name by chance, so nothing of the user
is deleted, whatever it is called. A link is never followed.

A process holds the kernel's lock on what it is writing. On the same machine a lock that nobody
holds says at once that the process was killed. Locks of other machines may not be seen on a shared
disk, so what they left must be old.
"""

import contextlib
import fcntl
import hashlib
import platform
import secrets
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

MARK = ".finitewidth-temporary"
LEFT = 24 * 3600  # seconds; younger folders may belong to a job that is running
_LONGEST = 200  # characters of a mark
_SOON = 1  # seconds; a younger file may not be locked yet


def this_machine() -> str:
    """Return a word for this machine, six hex digits, for the names of temporary files."""
    return hashlib.sha256(platform.node().encode()).hexdigest()[:6]


def lock(handle: int) -> None:
    """Hold the lock on an open file until it is closed, where the file system has locks."""
    with contextlib.suppress(OSError):
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


def is_left(file: Path, machine: str | None, longest: float) -> bool:
    """Whether the process that wrote a temporary file is gone.

    Args:
        file: the file.
        machine: on which it was written, as `this_machine` names it; None if that is not known.
        longest: age in seconds above which a file counts as left whatever its lock says.

    Raises:
        FileNotFoundError: the file is gone.
    """
    age = time.time() - file.stat().st_mtime
    if age > longest:
        return True
    return age > _SOON and machine == this_machine() and not _is_locked(file)


def _is_locked(file: Path) -> bool:
    """Whether a process holds the lock on a file; true where locks do not work."""
    try:
        with file.open("r+b") as stream:  # NFS grants this lock on writable files only
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except FileNotFoundError:
        raise
    except OSError:
        return True
    return False


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
    token = f"{this_machine()} {secrets.token_hex(32)}"
    folder = place / name_of(token, purpose)
    folder.mkdir()
    try:
        with (folder / MARK).open("w", encoding="ascii") as mark:
            mark.write(token)
            mark.flush()
            lock(mark.fileno())
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def remove_left(place: Path, purpose: str) -> None:
    """Delete marked folders in ``place`` that killed jobs left.

    Those of other machines must be more than a day old.
    """
    for folder in place.glob(f".finitewidth-{purpose}-*"):
        with contextlib.suppress(OSError):
            if not _is_ours(folder, purpose):
                continue
            machine, space, _ = (folder / MARK).read_text(encoding="ascii").partition(" ")
            if is_left(folder / MARK, machine if space else None, LEFT):
                shutil.rmtree(folder, ignore_errors=True)


def _is_ours(folder: Path, purpose: str) -> bool:
    """Whether a folder, which is no link, contains the token of its name."""
    mark = folder / MARK
    if folder.is_symlink() or mark.is_symlink() or not mark.is_file():
        return False
    if mark.stat().st_size > _LONGEST:
        return False
    return name_of(mark.read_bytes().decode("ascii", "replace"), purpose) == folder.name
