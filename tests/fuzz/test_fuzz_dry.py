"""Hostile settings on the command line and in files: a dry run, or one message; no trace left.

Real dry runs of Snakemake: of the settings listed here, and of a sample of the changes that
tests/fuzz/test_fuzz_config.py finds accepted, another one in each run.
"""

import json
import random
from functools import cache

import pytest
from tests.fuzz.mutations import HOSTILE, ODD, SEED, Mutation, paths
from tests.fuzz.test_fuzz_config import BASE, outcome
from tests.workflow.conftest import Checkout

from finitewidth.common import settings

pytestmark = [pytest.mark.workflow, pytest.mark.full]
REFUSED = [
    ("data={mnist: ../../etc/passwd}", "data.mnist"),
    ("data={mnist: mine, imagefolder: {mine: ../../outside}}", "data.imagefolder.mine"),
    ("data={mnist: mine, imagefolder: {mine: /etc}}", "data.imagefolder.mine"),
    ('data={imagefolder: {"../../x": mine}}', "data.imagefolder"),
    ('data={imagefolder: {"x; touch canary": mine}}', "data.imagefolder"),
    ('preset="$(touch canary)"', "preset"),
    ("npf={nu: {step_size: $(touch canary)}}", "npf.nu.step_size"),
    ("npf={nu: {runs: 1000000000000000000000}}", "npf.nu.runs"),
    ("npf={nu: 2001-13-45}", "npf.nu"),
    ('dgn={"$(touch canary)": 1}', "unknown key"),
    ("npf=[]", "npf"),
    ('data={root: "$(touch canary); `touch canary` | touch canary"}', "data.root"),
    ('data={mnist: mine, imagefolder: {mine: "a $(touch canary) {preset} b"}}', "data.imagefolder"),
]
PLANNED = ['data={root: "/a folder/ü, 1"}']


SAMPLE = 10
FREE = [("data", "root"), ("data", "imagefolder", "cifar10_jpeg")]  # take text


def accepted(monkeypatch):
    """A sample of changes that the plan accepts: hostile texts, and odd values anywhere."""
    monkeypatch.setattr(settings, "read_yaml", cache(settings.read_yaml))
    print(f"FINITEWIDTH_FUZZ={SEED}")
    stream, found = random.Random(SEED), []
    while len(found) < SAMPLE:
        keys, values = (FREE, HOSTILE) if len(found) % 2 else (paths(BASE), ODD)
        mutation = Mutation("value", stream.choice(keys), stream.choice(values))
        if outcome(mutation) == "planned":
            found.append(mutation)
    return found


@pytest.fixture(scope="module")
def fresh(tmp_path_factory):
    return Checkout(tmp_path_factory.mktemp("dry fuzz") / "$(touch canary) 'a b'")


def traces(checkout):
    """Files that a dry run left anywhere near the checkout."""
    around = checkout.path.parent
    return {str(f.relative_to(around)) for f in around.rglob("*")
            if ".snakemake" not in f.parts and "__pycache__" not in f.parts}  # fmt: skip


@pytest.mark.parametrize(("setting", "named"), REFUSED)
def test_refused_before_any_job_by_the_key(fresh, setting, named):
    before = traces(fresh)
    answer = fresh.run("--dry-run", setting, preset=None if "preset" in setting else "smoke")
    assert answer.returncode != 0
    assert named in answer.stdout
    assert "Traceback" not in answer.stdout
    assert traces(fresh) == before


@pytest.mark.parametrize("setting", PLANNED)
def test_planned_as_ever_where_any_text_is_allowed(fresh, setting):
    before = traces(fresh)
    assert fresh.planned(setting) == fresh.planned()
    assert traces(fresh) == before


def test_what_the_plan_accepts_dry_runs(fresh, tmp_path, monkeypatch):
    before, usual = traces(fresh), set(fresh.planned())
    for number, mutation in enumerate(accepted(monkeypatch)):
        file = tmp_path / f"{number}.json"
        file.write_text(json.dumps(mutation(BASE)))
        assert set(fresh.planned("--configfile", str(file))) == usual, mutation
    assert traces(fresh) == before
