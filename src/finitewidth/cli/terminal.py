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
from logging import WARNING, LogRecord
from pathlib import Path
from typing import Any

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

from finitewidth.common.number_words import duration
from finitewidth.pipeline import announced

SHOWN_LINES = 8  # of the log of a failed job
# pattern in a message of Snakemake -> what is shown in its place; nothing if another line says it
MESSAGES = {
    r"Directory cannot be locked": "Directory cannot be locked: another run is at work in this "
    "folder. Wait until it ends, or stop it. After a run that was killed: snakemake --unlock",
    r"(?<=\nError:\n  )(?:Config|Data|Result)Error: .+": "{0}",  # while the jobs are planned
    r"returned non-zero exit status|Exiting because a job|At least one job did not complete": "",
    r"^(Building DAG|Assuming unrestricted|Using shell|Group jobs:|Conda env|Sing)": "",
    r"\[Errno (?:28|122)\] *[^\n(]*|No space left on device": "Snakemake cannot write ({0}): the "
    "disk of the project or that of temporary files (TMPDIR, else /tmp) is full; free some space "
    "there and start again",
    r"(?<=died with <Signals\.)\w+": "{0} ended a job. SIGKILL: its memory ran out, or somebody "
    "killed it; fewer --cores need less memory at once",
}


class LogHandler(LogHandlerBase):
    """Handles the log records of Snakemake."""

    def __post_init__(self) -> None:
        """Choose the stream and the messages."""
        asked = self.common_settings
        self.stream = sys.stdout if asked.stdout else sys.stderr
        wanted = asked.verbose or asked.debug_dag or asked.printshellcmds
        self.plain = wanted or os.environ.get("FINITEWIDTH_TERMINAL") == "snakemake"
        self.forecast: dict[str, float | None] = {}  # of all jobs; empty before a run
        self.running: dict[int, tuple[str, float, str]] = {}  # name, start and log
        self.done: list[str] = []
        self.failed: list[str] = []
        self.cores, self.started = 1, time.time()
        self.interrupted = self.begun = False
        self.took = self.foreseen = 0.0  # seconds of jobs that have ended, and of their forecasts
        logging.raiseExceptions = False  # no traceback if Snakemake's log is on a full disk

    writes_to_stream = property(lambda self: True)  # it replaces Snakemake's own output
    writes_to_file = has_filter = has_formatter = needs_rulegraph = property(lambda self: False)

    def filter(self, record: LogRecord) -> Any:
        """What Snakemake's own filter lets through, and errors of a quiet run."""
        return record.levelno >= WARNING or super().filter(record)

    def emit(self, record: LogRecord) -> None:
        """Show one record, or count it."""
        try:
            self._emit(record, getattr(record, "event", None))
        except Exception:  # a display must never stop a run
            self.handleError(record)

    def _emit(self, record: LogRecord, event: LogEvent | None) -> None:
        dryrun = self.common_settings.dryrun
        if event == LogEvent.RESOURCES_INFO:
            self.cores = getattr(record, "cores", None) or self.cores
        if self.plain:
            self._line(self.format(record))
        elif event in (None, LogEvent.ERROR):
            self._message(self.format(record).strip(), record.levelno)
        elif event == LogEvent.RUN_INFO and not self.forecast:  # comes again after a dry run
            self.forecast, self.begun = dict(announced.forecast()), not dryrun
            jobs, cores = _counted(len(self.forecast), "job"), _counted(self.cores, "core")
            begin = f"{jobs}, {self._left()} on {cores}{self._unknown()}"
            self._line(self.format(record) if dryrun else f"{begin}; details in .snakemake/log")
        elif dryrun and event != LogEvent.WORKFLOW_STARTED:
            self._line(self.format(record))
        elif self.begun and event == LogEvent.JOB_INFO:
            name = announced.job_name(record.rule_name, dict(record.wildcards or {}))
            if name in self.forecast:  # else a target, such as `all`
                log = str(record.log[0]) if record.log else ""
                self.running[record.jobid] = name, time.time(), log
                self.failed = [job for job in self.failed if job != name]  # another attempt
        elif event in (LogEvent.JOB_FINISHED, LogEvent.JOB_ERROR):
            failed = event == LogEvent.JOB_ERROR
            if job := self.running.pop(record.jobid if failed else record.job_id, None):
                self._ended(*job, failed)
        elif self.begun and record.levelno >= WARNING:
            self._line(self.format(record))

    def _line(self, text: str | None) -> None:
        if text and text != "None":
            print(text, file=self.stream, flush=True)

    def _message(self, text: str, level: int) -> None:
        """Free text; in our words where they name the remedy better."""
        self.interrupted |= "Terminating processes on user request" in text
        if re.match(r"(Config|Data|Result)Error", text):  # ours, which are complete
            text = "\n".join(line for line in text.splitlines() if not line.startswith("  File "))
        for pattern, ours in MESSAGES.items():
            if match := re.search(pattern, text):
                text = ours.format(match[0])
        # of an interrupted run, its end says all
        if not self.begun or (level >= WARNING and not self.interrupted):
            self._line(text)

    def _unknown(self) -> str:
        count = list(self.forecast.values()).count(None)
        return f" ({count} without a measured time)" if count else ""

    def _left(self) -> str:
        """The time left: forecasts of jobs that have not ended, at the pace of those that have."""
        pace = self.took / self.foreseen if self.foreseen else 1.0
        ended = {*self.done, *self.failed}
        rest = {job: pace * (s or 0.0) for job, s in self.forecast.items() if job not in ended}
        for job, started, _ in self.running.values():
            rest[job] = max(rest[job] - (time.time() - started), 0.0)
        left = max(sum(rest.values()) / self.cores, max(rest.values(), default=0.0))
        return f"about {duration(left)} left" if left >= 10 else "seconds left"

    def _ended(self, job: str, started: float, log: str, failed: bool) -> None:
        took = time.time() - started
        if failed:
            self.failed.append(job)
            if not self.interrupted:
                self._line(f"FAILED {job} after {duration(took)}; log: {log}")
                text = Path(log).read_text("utf-8", "replace") if Path(log).is_file() else ""
                lines = [f"    {line}" for line in text.splitlines() if line.strip()]
                self._line("\n".join(lines[-SHOWN_LINES:]))
            return
        self.done.append(job)
        if forecast := self.forecast[job]:
            self.took, self.foreseen = self.took + took, self.foreseen + forecast
        ended, total = len(self.done) + len(self.failed), len(self.forecast)
        left = f"   {self._left()}" if ended < total else ""
        self._line(f"[{ended:>{len(str(total))}}/{total}] {job:<32} {duration(took):>12}{left}")

    def close(self) -> None:
        """Say how the run ended."""
        if self.begun:
            self._line(self._last_line())
        elif self.forecast:
            jobs = _counted(len(self.forecast), "job")
            seconds = duration(sum(filter(None, self.forecast.values())))
            self._line(f"{jobs}, {seconds} of CPU time{self._unknown()}.")
        self.begun, self.forecast = False, {}  # Snakemake closes its handlers twice
        super().close()

    def _last_line(self) -> str:
        took, total = duration(time.time() - self.started), len(self.forecast)
        done = f"{len(self.done)} of {total} jobs are done and kept"
        program = Path(sys.argv[0]).name.replace("__main__.py", "snakemake")
        again = f"go on with: {shlex.join([program, *sys.argv[1:]])}"
        if self.interrupted:
            return f"Stopped after {took}: {done}, and trainings continue from checkpoints; {again}"
        if self.failed:
            failed = f"{_counted(len(self.failed), 'job')} failed ({', '.join(self.failed)})"
            return f"{failed}, {done}; once the cause is mended, {again}"
        return f"{_counted(len(self.done), 'job')} done in {took}." * (len(self.done) == total)


def _counted(count: int, word: str) -> str:
    return f"{count} {word}{'s' * (count != 1)}"
