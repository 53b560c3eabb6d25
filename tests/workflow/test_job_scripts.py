"""Jobs of a cluster without a scheduler: the command that submits a job runs its script with sh."""

import pytest
from tests.workflow import hostile
from tests.workflow.conftest import Checkout

from finitewidth.pipeline.job_commands import is_literal

pytestmark = pytest.mark.workflow
# a scheduler need not hand environment variables on
SUBMIT = """#!/bin/sh
cp "$1" submitted.sh
env -u FINITEWIDTH_DATA sh "$1" > job.log 2>&1
echo 1
"""


def submitted(checkout, *arguments):
    """Run Snakemake with a scheduler that carries out each job at once."""
    program = checkout.path / "submit.sh"
    program.write_text(SUBMIT)
    program.chmod(0o755)
    return checkout.run(
        *arguments, "--executor", "cluster-generic", "--jobs", "1",
        "--cluster-generic-submit-cmd", "./submit.sh",
        "--latency-wait", "10", "--seconds-between-status-checks", "1",
    )  # fmt: skip


def test_no_setting_reaches_the_shell_of_a_job(tmp_path, monkeypatch):
    monkeypatch.setenv("FINITEWIDTH_DATA", hostile.data_root(tmp_path))
    checkout = Checkout(tmp_path / hostile.FOLDER)
    finished = submitted(checkout, hostile.SETTING, hostile.TARGET)
    log = checkout.path / "job.log"
    assert finished.returncode == 0, finished.stdout + (log.read_text() if log.exists() else "")
    hostile.checked(checkout, tmp_path)
    script = (checkout.path / "submitted.sh").read_text()
    assert hostile.CANARY not in script
    command = script.split(" -m snakemake ")[1].split(" && touch ")[0]
    assert is_literal(command)
    assert " --config " not in command


def test_a_folder_that_a_shell_would_interpret_is_refused_before_a_job(tmp_path):
    checkout = Checkout(tmp_path / "$(touch canary)")
    finished = submitted(checkout, "results/smoke/beyond/experiments/theory_limits.csv")
    assert finished.returncode != 0
    assert "the folder of the run" in finished.stdout
    assert not (checkout.path / "submitted.sh").exists()
    assert not list(tmp_path.rglob("canary"))
