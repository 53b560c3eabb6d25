"""What a job asks of a cluster's scheduler, from its cost; which jobs travel together."""

import math
from collections.abc import Collection, Mapping
from typing import Any

from finitewidth.experiments.planned import PlannedTraining
from finitewidth.pipeline.costs.forecast import cost
from finitewidth.pipeline.costs.table import TABLE, Costs, read_costs, row_of
from finitewidth.pipeline.costs.work import REFERENCE, gpu

SHORT = 5  # minutes of forecast below which a training or an experiment travels with others
SLACK = 4  # of the time: forecasts are good to a factor of two, nodes differ by another
LEAST = 15  # minutes: starting from a slow file system takes some
BRIEF = 5  # minutes, the same for jobs of `RESULTS`, of which a hundred travel together
FETCHING = 60  # minutes, the same for datasets, which may have to be downloaded
MOST = 3  # times the memory of the first attempt
START_MB = 1500  # an interpreter with torch, and Snakemake twice around it
RESULTS = ("figure", "table", "claims", "captions", "datapackages")


class Requests:
    """Memory, time and company of the jobs of one configuration.

    Attempts count from 1: Snakemake submits a failed job again with the next number, and what a
    job asks for grows with it. Experiments ask for what the preset's own settings take.

    Args:
        config: checked settings.
        trainings: ``paper/name`` -> what is trained.
        costs: the preset's rows of the table; read from `TABLE` by default.
        resuming: names of the experiments that continue from checkpoints, as trainings do.
    """

    def __init__(
        self,
        config: Mapping[str, Any],
        trainings: Mapping[str, PlannedTraining],
        costs: Costs | None = None,
        resuming: Collection[str] = (),
    ):
        self._config, self._trainings = config, trainings
        self._costs = costs or read_costs(TABLE, config["preset"])
        self._continuing = {*trainings, *resuming}
        self._gpu = gpu(config["gpu_tflops"]) if config["device"] != "cpu" else REFERENCE

    def forecast(self, job: str) -> float:
        """Minutes that a training ``paper/name`` or another job of the table will take."""
        machine = self._gpu if job in self._trainings else REFERENCE
        known = cost(job, self._config, self._trainings, self._costs)
        return machine.seconds(known.work) / 60

    def minutes(self, job: str, attempt: int = 1) -> int:
        """Wall time to ask for: the forecast with slack, `LEAST`, `BRIEF` or `FETCHING` at least.

        Of what continues from checkpoints ``training_minutes`` at most: the next attempt goes on.
        """
        least = BRIEF if job in RESULTS else FETCHING if job == "dataset" else LEAST
        wanted = attempt * max(least, math.ceil(SLACK * self.forecast(job)))
        return min(wanted, self._config["training_minutes"]) if job in self._continuing else wanted

    def memory(self, job: str, attempt: int = 1) -> int:
        """MB to ask for: the forecast and half of it again, and what any job takes to start.

        `MOST` times that at most: the tenth attempt at a long training ran out of time, not memory.
        """
        known = cost(job, self._config, self._trainings, self._costs)
        wanted = START_MB + 1.5e-6 * known.work.memory
        return min(attempt, MOST) * 500 * math.ceil(wanted / 500)

    def group(self, rule: str, wildcards: Any, artifacts: Collection[str]) -> str | None:
        """The group in which a job travels to a cluster; None: alone.

        Trainings and experiments travel if they are `SHORT`; all other jobs always do.

        Args:
            rule: name of the job's rule, one that `may_travel`.
            wildcards: of the job.
            artifacts: names of the rules that make figures and tables.
        """
        if rule == "dataset":
            return "datasets"
        if row_of(rule) in RESULTS or rule in artifacts:
            return "results"
        if rule == "train":
            training = f"{wildcards.paper}/{wildcards.training}"
            return "trainings" if self.forecast(training) < SHORT else None
        return "experiments" if self.forecast(rule) < SHORT else None


def may_travel(rule: str, declared: Collection[str]) -> bool:
    """Whether jobs of a rule can be part of a group.

    Args:
        rule: its name.
        declared: names of all declared experiments and of all finished artifacts.
    """
    return row_of(rule) in {"dataset", "train", "errata", *RESULTS, *declared}
