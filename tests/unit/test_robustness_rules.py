"""Which claims are judged again under other base seeds, and when their verdicts are outdated."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.workflow_rules import rules

from finitewidth.common.settings import merged, preset_only
from finitewidth.pipeline.plan import Plan
from finitewidth.pipeline.robustness import Robustness

ROOT = Path(__file__).parents[2]


def robust(preset="quick", **over):
    return Robustness(Plan(merged(preset_only(preset, ROOT / "config"), over), ROOT))


def claims(chosen):
    return {c for paper in chosen.papers() for c in chosen.claims(SimpleNamespace(paper=paper))}


QUICK = claims(robust())


def test_cheap_random_decidable_claims_are_judged_again():
    assert {"N04", "T06", "B01", "D08"} <= QUICK


@pytest.mark.parametrize(
    ("claim", "why"),
    [("T18", "is computed exactly"), ("B10", "is computed exactly"), ("D25", "is computed exactly"),
     ("N15", "needs the original data"), ("K10", "takes longer")],
)  # fmt: skip
def test_others_are_not(claim, why):
    assert claim not in QUICK, why


def test_the_time_that_counts_is_a_setting():
    assert claims(robust(robustness={"minutes": 0.001})) == set()
    assert {"T01", "N12"} <= claims(robust(robustness={"minutes": 1000}))
    assert claims(robust(robustness={"minutes": 1000})) > QUICK


def test_inputs_and_files_lie_in_the_folder_of_the_seed():
    mine = robust(seed=4)
    for paper in mine.papers():
        inputs = mine.inputs(SimpleNamespace(paper=paper))
        assert inputs
        assert all(file.startswith("results/quick-seed4/") for file in inputs)
    assert len(mine.targets()) == 3 * len(mine.papers())
    assert all(file.startswith("results/quick-seed4/robustness/") for file in mine.targets())


def test_settings_are_those_of_the_claims_judged_again_only():
    mine = robust(seed=4)
    told = mine.settings(SimpleNamespace(paper="trust"))
    assert set(told["situations"]) == set(mine.claims(SimpleNamespace(paper="trust")))
    assert all("seed 4" in each["context"] for each in told["situations"].values())
    assert not any(each["unmet"] for each in told["situations"].values())
    stamp = mine.stamp(SimpleNamespace(paper="trust"))
    assert stamp["base_seed"] == 4
    assert stamp["identity"] == robust().identity("trust")


def test_the_identity_does_not_depend_on_the_base_seed():
    assert robust(seed=4).identities() == robust().identities()
    assert set(robust().identities()) == set(robust().papers())


def test_the_identity_changes_with_settings_upstream_and_with_no_others():
    before, after = robust().identities(), robust(trust={"depth": {"draws": 50000}}).identities()
    assert {paper for paper in before if before[paper] != after[paper]} == {"trust"}


@pytest.mark.parametrize("part", ["code", "claim_code"])
def test_the_identity_changes_with_the_code(part, monkeypatch):
    before = robust().identity("beyond")
    original = getattr(Plan, part)
    monkeypatch.setattr(Plan, part, lambda self, *words: [original(self, *words), "x"])
    assert robust().identity("beyond") != before


def test_rules_of_a_usual_run_do_not_include_it():
    loaded = rules()
    wanted = [str(file) for name in ("all", "report") for file in loaded[name].input]
    assert not any("robustness" in file for file in wanted)
    assert loaded["robustness"].output == []
