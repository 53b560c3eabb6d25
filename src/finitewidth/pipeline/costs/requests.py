"""What a job asks of a cluster's scheduler, from its forecast; which jobs are short."""

import math
import re
from collections.abc import Mapping
from typing import Any

from finitewidth.experiments.planned import PlannedTraining
from finitewidth.pipeline.costs.forecast import cost
from finitewidth.pipeline.costs.formulas import EXPERIMENTS
from finitewidth.pipeline.costs.work import REFERENCE, gpu

SHORT = 5  # minutes of forecast below which a job travels with others
SLACK = 4  # of the time: forecasts are good to a factor of two, nodes differ by another
LEAST = 15  # minutes: starting from a slow file system takes some
MOST = 3  # times the memory of the first attempt
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
        """Wall time to ask for: the forecast with slack, `LEAST` at least.

        Of a training ``training_minutes`` at most: the next attempt goes on from its checkpoint.
        """
        wanted = attempt * max(LEAST, math.ceil(SLACK * self.forecast(job)))
        return min(wanted, self._config["training_minutes"]) if job in self._trainings else wanted

    def memory(self, job: str, attempt: int = 1) -> int:
        """MB to ask for: the forecast and half of it again, and what any job takes to start.

        `MOST` times that at most: the tenth attempt at a long training ran out of time, not memory.
        """
        arrays = cost(job, self._config, self._trainings).memory / 1e6
        return min(attempt, MOST) * 500 * math.ceil((START_MB + 1.5 * arrays) / 500)

    def group(self, rule: str, wildcards: Any, renderers: Mapping[str, str]) -> str | None:
        """The name under which a job travels with others of its kind and paper; None: alone.

        Trainings and experiments travel if they are `SHORT`; datasets, renderers and claims always.

        Args:
            rule: name of the job's rule, one that `may_travel`.
            wildcards: of the job.
            renderers: artifact, which is its rule's name → paper.
        """
        if rule == "dataset":
            return "datasets"
        if rule not in EXPERIMENTS and rule != "train":
            return f"results_{renderers.get(rule) or wildcards.paper}"
        job, kind = rule, "experiments"
        if rule == "train":
            job, kind = f"{wildcards.paper}/{wildcards.training}", "trainings"
        paper = re.split("[/_]", job)[0]
        return f"{kind}_{paper}" if self.forecast(job) < SHORT else None


def may_travel(rule: str, renderers: Mapping[str, str]) -> bool:
    """Whether jobs of a rule can be part of a group."""
    return rule in {"dataset", "train", "claims", *EXPERIMENTS, *renderers}
