"""What jobs ask of a scheduler: enough for the forecast, more on another attempt; who travels."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from finitewidth.common.settings import merged, preset_only
from finitewidth.common.torch_setup import device_facts, prepare_torch
from finitewidth.pipeline.costs.requests import BRIEF, LEAST, SHORT, SLACK, START_MB, may_travel
from finitewidth.pipeline.costs.table import KINDS, TABLE, read_costs
from finitewidth.pipeline.plan import Plan

ROOT = Path(__file__).parents[2]
PRESETS = ("smoke", "quick", "laptop", "paper")
ARTIFACTS = {"npf_fig3"}


def requests(preset="quick", **over):
    return Plan(merged(preset_only(preset, ROOT / "config"), over), ROOT).requests


def of(training):
    return SimpleNamespace(**dict(zip(("paper", "training"), training.split("/"), strict=True)))


@pytest.mark.parametrize("preset", PRESETS)
def test_every_training_asks_for_more_than_its_forecast(preset):
    plan = Plan(preset_only(preset, ROOT / "config"), ROOT)
    for name in plan.trainings():
        minutes = plan.requests.minutes(name)
        assert minutes >= min(2 * plan.requests.forecast(name), 1440)
        assert LEAST <= minutes <= 1440
        assert START_MB <= plan.requests.memory(name) < 200_000


@pytest.mark.parametrize("preset", PRESETS)
def test_every_other_job_asks_for_more_than_it_took(preset):
    plan = Plan(preset_only(preset, ROOT / "config"), ROOT)
    mine, experiments = plan.requests, plan.jobs.experiments
    for job, row in read_costs(ROOT / TABLE, preset).rows.items():
        most = 1440 if job in experiments and experiments[job].resumes else float("inf")
        assert mine.minutes(job) >= min(max(2 * row.seconds / 60, BRIEF), most)
        assert mine.memory(job) >= START_MB + row.memory_mb


def test_another_attempt_asks_for_more():
    mine = requests()
    for ask in (mine.minutes, mine.memory):
        for job in ("npf/nu", "npf_nu", "figure"):
            assert [ask(job, attempt) for attempt in (2, 3)] == [2 * ask(job), 3 * ask(job)]


def test_memory_stops_growing_where_only_time_ran_out():
    mine = requests("paper")
    assert mine.memory("npf/vconv_sgd-relu", 20) == mine.memory("npf/vconv_sgd-relu", 3)


@pytest.mark.parametrize("limit", [1440, 480])
def test_no_attempt_of_what_continues_asks_for_more_than_the_partition_allows(limit):
    mine = requests("paper", training_minutes=limit)
    for job in ("npf/vconv_sgd-relu", "npf_cntk"):
        assert [mine.minutes(job, n) for n in (1, 2, 3)] == [limit] * 3
    assert mine.minutes("npf/nu") < limit
    assert mine.minutes("npf_text", 100) == 100 * LEAST  # it starts anew at each attempt


def test_a_gpu_is_forecast_as_a_gpu():
    slow, fast = requests("paper"), requests("paper", device="cuda")
    assert slow.forecast("npf/vconv_sgd-relu") > 20 * fast.forecast("npf/vconv_sgd-relu")
    assert slow.forecast("npf_memorisation") == fast.forecast("npf_memorisation")
    assert slow.minutes("npf/vconv_sgd-relu") == 1440
    assert fast.minutes("npf/vconv_sgd-relu") == pytest.approx(
        SLACK * fast.forecast("npf/vconv_sgd-relu"), abs=1
    )


def test_long_jobs_go_alone_and_short_ones_by_kind():
    small, large = requests("smoke"), requests("paper")
    assert small.group("train", of("npf/nu"), ARTIFACTS) == "trainings"
    assert large.group("train", of("npf/vconv_sgd-relu"), ARTIFACTS) is None
    assert small.group("npf_memorisation", None, ARTIFACTS) == "experiments"
    assert large.group("npf_memorisation", None, ARTIFACTS) is None
    for rule in ("npf_fig3", "claims", "captions_npf"):
        assert large.group(rule, of("npf/"), ARTIFACTS) == "results"
    assert large.group("dataset", None, ARTIFACTS) == "datasets"


def test_exactly_the_declared_jobs_may_travel():
    declared = {"npf_fig3", "npf_memorisation"}
    for rule in ("dataset", "train", "errata", "claims", "captions_npf", *declared):
        assert may_travel(rule, declared)
    for rule in ("all", "plan", "report", "npf_nu"):
        assert not may_travel(rule, declared)


@pytest.mark.parametrize("preset", PRESETS)
def test_experiments_travel_exactly_if_they_are_short(preset):
    mine = requests(preset)
    rows = read_costs(ROOT / TABLE, preset).rows
    for rule in rows.keys() - {*KINDS}:
        travels = mine.group(rule, None, ARTIFACTS) is not None
        assert travels == (rows[rule].seconds / 60 < SHORT)


def test_a_job_that_the_table_does_not_know_yet_asks_for_something():
    assert requests().minutes("npf_new") >= 15
    assert requests().memory("npf_new") >= 2000


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
