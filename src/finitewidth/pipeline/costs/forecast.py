"""The plan of costs as text: every artifact, every paper, all together."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from finitewidth.data.catalogue import SOURCES, find_source
from finitewidth.experiments.planned import PlannedTraining
from finitewidth.pipeline.costs.estimate import (
    DATASETS,
    Known,
    Rule,
    duration,
    estimate,
    jobs_of,
    table,
)
from finitewidth.pipeline.costs.order import Order
from finitewidth.pipeline.costs.table import TABLE, Costs, read_costs, row_of
from finitewidth.pipeline.costs.trainings import Pictures, training
from finitewidth.pipeline.costs.work import Machine, Work, gpu, here

if TYPE_CHECKING:
    from finitewidth.common.declarations import Artifact

CORES = 8  # for which the length of the run and its critical path are told
NOTES = (
    "A job that several artifacts need counts in each of them and once in the sums. Hours here are",
    "those of all cores, started from nothing. A GPU runs one training at a time; all other jobs",
    "run on the cores here. Disk includes two checkpoints of each training, which are deleted at",
    "the end. Trainings follow a formula, which is good to a factor of about two. Other jobs were",
    "measured; ~ marks times of which more than a tenth was not measured at this preset, good to a",
    "factor of about three. * marks modified settings; times are those of unmodified ones, except",
    "of trainings.",
)


def forecast(
    config: Mapping[str, Any],
    entries: Sequence["Artifact"],
    rules: Mapping[str, Mapping[str, Sequence[str]]],
    trainings: Mapping[str, PlannedTraining],
    gpu_tflops: float,
    machine: Machine | None = None,
    costs: Costs | None = None,
    modified: Collection[str] = (),
    order: Order | None = None,
) -> str:
    """What the artifacts of ``entries`` cost with the settings ``config``.

    Args:
        config: checked settings.
        entries: artifacts that have a rule.
        rules: name -> ``inputs`` and ``outputs`` of every rule without wildcards.
        trainings: ``paper/name`` -> what is trained.
        gpu_tflops: useful speed of the GPU in the last column of hours.
        machine: whose cores; those of this machine by default.
        costs: the preset's rows of the table; read from `TABLE` by default.
        modified: jobs whose settings differ from the preset's; trainings need not be named.
        order: of all jobs, with times of the reference machine; None leaves `side_by_side` out.

    Raises:
        ConfigError: the table has no row for a job.
    """
    costs = costs or read_costs(TABLE, config["preset"])
    needs = _needs(config, entries, rules, trainings)
    behind = set().union(*needs.values())
    papers = list(dict.fromkeys(entry.paper for entry in entries))
    claims = {f"claims/{paper}" for paper in papers}
    made = {name for name, rule in rules.items() if rule["outputs"] and row_of(name) in costs.rows}
    beside = claims | (made - behind)
    kinds = {entry.artifact: entry.kind for entry in entries} | dict.fromkeys(claims, "claims")
    known = {job: cost(job, config, trainings, costs, kinds) for job in behind | beside}
    known |= {job: replace(known[job], modified=True) for job in modified if job in known}
    sums = {
        f"all of {paper}": set().union(*(needs[e.artifact] for e in entries if e.paper == paper))
        for paper in papers
    }
    sums |= {"claims, errata, report": beside, "everything": behind | beside}
    machine, device = machine or here(), gpu(gpu_tflops)
    lines = [
        estimate(name, jobs, known, machine, device) for name, jobs in (needs | sums).items()
    ]  # fmt: skip
    head = f"preset {config['preset']}; here: {machine.name}; {device.name}"
    told = ["", *side_by_side(order, CORES, machine.pace)] if order else []
    return "\n".join([head, "", table(lines), *told, "", *NOTES])


def side_by_side(order: Order, cores: int, pace: float = 1.0) -> list[str]:
    """Lines that tell how long all jobs take on some cores, and the longest chain of jobs.

    Args:
        order: of the jobs.
        cores: how many.
        pace: seconds that one core takes for a second of the reference machine.
    """

    def told(seconds: float) -> str:
        return duration(pace * seconds / 3600)

    chain, times = order.critical(), {name: step.seconds for name, step in order.steps.items()}
    ends = order.ends(cores)
    figures = [name for name in ends if order.steps[name].kind == "figure"]
    longest = max(times, key=times.__getitem__)
    share = 100 * times[longest] / sum(times.values())
    return [
        f"on {cores} cores like these: {told(max(ends.values()))}",
        f"longest chain of jobs: {told(order.remaining[chain[0]])} "
        f"({', '.join(f'{name} {told(times[name])}' for name in chain)})",
        f"longest job: {longest}, {share:.0f} % of all work",
        *(f"first figure: {name}, after {told(ends[name])}" for name in figures[:1]),
    ]


def cost(
    job: str,
    config: Mapping[str, Any],
    trainings: Mapping[str, PlannedTraining],
    costs: Costs,
    kinds: Mapping[str, str] = MappingProxyType({}),
) -> Known:
    """The cost of one job: of a training by the formula, of any other by its row of the table.

    Args:
        job: a training ``paper/name``, the file of a dataset, or the name of another job.
        config: checked settings.
        trainings: ``paper/name`` -> what is trained.
        costs: the preset's rows of the table.
        kinds: job -> name of its row, where that is another.
    """
    if job in trainings:
        planned = trainings[job]
        return Known(training(planned.run, pictures(planned.dataset, config)))
    row = costs["dataset" if job.startswith(DATASETS) else kinds.get(job, row_of(job))]
    disk = 1e3 * (row.disk_kb or 0)
    return Known(Work(seconds=row.seconds, memory=1e6 * row.memory_mb, disk=disk), row.estimated)


def pictures(role: str, config: Mapping[str, Any]) -> Pictures:
    """Sizes of the source that plays a dataset's part; of the original where only files tell."""
    source = find_source(config["data"][role], config["data"]["imagefolder"])
    if source.shape is None:
        source = SOURCES[role]
    return Pictures(source.shape, source.classes, *source.images)


def _needs(
    config: Mapping[str, Any],
    entries: Sequence["Artifact"],
    rules: Mapping[str, Mapping[str, Sequence[str]]],
    trainings: Mapping[str, PlannedTraining],
) -> dict[str, set[str]]:
    """Artifact -> all jobs that it rests on, itself included."""
    graph = {
        name: Rule(tuple(rule["inputs"]), tuple(rule["outputs"])) for name, rule in rules.items()
    }
    earlier = {
        name: planned.earlier and f"{name.split('/')[0]}/{planned.earlier}"
        for name, planned in trainings.items()
    }
    needs = {entry.artifact: jobs_of(entry.artifact, graph, earlier) for entry in entries}
    return {name: jobs | _datasets(jobs, trainings, config) for name, jobs in needs.items()}


def _datasets(
    jobs: set[str], trainings: Mapping[str, PlannedTraining], config: Mapping[str, Any]
) -> set[str]:
    roles = {trainings[job].dataset for job in jobs if job in trainings}
    return {f"{DATASETS}{config['data'][role]}.npz" for role in roles}
