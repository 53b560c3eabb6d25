"""What a run shows in the terminal: finished jobs, running jobs, and the time that is left.

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
from collections.abc import Iterable
from logging import WARNING, LogRecord
from pathlib import Path
from typing import Any

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

from finitewidth.cli.display import Display
from finitewidth.cli.run_state import Job, RunState, made, time_left
from finitewidth.common.number_words import duration, rough_duration
from finitewidth.common.progress import SHOWN
from finitewidth.pipeline.job_names import job_name
from finitewidth.pipeline.runs import announced
from finitewidth.records.running import remove_leftovers

SHOWN_LINES = 8  # of the log of a failed job
SHOWN_FILES = 5  # of a list in a dry run
SHOWN_RESULTS = 3  # at the end of a run
SHOWN_REASONS = 5  # at the begin of a run
FOLLOWS = ("runs again", "what it rests on")  # begins of reasons that another job has
# pattern in a message of Snakemake -> what is shown in its place; nothing if another line says it
MESSAGES = {
    r"Directory cannot be locked": "Directory cannot be locked: another run is at work in this "
    "folder. Wait until it ends, or stop it. After a run that was killed: snakemake --unlock",
    r"(?<=\nError:\n  )(?:Config|Data|Result)Error: .+": "{0}",  # while the jobs are planned
    r"returned non-zero exit status|Exiting because a job|At least one job did not complete": "",
    r"missing provenance/metadata|Rules with missing metadata": "",  # records that nobody asks
    r"^(Building DAG|Assuming unrestricted|Using shell|Group jobs:|Conda env|Sing)": "",
    r"\[Errno (?:28|122)\] *[^\n(]*|No space left on device": "Snakemake cannot write ({0}): the "
    "disk of the project or that of temporary files (TMPDIR, else /tmp) is full; free some space "
    "there and start again",
    r"(?<=died with <Signals\.)\w+": "{0} ended a job. SIGKILL: its memory ran out, or somebody "
    "killed it; fewer --cores need less memory at once",
}

# a `LogRecord`, with what Snakemake adds to it for an event
EventRecord = Any


class LogHandler(LogHandlerBase):
    """Handles the log records of Snakemake."""

    def __post_init__(self) -> None:
        """Choose the stream and the messages."""
        options = self.common_settings
        self.stream = sys.stdout if options.stdout else sys.stderr
        detailed = options.verbose or options.debug_dag or options.printshellcmds
        self.plain = detailed or os.environ.get("FINITEWIDTH_TERMINAL") == "snakemake"
        self.run: RunState | None = None  # after it has begun, also of a dry run
        self.display: Display | None = None
        self.at_once = 1  # jobs
        self.where = "on 1 core"
        self.interrupted = False
        if not self.plain:
            os.environ[SHOWN] = "1"  # for the jobs
        logging.raiseExceptions = False  # no traceback if Snakemake's log is on a full disk

    writes_to_stream = property(lambda self: True)  # it replaces Snakemake's own output
    writes_to_file = has_filter = has_formatter = needs_rulegraph = property(lambda self: False)

    @property
    def working(self) -> bool:
        """Whether jobs are run, and not only planned."""
        return self.run is not None and not self.common_settings.dryrun

    def filter(self, record: LogRecord) -> Any:
        """What Snakemake's own filter lets through, and errors of a quiet run."""
        return record.levelno >= WARNING or super().filter(record)

    def emit(self, record: LogRecord) -> None:
        """Show one record, or count it."""
        try:
            self._emit(record, getattr(record, "event", None))
        except Exception:  # a display must never stop a run
            self.handleError(record)

    def _emit(self, record: EventRecord, event: LogEvent | None) -> None:
        if event == LogEvent.RESOURCES_INFO:
            self._provided(record)
        if self.plain:
            self._line(self.format(record))
        elif event in (None, LogEvent.ERROR):
            self._message(self.format(record).strip(), record.levelno)
        elif event == LogEvent.RUN_INFO and self.run is None:  # it comes again after a dry run
            self._begin(record)
        elif self.common_settings.dryrun:
            self._planned(record, event)
        elif not self.working:
            pass
        elif event == LogEvent.JOB_INFO:
            self._started(record)
        elif event == LogEvent.JOB_FINISHED:
            self._ended(record.job_id, failed=False)
        elif event == LogEvent.JOB_ERROR:
            self._ended(record.jobid, failed=True)
        elif record.levelno >= WARNING:
            self._line(self.format(record))

    def _line(self, text: str | None) -> None:
        if not text or text == "None":
            return
        if self.display:
            self.display.line(text)
        else:
            print(text, file=self.stream, flush=True)

    def _message(self, text: str, level: int) -> None:
        """Show free text, in our words where they name the remedy better."""
        self.interrupted |= "Terminating processes on user request" in text
        if re.match(r"(Config|Data|Result)Error", text):  # ours, which are complete
            text = "\n".join(line for line in text.splitlines() if not line.startswith("  File "))
        for pattern, ours in MESSAGES.items():
            match = re.search(pattern, text)
            if match:
                text = ours.format(match[0])
        # of an interrupted run, its end says all
        if not self.working or (level >= WARNING and not self.interrupted):
            self._line(text)
        if text.startswith("Nothing to be done"):
            self._other_packages()

    # --- a dry run ---------------------------------------------------------------------------

    def _planned(self, record: LogRecord, event: LogEvent | None) -> None:
        """Show what a dry run says, with short lists of files."""
        if event == LogEvent.WORKFLOW_STARTED:
            return
        text = self.format(record)
        if event == LogEvent.JOB_INFO:
            text = shortened(text)
            reasons = "; ".join(announced.reasons(_name_of(record)))
            if reasons:
                text = re.sub("(?m)^( *reason: ).*", lambda match: match[1] + reasons, text)
        self._line(text)

    # --- a run -------------------------------------------------------------------------------

    def _provided(self, record: LogRecord) -> None:
        """Note how many jobs run at once: one on each core here, or so many on a cluster."""
        cores = getattr(record, "cores", None)
        nodes = getattr(record, "nodes", None)
        if cores:
            self.at_once = cores
            self.where = f"on {_counted(cores, 'core')}"
        elif isinstance(nodes, int):
            self.at_once = nodes
            self.where = f"with up to {_counted(nodes, 'job')} at once"

    def _begin(self, record: LogRecord) -> None:
        steps = announced.forecast()
        dryrun = self.common_settings.dryrun
        self.run = RunState(steps, self.at_once, () if dryrun else announced.folders)
        if dryrun:
            self._line(self.format(record))
            self._other_packages()
            return
        jobs = _counted(len(steps), "job")
        time_needed = rough_duration(max(self.run.left(), 1.0))
        unknown = _unknown(self.run)
        self._line(f"{jobs}, about {time_needed} {self.where}{unknown}; details in .snakemake/log")
        for line in _why(steps):
            self._line(line)
        self._other_packages()
        remove_leftovers(announced.folders)
        self.display = Display(self.stream)
        self.display.follow(self.run, self.lock)

    def _other_packages(self) -> None:
        """Say which results were made with other versions of packages."""
        packages = announced.packages()
        if packages:
            words = ", ".join(f"{package} ({count} jobs)" for package, count in packages.items())
            self._line(
                f"Results of other versions of packages are kept: {words}. With --config "
                "rerun=packages they are made again."
            )

    def _started(self, record: EventRecord) -> None:
        assert self.run is not None
        name = _name_of(record)
        if name in self.run.steps:  # else a target, such as `all`
            log = str(record.log[0]) if record.log else ""
            outputs = tuple(map(str, getattr(record, "output", None) or ()))
            self.run.start(record.jobid, Job(name, time.time(), log, outputs))

    def _ended(self, number: int, failed: bool) -> None:
        assert self.run is not None
        ended = self.run.end(number, failed)
        if ended is None:
            return
        job, seconds = ended
        if not failed:
            self._line(self._line_of(self.run, job, seconds))
        elif not self.interrupted:
            self._line(f"FAILED {job.name} after {duration(seconds)}; log: {job.log}")
            self._line(_end_of(job.log))

    def _line_of(self, run: RunState, job: Job, seconds: float) -> str:
        """A job that is done: ``[ 3/214] npf/nu   12 s   about 14 min left``."""
        total = len(run.steps)
        count = f"[{run.ended:>{len(str(total))}}/{total}]"
        line = f"{count} {job.name:<32} {duration(seconds):>12}"
        if run.ended < total:
            line += f"   {time_left(run.left())}"
        return line

    def close(self) -> None:
        """Say how the run ended."""
        run = self.run
        self.run = None  # Snakemake closes its handlers twice
        if self.display:
            self.display.close()
        if run and self.common_settings.dryrun:
            seconds = sum(step.seconds or 0.0 for step in run.steps.values())
            jobs = _counted(len(run.steps), "job")
            self._line(f"{jobs}, {duration(seconds)} of CPU time{_unknown(run)}.")
        elif run:
            run.close()
            for line in self._last_lines(run):
                self._line(line)
        super().close()

    def _last_lines(self, run: RunState) -> list[str]:
        took = duration(run.elapsed)
        total = len(run.steps)
        done = f"{len(run.done)} of {total} jobs are done and kept"
        if self.interrupted:
            return [
                f"Stopped after {took}: {done}, and trainings continue from checkpoints; "
                f"go on with: {_same_command()}"
            ]
        if run.failed:
            failed = f"{_counted(len(run.failed), 'job')} failed ({', '.join(run.failed)})"
            return [f"{failed}, {done}. Fix the cause, then run: {_same_command()}"]
        if len(run.done) < total:
            return []
        return [f"{_counted(total, 'job')} done in {took}.", *_results(run)]


def _same_command() -> str:
    """The command that the user gave, to be given again."""
    program = Path(sys.argv[0]).name.replace("__main__.py", "snakemake")
    return shlex.join([program, *sys.argv[1:]])


def _name_of(record: EventRecord) -> str:
    """The name of the job of a record."""
    return job_name(record.rule_name, dict(record.wildcards or {}))


def _why(jobs: Iterable[str]) -> list[str]:
    """Say why results are made again, of jobs that have a reason of their own."""
    lines = []
    for job in jobs:
        reasons = [reason for reason in announced.reasons(job) if not reason.startswith(FOLLOWS)]
        if reasons:
            lines.append(f"{job} runs again: {'; '.join(reasons)}")
    more = len(lines) - SHOWN_REASONS
    if more <= 0:
        return lines
    return [*lines[:SHOWN_REASONS], f"and {more} more jobs run again"]


def _results(run: RunState) -> list[str]:
    """Where to look: the report, if it was made, or the last files."""
    pages = str(Path(announced.report).parent)
    if any(pages in job.outputs for job in run.done):
        return [f"Open {announced.report} in a browser."]
    return in_few_lines(made(run.done, run.steps))


def in_few_lines(paths: list[str]) -> list[str]:
    """Some files; the folder of all if they are many."""
    if len(paths) <= SHOWN_RESULTS:
        return paths
    return [f"{os.path.commonpath(paths)}/"]


def _end_of(log: str) -> str:
    """The last lines of the log of a job."""
    if not Path(log).is_file():
        return ""
    text = Path(log).read_text("utf-8", "replace")
    lines = [f"    {line}" for line in text.splitlines() if line.strip()]
    return "\n".join(lines[-SHOWN_LINES:])


def shortened(text: str) -> str:
    """The description of a job by Snakemake, with the first `SHOWN_FILES` of each list of files."""
    return "\n".join(_shortened_line(line) for line in text.splitlines())


def _shortened_line(line: str) -> str:
    match = re.fullmatch(r"( +(?:input|output|reason): )(.*)", line)
    if not match:
        return line
    label, lists = match.groups()
    return label + "; ".join(_shortened_list(files) for files in lists.split("; "))


def _shortened_list(text: str) -> str:
    files = text.split(", ")
    more = len(files) - SHOWN_FILES
    if more <= 0:
        return text
    return ", ".join([*files[:SHOWN_FILES], f"… and {more} more"])


def _unknown(run: RunState) -> str:
    count = sum(step.seconds is None for step in run.steps.values())
    return f" ({count} without a measured time)" if count else ""


def _counted(count: int, word: str) -> str:
    return f"1 {word}" if count == 1 else f"{count} {word}s"
