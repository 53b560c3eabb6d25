"""Which claims are judged again under other base seeds, and when their verdicts are outdated."""

from pathlib import Path
from types import SimpleNamespace

import pytest

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


def test_inputs_and_files_lie_in_the_folder_of_the_seed():
    mine = robust(seed=4)
    for paper in mine.papers():
        inputs = mine.inputs(SimpleNamespace(paper=paper))
        assert inputs
        assert all(file.startswith("results/quick-seed4/") for file in inputs)
    assert len(mine.targets()) == 3 * len(mine.papers())
    assert all(file.startswith("results/quick-seed4/robustness/") for file in mine.targets())


def test_the_identity_changes_with_settings_upstream_and_with_no_others():
    before, after = robust().identities(), robust(trust={"depth": {"draws": 50000}}).identities()
    assert {paper for paper in before if before[paper] != after[paper]} == {"trust"}
