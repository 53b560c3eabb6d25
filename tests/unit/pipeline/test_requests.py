"""What jobs ask of a scheduler: more than the table says, more on another attempt; who travels."""

import subprocess
from types import SimpleNamespace

import pytest
import yaml
from tests.helpers.project import ROOT
from tests.helpers.workflow_plans import plan
from tests.helpers.workflow_rules import rules

from finitewidth.common.torch_setup import device_facts, prepare_torch
from finitewidth.pipeline.costs import Cost
from finitewidth.pipeline.requests import LEAST, START_MB, WITHOUT_ROW, Requests
from finitewidth.settings.presets import PRESETS


def requests(preset="quick", **over):
    return plan(preset, **over).requests


def rule_and_wildcards(job):
    """Rule and wildcards of a job."""
    if "/" in job:
        return "train", dict(zip(("paper", "training"), job.split("/"), strict=True))
    rule, *values = job.split()
    return rule, dict(enumerate(values))


@pytest.mark.parametrize("preset", PRESETS)
def test_every_job_asks_for_more_than_it_took(preset):
    run = plan(preset)
    for job, row in run.costs.items():
        minutes = run.requests.minutes(*rule_and_wildcards(job))
        memory = run.requests.memory(*rule_and_wildcards(job))
        assert minutes >= min(max(3 * row.seconds / 60, LEAST), 1440)
        assert memory >= START_MB + row.memory_mb


@pytest.mark.parametrize("limit", [1440, 480])
def test_no_attempt_of_what_continues_asks_for_more_than_the_partition_allows(limit):
    asked = requests("paper", training_minutes=limit)
    for job in ("npf/vconv_sgd-relu", "npf_cntk"):
        assert [asked.minutes(*rule_and_wildcards(job), n) for n in (1, 2, 3)] == [limit] * 3
    assert asked.minutes(*rule_and_wildcards("npf/nu")) < limit
    assert (
        asked.minutes(*rule_and_wildcards("npf_text"), 100) == 100 * LEAST
    )  # it starts anew at each attempt


def test_a_job_without_a_row_asks_for_something_and_travels_alone():
    asked = requests()
    assert (asked.minutes("npf_new", {}), asked.memory("npf_new", {})) == WITHOUT_ROW
    assert asked.group("train", {"paper": "npf", "training": "new"}) is None


def test_long_jobs_go_alone_and_short_ones_by_kind():
    small = requests("smoke")
    large = requests("paper")
    for job, group in (("npf/vconv_sgd-relu", "trainings"), ("npf_memorisation", "experiments")):
        assert small.group(*rule_and_wildcards(job)) == group
        assert large.group(*rule_and_wildcards(job)) is None
    for job in ("npf_fig3", "claims npf", "captions_npf"):
        assert large.group(*rule_and_wildcards(job)) == "results"
    assert large.group(*rule_and_wildcards("dataset mnist")) == "datasets"
    assert not any(large.group_of(rule) for rule in ("all", "datapackages", "report", "npf"))


def test_a_training_says_on_what_it_runs(monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3")
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    monkeypatch.setattr("torch.cuda.get_device_name", lambda: "a GPU")
    assert device_facts(prepare_torch(1, "auto")) == {
        "device": "cuda",
        "gpu": "a GPU",
        "cuda_visible_devices": "3",
    }
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    assert device_facts(prepare_torch(1, "auto"))["device"] == "cpu"
    assert device_facts("cpu")["gpu"] is None


# ---- profiles of schedulers: groups have their members, GPUs reach the command line

PROFILES = ("slurm", "cluster-generic")


def profile(name):
    return yaml.safe_load((ROOT / f"profiles/{name}/config.yaml").read_text())


def groups(seconds):
    """The groups of one job of each kind, if trainings and experiments take so long."""
    smoke = plan("smoke")
    rows = {job: Cost("smoke", job, seconds, 100, "estimated") for job in ("npf/nu", "npf_nu")}
    of_smoke = Requests(smoke.jobs, rows, smoke.graph)
    wildcards = {"train": {"paper": "npf", "training": "nu"}}
    every = ("dataset", "train", "claims", "captions_npf", "npf_nu", "npf_fig3")
    return {of_smoke.group(rule, wildcards.get(rule, {})) for rule in every} - {None}


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
        ["sh", "-c", f"{command} job.sh"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
        env={"PATH": f"{tmp_path}:/usr/bin:/bin"},
    )
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
        first = resource.evaluate(wildcards, attempt=1).value
        second = resource.evaluate(wildcards, attempt=2).value
        assert second > first > 0, rule
