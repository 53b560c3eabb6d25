"""Files that say what runs and how far it is: ``<results>/.running/<job>.json``.

Each job keeps one while it runs, and so does a run as a whole. Others read them: the terminal of
the run, and ``finitewidth status``, also on another machine that sees the same disk.
"""

import contextlib
import json
import os
import socket
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from finitewidth.common import progress

FOLDER = ".running"
RUN = "the run"  # the job in the file of a run; no rule has a blank in its name
FEWEST, MOST = 1.0, 10.0  # seconds between two looks at a job; more, the longer it has run
SAME = 30.0  # seconds after which a file is written anew though nothing has changed
LOST = 300.0  # seconds without a new file after which a job is gone
UNTIMED = 10.0  # first seconds of a computation: what an earlier run has done passes quickly


@dataclass(frozen=True)
class Running:
    """What a file says of a job, or of a run; times are seconds since 1970.

    Attributes:
        job: its name, see `finitewidth.pipeline.job_names`; `RUN` for a run.
        pid: its process, on the machine ``host``.
        what: what it does, in words, such as ``epoch 120 of 400``; empty if that is not known.
        done: of ``total``, epochs for example; jobs of a run.
        share: of all its work, 0 to 1; None if that is not known.
        left: seconds until it ends; of a job, at its own pace; None if that is not known.
        jobs: of a run: running job -> seconds until it ends, or None.
    """

    job: str
    pid: int
    host: str
    started: float
    updated: float
    what: str = ""
    done: int = 0
    total: int = 0
    share: float | None = None
    left: float | None = None
    jobs: Mapping[str, float | None] = field(default_factory=dict)

    def gone(self, now: float) -> bool:
        """Whether its process has ended without removing the file, as one that was killed."""
        if now - self.updated > LOST:
            return True
        return self.host == socket.gethostname() and not _exists(self.pid)


def begun(job: str) -> Running:
    """What this process says of its job when it begins."""
    now = time.time()
    return Running(job, os.getpid(), socket.gethostname(), started=now, updated=now)


def write(file: Path, running: Running) -> None:
    """Write a file in one step; if the disk refuses it, nobody is told."""
    temporary = file.with_name(f".{file.name}-{running.pid}")
    with contextlib.suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_text(json.dumps(asdict(running)), encoding="utf-8")
        temporary.replace(file)


def remove(file: Path) -> None:
    """Remove a file, and the folder after the last one."""
    with contextlib.suppress(OSError):
        file.unlink(missing_ok=True)
        file.parent.rmdir()


def read_running(folders: Iterable[str | Path]) -> list[Running]:
    """Return what runs, in some folders of results; the first to start comes first."""
    now = time.time()
    found = [running for _, running in _files(folders) if not running.gone(now)]
    return sorted(found, key=lambda each: each.started)


def remove_leftovers(folders: Iterable[str | Path]) -> None:
    """Remove the files of what was killed."""
    now = time.time()
    for file, running in list(_files(folders)):
        if running.gone(now):
            remove(file)


def _files(folders: Iterable[str | Path]) -> Iterator[tuple[Path, Running]]:
    for folder in folders:
        for file in Path(folder, FOLDER).glob("[!.]*.json"):
            # it ends meanwhile, or was written by another version
            with contextlib.suppress(OSError, ValueError, TypeError):
                yield file, Running(**json.loads(file.read_text(encoding="utf-8")))


def file_of(folder: str | Path, job: str) -> Path:
    """The file of a job, below a folder of results."""
    return Path(folder, FOLDER, f"{job.replace('/', '.')}.json")


@contextlib.contextmanager
def shown(job: str, log: str | Path) -> Iterator[None]:
    """Keep the file of a job while the block works; its ``log`` is below ``<results>/logs``."""
    folders = [folder for folder in Path(log).parents if folder.name == "logs"]
    if not folders:
        yield
        return
    file = file_of(folders[0].parent, job)
    ended = threading.Event()
    thread = threading.Thread(target=_follow, args=(file, begun(job), ended), daemon=True)
    with contextlib.suppress(RuntimeError):  # the system allows no more threads
        thread.start()
    try:
        yield
    finally:
        ended.set()
        if thread.is_alive():
            thread.join()
        remove(file)


def _follow(file: Path, running: Running, ended: threading.Event) -> None:
    write(file, running)
    pace = _Pace()
    pause = FEWEST
    while not ended.wait(pause):
        now = time.time()
        pause = min(max((now - running.started) / 60, FEWEST), MOST)
        changed = _now(running, pace)
        if changed != running or now - running.updated >= SAME:
            running = replace(changed, updated=now)
            write(file, running)


def _now(running: Running, pace: "_Pace") -> Running:
    """What is known of the job now."""
    stage = progress.stage()
    if stage is None:
        return replace(running, what="", done=0, total=0, share=None, left=None)
    return replace(
        running,
        what=stage.words,
        done=stage.done,
        total=stage.total,
        share=round(stage.share, 4),
        left=pace.left(stage),
    )


class _Pace:
    """How fast a job gets on."""

    def __init__(self) -> None:
        self._begun = 0.0
        self._since: tuple[float, float] | None = None  # a time, and the share done by then

    def left(self, stage: progress.Stage) -> float | None:
        """Seconds until the work ends; None in its first seconds."""
        now = time.monotonic()
        if stage.begun != self._begun:
            self._begun, self._since = stage.begun, None
        if self._since is None:
            if now - stage.begun >= UNTIMED:
                self._since = now, stage.share
            return None
        since, share = self._since
        if stage.share <= share:
            return None
        return round((1 - stage.share) * (now - since) / (stage.share - share), 1)


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # of another user
        return True
    return _state(pid) != "Z"  # of one that was killed, until the system has forgotten it


def _state(pid: int) -> str:
    """The state of a process on Linux, one letter; empty elsewhere."""
    with contextlib.suppress(OSError):
        # the name of the program stands before it, in parentheses
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    return ""
