"""Commands of the page on running work as it says, on the finished run at preset smoke."""

import os
import re
import shutil

import pytest
from tests.helpers.documented_commands import blocks, called
from tests.helpers.project import ROOT
from tests.helpers.workflow_checkout import Checkout

from finitewidth.settings.presets import preset_only

pytestmark = [pytest.mark.workflow, pytest.mark.usefixtures("fork_server")]
PAGE = ROOT / "docs/running.md"
LINES = [
    line.partition(" # ")[0].strip()
    for block in blocks(PAGE, "bash")
    for line in block.splitlines()
]
NOTHING = "Nothing to be done"
WORDS = {
    "finitewidth run": NOTHING,
    "finitewidth run thesis_fig2_4": NOTHING,
    "finitewidth run thesis_fig2_4 --dry-run": NOTHING,
    "finitewidth run thesis_fig2_4 --force": "1 job done",
    "finitewidth run thesis_fig2_4 -- -R thesis_risk": "2 jobs done",
    "finitewidth status": "nothing is running",
    "finitewidth verify": ", 0 problems",
    "finitewidth run thesis_fig2_4 --seed 1": "results/smoke-seed1/thesis/figures/thesis_fig2_4",
    "finitewidth run thesis_fig2_4 --name mine --config thesis.risk.draws=60": (
        "results/mine/thesis/figures/thesis_fig2_4"
    ),
    "finitewidth compare quick mine": "settings: thesis_risk: draws 10 → 60",
    "finitewidth run --config rerun=packages": NOTHING,
}
LONG = {  # seconds each; the others show the same
    "finitewidth run thesis_fig2_4",
    "finitewidth run thesis_fig2_4 --force",
    "finitewidth run thesis_fig2_4 --seed 1",
    "finitewidth run thesis_fig2_4 --name mine --config thesis.risk.draws=60",
    "finitewidth run --config rerun=packages",
}
TESTED_ELSEWHERE = {"finitewidth report"}  # takes long; tests/workflow/test_smoke.py


@pytest.fixture(scope="module")
def finished(smoke, tmp_path_factory):
    """A second folder with the finished run, without records of Snakemake and with other dates."""
    checkout = Checkout(tmp_path_factory.mktemp("running") / "finished", of=smoke.path)
    shutil.rmtree(checkout.path / ".snakemake")
    # in this order, inputs are newer than what was made of them
    for file in sorted(checkout.path.glob("results/**/*"), reverse=True):
        os.utime(file)
    return checkout


def smaller(command: str) -> str:
    """The command for the run at preset smoke."""
    command = re.sub(r"(finitewidth (?:run|status|verify))", r"\1 --preset smoke", command)
    return command.replace("quick", "smoke")


def test_every_command_of_the_page_is_tested():
    assert set(LINES) == {*WORDS, *TESTED_ELSEWHERE}


@pytest.mark.parametrize(
    "command",
    [pytest.param(command, marks=pytest.mark.full if command in LONG else ()) for command in WORDS],
)
def test_a_command_does_what_the_page_says(command, finished):
    if "compare" in command:  # it needs verdicts of both runs
        made = "--name mine --config thesis.risk.draws=60 --preset smoke"
        claims = f"finitewidth run results/mine/claims/thesis_verdicts.csv {made}"
        assert called(finished, claims).returncode == 0
    answer = called(finished, smaller(command))
    assert answer.returncode == 0, answer.stdout
    assert WORDS[command] in answer.stdout
    assert "metadata" not in answer.stdout  # of Snakemake


def test_tables_that_were_deleted_with_their_provenance_are_not_missed(finished):
    (deletion,) = re.findall(r"`(rm results\S+experiments\S+)`", PAGE.read_text(encoding="utf-8"))
    assert called(finished, smaller(deletion)).returncode == 0
    assert finished.planned() == {}
    # once a figure is lost as well, the data packages need the columns of all tables
    for file in finished.path.glob("results/smoke/**/thesis_fig2_4.*"):
        file.unlink()
    for file in finished.path.glob("results/smoke/thesis/experiments/risk_*"):
        file.unlink()
    made = {"thesis_risk": 1, "thesis_fig2_4": 1, "npf_nu": 1, "datapackages": 1}
    assert made.items() <= finished.planned().items()


def test_the_preset_of_the_page_is_one(finished):
    (text,) = blocks(PAGE, "yaml")
    (finished.path / "config/preset/mine.yaml").write_text(text, encoding="utf-8")
    preset = preset_only("mine", finished.path / "config")
    assert preset["thesis"]["risk"]["draws"] == 60
