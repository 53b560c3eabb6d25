"""What some inputs show of the jobs behind them: not every table depends on every setting."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from finitewidth.declarations.papers import Experiment
from finitewidth.pipeline.jobs import Input, Jobs, direct_jobs
from finitewidth.settings.nested import at, leaves, replaced


@dataclass(frozen=True)
class View:
    """What some inputs show of the jobs behind them. By default they show all.

    Attributes:
        hidden: job -> the settings on which none of its tables that are read depends
            (`Experiment.independent`)
        shown: number of runs that an artifact shows, or path of the setting that has it
            (`Artifact.runs_shown`); empty for all
        nearest: the jobs of which only so many runs are shown
    """

    hidden: Mapping[str, frozenset[str]] = field(default_factory=dict)
    shown: str | int = ""
    nearest: Collection[str] = ()

    @classmethod
    def of_inputs(cls, jobs: Jobs, inputs: Sequence[Input], shown: str | int = "") -> "View":
        """What the inputs of a claim, a number or an artifact show."""
        behind, names = jobs.closure(inputs)
        hidden = {}
        for name in names:
            declared = jobs[name].declared
            if isinstance(declared, Experiment) and declared.independent:
                tables = [item.table for item in behind if name in item.jobs]
                hidden[name] = _independent_of(declared, tables)
        return cls(hidden, shown, _nearest(inputs, shown))

    def of_job(self, name: str) -> tuple[frozenset[str], str | int]:
        """What it shows of one job: the settings that are hidden, and how many runs."""
        return self.hidden.get(name, frozenset()), self.shown if name in self.nearest else ""

    def params(self, jobs: Jobs, name: str) -> Mapping[str, Any]:
        """The settings of one job that can be seen; numbers of runs are at most those shown."""
        hidden, shown = self.of_job(name)
        params = {key: value for key, value in jobs[name].params.items() if key not in hidden}
        if not shown:
            return params
        most = shown
        if isinstance(shown, str):
            most = at(jobs.config, shown)
            if isinstance(params.get("shown"), Mapping):  # also has the numbers of other figures
                key = shown.split(".")[-1]
                params["shown"] = {key: params["shown"][key]}
        runs = {path: min(n, most) for path, n in leaves(params).items() if path[-1] == "runs"}
        return replaced(params, runs)

    def differs(self, ours: Jobs, theirs: Jobs, name: str) -> bool:
        """Whether a job shows another thing in two configurations."""
        return ours is not theirs and self._visible(ours, name) != self._visible(theirs, name)

    def _visible(self, jobs: Jobs, name: str) -> Any:
        """What can be seen of a job: its settings, and which jobs it reads."""
        if name not in jobs:
            return None
        job = jobs[name]
        earlier = getattr(job.declared, "earlier", None)
        inputs = [(item.reference, item.jobs, item.role) for item in job.inputs]
        return self.params(jobs, name), earlier, inputs


def _independent_of(experiment: Experiment, tables: Sequence[str]) -> frozenset[str]:
    """The settings on which none of some tables depends."""
    independent = [frozenset(experiment.independent.get(table, ())) for table in tables]
    return frozenset.intersection(*independent)


def _nearest(inputs: Sequence[Input], shown: str | int) -> set[str]:
    """The jobs that make some inputs, of which an artifact shows some runs only."""
    if not shown:
        return set()
    jobs = set(direct_jobs(inputs))
    if isinstance(shown, str):  # `npf.memorisation.shown` is of the experiment npf_memorisation
        jobs &= {"_".join(shown.split(".")[:2])}
    return jobs
