"""``finitewidth status``: how far the last run of a preset is. The terminal writes its state."""

import contextlib
import json
import os
import re
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from finitewidth.common.number_words import duration

STATE = "run.json"  # in the folder of logs
STEPS = re.compile(r"(\d+) of (\d+), \d+ s left")  # what `finitewidth.common.progress` logs
TAIL = 4096  # bytes of a log that are looked at
WORDS = {
    "running": "running",
    "done": "all jobs are done",
    "failed": "ended with failed jobs",
    "interrupted": "stopped by the user",
    "killed": "killed",
}


@dataclass
class Run:
    """The state of one run.

    Attributes:
        command: that started it, as the user may type it again.
        total: number of jobs.
        done: number of jobs that have ended well.
        running: name of a job -> when it started, in seconds since 1970.
        failed: names of the jobs that failed.
        logs: name of a job -> its log file; only of jobs that run or have failed.
        left: seconds that the rest takes by the forecast.
        pid: of the process.
        state: one of `WORDS`.
    """

    command: str
    total: int = 0
    done: int = 0
    running: dict[str, float] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)
    logs: dict[str, str] = field(default_factory=dict)
    left: float = 0.0
    pid: int = field(default_factory=os.getpid)
    state: str = "running"

    def write(self, logs: str | Path) -> None:
        """Write the state into the folder of logs, if it can be written."""
        temporary = Path(logs, f"run.{self.pid}")
        with contextlib.suppress(OSError):
            temporary.parent.mkdir(parents=True, exist_ok=True)
            temporary.write_text(json.dumps(asdict(self)), encoding="utf-8")
            temporary.replace(Path(logs, STATE))


def read_run(logs: str | Path) -> Run | None:
    """Return the state of the last run whose logs are in a folder, or None if there was none."""
    try:
        values: dict[str, Any] = json.loads((Path(logs) / STATE).read_text(encoding="utf-8"))
        run = Run(**values)
    except (OSError, ValueError, TypeError):  # none, or one of another version
        return None
    if run.state == "running" and not _alive(run.pid):
        run.state = "killed"
    return run


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def last_lines(log: str, count: int) -> list[str]:
    """The last lines of a log that say something."""
    try:
        with Path(log).open("rb") as stream:
            stream.seek(max(0, stream.seek(0, os.SEEK_END) - TAIL))
            text = stream.read().decode("utf-8", "replace")
    except OSError:
        return []
    return [line for line in text.splitlines() if line.strip()][-count:]


def status(results: str, start: str = "finitewidth run") -> tuple[str, int]:
    """Return how far the last run is, and the exit status of the command.

    Args:
        results: folder of the results.
        start: the command that makes them.

    Returns:
        Lines with the numbers of jobs, what runs, what failed with the last line of its log, and
        the time left or the command that goes on; and 0, or 1 if a job failed or there is no run.
    """
    run = read_run(f"{results}/logs")
    if run is None:
        return f"{results} has no run yet; start one with: {start}", 1
    lines = [f"{run.done} of {run.total} jobs done, {len(run.failed)} failed: {WORDS[run.state]}"]
    if run.state == "running":
        for job, started in run.running.items():
            took = duration(time.time() - started)
            steps = STEPS.findall("\n".join(last_lines(run.logs[job], 5)))
            share = f", {int(steps[-1][0]) / int(steps[-1][1]):.0%}" if steps else ""
            lines.append(f"  running {job:<32} {took}{share}")
        lines.append(f"about {duration(run.left)} left")
    for job in run.failed:
        end = last_lines(run.logs[job], 1)
        lines.append(f"  failed  {job:<32} {end[0] if end else 'no log'} ({run.logs[job]})")
    if run.state not in ("running", "done"):
        lines.append(f"go on with: {run.command}")
    return "\n".join(lines), int(bool(run.failed))
