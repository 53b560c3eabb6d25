"""The handler of Snakemake's log records: at most one line for each finished job."""

import logging
import os
import re
import shlex
import sys
from logging import WARNING, LogRecord
from pathlib import Path
from typing import Any

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

from finitewidth.cli.terminal.display import Display
from finitewidth.cli.terminal.state import (
    DONE,
    FAILED,
    RUNNING,
    Run,
    last_lines,
    span,
)
from finitewidth.common.announced import announced, job_name

SWITCH = "FINITEWIDTH_TERMINAL"  # "snakemake" shows Snakemake's own messages
SHOWN_LINES = 8  # of the log of a failed job
NOTHING = "Nothing to be done"
INTERRUPTED = "Terminating processes on user request"
LOCKED = "Directory cannot be locked"
SIGNALLED = re.compile(r"died with <Signals\.(\w+)")
NO_SPACE = re.compile(r"\[Errno (?:28|122)\] *[^\n(]*|No space left on device")
# a job that failed: its log is shown with it
JOB_FAILED = re.compile(r"CalledProcessError.*returned non-zero exit status", re.S)
SENDERS = {
    "SIGKILL": "its memory ran out, or somebody killed it; fewer --cores need less memory at once",
    "SIGTERM": "the machine or its scheduler stopped it, or somebody did",
}
UNKNOWN = re.compile(r"No rule to produce ([\w./-]+)")
# what says only that jobs have failed, after each of them was told
NOISE = ("Exiting because a job execution failed", "At least one job did not complete",
         "Complete log", "WorkflowError:\nAt least one job")  # fmt: skip


class LogHandler(LogHandlerBase):
    """Shows a run; see `finitewidth.cli.terminal`."""

    def __post_init__(self) -> None:
        """Choose the stream, and tell the jobs to leave the terminal to this handler."""
        self.plain = os.environ.get(SWITCH) == "snakemake"
        self.stream = sys.stdout if self.common_settings.stdout else sys.stderr
        bars = self.stream.isatty() and not self.plain and not self.common_settings.dryrun
        self.display = Display(self.stream, bars)
        self.run = Run(command=_command())
        self.pace, self.said, self.follows = 1.0, False, False
        self.counted: set[str] = set()
        self.quiet = bool(self.common_settings.quiet)
        # no traceback if a message does not fit into Snakemake's log on a full disk
        logging.raiseExceptions = False
        if not self.plain:
            os.environ["FINITEWIDTH_BARS"] = "0"

    @property
    def writes_to_stream(self) -> bool:
        """It replaces Snakemake's own output."""
        return True

    @property
    def writes_to_file(self) -> bool:
        """Snakemake's log file stays as it is."""
        return False

    @property
    def has_filter(self) -> bool:
        """Every record is looked at, except where Snakemake's own output is wanted."""
        return not self.plain

    @property
    def has_formatter(self) -> bool:
        """As `has_filter`."""
        return not self.plain

    @property
    def needs_rulegraph(self) -> bool:
        """The graph is not used."""
        return False

    def emit(self, record: LogRecord) -> None:
        """Show one record, or count it."""
        try:
            if self.plain:
                text = self.format(record)
                if text and text != "None":
                    self.display.line(text)
                return
            event = getattr(record, "event", None)
            shown = _EVENTS.get(event)
            if shown is not None:
                shown(self, record)
            elif event is None or event == LogEvent.ERROR:
                self._message(record)
        except Exception:  # a display must never stop a run
            self.handleError(record)

    def close(self) -> None:
        """Remove the bars and say how the run ended."""
        if not self.plain and self.follows:
            self.follows = False
            self.display.close()
            self._ended()
        super().close()

    # --- events -------------------------------------------------------------------------------

    def _planned(self, record: LogRecord) -> None:
        """The table of jobs: shown once in a dry run, counted in a real one."""
        if self.common_settings.dryrun:
            if not self.said:
                self.display.line(record.getMessage())
            self.said = True
            return
        if self.follows or self.quiet:
            return
        self.run.cores = _cores()
        self._forecast()
        # targets such as `all` make nothing and are not counted
        self.run.total = len(self.run.waiting) or record.stats["total"]
        self.counted = set(self.run.waiting)
        self.follows = True
        cores = "1 core" if self.run.cores == 1 else f"{self.run.cores} cores"
        jobs = f"{self.run.total} job{'s' * (self.run.total != 1)}"
        self.display.line(f"{jobs}, about {span(self.run.left())} on {cores}; "
                          "details in .snakemake/log")  # fmt: skip
        self.display.follow(self.run)
        self._write()

    def _forecast(self) -> None:
        """Keep the forecast of every job, scaled by how fast this machine is."""
        facts = announced()
        if facts is None:
            return
        from finitewidth.pipeline.costs.work import REFERENCE_YARDSTICK, yardstick

        self.pace = yardstick() / REFERENCE_YARDSTICK
        forecasts = {name: self.pace * facts.seconds(name) for name in facts.jobs()}
        self.run.waiting = {name: seconds for name, seconds in forecasts.items() if seconds}

    def _started(self, record: LogRecord) -> None:
        if self.common_settings.dryrun:
            return
        name = job_name(record.rule_name, dict(record.wildcards or {}))
        if self.counted and name not in self.counted:
            return
        log = str(record.log[0]) if record.log else ""
        self.run.start(record.jobid, name, log, forecast=5 * self.pace)
        self._write()

    def _finished(self, record: LogRecord) -> None:
        job = self.run.end(record.job_id, DONE)
        if job is None or self.quiet:
            return
        ended = len(self.run.jobs) - len(self.run.of(RUNNING))
        width = len(str(self.run.total))
        self.display.line(f"[{ended:>{width}}/{self.run.total}] {job.name:<32} "
                          f"{span(job.ended - job.started)}")  # fmt: skip
        self._write()

    def _failed(self, record: LogRecord) -> None:
        job = self.run.end(record.jobid, FAILED)
        if self.run.state == "interrupted" or job is None:
            return
        self.display.line(
            f"FAILED {job.name} after {span(job.ended - job.started)}; log: {job.log}"
        )
        for line in last_lines(job.log, SHOWN_LINES):
            self.display.line(f"    {line}")
        self._write()

    def _message(self, record: LogRecord) -> None:
        """Free text: what a user needs to know, in our words where Snakemake's mislead."""
        text = (record.getMessage() if record.msg else "").strip()
        if INTERRUPTED in text:
            self.run.state = "interrupted"
        elif text.startswith(NOTHING):
            self.display.line("Nothing to be done: all that was asked for is there and up to date.")
        elif LOCKED in text:
            self.display.line(
                f"{LOCKED}: another run is at work in this folder. Wait until it ends, or stop it; "
                "finitewidth status shows how far it is."
            )
        elif found := UNKNOWN.search(text):
            self.display.line(_suggested(found[1], text))
        elif self.run.state == "interrupted" or text.startswith(NOISE) or JOB_FAILED.search(text):
            return  # the end of the job or of the run says it
        elif found := NO_SPACE.search(text):
            self.display.line(
                f"Snakemake cannot write ({found[0].strip()}): the disk of the project or that of "
                "temporary files (TMPDIR, else /tmp) is full; free some space there and start again"
            )
        elif found := SIGNALLED.search(text):
            sender = SENDERS.get(found[1], "somebody sent this signal, or the job crashed")
            self.display.line(f"{found[1]} ended a job: {sender}")
        elif record.levelno >= WARNING and text:
            self.display.line(_without_frames(text))

    # --- the end --------------------------------------------------------------------------------

    def _ended(self) -> None:
        done, failed = len(self.run.of(DONE)), self.run.of(FAILED)
        took = span(_now() - self.run.started)
        if self.run.state == "interrupted":
            self.display.line(
                f"Stopped after {took}: {done} of {self.run.total} jobs are done and kept, and "
                f"trainings continue from checkpoints; go on with: {self.run.command}"
            )
        elif failed:
            self.run.state = "failed"
            names = ", ".join(job.name for job in failed)
            jobs = f"{len(failed)} job{'s' * (len(failed) != 1)}"
            self.display.line(
                f"{jobs} failed ({names}), {done} of {self.run.total} are done and "
                f"kept; once the cause is mended, go on with: {self.run.command}"
            )
        elif done == self.run.total:
            self.run.state = DONE
            self.display.line(f"{done} job{'s' * (done != 1)} done in {took}.")
        else:
            self.run.state = "failed"
        self._write()

    def _write(self) -> None:
        # a quiet run, such as that of `finitewidth report`, is none that a user follows
        if not self.quiet and (facts := announced()) is not None:
            self.run.write(Path(facts.results) / "logs")


_EVENTS: dict[Any, Any] = {
    LogEvent.RUN_INFO: LogHandler._planned,
    LogEvent.JOB_INFO: LogHandler._started,
    LogEvent.JOB_FINISHED: LogHandler._finished,
    LogEvent.JOB_ERROR: LogHandler._failed,
}


def _suggested(name: str, text: str) -> str:
    """What to say of an unknown target."""
    from finitewidth.cli.project import checked_targets
    from finitewidth.common.errors import ConfigError

    try:
        checked_targets([name])
    except ConfigError as error:
        return str(error)
    return text


def _without_frames(text: str) -> str:
    """The message of an error of ours, which is complete, without the frames below it."""
    if not re.match(r"(Config|Data|Result)Error", text):
        return text
    return "\n".join(line for line in text.splitlines() if not line.startswith("  File "))


def _command() -> str:
    """The command that started this process, to be typed again."""
    return shlex.join([Path(sys.argv[0]).name.replace("__main__.py", "snakemake"), *sys.argv[1:]])


def _cores() -> int:
    """The number after ``--cores``; all cores of this machine for ``all`` or none."""
    words = sys.argv
    for place, word in enumerate(words):
        if word in ("--cores", "-c", "--jobs", "-j") and words[place + 1 : place + 2]:
            if words[place + 1].isdecimal():
                return max(1, int(words[place + 1]))
        elif found := re.fullmatch(r"(?:--cores=|--jobs=|-c|-j)(\d+)", word):
            return max(1, int(found[1]))
    return os.cpu_count() or 1


def _now() -> float:
    import time

    return time.time()
