"""One report of some results is built at a time."""

import contextlib
import fcntl
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def alone(results: str | Path) -> Iterator[None]:
    """Let reports of the same results be built one after another.

    The report of a run and that of ``finitewidth report`` replace the same folder.
    """
    file = Path(results, ".report.lock")
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a") as stream:
        with contextlib.suppress(OSError):  # a file system without locks
            fcntl.flock(stream, fcntl.LOCK_EX)
        yield
