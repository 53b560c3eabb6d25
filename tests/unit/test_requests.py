"""What jobs ask of a scheduler: more than the table says, more on another attempt; who travels."""

import pytest
from tests.plans import plan

from finitewidth.common.settings import PRESETS
from finitewidth.common.torch_setup import device_facts, prepare_torch
from finitewidth.pipeline.requests import LEAST, START_MB, WITHOUT_ROW


def requests(preset="quick", **over):
    return plan(preset, **over).requests


def of(job):
    """Rule and wildcards of a job."""
    if "/" in job:
        return "train", dict(zip(("paper", "training"), job.split("/"), strict=True))
    rule, *values = job.split()
    return rule, dict(enumerate(values))


@pytest.mark.parametrize("preset", PRESETS)
def test_every_job_asks_for_more_than_it_took(preset):
    mine = plan(preset)
    for job, row in mine.costs.items():
        minutes, memory = mine.requests.minutes(*of(job)), mine.requests.memory(*of(job))
        assert minutes >= min(max(3 * row.seconds / 60, LEAST), 1440)
        assert memory >= START_MB + row.memory_mb


@pytest.mark.parametrize("limit", [1440, 480])
def test_no_attempt_of_what_continues_asks_for_more_than_the_partition_allows(limit):
    mine = requests("paper", training_minutes=limit)
    for job in ("npf/vconv_sgd-relu", "npf_cntk"):
        assert [mine.minutes(*of(job), n) for n in (1, 2, 3)] == [limit] * 3
    assert mine.minutes(*of("npf/nu")) < limit
    assert mine.minutes(*of("npf_text"), 100) == 100 * LEAST  # it starts anew at each attempt


def test_a_job_without_a_row_asks_for_something_and_travels_alone():
    mine = requests()
    assert (mine.minutes("npf_new", {}), mine.memory("npf_new", {})) == WITHOUT_ROW
    assert mine.group("train", {"paper": "npf", "training": "new"}) is None


def test_long_jobs_go_alone_and_short_ones_by_kind():
    small, large = requests("smoke"), requests("paper")
    for job, group in (("npf/vconv_sgd-relu", "trainings"), ("npf_memorisation", "experiments")):
        assert small.group(*of(job)) == group
        assert large.group(*of(job)) is None
    for job in ("npf_fig3", "claims npf", "captions_npf", "datapackages"):
        assert large.group(*of(job)) == "results"
    assert large.group(*of("dataset mnist")) == "datasets"
    assert not any(large.group_of(rule) for rule in ("all", "report", "npf", "verify"))


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
