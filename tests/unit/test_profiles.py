"""Profiles of schedulers: every group has its number of members, GPUs reach the command line."""

import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from tests.plans import plan
from tests.workflow_rules import rules

from finitewidth.pipeline.costs import Cost
from finitewidth.pipeline.requests import Requests

ROOT = Path(__file__).parents[2]
PROFILES = ("slurm", "cluster-generic")


def profile(name):
    return yaml.safe_load((ROOT / f"profiles/{name}/config.yaml").read_text())


def groups(seconds):
    """The groups of one job of each kind, if trainings and experiments take so long."""
    jobs = plan("smoke").jobs
    rows = {job: Cost("smoke", job, seconds, 100, "estimated") for job in ("npf/nu", "npf_nu")}
    requests = Requests(jobs, rows, dict)
    wildcards = {"train": {"paper": "npf", "training": "nu"}}
    rules = ("dataset", "train", "claims", "captions_npf", "npf_nu", "npf_fig3")
    return {requests.group(rule, wildcards.get(rule, {})) for rule in rules} - {None}


@pytest.mark.parametrize("name", PROFILES)
def test_exactly_the_groups_there_can_be_have_a_number_of_members(name):
    named = dict(entry.split("=") for entry in profile(name)["group-components"])
    assert set(named) == groups(1) > groups(1e6)
    assert profile(name)["group-components"] == profile("slurm")["group-components"]


def submitted(tmp_path, gpus):
    """The words that sbatch gets of a job that asks for so many GPUs."""
    (tmp_path / "sbatch").write_text("#!/bin/sh\nprintf '%s\\n' \"$@\"\n")
    (tmp_path / "sbatch").chmod(0o755)
    settings = profile("cluster-generic")
    resources = SimpleNamespace(**{**settings["default-resources"], "gpu": gpus})
    command = settings["cluster-generic-submit-cmd"].format(resources=resources, threads=1)
    answer = subprocess.run(
        ["sh", "-c", f"{command} job.sh"], cwd=tmp_path, capture_output=True, text=True, check=True,
        env={"PATH": f"{tmp_path}:/usr/bin:/bin"},
    )  # fmt: skip
    return answer.stdout.split()


def test_gpus_are_requested_where_a_job_asks_for_them(tmp_path):
    assert profile("cluster-generic")["default-resources"]["gpu"] == 0
    assert "--gpus=1" in submitted(tmp_path, 1)
    without = submitted(tmp_path, 0)
    assert not [word for word in without if "gpu" in word]
    assert without[-1] == "job.sh"


@pytest.mark.parametrize("name", ["mem_mb", "runtime"])
def test_every_rule_asks_for_more_at_another_attempt(name):
    wildcards = {"paper": "npf", "training": "nu", "source": "digits"}
    jobs = {rule.name: rule.resources[name] for rule in rules().values() if rule.output}
    assert len(jobs) > 80
    for rule, resource in jobs.items():
        first, second = (resource.evaluate(wildcards, attempt=n).value for n in (1, 2))
        assert second > first > 0, rule
