"""What a killed run or a wrong clock left behind: stale locks, and files of the future."""

import fcntl
import os
import time
from pathlib import Path
from typing import IO


def release_stale_locks(folder: str | Path, results: str | Path) -> IO[str]:
    """Remove Snakemake's locks below ``folder`` if no run in it is alive; returns a lock to hold.

    Snakemake's own locks are files, which outlive a SIGKILL and then stop the next start. Beside
    them every run holds a share of a kernel lock for as long as it lives. Whoever can have that
    lock alone knows that all other runs are dead. Runs that are alive keep their locks, and
    Snakemake goes on to refuse a second run of the same files.

    Args:
        folder: ``.snakemake`` of the working directory.
        results: the folder of all results; its files of the future get the present as their time.

    Returns:
        An open file; the share ends when it is closed or the process ends.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    share = (folder / "finitewidth.lock").open("w")
    try:
        fcntl.flock(share, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        pass  # another run is alive
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
    for file in results.rglob("*"):
        if file.lstat().st_mtime > now:
            os.utime(file, (now, now), follow_symlinks=False)
