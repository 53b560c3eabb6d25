"""How many runs or draws some inputs average, from the settings of the jobs behind them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from finitewidth.declarations.papers import Experiment
from finitewidth.pipeline.jobs import Input, Jobs
from finitewidth.settings.nested import at

UNITS = ("runs", "draws")
Repetitions = dict[str, dict[str, int]]  # unit -> section of the settings -> number


def repetitions_of(jobs: Jobs, inputs: Sequence[Input]) -> Repetitions:
    """Numbers of runs and of draws behind some inputs; a training that is not repeated counts 1."""
    behind, names = jobs.closure(inputs)
    numbers: Repetitions = {unit: {} for unit in UNITS}
    for section, settings in _sections_with_numbers(jobs, behind):
        for unit in UNITS:
            if settings.get(unit):  # none are drawn of what a preset leaves out
                numbers[unit][section] = settings[unit]
    if not any(numbers.values()) and jobs.roles(inputs, names):
        numbers["runs"]["once"] = 1
    return numbers


def _sections_with_numbers(
    jobs: Jobs, inputs: Sequence[Input]
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Name and settings of every section with the numbers of some inputs."""
    for item in inputs:
        for name in item.jobs:
            settings = jobs.config[jobs[name].paper]
            for path in _paths(jobs, name, item.table):
                yield path.split(".")[-1], at(settings, path)


def _paths(jobs: Jobs, name: str, table: str) -> Iterator[str]:
    """Paths of the sections of the paper's settings with the numbers of a table, or a training."""
    paper, section = section_of(jobs, name)
    declared = jobs[name].declared
    paths: Sequence[str] = (section,)
    if isinstance(declared, Experiment):
        paths = declared.counts.get(table, paths)
    for path in paths:
        if path in jobs.config[paper] or "." in path:  # some experiments have no settings
            yield path


def section_of(jobs: Jobs, name: str) -> tuple[str, str]:
    """The paper of a job, and the section of its settings that has the name of the job."""
    if name in jobs.trainings:
        return jobs.family(name)
    paper = jobs[name].paper
    return paper, name.removeprefix(f"{paper}_")
