"""Hostile settings on the command line and in files: a dry run, or one message; no trace left."""

import pytest
from tests.workflow.conftest import Checkout

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
]
PLANNED = [
    'data={root: "$(touch canary); `touch canary` | touch canary"}',
    'data={mnist: mine, imagefolder: {mine: "a $(touch canary)\\\\\' {preset} b"}}',
]


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
