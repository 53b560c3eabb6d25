"""What a job asks of a cluster's scheduler, from its forecast; which jobs are short."""

import math
from collections.abc import Mapping
from typing import Any

from finitewidth.costs import formulas
from finitewidth.costs.forecast import cost
from finitewidth.costs.work import REFERENCE, gpu
from finitewidth.experiments.planned import PlannedTraining

SHORT = 5  # minutes of forecast below which a job travels with others
SLACK = 4  # of the time: forecasts are good to a factor of two, nodes differ by another
DAY = 1440  # minutes; a training goes on from its checkpoint where the last attempt ended
START_MB = 1500  # an interpreter with torch, and Snakemake twice around it


class Requests:
    """Memory, time and company of the jobs of one configuration.

    Attempts count from 1: Snakemake submits a failed job again with the next number, and what a
    job asks for grows with it.
    """

    def __init__(self, config: Mapping[str, Any], trainings: Mapping[str, PlannedTraining]):
        self._config, self._trainings = config, trainings
        self._gpu = gpu(config["gpu_tflops"]) if config["device"] != "cpu" else REFERENCE

    def forecast(self, job: str) -> float:
        """Minutes that a training ``paper/name`` or the experiment of a rule will take."""
        machine = self._gpu if job in self._trainings else REFERENCE
        return machine.seconds(cost(job, self._config, self._trainings)) / 60

    def minutes(self, job: str, attempt: int = 1) -> int:
        """Wall time to ask for: the forecast with slack; of a training a day at most per attempt.

        A first attempt asks for 15 minutes at least: starting from a slow file system takes some.
        """
        wanted = max(15, math.ceil(SLACK * self.forecast(job)))
        return attempt * (min(wanted, DAY) if job in self._trainings else wanted)

    def memory(self, job: str, attempt: int = 1) -> int:
        """MB to ask for: the forecast and half of it again, and what any job takes to start."""
        arrays = cost(job, self._config, self._trainings).memory / 1e6
        return attempt * 500 * math.ceil((START_MB + 1.5 * arrays) / 500)

    def group(self, rule: str, wildcards: Any, renderers: Mapping[str, str]) -> str | None:
        """The name under which a job travels with others of its kind and paper; None: alone.

        Trainings and experiments travel if they are `SHORT`; datasets, renderers and claims always.

        Args:
            rule: name of the job's rule.
            wildcards: of the job.
            renderers: artifact, which is its rule's name → paper.
        """
        if rule == "dataset":
            return "datasets"
        if rule == "claims":
            return f"results_{wildcards.paper}"
        if rule in renderers:
            return f"results_{renderers[rule]}"
        if rule == "train":
            job, group = f"{wildcards.paper}/{wildcards.training}", f"trainings_{wildcards.paper}"
        elif rule in formulas.EXPERIMENTS:
            job, group = rule, f"experiments_{rule.split('_')[0]}"
        else:
            return None
        return group if self.forecast(job) < SHORT else None
