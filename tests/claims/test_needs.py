"""What a claim needs, and that a run decides it by its sizes and data."""

import pytest
from tests.helpers.judged_claims import DECLARED, JUDGED
from tests.helpers.project import ROOT

from finitewidth.claims.needs import (
    PAPER_SCALE,
    at_least,
    equals,
    needs_of,
    original,
    unmet,
    values,
)
from finitewidth.common.errors import ConfigError
from finitewidth.pipeline.jobs import Jobs
from finitewidth.settings.presets import preset_only

SMOKE, QUICK, LAPTOP, PAPER = presets = ("smoke", "quick", "laptop", "paper")
SETTINGS = {preset: preset_only(preset, ROOT / "config") for preset in presets}

# Figure 9 of dgn is computed exactly, from the same network at every preset.
AT_EVERY_PRESET = {"D25"}
# At smoke the judges of these say themselves which depths or widths are missing.
JUDGE_REFUSES = {"N06", "D02", "D04"}
FROM_LAPTOP = {"N13", "N14", "D15"}
AT_PAPER = {"N20", "N25", "D21", "D22", "D24", "K09"}

TOY = {
    "data": {
        "mnist": "digits",
        "fashion_mnist": "fashion_mnist",
        "cifar10": "cifar10_jpeg",
        "imagefolder": {"cifar10_jpeg": "cifar10", "MNIST": "mine"},
    },
    "a": {
        "draws": 1000,
        "share": 0.25,
        "all": None,
        "depths": [3, 5, 8],
        "rows": {"x": {"epochs": 3}, "y": {"epochs": 7}},
        "sections": {"x": None, "y": {"draws": 5}},
        "trained": [{"values": None, "indices": [0, 1, 2]}, {"values": [1, 2], "indices": [0]}],
    },
}


def reasons(*needs, paper_scale=False):
    return unmet(needs, TOY, paper_scale=paper_scale)


@pytest.mark.parametrize(
    "need",
    [
        at_least("a.draws", 1000),
        at_least("a.share", 0.25),
        at_least("a.all", 60_000),
        at_least("a.depths.*", 3),
        at_least("a.rows.*.epochs", 3),
        at_least("a.sections.*.draws", 5),
        equals("a.depths", [3, 5, 8]),
        values("a.depths", 3),
        values("a.trained.*", 2),
        original("cifar10"),
        original("fashion_mnist"),
    ],
)
def test_a_need_that_is_met_gives_no_reason(need):
    assert reasons(need) == []


@pytest.mark.parametrize(
    ("need", "reason"),
    [
        (at_least("a.draws", 2000), "a.draws of at least 2,000; this run has 1,000"),
        (at_least("a.share", 0.5), "a.share of at least 0.5; this run has 0.25"),
        (at_least("a.rows.*.epochs", 5), "a.rows.*.epochs of at least 5; this run has 3"),
        (equals("a.depths", [3, 5]), "a.depths of [3, 5]; this run has [3, 5, 8]"),
        (values("a.depths", 4), "a.depths with at least 4 values; this run has 3"),
        (values("a.trained.*", 3), "a.trained.* with at least 3 values; this run has 2"),
        (original("mnist"), "the original MNIST; this run has digits 8×8 (stand-in for MNIST)"),
        (PAPER_SCALE, "the paper's own data and sizes; this run has other data or other sizes"),
    ],
)
def test_a_need_that_is_not_met_says_what_the_run_has(need, reason):
    assert reasons(need) == [f"needs {reason}"]
    assert reason.startswith(need.wording)


@pytest.mark.parametrize("listed", [{"at_most": {}}, {"original": ["imagenet"]}])
def test_an_unknown_need_is_refused_by_name(listed):
    with pytest.raises(ConfigError, match=r"^X1: .*(at_most|imagenet)"):
        needs_of("X1", listed)


def test_the_papers_scale_is_one_of_the_facts():
    assert reasons(PAPER_SCALE, paper_scale=True) == []


@pytest.mark.parametrize(
    "path", ["a.drawn", "b.draws", "a.draws.more", "a.rows.*.width", "a.rows.z.epochs"]
)
def test_a_path_that_leads_nowhere_is_a_mistake(path):
    with pytest.raises(KeyError, match="the settings have no"):
        reasons(at_least(path, 1))


def decidable(settings, paper_scale):
    return {
        claim.id for claim in JUDGED if not unmet(claim.needs, settings, paper_scale=paper_scale)
    }


def unreduced():
    """Claims on experiments whose settings preset smoke leaves as they are at quick."""
    jobs = {preset: Jobs(DECLARED, SETTINGS[preset]) for preset in (SMOKE, QUICK)}
    found = set()
    for claim in JUDGED:
        inputs = jobs[SMOKE].inputs("", claim.reads)
        _, names = jobs[SMOKE].closure(inputs)
        if all(jobs[SMOKE][name].params == jobs[QUICK][name].params for name in names):
            found.add(claim.id)
    return found


def test_each_preset_decides_what_its_sizes_and_data_allow():
    """Every need is evaluated at every preset, so that all its paths lead to settings."""
    every = {claim.id for claim in JUDGED}
    assert every >= FROM_LAPTOP | AT_PAPER
    assert decidable(SETTINGS[SMOKE], False) <= AT_EVERY_PRESET | JUDGE_REFUSES | unreduced()
    assert decidable(SETTINGS[QUICK], False) == every - FROM_LAPTOP - AT_PAPER
    assert decidable(SETTINGS[LAPTOP], False) == every - AT_PAPER
    assert decidable(SETTINGS[PAPER], True) == every
