"""Deviations of a job: where the paper's value comes from, and what it is of."""

import pytest
from tests.helpers.workflow_evidence import JOBS, PAPERS, PRESETS, SOURCES

from finitewidth.pipeline.deviations import Deviations, Kind, Origin, makes_smaller
from finitewidth.pipeline.jobs import Jobs
from finitewidth.pipeline.views import View
from finitewidth.settings.nested import merged


def deviations(job, **over):
    """Name -> (ours, theirs, origin, kind), of one job at preset paper with other settings."""
    jobs = Jobs(PAPERS, merged(PRESETS["paper"], over))
    values = {}
    for deviation in Deviations(jobs, JOBS["paper"], SOURCES).of_job(job, View()):
        described = (deviation.ours, deviation.theirs, deviation.origin, deviation.kind)
        values[deviation.name] = described
    return values


def test_a_run_of_the_paper_has_none():
    for name in (*JOBS["paper"].experiments, *JOBS["paper"].trainings):
        assert deviations(name) == {}


def test_what_the_paper_states_is_a_size_or_a_number_of_repetitions():
    rows = {"runs": 3, "rows": {"fc_sgd": {"epochs": 20}}}
    assert deviations("npf/fc_sgd-relu", npf={"regimes": rows}) == {
        "epochs": (20, 300, Origin.STATED, Kind.SIZE),
        "runs": (3, 5, Origin.STATED, Kind.REPETITION),
    }


def test_values_that_the_paper_accepts_are_none():
    assert deviations("beyond_diagonal", beyond={"diagonal": {"draws": 501}}) == {}
    assert deviations("beyond_diagonal", beyond={"diagonal": {"draws": 499}}) == {
        "draws": (499, 500, Origin.STATED, Kind.REPETITION)
    }


@pytest.mark.parametrize(
    ("value", "ours", "theirs", "smaller"),
    [
        ("layers", "2 × 10", "2 × 100", True),
        ("epochs", 3, 2, False),
        ("epochs", 2, 3, True),
        ("training images", None, 100, False),
        ("training images", 100, None, True),
        ("batch size", 2, 3, False),
    ],
)
def test_what_makes_a_training_smaller(value, ours, theirs, smaller):
    assert makes_smaller(value, ours, theirs) == smaller


def test_networks_of_one_paper_are_described_by_their_settings():
    """VGG and residual networks have other settings than an `Architecture`."""
    vgg = {"sweeps": {"vgg": {"momentum": 0.45}}}
    assert deviations("collapse_sweep_vgg", collapse=vgg) == {
        "momentum": (0.45, 0.9, Origin.OURS, Kind.CHOICE)
    }
