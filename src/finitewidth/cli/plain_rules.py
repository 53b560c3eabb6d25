"""Jobs as plain Snakemake rules: real paths, all settings, no wildcards and no functions."""

import json
import re
import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from finitewidth.cli.stages import STAGES, stage_of
from finitewidth.declarations.papers import Experiment
from finitewidth.declarations.titles import title_of
from finitewidth.pipeline.plan import Plan
from finitewidth.pipeline.plans.job_plan import JobPlan
from finitewidth.pipeline.plans.job_plans import JobPlans
from finitewidth.pipeline.plans.plan_files import PlanFiles
from finitewidth.pipeline.plans.planned_jobs import plans_of_jobs

WIDTH = 100  # characters of a line
INDENT = 4

HEADER = """\
# {name} and all that it rests on, as plain Snakemake rules. The jobs by stage:
#
{chain}
#
# The rules of a stage are in workflow/rules/<stage>.smk; there, what is written out below is looked
# up. To run these rules in the folder of the project:
#
#   finitewidth run {target} --dry-run{options}    # writes the inputs called `plan`
#   finitewidth show {name}{options} > plain.smk
#   snakemake --snakefile plain.smk --cores 1
from finitewidth.settings.presets import completed

config.update(completed({config}, "config"))
"""


def snakefile(name: str, plan: Plan, config: Mapping[str, Any], options: str) -> str:
    """Return a Snakefile with the rules of a job and of all jobs that it rests on.

    Args:
        name: of an artifact, an experiment or a training.
        plan: of the run.
        config: the preset of the run, and its settings that are not those of the preset.
        options: the same for the command ``finitewidth``.
    """
    stages = jobs_by_stage(name, plan)
    plans = plans_of_jobs(plan)
    # a Snakefile makes its first rule
    jobs = [job for stage in reversed(stages) for job in reversed(stages[stage])]
    header = HEADER.format(
        name=name,
        chain=_chain(stages),
        target=plan.jobs.outputs(name)["history"] if "/" in name else name,
        options=f" {options}" if options else "",
        config=literal(dict(config)),
    )
    rules = [str(plain_rule(job, plan, plans)) for job in jobs]
    return "\n\n".join([header, "\n\n\n".join(rules)])


def jobs_by_stage(name: str, plan: Plan) -> dict[str, list[str]]:
    """Return stage -> its jobs, of a job and all that it rests on, in an order of running."""
    ordered: dict[str, None] = {}

    def add(job: str) -> None:
        for need in plan.graph.needs[job]:
            add(need)
        ordered[job] = None

    add(name)
    jobs = {stage: [job for job in ordered if stage_of(job, plan) == stage] for stage in STAGES}
    return {stage: names for stage, names in jobs.items() if names}


def _chain(stages: Mapping[str, list[str]]) -> str:
    """The jobs of each stage in a comment."""
    lines: list[str] = []
    for stage, jobs in stages.items():
        start = f"#   {stage:<13}"
        lines += textwrap.wrap(
            ", ".join(jobs), WIDTH, initial_indent=start, subsequent_indent=f"#{' ' * 16}"
        )
    return "\n".join(lines)


@dataclass(frozen=True, kw_only=True)
class PlainRule:
    """A rule for one job, without wildcards; ``str`` gives its text."""

    name: str
    docstring: str
    input: Mapping[str, str | list[str]]
    output: Mapping[str, str]
    log: str
    benchmark: str
    resources: Mapping[str, int]
    params: Mapping[str, Any]
    script: str

    def __str__(self) -> str:
        """The rule as a Snakefile has it."""
        lines = [f"rule {self.name}:", f'    """{self.docstring}"""']
        lines += _named("input", self.input)
        lines += _named("output", self.output)
        lines += _single("log", self.log)
        lines += _single("benchmark", self.benchmark)
        lines += _named("resources", self.resources)
        lines += _named("params", self.params)
        lines += _single("script", self.script)
        return "\n".join(lines)


def _named(keyword: str, values: Mapping[str, Any]) -> list[str]:
    """The lines of a directive with a name for each value."""
    lines = [f"    {keyword}:"]
    for name, value in values.items():
        start = f"        {name}="
        lines.append(f"{start}{literal(value, indent=8, used=len(start) + 1)},")
    return lines


def _single(keyword: str, value: str) -> list[str]:
    return [f"    {keyword}:", f"        {literal(value)}"]


def literal(value: Any, indent: int = 0, used: int = 0) -> str:
    """Return a value as Python writes it, in lines of `WIDTH` characters where it can be broken.

    Args:
        value: numbers, words, lists and dictionaries.
        indent: of the line that it begins on.
        used: characters of that line before and after the value.
    """
    if not isinstance(value, list | Mapping):
        return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)
    in_one_line = _in_one_line(value)
    if used + len(in_one_line) <= WIDTH or not value:
        return in_one_line
    inner = indent + INDENT
    if isinstance(value, Mapping):
        parts = []
        for key, part in value.items():
            start = f"{literal(key)}: "
            parts.append(start + literal(part, inner, inner + len(start) + 1))
        opening, closing = "{}"
    else:
        parts = [literal(part, inner, inner + 1) for part in value]
        opening, closing = "[]"
    return "\n".join([opening, *_filled_lines(parts, inner), " " * indent + closing])


def _in_one_line(value: Any) -> str:
    if isinstance(value, Mapping):
        entries = [f"{literal(key)}: {_in_one_line(part)}" for key, part in value.items()]
        return f"{{{', '.join(entries)}}}"
    if isinstance(value, list):
        return f"[{', '.join(_in_one_line(part) for part in value)}]"
    return literal(value)


def _filled_lines(parts: Iterable[str], indent: int) -> list[str]:
    """Parts one after another, as many as fit in a line; each has a comma behind it."""
    lines: list[str] = []
    for part in parts:
        is_first = not lines or "\n" in part or "\n" in lines[-1]
        if not is_first and len(lines[-1]) + len(part) + 2 <= WIDTH:
            lines[-1] += f" {part},"
        else:
            lines.append(f"{' ' * indent}{part},")
    return lines


def plain_rule(name: str, plan: Plan, plans: JobPlans) -> PlainRule:
    """Return the rule of a job: a dataset, a training, an experiment, a figure or a table."""
    job_plan = plans[name]
    inputs = {key: _plain_files(files) for key, files in job_plan.inputs.items()}
    rule, wildcards = _rule_and_wildcards(name)
    return PlainRule(
        name=re.sub(r"\W", "_", " ".join([rule, *wildcards.values()])),
        docstring=_docstring(name, plan),
        input={**inputs, "plan": PlanFiles(plans).file(name)},
        output={**_outputs(name, plan, job_plan), "provenance": job_plan.provenance},
        log=_log(name, plan),
        benchmark=job_plan.benchmark,
        resources=_resources(name, plan),
        params=_params(name, plan, job_plan),
        script=f"workflow/scripts/{_script(name, plan)}.py",
    )


def _plain_files(files: Any) -> str | list[str]:
    return files if isinstance(files, str) else list(files)


def _rule_and_wildcards(name: str) -> tuple[str, dict[str, str]]:
    """The rule of a job in workflow/rules, and its wildcards."""
    if name.startswith("dataset "):
        return "dataset", {"source": name.removeprefix("dataset ")}
    if "/" in name:
        paper, training = name.split("/")
        return "train", {"paper": paper, "training": training}
    return name, {}


def _docstring(name: str, plan: Plan) -> str:
    rule, _ = _rule_and_wildcards(name)
    if rule == "dataset":
        return "A dataset as one verified file"
    if rule == "train":
        regimes = {replica.regime: None for replica in plan.jobs.trainings[name].run.replicas}
        return f"Networks of the regimes {', '.join(regimes)}"
    declared = plan.jobs.experiments.get(name) or plan.jobs.artifacts[name]
    return title_of(declared, plan.root)


def _outputs(name: str, plan: Plan, job_plan: JobPlan) -> dict[str, str]:
    if name.startswith("dataset "):
        return {"data": job_plan.outputs[0]}
    return plan.jobs.outputs(name)


def _log(name: str, plan: Plan) -> str:
    if name.startswith("dataset "):
        return f"results/data/logs/{name.removeprefix('dataset ')}.log"
    return plan.files.log(name)


def _resources(name: str, plan: Plan) -> dict[str, int]:
    rule, wildcards = _rule_and_wildcards(name)
    resources = {
        "mem_mb": plan.requests.memory(rule, wildcards),
        "runtime": plan.requests.minutes(rule, wildcards),
    }
    if rule == "train":
        return {**resources, "gpu": plan.gpus}
    experiment = plan.jobs.experiments.get(name)
    if experiment is not None and experiment.stage == "training":
        return {**resources, "gpu": plan.gpus if experiment.gpu else 0}
    return resources


def _params(name: str, plan: Plan, job_plan: JobPlan) -> dict[str, Any]:
    """The params of a job: those of its plan, and those that another run may change freely."""
    checkpoints = f"{plan.results}/.checkpoints"
    params = dict(job_plan.parameters)
    rule, wildcards = _rule_and_wildcards(name)
    if rule == "dataset":
        return {**wildcards, **params}
    if rule == "train":
        return {**params, "checkpoints": checkpoints}
    declared = plan.jobs[name].declared
    if not isinstance(declared, Experiment):
        return params
    if declared.stage == "training":
        params["on_device"] = declared.gpu
    if declared.stage != "theory":
        params["checkpoints"] = checkpoints if declared.resumes else None
    return params


def _script(name: str, plan: Plan) -> str:
    rule, _ = _rule_and_wildcards(name)
    return rule if rule in ("dataset", "train") else plan.jobs[name].kind
