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
        folders: of results, where jobs keep files of their progress; the run has its own there.
    """

    def __init__(self, steps: Mapping[str, Step], cores: int = 1, folders: Sequence[str] = ()):
        self.steps, self.cores, self.folders = dict(steps), cores, folders
        self.running: dict[int, Job] = {}  # number of a job -> job
        self.done: list[Job] = []
        self.failed: list[str] = []
        self._left = TimeLeft(self.steps, cores)
        self._seen: dict[str, Running] = {}  # what the files of running jobs say
        self._own = files.begun(files.RUN)
        self.started = self._own.started

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
        self._seen.pop(job.name, None)
        self.failed = [name for name in self.failed if name != job.name]

    def end(self, number: int, failed: bool = False) -> tuple[Job, float] | None:
        """A job has ended; return it and its seconds, or None if it is none of the run."""
        job = self.running.pop(number, None)
        if job is None:
            return None
        took, last = time.time() - self._began(job), self._at_work(job)
        self._seen.pop(job.name, None)
        if failed:
            self.failed.append(job.name)
        else:
            self.done.append(job)
            self._left.end(job.name, None if last.resumed else took)
        return job, took

    def _began(self, job: Job) -> float:
        """When a job began: later than Snakemake started it if it waited in a queue."""
        seen = self._seen.get(job.name)
        waited = seen is not None and seen.started - job.started > STARTING
        return seen.started if waited else job.started

    def look(self) -> None:
        """Read the files of the running jobs, and write that of the run."""
        names = {job.name for job in self.running.values()}
        found = files.read_running(self.folders)
        self._seen = {each.job: each for each in found if each.job in names}
        if not self.folders:
            return
        failed = f", {len(self.failed)} failed" if self.failed else ""
        done, total = len(self.done), len(self.steps)
        self._own = replace(
            self._own,
            updated=time.time(),
            what=f"{done} of {total} jobs done{failed}",
            done=done,
            total=total,
            left=round(self.left(), 1),
            jobs={line.job: line.left for line in self.lines()},
        )
        files.write(self._file(), self._own)

    def close(self) -> None:
        """Remove the file of the run."""
        if self.folders:
            files.remove(self._file())

    def _file(self) -> Path:
        name = f"{files.RUN} {self._own.host} {self._own.pid}"
        return files.file_of(self.folders[0], name)

    def at_work(self) -> dict[str, AtWork]:
        """The running jobs, and what their files say."""
        return {job.name: self._at_work(job) for job in self.running.values()}

    def _at_work(self, job: Job) -> AtWork:
        now, seen = time.time(), self._seen.get(job.name)
        if seen is None:
            return AtWork(min(now - job.started, STARTING))
        left = None if seen.left is None else max(seen.left - (now - seen.updated), 0.0)
        return AtWork(now - self._began(job), seen.share, left)

    def left(self) -> float:
        """Seconds until the last job ends."""
        return self._left.seconds(self.at_work(), self.failed)

    def lines(self) -> list["Line"]:
        """What is said of each running job."""
        at_work = self.at_work()
        left = self._left.each(at_work)
        return [
            Line(
                job=name,
                what=self._seen[name].what if name in self._seen else "",
                elapsed=each.elapsed,
                share=each.share,
                left=left[name] if self.steps[name].seconds or each.left is not None else None,
            )
            for name, each in at_work.items()
        ]


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
        share = None if self.share is None else f"{100 * self.share:.0f} %"
        left = None if self.left is None else time_left(self.left)
        words = [self.doing(), share, left]
        return f"{self.job}: {', '.join(word for word in words if word)}"


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
    files = [Path(path) for path in paths if "/provenance" not in path] or [*map(Path, paths)]
    folders, stems, suffixes = (
        list(dict.fromkeys(getattr(file, part) for file in files))
        for part in ("parent", "stem", "suffix")
    )
    if len(files) == 1:
        return str(files[0])
    if len(folders) == 1 and len(stems) == 1:
        kinds = ",".join(suffix.removeprefix(".") for suffix in suffixes)
        return f"{folders[0]}/{stems[0]}.{{{kinds}}}"
    if len(folders) == 1 and len(suffixes) == 1 and len(stems) <= LISTED:
        return f"{folders[0]}/{{{','.join(stems)}}}{suffixes[0]}"
    return f"{os.path.commonpath(folders)}/"
