"""The stages of the workflow, which are the files in ``workflow/rules``, and what they pass on."""

from collections.abc import Mapping

from finitewidth.pipeline.plan import Plan

# in an order in which a stage reads files of earlier ones only
STAGES = (
    "data",
    "training",
    "sampling",
    "theory",
    "evaluation",
    "figures",
    "tables",
    "claims",
    "captions",
    "datapackages",
    "errata",
    "report",
)


def stage_of(job: str, plan: Plan) -> str:
    """Return the stage of a job: the file in ``workflow/rules`` that has its rule."""
    if job.startswith("dataset "):
        return "data"
    if job.startswith("captions_"):
        return "captions"
    if job.startswith("claims "):
        return "claims"
    if job in ("errata", "datapackages", "report"):
        return job
    if job in plan.jobs.experiments:
        return plan.jobs.experiments[job].stage
    return {"training": "training", "figure": "figures", "table": "tables"}[plan.jobs[job].kind]


def stage_graph(plan: Plan) -> dict[str, set[str]]:
    """Return stage -> the stages whose files its jobs read, without what follows from others.

    A stage that reads files of ``data`` and of ``training`` has no arrow from ``data``, since
    ``training`` reads ``data`` itself.
    """
    direct: dict[str, set[str]] = {}
    for job, needs in plan.graph.needs.items():
        stage = stage_of(job, plan)
        direct.setdefault(stage, set())
        direct[stage] |= {stage_of(need, plan) for need in needs} - {stage}
    return {stage: _without_detours(stage, direct) for stage in direct}


def _without_detours(stage: str, direct: Mapping[str, set[str]]) -> set[str]:
    behind: set[str] = set()
    for other in direct[stage]:
        behind |= _all_behind(other, direct)
    return direct[stage] - behind


def _all_behind(stage: str, direct: Mapping[str, set[str]]) -> set[str]:
    found: set[str] = set()
    for other in direct[stage]:
        found |= {other} | _all_behind(other, direct)
    return found


def mermaid(plan: Plan) -> str:
    """Return the graph of the stages as Mermaid draws it, an arrow from each stage to its users."""
    lines = ["flowchart LR"]
    graph = stage_graph(plan)
    for stage in STAGES:
        lines += [f"    {need} --> {stage}" for need in sorted(graph[stage], key=STAGES.index)]
    return "\n".join(lines)
