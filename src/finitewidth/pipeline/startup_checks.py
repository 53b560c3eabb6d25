"""What a start meets: folders it cannot write, stale locks of killed runs, files of the future."""

import contextlib
import fcntl
import os
import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from finitewidth.common.errors import ResultError

# --dry-run, -n, and -n among other flags that take no value
DRY = re.compile(r"--dry-?run|-[npqFk]*n[npqFk]*")


def is_dry_run(words: Sequence[str]) -> bool:
    """Whether a command line of Snakemake (``sys.argv``) asks for a dry run, to change nothing."""
    return any(DRY.fullmatch(word) for word in words)


def refuse_unwritable(*folders: str | Path) -> None:
    """Say before any job that a folder, or the one it would be made in, cannot be written.

    Raises:
        ResultError: it cannot; the message names folder and remedy.
    """
    for folder in map(Path, folders):
        there = next(each for each in (folder, *folder.absolute().parents) if each.exists())
        if not os.access(there, os.W_OK | os.X_OK):
            raise ResultError(f"cannot write in the folder {there}; make it writable (remount it, "
                              "or change owner or mode), or run in a copy of the project "
                              "elsewhere")  # fmt: skip


def release_stale_locks(folder: str | Path, results: str | Path) -> IO[str]:
    """Remove Snakemake's locks below ``folder`` if no run in it is alive; returns a lock to hold.

    Snakemake's own locks are files, which outlive a SIGKILL and then stop the next start. Beside
    them every run holds a share of a kernel lock for as long as it lives. Whoever can have that
    lock alone knows that all other runs are dead. Runs that are alive keep their locks, and
    Snakemake goes on to refuse a second run of the same files. On a file system without such locks
    (Lustre mounted without ``flock``) nothing is removed: `snakemake --unlock` is the user's part.

    Args:
        folder: ``.snakemake`` of the working directory.
        results: the folder of all results; its files of the future get the present as their time.

    Returns:
        An open file; the share ends when it is closed or the process ends.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    share = (folder / "finitewidth.lock").open("a+")  # NFSv4 shares locks of readable files only
    try:
        fcntl.flock(share, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        pass  # another run is alive
    except OSError:
        return share  # no locks on this file system
    else:
        for lock in (folder / "locks").glob("*"):
            lock.unlink(missing_ok=True)
        _leave_the_future(Path(results))
    fcntl.flock(share, fcntl.LOCK_SH)
    return share


def _leave_the_future(results: Path) -> None:
    """Give files that a clock dated ahead of now the present as their time, all the same.

    Snakemake would take what is made of them for outdated, and delete it after every job. Equal
    times keep inputs no newer than their outputs.
    """
    now = time.time()
    for folder, folders, files in os.walk(results):
        for name in (*folders, *files):
            # jobs that outlived their run go on writing; others' files may not be ours to date
            with contextlib.suppress(OSError):
                file = Path(folder, name)
                if file.lstat().st_mtime > now:
                    os.utime(file, (now, now), follow_symlinks=False)
