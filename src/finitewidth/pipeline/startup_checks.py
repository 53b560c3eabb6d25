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

from finitewidth.common.errors import ConfigError, ResultError
from finitewidth.common.unwritable import refuse_full, refuse_full_temporary_folder

REMEDY = (
    "make it writable (remount it, or change owner or mode), or run in a copy of the project "
    "elsewhere"
)
SNAKEMAKE = ".snakemake"
WRITTEN_IN_PLACE = {"logs", "benchmarks", ".records", SNAKEMAKE}
# --dry-run, -n, and -n among other flags that take no value
DRY = re.compile(r"--dry-?run|-[npqFk]*n[npqFk]*")


def is_dry_run(words: Sequence[str]) -> bool:
    """Whether a command line of Snakemake (``sys.argv``) asks for a dry run."""
    return any(DRY.fullmatch(word) for word in words)


def refuse_braces(folder: str | Path) -> None:
    """Refuse a project folder with braces in its path, in which Snakemake looks for wildcards.

    Raises:
        ConfigError: the path contains a brace.
    """
    if "{" in str(folder) or "}" in str(folder):
        raise ConfigError(f"the project lies in {folder}; Snakemake takes braces in this path "
                          "for placeholders: rename the folder, or clone elsewhere")  # fmt: skip


def refuse_unwritable(*folders: str | Path) -> None:
    """Refuse a run whose folders cannot be written, before any job starts.

    Raises:
        ResultError: a folder, or the folder that it would be created in, cannot be written; or
            there is something else in its place; or it can take no file, or the folder for
            temporary files can take none.
    """
    for folder in map(Path, folders):
        above = (folder, *folder.absolute().parents)
        there = next(each for each in above if os.path.lexists(each))
        _refuse_other_than_folder(there)
        if not os.access(there, os.W_OK | os.X_OK):
            raise ResultError(f"cannot write in the folder {there}; {REMEDY}")
        refuse_full(there)
    refuse_full_temporary_folder()


def refuse_files_of_others(*folders: str | Path) -> None:
    """Refuse a run among files that it cannot write, such as those of another user.

    Jobs make new files in place of old ones, for which the folder must be writable. Logs,
    benchmarks and Snakemake's records are written in place, so these files must be writable, too.

    Raises:
        ResultError: a folder, a log, a benchmark or a record cannot be written.
    """
    for place, folders_in, files in (step for top in folders for step in os.walk(top)):
        _refuse(place, os.W_OK | os.X_OK)
        if "report" in folders_in:
            folders_in.remove("report")  # replaced as a whole
        if Path(place).name == SNAKEMAKE:
            for folder in folders_in:
                _refuse(os.path.join(place, folder), os.W_OK | os.X_OK)
            folders_in.clear()  # below are environments of conda, whose files are read-only
        if WRITTEN_IN_PLACE & set(Path(place).parts):
            for file in files:
                _refuse(os.path.join(place, file), os.W_OK)


def refuse_unreadable_records(records: str | Path) -> None:
    """Refuse a dry run without access to Snakemake's records, which their owner alone may read.

    Raises:
        ResultError: a record cannot be read.
    """
    for place, _, files in os.walk(records):
        for file in files:
            _refuse(os.path.join(place, file), os.R_OK, f"read a record in {records}")


def _refuse(place: str, access: int, what: str | None = None) -> None:
    if os.path.exists(place) and not os.access(place, access):
        what = what or f"write {place}"
        raise ResultError(f"cannot {what}, which belongs to {_owner(place)}; {REMEDY}")


def _owner(place: str) -> str:
    import pwd

    number = os.stat(place).st_uid
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return f"user {number}"


def _refuse_other_than_folder(place: Path) -> None:
    """Refuse a link that leads nowhere, and anything else that is no folder."""
    if place.is_symlink() and not os.path.exists(place):
        raise ResultError(f"{place} is a link to {os.readlink(place)}, which is not there; make "
                          "that folder (or mount its disk), or remove the link")  # fmt: skip
    if not os.path.isdir(place):
        raise ResultError(f"{place} is no folder, but the run needs a folder there; move it "
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
    if link.is_symlink() and not records.is_dir() and not make:
        link.unlink()  # the results are gone; Snakemake makes a folder there even in a dry run
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
        if not (folder / "locks").is_symlink():
            for lock in (folder / "locks").glob("*.lock"):
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
