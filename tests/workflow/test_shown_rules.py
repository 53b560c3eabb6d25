"""What `finitewidth show` prints are the rules of the workflow, and Snakemake runs them."""

import ast
import contextlib
import re
import subprocess
import sys

import pytest
from tests.helpers.project import ROOT
from tests.helpers.workflow_plans import plan
from tests.helpers.workflow_rules import rules

from finitewidth.cli.main import main
from finitewidth.cli.plain_rules import WIDTH, jobs_by_stage, literal, plain_rule
from finitewidth.pipeline.plans.planned_jobs import plans_of_jobs

PLAN = plan("quick")
LAST = ("claims ", "captions_", "errata", "datapackages", "report")  # not shown
JOBS = [job for job in PLAN.graph.needs if not job.startswith(LAST)]
FIGURE = "dgn_fig6"  # its chain is short: a dataset, a training, an experiment


@pytest.fixture(scope="module")
def plans():
    with contextlib.chdir(ROOT):
        yield plans_of_jobs(PLAN)


def wildcards_of(job: str) -> dict[str, str]:
    if "/" in job:
        return dict(zip(("paper", "training"), job.split("/"), strict=True))
    return {"source": job.removeprefix("dataset ")} if job.startswith("dataset ") else {}


def filled(pattern: object, wildcards: dict[str, str]) -> str:
    """A file of a rule, with values in place of its wildcards."""
    return re.sub(r"\{(\w+)[^}]*\}", lambda match: wildcards[match[1]], str(pattern))


def rule_of(job: str) -> str:
    return "train" if "/" in job else job.split(" ")[0]


@pytest.mark.parametrize("job", JOBS)
def test_a_shown_rule_is_that_of_the_workflow(job, plans):
    shown, wildcards = plain_rule(job, PLAN, plans), wildcards_of(job)
    rule = rules()[rule_of(job)]
    outputs = {name: filled(file, wildcards) for name, file in rule.output.items()}
    assert dict(shown.output) == outputs
    assert shown.log == filled(rule.log, wildcards)
    assert shown.benchmark == filled(rule.benchmark, wildcards)
    assert f"workflow/scripts/{rule.script.rpartition('/')[2]}" == shown.script
    asked = {name for name in rule.resources if not name.startswith("_") and name != "tmpdir"}
    assert set(shown.resources) == asked
    assert list(shown.params) == list(dict(rule.params.items()))
    for name, value in rule.params.items():
        if not callable(value) and not isinstance(value, str):
            assert shown.params[name] == value, name
    assert set(shown.input) == {*plans[job].inputs, "plan"}


def test_the_jobs_behind_a_figure_are_shown_by_stage():
    assert jobs_by_stage("trust_fig1", PLAN) == {
        "sampling": ["trust_heat_widths"],
        "figures": ["trust_fig1"],
    }
    stages = jobs_by_stage("npf_fig3", PLAN)
    assert list(stages) == ["data", "training", "evaluation", "figures"]
    assert stages["evaluation"] == ["npf_stages", "npf_nu", "npf_kvf"]
    training = stages["training"]
    assert training.index("npf/stages-relu") < training.index("npf/stages-frozen")


VALUES = [
    "a \"word\" and 'another'",
    {"draws": 200, "law": None, "rates": [0.1, 1e-9], "none": {}, "empty": []},
    [{"name": f"npf/run{number}", "seed": number, "smooth": True} for number in range(7)],
    {"settings": {"depths": list(range(100)), "widths": [[1, 2], [3]]}},
]


@pytest.mark.parametrize("value", VALUES)
def test_a_literal_is_the_value_and_fits_in_lines(value):
    text = literal(value, indent=8, used=8)
    assert ast.literal_eval(text) == value
    assert max(map(len, text.splitlines())) <= WIDTH


@pytest.mark.parametrize(
    ("name", "near"), [("npf_fgi3", "npf_fig3"), ("trust_heat_width", "trust_heat_widths")]
)
def test_an_unknown_name_gets_the_nearest_one(name, near, monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    assert main(["show", name]) == 1
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert f"{name!r} is no artifact, experiment or training (did you mean {near}?)" in said


@pytest.mark.workflow
@pytest.mark.usefixtures("fork_server")
def test_snakemake_runs_what_is_shown(make_checkout):
    checkout = make_checkout("shown")
    command = [sys.executable, "-m", "finitewidth", "show", FIGURE, "--preset", "smoke"]
    assert checkout.run("--dry-run", FIGURE).returncode == 0
    answer = subprocess.run(
        command, cwd=checkout.path, env=checkout.environment(), capture_output=True, text=True
    )
    assert answer.returncode == 0, answer.stderr
    (checkout.path / "plain.smk").write_text(answer.stdout, encoding="utf-8")
    finished = checkout.run("--snakefile", "plain.smk")
    assert finished.returncode == 0, finished.stdout
    made = checkout.contents(".csv", ".json")
    assert f"dgn/figures/{FIGURE}.csv" in made
    # the workflow itself finds all of it made
    assert checkout.planned(FIGURE) == {}
