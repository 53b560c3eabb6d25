"""What a run will cost before it runs: per artifact, per paper, in all."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from finitewidth.pipeline.costs.work import NOTHING, Machine, Work

RENDERING = Work(calls=150_000, elements=5e9, disk=600_000)  # a figure in three formats
TYPESETTING = Work(calls=40_000, disk=30_000)  # a table in three formats
TRAINING = re.compile(r"/(\w+)/training/([^/]+)/")


@dataclass(frozen=True)
class Rule:
    """A rule without wildcards: the files it reads and makes."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


def jobs_of(target: str, rules: Mapping[str, Rule], earlier: Mapping[str, str | None]) -> set[str]:
    """All jobs that a rule's outputs rest on, itself included: rules, trainings, datasets.

    Args:
        target: name of a rule.
        rules: all rules without wildcards, by name.
        earlier: ``paper/training`` -> the training it starts from, or None.

    Returns:
        Names of rules, ``paper/training`` and files of datasets.
    """
    makers = {file: name for name, rule in rules.items() for file in rule.outputs}
    found: set[str] = set()
    waiting = [target]
    while waiting:
        job = waiting.pop()
        if job in found:
            continue
        found.add(job)
        if job in rules:
            waiting += [_maker(file, makers) for file in rules[job].inputs]
        elif earlier.get(job):
            waiting.append(earlier[job])
    return found - {""}


def _maker(file: str, makers: Mapping[str, str]) -> str:
    """The job that makes a file; nothing for a file of the project."""
    if training := TRAINING.search(file):
        return "/".join(training.groups())
    if file.startswith("results/data/"):
        return file
    return makers.get(file, "")


@dataclass(frozen=True)
class Estimate:
    """What one line of the plan says: name, number of jobs, work, hours on two machines."""

    name: str
    jobs: int
    work: Work
    hours: float
    gpu_hours: float

    def line(self) -> str:
        """The columns as the plan prints them."""
        return (
            f"{self.name:<24} {self.jobs:>5} {self.work.operations:>11.2g} "
            f"{duration(self.hours):>9} {duration(self.gpu_hours):>9} "
            f"{size(self.work.memory):>9} {size(self.work.disk):>9}"
        )


HEADER = (
    f"{'artifact':<24} {'jobs':>5} {'operations':>11} {'here':>9} {'GPU':>9} "
    f"{'memory':>9} {'disk':>9}"
)


def estimate(
    name: str, jobs: Iterable[str], costs: Mapping[str, Work], here: Machine, gpu: Machine
) -> Estimate:
    """Sum of the jobs' costs; hours on the cores of ``here`` side by side, and on the ``gpu``.

    Jobs on several cores take at least as long as the longest of them. On the GPU machine one job
    runs at a time, trainings and samplers on the GPU.
    """
    jobs = sorted(jobs)
    total = sum((costs.get(job, NOTHING) for job in jobs), NOTHING)
    alone = [here.seconds(costs[job]) for job in jobs if job in costs]
    seconds = max([sum(alone) / here.workers, *alone], default=0.0)
    return Estimate(name, len(alone), total, seconds / 3600, gpu.seconds(total) / 3600)


def duration(hours: float) -> str:
    """``12 s``, ``4.5 min``, ``3.2 h`` or ``12 d``."""
    for unit, value in (("d", hours / 24), ("h", hours), ("min", hours * 60)):
        if value >= 1.5:
            return f"{value:,.3g} {unit}"
    return f"{hours * 3600:.2g} s"


def size(count: float) -> str:
    """Bytes in the largest unit that leaves at least one: ``3.2 GB``."""
    for unit, bytes_ in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6)):
        if count >= bytes_:
            return f"{count / bytes_:.3g} {unit}"
    return f"{count / 1e3:.3g} kB"


def table(lines: Sequence[Estimate]) -> str:
    """Header and lines."""
    return "\n".join([HEADER, *(line.line() for line in lines)])
