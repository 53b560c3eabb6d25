"""The state of a run: which jobs run, are done or have failed, and how long the rest will take."""

import os
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from finitewidth.common.number_words import rough_duration
from finitewidth.pipeline.runs.schedule import AtWork, Step, TimeLeft
from finitewidth.records import running as files
from finitewidth.records.running import Running

LISTED = 3  # names of files at the end of a run; of more, their folder
STARTING = 10.0  # seconds after which a job whose file is not there waits, for example in a queue


@dataclass(frozen=True)
class Job:
    """A job that Snakemake has started; ``started`` in seconds since 1970."""

    name: str
    started: float
    log: str = ""
    outputs: tuple[str, ...] = ()


class RunState:
    """The jobs of a run, in the order of events.

    Args:
        steps: the jobs that have to run.
        cores: jobs side by side.
        folders: of results, where jobs keep files of their progress; the run has its own file in
            the first one.
    """

    def __init__(self, steps: Mapping[str, Step], cores: int = 1, folders: Sequence[str] = ()):
        self.steps = dict(steps)
        self.cores = cores
        self.folders = folders
        self.running: dict[int, Job] = {}  # number of a job -> job
        self.done: list[Job] = []
        self.failed: list[str] = []
        self._left = TimeLeft(self.steps, cores)
        self._progress: dict[str, Running] = {}  # running job -> what its file says
        self._file_of_run = files.begun(files.RUN)
        self.started = self._file_of_run.started

    @property
    def ended(self) -> int:
        """How many jobs have ended."""
        return len(self.done) + len(self.failed)

    @property
    def elapsed(self) -> float:
        """Seconds since the run began."""
        return time.time() - self.started

    def start(self, number: int, job: Job) -> None:
        """A job starts, perhaps anew."""
        self.running[number] = job
        self._progress.pop(job.name, None)
        self.failed = [name for name in self.failed if name != job.name]

    def end(self, number: int, failed: bool = False) -> tuple[Job, float] | None:
        """A job has ended; return it and its seconds, or None if it is none of the run."""
        job = self.running.pop(number, None)
        if job is None:
            return None
        seconds = time.time() - self._began(job)
        resumed = self._at_work(job).resumed
        self._progress.pop(job.name, None)
        if failed:
            self.failed.append(job.name)
        else:
            self.done.append(job)
            self._left.end(job.name, None if resumed else seconds)
        return job, seconds

    def _began(self, job: Job) -> float:
        """When a job began: later than Snakemake started it if it waited in a queue."""
        progress = self._progress.get(job.name)
        if progress is not None and progress.started - job.started > STARTING:
            return progress.started
        return job.started

    def look(self) -> None:
        """Read the files of the running jobs, and write that of the run."""
        names = {job.name for job in self.running.values()}
        self._progress = {}
        for progress in files.read_running(self.folders):
            if progress.job in names:
                self._progress[progress.job] = progress
        if self.folders:
            self._write()

    def _write(self) -> None:
        """Write the file of the run, which other terminals read."""
        done = len(self.done)
        total = len(self.steps)
        what = f"{done} of {total} jobs done"
        if self.failed:
            what += f", {len(self.failed)} failed"
        self._file_of_run = replace(
            self._file_of_run,
            updated=time.time(),
            what=what,
            done=done,
            total=total,
            left=round(self.left(), 1),
            jobs={line.job: line.left for line in self.lines()},
        )
        files.write(self._path(), self._file_of_run)

    def close(self) -> None:
        """Remove the file of the run."""
        if self.folders:
            files.remove(self._path())

    def _path(self) -> Path:
        name = f"{files.RUN} {self._file_of_run.host} {self._file_of_run.pid}"
        return files.file_of(self.folders[0], name)

    def at_work(self) -> dict[str, AtWork]:
        """The running jobs, and what their files say."""
        return {job.name: self._at_work(job) for job in self.running.values()}

    def _at_work(self, job: Job) -> AtWork:
        now = time.time()
        progress = self._progress.get(job.name)
        if progress is None:
            return AtWork(min(now - job.started, STARTING))
        left = None
        if progress.left is not None:
            left = max(progress.left - (now - progress.updated), 0.0)
        return AtWork(now - self._began(job), progress.share, left)

    def left(self) -> float:
        """Seconds until the last job ends."""
        return self._left.seconds(self.at_work(), self.failed)

    def lines(self) -> list["Line"]:
        """A line for each running job."""
        at_work = self.at_work()
        left = self._left.each(at_work)
        lines = []
        for name, job in at_work.items():
            progress = self._progress.get(name)
            has_forecast = self.steps[name].seconds or job.left is not None
            line = Line(
                job=name,
                what=progress.what if progress else "",
                elapsed=job.elapsed,
                share=job.share,
                left=left[name] if has_forecast else None,
            )
            lines.append(line)
        return lines


@dataclass(frozen=True)
class Line:
    """A running job as it is shown; None and an empty text where something is not known."""

    job: str
    what: str
    elapsed: float
    share: float | None
    left: float | None

    @classmethod
    def of(cls, job: Running, left: float | None, now: float) -> "Line":
        """The line of a job from its file, where its run says how much time is ``left``."""
        return cls(job.job, job.what, now - job.started, job.share, left)

    def doing(self) -> str:
        """What the job does: ``epoch 120 of 400``, or for how long it has been at work."""
        return self.what or f"at work for {rough_duration(self.elapsed)}"

    def __str__(self) -> str:
        words = [self.doing()]
        if self.share is not None:
            words.append(f"{100 * self.share:.0f} %")
        if self.left is not None:
            words.append(time_left(self.left))
        return f"{self.job}: {', '.join(words)}"


def time_left(seconds: float) -> str:
    """``about 12 min left``."""
    return f"about {rough_duration(max(seconds, 1.0))} left"


def made(jobs: Collection[Job], steps: Mapping[str, Step]) -> list[str]:
    """The files of the jobs that no other job of the run has read, each job in one line."""
    read = {name for step in steps.values() for name in step.needs}
    last = [job for job in jobs if job.name not in read and job.outputs]
    return [in_short(job.outputs) for job in last]


def in_short(paths: Sequence[str]) -> str:
    """Several files as a shell writes them: ``figures/npf_fig3.{csv,pdf}``; or their folder."""
    files = [Path(path) for path in paths if "/provenance" not in path]
    if not files:
        files = [Path(path) for path in paths]
    if len(files) == 1:
        return str(files[0])
    folders = list(dict.fromkeys(file.parent for file in files))
    if len(folders) > 1:
        return f"{os.path.commonpath(folders)}/"
    stems = list(dict.fromkeys(file.stem for file in files))
    suffixes = list(dict.fromkeys(file.suffix for file in files))
    if len(stems) == 1:
        kinds = ",".join(suffix.removeprefix(".") for suffix in suffixes)
        return f"{folders[0]}/{stems[0]}.{{{kinds}}}"
    if len(suffixes) == 1 and len(stems) <= LISTED:
        return f"{folders[0]}/{{{','.join(stems)}}}{suffixes[0]}"
    return f"{folders[0]}/"
