"""What a run will cost before it runs: per artifact, per paper, in all."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from finitewidth.pipeline.costs.work import Machine, Work

DATASETS = "results/data/"  # their folder
TRAINING = re.compile(r"/(\w+)/training/([^/]+)/")
NOTHING = Work()


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
    if file.startswith(DATASETS):
        return file
    return makers.get(file, "")


@dataclass(frozen=True)
class Known:
    """The cost of one job, and how well it is known.

    Attributes:
        work: the cost.
        estimated: whether it has not been measured at this preset.
        modified: whether the job's settings differ from the preset's, for which the cost holds.
    """

    work: Work
    estimated: bool = False
    modified: bool = False


@dataclass(frozen=True)
class Estimate:
    """What one line of the plan says: name, number of jobs, hours, the largest memory, disk.

    ``marks`` holds ``~`` if jobs that are only estimated take more than a tenth of the time, and
    ``*`` if the settings of a job are modified.
    """

    name: str
    jobs: int
    work: Work
    hours: float
    gpu_hours: float
    marks: str = ""

    def line(self) -> str:
        """The columns as the plan prints them."""
        before = "~" * ("~" in self.marks)
        hours, gpu_hours = (before + duration(h) for h in (self.hours, self.gpu_hours))
        columns = f"{self.name:<24} {self.jobs:>5} {hours:>10} {gpu_hours:>10}"
        columns += f" {size(self.work.memory):>9} {size(self.work.disk):>9}"
        return columns + " *" * ("*" in self.marks)


HEADER = f"{'artifact':<24} {'jobs':>5} {'here':>10} {'GPU':>10} {'memory':>9} {'disk':>9}"


def estimate(
    name: str, jobs: Iterable[str], costs: Mapping[str, Known], here: Machine, gpu: Machine
) -> Estimate:
    """Sum of the jobs' costs; hours on the cores of ``here`` side by side, and with a ``gpu``.

    Jobs on several cores take at least as long as the longest of them. With a GPU, trainings run
    on it one at a time; the other jobs run on the cores of ``here``.
    """
    known = [costs[job] for job in sorted(jobs)]
    trained = sum((each.work for each in known if each.work.starts), NOTHING)
    others = [each.work for each in known if not each.work.starts]
    unsure = sum(here.seconds(each.work) for each in known if each.estimated)
    much = unsure > 0.1 * sum(here.seconds(each.work) for each in known)
    marks = "~" * much + "*" * any(each.modified for each in known)
    return Estimate(
        name=name, jobs=len(known), work=sum(others, trained), marks=marks,
        hours=_side_by_side((each.work for each in known), here) / 3600,
        gpu_hours=(gpu.seconds(trained) + _side_by_side(others, here)) / 3600,
    )  # fmt: skip


def _side_by_side(works: Iterable[Work], machine: Machine) -> float:
    """Seconds on all cores of a machine."""
    alone = [machine.seconds(work) for work in works]
    return max([sum(alone) / machine.workers, *alone], default=0.0)


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
