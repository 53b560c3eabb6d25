"""What jobs ask of a scheduler: enough for the forecast, more on another attempt; who travels."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from finitewidth.common.settings import merged, preset_only
from finitewidth.common.torch_setup import device_facts, prepare_torch
from finitewidth.pipeline.costs import formulas
from finitewidth.pipeline.costs.requests import LEAST, SHORT, SLACK, START_MB
from finitewidth.pipeline.plan import Plan

ROOT = Path(__file__).parents[2]
PRESETS = ("smoke", "quick", "laptop", "paper")


def plan(preset="quick", **over):
    return Plan(merged(preset_only(preset, ROOT / "config"), over), ROOT)


def of(training):
    return SimpleNamespace(**dict(zip(("paper", "training"), training.split("/"), strict=True)))


@pytest.mark.parametrize("preset", PRESETS)
def test_every_training_asks_for_more_than_its_forecast(preset):
    mine = plan(preset)
    for name in mine.trainings():
        minutes = mine.training_minutes(of(name), attempt=1)
        assert minutes >= min(2 * mine.requests.forecast(name), 1440)
        assert LEAST <= minutes <= 1440
        assert START_MB <= mine.training_memory(of(name), attempt=1) < 200_000


def test_another_attempt_asks_for_more():
    mine, wildcards = plan(), of("npf/nu")
    for ask in (mine.training_minutes, mine.training_memory):
        assert [ask(wildcards, attempt) for attempt in (2, 3)] == [
            2 * ask(wildcards, 1),
            3 * ask(wildcards, 1),
        ]


def test_memory_stops_growing_where_only_time_ran_out():
    mine, wildcards = plan("paper"), of("npf/vconv_sgd-relu")
    assert mine.training_memory(wildcards, 20) == mine.training_memory(wildcards, 3)


@pytest.mark.parametrize("limit", [1440, 480])
def test_no_attempt_of_a_training_asks_for_more_than_the_partition_allows(limit):
    mine = plan("paper", training_minutes=limit)
    assert [mine.training_minutes(of("npf/vconv_sgd-relu"), n) for n in (1, 2, 3)] == [limit] * 3
    assert mine.training_minutes(of("npf/nu"), 1) < limit
    hours = mine.requests.forecast("npf_memorisation") * SLACK
    assert mine.experiment_minutes("npf_memorisation", None, 3) == pytest.approx(3 * hours, abs=3)


def test_a_gpu_is_forecast_as_a_gpu():
    slow, fast = plan("paper").requests, plan("paper", device="cuda").requests
    assert slow.forecast("npf/vconv_sgd-relu") > 20 * fast.forecast("npf/vconv_sgd-relu")
    assert slow.forecast("npf_memorisation") == fast.forecast("npf_memorisation")
    assert slow.minutes("npf/vconv_sgd-relu") == 1440
    assert fast.minutes("npf/vconv_sgd-relu") == pytest.approx(
        SLACK * fast.forecast("npf/vconv_sgd-relu"), abs=1
    )


def test_long_jobs_go_alone_and_short_ones_by_kind_and_paper():
    small, large = plan("smoke"), plan("paper")
    assert small.group("train", of("npf/nu")) == "trainings_npf"
    assert large.group("train", of("npf/vconv_sgd-relu")) is None
    assert small.group("npf_memorisation", None) == "experiments_npf"
    assert large.group("npf_memorisation", None) is None
    assert large.group("npf_fig3", None) == large.group("claims", of("npf/")) == "results_npf"
    assert large.group("dataset", None) == "datasets"
    assert not large.may_travel("all")
    assert not large.may_travel("plan")


@pytest.mark.parametrize("preset", PRESETS)
def test_experiments_travel_exactly_if_they_are_short(preset):
    mine = plan(preset)
    for rule in formulas.EXPERIMENTS:
        assert (mine.group(rule, None) is not None) == (mine.requests.forecast(rule) < SHORT)


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
