"""Several runs in one project folder: each leaves the locks and checkpoints of the others alone."""

import contextlib
import fcntl
import os
from typing import IO, Any


def alone(share: IO[str]) -> bool:
    """Whether no other run lives in this folder; True if the file system has no kernel locks.

    Args:
        share: what `finitewidth.pipeline.startup_checks.release_stale_locks` returned.
    """
    try:
        fcntl.flock(share, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    finally:
        _share(share)
    return True


def _share(share: IO[str]) -> None:
    """Hold the shared lock again, which an attempt to hold it alone gives up."""
    with contextlib.suppress(OSError):
        fcntl.flock(share, fcntl.LOCK_SH | fcntl.LOCK_NB)


def keep_locks_of_others(persistence: Any) -> None:
    """Let Snakemake delete only its own lock files when a run ends.

    Snakemake 9.27 deletes the whole folder of locks. Another run in the same folder, of another
    preset, then goes on without locks, or fails if it is just about to write them.

    Args:
        persistence: Snakemake's class ``FilePersistence``.
    """
    if hasattr(persistence, "_delete_all_locks"):
        return

    def delete_own_locks(self: Any) -> None:
        for file in self._lockfile.values():
            with contextlib.suppress(FileNotFoundError):
                os.remove(file)
        self._lockfile.clear()

    persistence._delete_all_locks = persistence._delete_locks
    persistence._delete_locks = delete_own_locks
    persistence.cleanup_locks = persistence._delete_all_locks  # `snakemake --unlock`
