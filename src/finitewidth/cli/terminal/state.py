"""The state of a run: which jobs run, are done or failed, and how long the rest will take."""

import json
import os
import re
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

RUNNING, DONE, FAILED = "running", "done", "failed"
STATE = "run.json"  # in the folder of logs
STEPS = re.compile(r"(\d+) of (\d+), \d+ s left")  # what `finitewidth.common.progress` logs
TAIL = 4096  # bytes of a log that are looked at


@dataclass
class Job:
    """One job.

    Attributes:
        name: as `finitewidth.common.announced.job_name`.
        log: its log file, or an empty text.
        started: time in seconds since 1970.
        forecast: seconds that it will take here.
        ended: time, or None while it runs.
        state: ``running``, ``done`` or ``failed``.
    """

    name: str
    log: str
    started: float
    forecast: float
    ended: float | None = None
    state: str = RUNNING

    def share(self, now: float) -> float:
        """The part that is done, 0 to 1: from its log, else from the forecast."""
        if self.state != RUNNING:
            return 1.0
        found = STEPS.findall(tail_of(self.log))
        if found:
            done, total = map(int, found[-1])
            return min(done / max(total, 1), 1.0)
        elapsed = now - self.started
        # a job that outlasts its forecast approaches its end and never reaches it
        return elapsed / (elapsed + self.forecast) if elapsed > self.forecast / 2 else (
            elapsed / max(self.forecast * 1.5, 1e-9)
        )  # fmt: skip


@dataclass
class Run:
    """All jobs of one run.

    Attributes:
        command: that started it, as the user may type it again.
        cores: number of jobs that run side by side at most.
        waiting: forecasts in seconds of the jobs that have not started, by name.
        jobs: number of the job -> the job.
        total: number of jobs.
        started: time in seconds since 1970.
        pid: of the process.
        state: ``running``, ``done``, ``failed`` or ``interrupted``.
    """

    command: str
    cores: int = 1
    waiting: dict[str, float] = field(default_factory=dict)
    jobs: dict[int, Job] = field(default_factory=dict)
    total: int = 0
    started: float = field(default_factory=time.time)
    pid: int = field(default_factory=os.getpid)
    state: str = RUNNING

    def of(self, state: str) -> list[Job]:
        """The jobs in a state, in the order in which they started."""
        return [job for job in self.jobs.values() if job.state == state]

    def start(self, number: int, name: str, log: str, forecast: float) -> None:
        """A job starts; what was kept for it in ``waiting`` is its forecast."""
        known = self.waiting.pop(name, forecast)
        self.jobs[number] = Job(name=name, log=log, started=time.time(), forecast=known)

    def end(self, number: int, state: str) -> Job | None:
        """A job ends; returns it, or None if it never started."""
        job = self.jobs.get(number)
        if job is not None and job.state == RUNNING:
            job.ended, job.state = time.time(), state
        return job

    def left(self, now: float | None = None) -> float:
        """Seconds until the last job ends, if all cores are busy until then."""
        now = time.time() if now is None else now
        running = [(1 - job.share(now)) * job.forecast for job in self.of(RUNNING)]
        ahead = [*self.waiting.values(), *running]
        return max(sum(ahead) / self.cores, max(ahead, default=0.0))

    def write(self, folder: str | Path) -> None:
        """Write the state for ``finitewidth status``, if the folder can be written."""
        path = Path(folder) / STATE
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            temporary = path.with_suffix(f".{self.pid}")
            temporary.write_text(json.dumps(asdict(self)), encoding="utf-8")
            temporary.replace(path)
        except OSError:
            pass


def read_run(folder: str | Path) -> Run | None:
    """Return the state of the last run whose logs are in a folder, or None if there was none."""
    try:
        values: dict[str, Any] = json.loads((Path(folder) / STATE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    jobs = {int(number): Job(**job) for number, job in values.pop("jobs").items()}
    run = Run(**values, jobs=jobs)
    if run.state == RUNNING and not _alive(run.pid):
        run.state = "killed"
    return run


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def tail_of(log: str) -> str:
    """The end of a log; empty if there is none."""
    try:
        with Path(log).open("rb") as stream:
            stream.seek(max(0, stream.seek(0, os.SEEK_END) - TAIL))
            return stream.read().decode("utf-8", "replace")
    except OSError:
        return ""


def last_lines(log: str, count: int) -> list[str]:
    """The last lines of a log that say something."""
    return [line for line in tail_of(log).splitlines() if line.strip()][-count:]


def span(seconds: float) -> str:
    """``4 s``, ``3 min 20 s`` or ``2 h 5 min``."""
    seconds = round(seconds)
    if seconds < 60:
        return f"{seconds} s"
    if seconds < 3600:
        return f"{seconds // 60} min {seconds % 60} s"
    return f"{seconds // 3600} h {seconds % 3600 // 60} min"
