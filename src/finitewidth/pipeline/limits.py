"""Limits of the system on open files and on processes, checked before a run starts."""

import resource
import threading

from finitewidth.common.errors import ResultError

FILES = 64  # that a run and its jobs have open at most
SPARE = 4  # threads of a run, beside one for each core


def refuse_low_limits(cores: int) -> None:
    """Refuse a run that may not open enough files or start enough threads and processes.

    Args:
        cores: number of jobs that run side by side at most.

    Raises:
        ResultError: a limit is too low; the message tells how to raise it.
    """
    files, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files < FILES and files != resource.RLIM_INFINITY:
        raise ResultError(f"this shell allows {files} open files, and a run needs {FILES}; raise "
                          f"the limit: ulimit -n {min(1024, max(most, FILES))}")  # fmt: skip
    if not _can_start(SPARE + cores):
        allowed, _ = resource.getrlimit(resource.RLIMIT_NPROC)
        raise ResultError(f"{SPARE + cores} threads cannot be started: the limit on processes is "
                          f"reached (ulimit -u is {allowed}); raise it, stop other processes of "
                          "this user, or use fewer cores")  # fmt: skip


def _can_start(count: int) -> bool:
    """Whether this many threads can run at once, beside those of now."""
    end = threading.Event()
    threads = [threading.Thread(target=end.wait, daemon=True) for _ in range(count)]
    started = 0
    try:
        for thread in threads:
            thread.start()
            started += 1
    except RuntimeError:  # can't start new thread
        return False
    finally:
        end.set()
        for thread in threads[:started]:
            thread.join()
    return True
