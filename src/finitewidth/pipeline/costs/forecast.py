"""The plan of costs as text: every artifact, every paper, all together."""

from collections.abc import Mapping, Sequence
from typing import Any

from finitewidth.common.index import Artifact
from finitewidth.data.catalogue import SOURCES, find_source
from finitewidth.experiments.planned import PlannedTraining
from finitewidth.pipeline.costs import formulas
from finitewidth.pipeline.costs.estimate import (
    RENDERING,
    TYPESETTING,
    Rule,
    estimate,
    jobs_of,
    table,
)
from finitewidth.pipeline.costs.trainings import Pictures, training
from finitewidth.pipeline.costs.work import Machine, Work, gpu, here

DATASET = Work(calls=200_000, elements=1e7, disk=5e6, memory=1e8)
NOTES = (
    "A job that several artifacts need counts in each of them and once in the sums. Hours here are",
    "those of all cores, started from nothing; a GPU runs one job at a time. Disk includes two",
    "checkpoints of each training, which go by the end. Estimates are good to a factor of about",
    "two (benchmarks/costs.py).",
)


def forecast(
    config: Mapping[str, Any],
    entries: Sequence[Artifact],
    rules: Mapping[str, Mapping[str, Sequence[str]]],
    trainings: Mapping[str, PlannedTraining],
    gpu_tflops: float,
    machine: Machine | None = None,
) -> str:
    """What the artifacts of ``entries`` cost with the settings ``config``.

    Args:
        config: checked settings.
        entries: artifacts that have a rule.
        rules: name -> ``inputs`` and ``outputs`` of every rule without wildcards.
        trainings: ``paper/name`` -> what is trained.
        gpu_tflops: useful speed of the GPU in the last column of hours.
        machine: whose cores; those of this machine by default.
    """
    machine, device = machine or here(), gpu(gpu_tflops)
    graph = {
        name: Rule(tuple(rule["inputs"]), tuple(rule["outputs"])) for name, rule in rules.items()
    }
    earlier = {
        name: planned.earlier and f"{name.split('/')[0]}/{planned.earlier}"
        for name, planned in trainings.items()
    }
    needs = {
        entry.artifact: jobs_of(entry.artifact, graph, earlier) for entry in entries
    }  # fmt: skip
    needs = {name: jobs | _datasets(jobs, trainings, config) for name, jobs in needs.items()}
    every = set().union(*needs.values()) if needs else set()
    costs = {job: cost(job, config, trainings) for job in every}
    lines = [estimate(name, jobs, costs, machine, device) for name, jobs in needs.items()]
    for paper in dict.fromkeys(entry.paper for entry in entries):
        jobs = set().union(*(needs[e.artifact] for e in entries if e.paper == paper))
        lines.append(estimate(f"all of {paper}", jobs, costs, machine, device))
    lines.append(estimate("everything", every, costs, machine, device))
    head = f"preset {config['preset']}; here: {machine.name}; {device.name}"
    return "\n".join([head, "", table(lines), "", *NOTES])


def cost(job: str, config: Mapping[str, Any], trainings: Mapping[str, PlannedTraining]) -> Work:
    """Work of one job: a training, a dataset, an experiment, or a renderer."""
    if job in trainings:
        planned = trainings[job]
        return training(planned.run, pictures(planned.dataset, config))
    if job.startswith("results/data/"):
        return DATASET
    if job in formulas.EXPERIMENTS:
        return formulas.experiment(job, config)
    return TYPESETTING if "_table" in job else RENDERING


def pictures(role: str, config: Mapping[str, Any]) -> Pictures:
    """Sizes of the source that plays a dataset's part; of the original where only files tell."""
    source = find_source(config["data"][role], config["data"]["imagefolder"])
    if source.shape is None:
        source = SOURCES[role]
    return Pictures(source.shape, source.classes, *source.images)


def _datasets(
    jobs: set[str], trainings: Mapping[str, PlannedTraining], config: Mapping[str, Any]
) -> set[str]:
    roles = {trainings[job].dataset for job in jobs if job in trainings}
    return {f"results/data/{config['data'][role]}.npz" for role in roles}
