"""Checks before a run: unwritable folders, stale locks of killed runs, timestamps in the future.

Also the place of Snakemake's records of finished jobs.
"""

import contextlib
import fcntl
import os
import re
import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from finitewidth.common.errors import ResultError

# --dry-run, -n, and -n among other flags that take no value
DRY = re.compile(r"--dry-?run|-[npqFk]*n[npqFk]*")


def is_dry_run(words: Sequence[str]) -> bool:
    """Whether a command line of Snakemake (``sys.argv``) asks for a dry run."""
    return any(DRY.fullmatch(word) for word in words)


def refuse_unwritable(*folders: str | Path) -> None:
    """Refuse a run whose folders cannot be written, before any job starts.

    Raises:
        ResultError: a folder, or the folder that it would be created in, cannot be written.
    """
    for folder in map(Path, folders):
        there = next(each for each in (folder, *folder.absolute().parents) if each.exists())
        if not os.access(there, os.W_OK | os.X_OK):
            raise ResultError(f"cannot write in the folder {there}; make it writable (remount it, "
                              "or change owner or mode), or run in a copy of the project "
                              "elsewhere")  # fmt: skip


def keep_records_with_results(folder: str | Path, results: str | Path, make: bool = True) -> None:
    """Let Snakemake keep its records of finished jobs among the results.

    Snakemake compares parameters and checksums of inputs with what it recorded when a job ended.
    With the records below ``results``, a results folder that is copied or moved to another clone is
    as good there as here. ``<folder>/metadata`` becomes a link to ``<results>/.records``; records
    that lie there already are moved. On a file system without links they stay where they are.

    Args:
        folder: ``.snakemake`` of the working directory.
        results: the folder of all results.
        make: whether to create the folder of records; otherwise only one that exists is linked.
    """
    link, records = Path(folder) / "metadata", Path(results) / ".records"
    if not (make or records.is_dir()):
        return
    records.mkdir(parents=True, exist_ok=True)
    if link.is_symlink():
        return
    # without this folder Snakemake takes the records for those of an older version
    (Path(folder) / "incomplete").mkdir(parents=True, exist_ok=True)
    if link.is_dir():
        for record in link.iterdir():
            shutil.move(record, records / record.name)
        link.rmdir()
    with contextlib.suppress(OSError):
        link.symlink_to(os.path.relpath(records, link.parent))


def release_stale_locks(folder: str | Path, results: str | Path) -> IO[str]:
    """Remove the locks that killed runs left below ``folder``; returns a lock to hold.

    Snakemake's own locks are files. They outlive a SIGKILL and then block the next start. In
    addition every run holds a shared kernel lock until its process ends. If the kernel lock can be
    taken exclusively, no other run is alive, and all of Snakemake's lock files are stale. If
    another run is alive, nothing is removed, and Snakemake refuses a second run of the same files.
    On a file system without kernel locks (Lustre mounted without ``flock``) nothing is removed
    either; use ``snakemake --unlock``.

    Args:
        folder: ``.snakemake`` of the working directory.
        results: the folder of all results; files with a timestamp in the future are set to now.

    Returns:
        An open file; the shared lock ends when it is closed or the process ends.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    share = (folder / "finitewidth.lock").open(
        "a+"
    )  # NFSv4 grants shared locks on readable files only
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
    """Set files whose timestamp lies in the future to the present time, all to the same one.

    Snakemake refuses the output of a job that is older than its input. Equal times keep inputs no
    newer than their outputs.
    """
    now = time.time()
    for folder, folders, files in os.walk(results):
        for name in (*folders, *files):
            # a job that outlived its run may remove files meanwhile; others may own them
            with contextlib.suppress(OSError):
                file = Path(folder, name)
                if file.lstat().st_mtime > now:
                    os.utime(file, (now, now), follow_symlinks=False)
