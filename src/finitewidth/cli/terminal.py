"""What a run shows in the terminal: a line per finished job, with the time that is left.

Snakemake's own messages go to its log file, ``.snakemake/log``. They are shown as well where no
job is run, as by ``--dry-run``, ``--lint`` or ``--unlock``, with ``--verbose``, ``--debug-dag`` or
``--printshellcmds``, and with the environment variable ``FINITEWIDTH_TERMINAL=snakemake``.
"""

import logging
import os
import re
import shlex
import sys
import time
from collections.abc import Collection
from logging import WARNING, LogRecord
from pathlib import Path
from typing import Any

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

from finitewidth.common.number_words import duration
from finitewidth.pipeline.announced import forecast_of_run, job_name

SWITCH = "FINITEWIDTH_TERMINAL"  # "snakemake" shows Snakemake's own messages
SHOWN_LINES = 8  # of the log of a failed job
# pattern in a message of Snakemake -> what is shown in its place; nothing if another line says it
MESSAGES = {
    r"Nothing to be done": "Nothing to be done: all that was asked for is there and up to date.",
    r"Directory cannot be locked": "Directory cannot be locked: another run is at work in this "
    "folder. Wait until it ends, or stop it. After a run that was killed: snakemake --unlock",
    r"returned non-zero exit status|Exiting because a job|At least one job did not complete|"
    r"is extended by additional config|^Building DAG|^Assuming unrestricted shared": "",
    r"\[Errno (?:28|122)\] *[^\n(]*|No space left on device": "Snakemake cannot write ({0}): the "
    "disk of the project or that of temporary files (TMPDIR, else /tmp) is full; free some space "
    "there and start again",
    r"(?<=died with <Signals\.)\w+": "{0} ended a job. SIGKILL: its memory ran out, or somebody "
    "killed it; fewer --cores need less memory at once",
}


class LogHandler(LogHandlerBase):
    """Handles the log records of Snakemake.

    Until a run starts, its messages are held back: before a run they are noise, and of a command
    that runs nothing they are the answer.
    """

    def __post_init__(self) -> None:
        """Choose the stream, and tell the jobs to leave the terminal to this handler."""
        asked = self.common_settings
        self.stream, self.dryrun = sys.stdout if asked.stdout else sys.stderr, asked.dryrun
        self.plain = os.environ.get(SWITCH) == "snakemake" or any(
            (asked.verbose, asked.debug_dag, asked.printshellcmds)
        )
        self.held: list[str] = []
        self.forecast: dict[str, float | None] = {}  # of all jobs; empty before a run
        self.rest: dict[str, float] = {}  # of those that have not ended
        self.running: dict[int, tuple[str, float, str]] = {}  # name, start and log
        self.failed: list[str] = []
        self.done, self.interrupted, self.begun = 0, False, False
        self.cores, self.started = 1, time.time()
        self.took = self.foreseen = 0.0  # seconds of jobs that have ended, and of their forecasts
        logging.raiseExceptions = False  # no traceback if Snakemake's log is on a full disk
        if not self.plain:
            os.environ["FINITEWIDTH_BARS"] = "0"

    writes_to_stream = property(lambda self: True)  # it replaces Snakemake's own output
    writes_to_file = has_filter = has_formatter = needs_rulegraph = property(lambda self: False)

    def filter(self, record: LogRecord) -> Any:
        """What Snakemake's own filter lets through, and errors of a quiet run."""
        return record.levelno >= WARNING or super().filter(record)

    def emit(self, record: LogRecord) -> None:
        """Show one record, count it, or hold it back."""
        try:
            self._emit(record, getattr(record, "event", None))
        except Exception:  # a display must never stop a run
            self.handleError(record)

    def _emit(self, record: LogRecord, event: LogEvent | None) -> None:
        if event == LogEvent.RESOURCES_INFO:
            self.cores = getattr(record, "cores", None) or self.cores
        if self.plain:
            self._line(self.format(record))
        elif event in (None, LogEvent.ERROR):
            self._message(self.format(record).strip(), record.levelno)
        elif event == LogEvent.RUN_INFO and not self.forecast:  # comes again after a dry run
            self.forecast = forecast_of_run()
            self.rest = {job: seconds or 0.0 for job, seconds in self.forecast.items()}
            self.begun, line = not self.dryrun, self.format(record)
            if self.begun:
                self.held.clear()
                line = (f"{_counted(self.forecast, 'job')}, {self._left()} on "
                        f"{_counted(range(self.cores), 'core')}{self._unknown()}; details in "
                        ".snakemake/log")  # fmt: skip
            self._line(line)
        elif self.dryrun and event != LogEvent.WORKFLOW_STARTED:
            self._line(self.format(record))
        elif self.begun and event == LogEvent.JOB_INFO:
            name = job_name(record.rule_name, dict(record.wildcards or {}))
            if name in self.forecast:  # else a target, such as `all`
                log = str(record.log[0]) if record.log else ""
                self.running[record.jobid] = name, time.time(), log
                self.failed = [job for job in self.failed if job != name]  # another attempt
        elif event == LogEvent.JOB_FINISHED and record.job_id in self.running:
            self._ended(*self.running.pop(record.job_id))
        elif event == LogEvent.JOB_ERROR and record.jobid in self.running:
            self._ended(*self.running.pop(record.jobid), failed=True)
        elif self.begun and record.levelno >= WARNING and event != LogEvent.JOB_ERROR:
            self._line(self.format(record))

    def _line(self, text: str | None) -> None:
        if text and text != "None":
            print(text, file=self.stream, flush=True)

    def _message(self, text: str, level: int) -> None:
        """Free text; in our words where they name the remedy better."""
        ours = next((ours.format(found[0]) for pattern, ours in MESSAGES.items()
                     if (found := re.search(pattern, text))), None)  # fmt: skip
        self.interrupted |= "Terminating processes on user request" in text
        if self.begun and self.interrupted:
            return  # the end of the run says it
        if re.match(r"(Config|Data|Result)Error", text):  # ours, which are complete
            text = "\n".join(line for line in text.splitlines() if not line.startswith("  File "))
        if ours is not None or level >= WARNING or self.dryrun:
            self._line(text if ours is None else ours)
        elif not self.begun:
            self.held.append(text)
        if level >= logging.ERROR:
            self.held.clear()

    def _unknown(self) -> str:
        count = sum(seconds is None for seconds in self.forecast.values())
        return f" ({count} without a measured time)" if count else ""

    def _left(self) -> str:
        """The time left: forecasts of jobs that have not ended, at the pace of those that have."""
        pace = self.took / self.foreseen if self.foreseen else 1.0
        rest = {job: pace * seconds for job, seconds in self.rest.items()}
        for job, started, _ in self.running.values():
            rest[job] = max(rest.get(job, 0.0) - (time.time() - started), 0.0)
        left = max(sum(rest.values()) / self.cores, max(rest.values(), default=0.0))
        return f"about {duration(left)} left" if left >= 10 else "seconds left"

    def _ended(self, job: str, started: float, log: str, failed: bool = False) -> None:
        took, forecast = time.time() - started, self.rest.pop(job, None)
        if failed:
            self.failed.append(job)
            if not self.interrupted:
                self._line(f"FAILED {job} after {duration(took)}; log: {log}")
                text = Path(log).read_text("utf-8", "replace") if Path(log).is_file() else ""
                lines = [line for line in text.splitlines() if line.strip()]
                self._line("\n".join(f"    {line}" for line in lines[-SHOWN_LINES:]))
            return
        self.done += 1
        if forecast:
            self.took, self.foreseen = self.took + took, self.foreseen + forecast
        ended, total = self.done + len(self.failed), len(self.forecast)
        left = f"   {self._left()}" if ended < total else ""
        self._line(f"[{ended:>{len(str(total))}}/{total}] {job:<32} {duration(took):>12}{left}")

    def close(self) -> None:
        """Say how the run ended, or what was held back."""
        if self.begun:
            self._line(self._last_line())
        elif self.dryrun and self.forecast:
            seconds = duration(sum(self.rest.values()))
            self._line(f"{_counted(self.rest, 'job')}, {seconds} of CPU time{self._unknown()}.")
        self.begun, self.forecast = False, {}  # Snakemake closes its handlers twice
        self._line("\n".join(self.held))
        self.held.clear()
        super().close()

    def _last_line(self) -> str:
        took, total = duration(time.time() - self.started), len(self.forecast)
        done = f"{self.done} of {total} jobs are done and kept"
        program = Path(sys.argv[0]).name.replace("__main__.py", "snakemake")
        again = f"go on with: {shlex.join([program, *sys.argv[1:]])}"
        if self.interrupted:
            return f"Stopped after {took}: {done}, and trainings continue from checkpoints; {again}"
        if self.failed:
            failed = f"{_counted(self.failed, 'job')} failed ({', '.join(self.failed)})"
            return f"{failed}, {done}; once the cause is mended, {again}"
        return f"{_counted(range(self.done), 'job')} done in {took}." * (self.done == total)


def _counted(what: Collection[Any], word: str) -> str:
    return f"{len(what)} {word}{'s' * (len(what) != 1)}"
