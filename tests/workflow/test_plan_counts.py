"""The plan, the terminal and Snakemake agree on the number of jobs."""

import re
from pathlib import Path

import pytest
from tests.workflow_rules import rules

from finitewidth.common.settings import preset_only
from finitewidth.pipeline.plan import Plan

from .conftest import Checkout

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.workflow


def test_the_plan_counts_the_jobs_that_snakemake_runs(tmp_path):
    announced = Checkout(tmp_path / "fresh").planned(preset="quick")
    makes_nothing = announced.pop("all")
    assert makes_nothing == 1
    plan = Plan(preset_only("quick", ROOT / "config"), ROOT)
    text = plan.forecast(plan.graph(rules().values()), 150)
    (total,) = re.findall(r"^everything +(\d+) ", text, re.M)
    assert int(total) == sum(announced.values())
    # the terminal counts what has a forecast
    rule = {"train": plan.trainings(), "claims": [f"claims {p.name}" for p in plan.papers],
            "dataset": ["dataset digits"] * announced["dataset"]}  # fmt: skip
    names = [name for key in announced for name in rule.get(key, [key])]
    assert sum(plan.seconds(name) > 0 for name in names) == sum(announced.values())
