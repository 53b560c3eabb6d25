"""A stage of the work is a file of rules, and what a stage means can be read from declarations."""

import re
from importlib import import_module
from pathlib import Path

import pytest
from tests.helpers.project import ROOT
from tests.helpers.workflow_plans import plan
from tests.helpers.workflow_rules import rules

from finitewidth.cli.stages import STAGES, stage_graph, stage_of
from finitewidth.declarations.papers import STAGES as DECLARED_STAGES
from finitewidth.pipeline.plans.planned_jobs import plans_of_jobs
from finitewidth.settings.nested import leaves

PLAN = plan("quick")
EXPERIMENTS = PLAN.jobs.experiments
REPETITIONS = {"runs", "draws"}  # settings with a number of repetitions


def rule_of(job: str) -> str:
    return "train" if "/" in job else job.split(" ")[0]


def is_trained(job: str) -> bool:
    """Whether networks are trained by a job, or by one that it rests on."""
    _, behind = PLAN.jobs.closure(PLAN.jobs[job].inputs)
    stages = {EXPERIMENTS[name].stage for name in [job, *behind] if name in EXPERIMENTS}
    return "training" in stages or any(name in PLAN.jobs.trainings for name in behind)


def is_random(job: str) -> bool:
    """Whether random numbers are drawn by a job, or by one that it rests on."""
    _, behind = PLAN.jobs.closure(PLAN.jobs[job].inputs)
    return any(draws_random_numbers(name) for name in [job, *behind])


def draws_random_numbers(job: str) -> bool:
    """Whether the settings of an experiment have repetitions, or its module takes a seed."""
    module = import_module(EXPERIMENTS[job].module)
    has_repetitions = any(REPETITIONS & set(path) for path in leaves(PLAN.jobs[job].params))
    return has_repetitions or hasattr(module, "seed_for")


@pytest.mark.parametrize("job", PLAN.graph.needs)
def test_a_rule_is_in_the_file_of_its_stage(job):
    file = Path(rules()[rule_of(job)].snakefile)
    assert file == ROOT / f"workflow/rules/{stage_of(job, PLAN)}.smk"


def test_a_stage_reads_files_of_earlier_stages_only():
    graph = stage_graph(PLAN)
    assert set(graph) == set(STAGES)
    for stage, needs in graph.items():
        assert {STAGES.index(need) < STAGES.index(stage) for need in needs} <= {True}


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_the_inputs_and_the_settings_of_an_experiment_agree_with_its_stage(name):
    stage = EXPERIMENTS[name].stage
    assert is_trained(name) == (stage in ("training", "evaluation"))
    if stage in ("theory", "sampling"):
        assert is_random(name) == (stage == "sampling")


def test_every_stage_of_experiments_has_some():
    assert {experiment.stage for experiment in EXPERIMENTS.values()} == set(DECLARED_STAGES)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_the_code_of_a_stage_that_trains_reaches_the_training_loop(name):
    if EXPERIMENTS[name].stage == "training":
        assert "finitewidth.training.loop" in plans_of_jobs(PLAN)[name].code.as_record()["modules"]


def regimes_in_the_comment() -> dict[str, set[str]]:
    """Training, or a pattern of it, -> the regimes that workflow/rules/training.smk names."""
    text = (ROOT / "workflow/rules/training.smk").read_text(encoding="utf-8")
    found = {}
    for training, words in re.findall(r"^#   (\w+/\S+) +(\S.*)$", text, re.M):
        names = [part.split(":")[0] for part in re.split("; ", words)]
        regimes = {name.strip() for part in names for name in part.split(",")}
        found[training] = {name.lower().replace("-", "_") for name in regimes}
    return found


@pytest.mark.parametrize("name", PLAN.jobs.trainings)
def test_the_regimes_of_a_training_are_named_beside_its_rule(name):
    named = regimes_in_the_comment()
    pattern = re.sub(r"/[a-z]+_[a-z]+-|/cntk-", "/<row>-", name)
    replicas = PLAN.jobs.trainings[name].run.replicas
    known = named[name] if name in named else named[pattern]
    assert known == {replica.regime for replica in replicas}
