"""Bad settings are refused before any job; the workflow and the code are in style."""

import subprocess
import sys
from pathlib import Path

import pytest
from tests.helpers.project import ROOT

pytestmark = [pytest.mark.workflow, pytest.mark.usefixtures("fork_server")]


@pytest.fixture(scope="module")
def fresh(make_checkout):
    """A checkout in which nothing was ever run."""
    return make_checkout("fresh")


def test_bad_settings_are_refused_before_any_job(fresh):
    answer = fresh.run(
        "--dry-run",
        "npf={regimes: {networks: {fc: {width: 0}}}, nu: {wdith: 3}}",
        "data={root: '/data/$(touch X)', mnist: dgits}",
    )
    assert answer.returncode != 0
    assert "Traceback" not in answer.stdout
    for words in (
        "npf.regimes.networks.fc.width: 0",
        "npf.nu.wdith: unknown key",
        "data.root",
        "greater than or equal to 1",
    ):
        assert words in answer.stdout
    assert not (fresh.path / "results").exists()


def test_the_code_of_another_clone_is_refused(fresh):
    folders = fresh.environment()["PYTHONPATH"].replace(str(fresh.path), str(ROOT))
    answer = subprocess.run(
        fresh.command("--dry-run", "thesis_fig2_4"),
        cwd=fresh.path,
        env=fresh.environment() | {"PYTHONPATH": folders},
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode != 0
    assert f"imported from {ROOT}/src, not from {fresh.path}/src" in answer.stdout + answer.stderr


def test_lint_finds_nothing(fresh):
    answer = fresh.run("--lint")
    assert answer.returncode == 0, answer.stdout


@pytest.mark.parametrize(
    "tool",
    [["snakefmt", "--check", "."], ["ruff", "check", "."], ["ruff", "format", "--check", "."]],
)
def test_formatting_and_style(tool):
    program = Path(sys.executable).parent / tool[0]
    answer = subprocess.run(
        [program, *tool[1:]], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert answer.returncode == 0, answer.stdout + answer.stderr
