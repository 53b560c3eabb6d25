"""What a job asks of Snakemake and of a cluster's scheduler, from the table of costs."""

import math
from collections.abc import Callable, Mapping
from functools import cached_property, partial
from typing import Any

from finitewidth.pipeline.costs import Cost
from finitewidth.pipeline.graph import Graph, chains, length
from finitewidth.pipeline.job_names import job_name
from finitewidth.pipeline.jobs import Jobs

SLACK = 4  # times the seconds of the table: another processor, a loaded node
LEAST = 5  # minutes: starting from a slow file system takes some
FETCHING = 60  # minutes, the same for a dataset, which may have to be downloaded
START_MB = 1500  # an interpreter with torch, and Snakemake twice around it
MARGIN = 1.5  # times the memory of the table
ROUNDED_MB = 500  # memory is asked for in multiples of it
MOST = 3  # times the memory of the first attempt
WITHOUT_ROW = (60, 4000)  # minutes and MB
SHORT = 300  # seconds up to which a training or an experiment travels to a cluster with others


class Requests:
    """Memory, time, priority and group of the jobs of one configuration.

    Attempts count from 1. Each retry asks for more memory and time. Not every job has a row in the
    table of costs.
    """

    def __init__(self, jobs: Jobs, costs: Mapping[str, Cost], graph: Graph):
        self._jobs = jobs
        self._costs = costs
        self._graph = graph

    def _cost(self, rule: str, wildcards: Any) -> Cost | None:
        return self._costs.get(job_name(rule, dict(wildcards.items())))

    def memory(self, rule: str, wildcards: Any, attempt: int = 1) -> int:
        """MB: `MARGIN` times those of the table, and what any job takes to start."""
        cost = self._cost(rule, wildcards)
        megabytes: float = WITHOUT_ROW[1]
        if cost:
            megabytes = START_MB + MARGIN * cost.memory_mb
        # a tenth attempt at a long training ran out of time, not memory
        return min(attempt, MOST) * ROUNDED_MB * math.ceil(megabytes / ROUNDED_MB)

    def minutes(self, rule: str, wildcards: Any, attempt: int = 1) -> int:
        """Wall time: `SLACK` times that of the table, `LEAST` or `FETCHING` at least.

        Of what continues from checkpoints ``training_minutes`` at most: the next attempt goes on.
        """
        cost = self._cost(rule, wildcards)
        minutes = WITHOUT_ROW[0]
        if cost:
            minutes = math.ceil(SLACK * cost.seconds / 60)
        minutes = attempt * max(minutes, FETCHING if rule == "dataset" else LEAST)
        if self._resumes(rule):
            return min(minutes, self._jobs.config["training_minutes"])
        return minutes

    def _resumes(self, rule: str) -> bool:
        """Whether the jobs of a rule continue from checkpoints."""
        if rule in self._jobs.experiments:
            return self._jobs.experiments[rule].resumes
        return rule == "train"

    def resources(self, rule: str) -> dict[str, Callable[..., int]]:
        """The resources of a rule."""
        return {"mem_mb": partial(self.memory, rule), "runtime": partial(self.minutes, rule)}

    def priority(self, rule: str, wildcards: Any) -> int:
        """Of the jobs that can start, the one with the highest priority does."""
        return self._priorities.get(job_name(rule, dict(wildcards.items())), 0)

    @cached_property
    def _priorities(self) -> dict[str, int]:
        """Figures and tables first, then what the longest chain of jobs rests on."""
        seconds = {name: cost.seconds for name, cost in self._costs.items()}
        chain_of = chains(self._graph.needs, seconds)

        def urgency(name: str) -> tuple[bool, float]:
            return name in self._jobs.artifacts, length(chain_of[name], seconds)

        by_urgency = sorted(self._graph.needs, key=urgency)
        return {name: position for position, name in enumerate(by_urgency, start=1)}

    def group_of(self, rule: str) -> str | None:
        """The group in which jobs of a rule can travel to a cluster; None: alone."""
        if rule in self._jobs.experiments or rule == "errata":
            return "experiments"
        # not the data packages: they rest on captions that may be done, and these on claims, and
        # Snakemake refuses a group that rests on itself through a job outside
        if rule in self._jobs.artifacts or rule == "claims" or rule.startswith("captions_"):
            return "results"
        return {"dataset": "datasets", "train": "trainings"}.get(rule)

    def group(self, rule: str, wildcards: Any) -> str | None:
        """The group of one job; a training or an experiment that is long or has no row is alone."""
        group = self.group_of(rule)
        if group in ("trainings", "experiments"):
            cost = self._cost(rule, wildcards)
            if cost is None or cost.seconds > SHORT:
                return None
        return group
