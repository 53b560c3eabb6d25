"""The jobs of a complete run with their forecasts and needs, from which their order follows."""

from collections.abc import Iterable
from functools import cache
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from finitewidth.common.announced import job_name
from finitewidth.pipeline.costs.order import Order, Step

if TYPE_CHECKING:
    from finitewidth.pipeline.plan import Plan

DATA = "results/data/"


@cache
def order_of(plan: "Plan") -> Order:
    """In which order the jobs of a configuration start."""
    return Order(steps_of(plan))


def priority(plan: "Plan", rule: str, wildcards: Any) -> int:
    """The priority of a job: of those that can start, the one with the highest does."""
    return order_of(plan).priorities.get(job_name(rule, dict(wildcards.items())), 0)


def steps_of(plan: "Plan") -> dict[str, Step]:
    """Return all jobs that a run of a configuration can have.

    Returns:
        Job -> step; jobs are named as by `finitewidth.common.announced.job_name`.
    """
    reads = _reads(plan)
    makers = _makers(plan)
    reads |= {maker: [] for maker in makers.values() if maker not in reads}
    kinds = {job.name: job.kind for job in plan.declared()}
    return {
        name: Step(
            seconds=plan.seconds(name),
            needs=tuple(dict.fromkeys(makers[file] for file in files if file in makers)),
            kind=kinds.get(name, ""),
        )
        for name, files in reads.items()
    }


def _reads(plan: "Plan") -> dict[str, list[str]]:
    """Job -> its input files."""
    own = [*plan.declared(), *(plan.jobs[name] for name in plan.trainings())]
    found = {job.name: list(_files(job.inputs.values())) for job in own}
    for paper in plan.papers:
        told = plan.claim_inputs(SimpleNamespace(paper=paper.name))
        found[f"claims {paper.name}"] = list(_files(told.values()))
    for paper in plan.captioned:
        found[f"captions_{paper}"] = list(_files(plan.caption_inputs(paper).values()))
    verdicts, captions = plan.verdicts(), plan.captions()
    found["datapackages"] = [*plan.targets(), *captions]
    found["report"] = [*plan.targets(), *verdicts, *captions, plan.errata(), "datapackages"]
    return found


def _makers(plan: "Plan") -> dict[str, str]:
    """File -> the job that makes it."""
    names = [*(job.name for job in plan.declared()), *plan.trainings()]
    made = {name: list(plan.jobs.outputs(name).values()) for name in names}
    made |= {f"claims {p.name}": [*plan.verdict_tables(p.name).values()] for p in plan.papers}
    made |= {f"captions_{paper}": plan.captions(paper) for paper in plan.captioned}
    made |= {"errata": [plan.errata()], "datapackages": ["datapackages"]}
    data = {file for files in _reads(plan).values() for file in files if file.startswith(DATA)}
    made |= {f"dataset {file.removeprefix(DATA).removesuffix('.npz')}": [file] for file in data}
    return {file: name for name, files in made.items() for file in files}


def _files(values: Iterable[Any]) -> Iterable[str]:
    for value in values:
        yield from [value] if isinstance(value, str) else value
