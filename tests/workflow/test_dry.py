"""Bad settings are refused before any job; the workflow and the code are in style."""

import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import trainings_planned

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.workflow


@pytest.fixture(scope="module")
def fresh(make_checkout):
    """A checkout in which nothing was ever run."""
    return make_checkout("fresh")


def test_a_step_size_search_trains_all_step_sizes_in_one_job(fresh):
    jobs = fresh.planned("npf={regimes: {sgd_search: true}}")
    assert jobs["train"] == trainings_planned("smoke")


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (["npf={regimes: {networks: {fc: {width: 0}}}}"],
         ["npf.regimes.networks.fc.width", "0", "at least 1"]),
        (["npf={nu: {wdith: 3}}"], ["npf.nu.wdith", "unknown key"]),
        (["preset=qiuck"], ["preset", "'qiuck'", "did you mean quick?"]),
        (["data={mnist: dgits}"], ["data.mnist: 'dgits' is unknown; did you mean 'digits'?"]),
    ],
)  # fmt: skip
def test_bad_settings_are_refused_before_any_job(fresh, settings, words):
    answer = fresh.run("--dry-run", *settings, preset=None)
    assert answer.returncode != 0
    assert "Traceback" not in answer.stdout
    for word in words:
        assert word in answer.stdout
    assert not (fresh.path / "results").exists()


def test_a_number_that_yaml_reads_as_text_is_refused_with_the_cure(fresh, tmp_path):
    (tmp_path / "mine.yaml").write_text("npf: {nu: {step_size: 1e-3}}")
    answer = fresh.run("--dry-run", "--configfile", str(tmp_path / "mine.yaml"))
    assert answer.returncode != 0
    assert "npf.nu.step_size: '1e-3' is refused" in answer.stdout
    assert "write 0.001, not 1e-3" in answer.stdout


def test_lint_finds_nothing(fresh):
    answer = fresh.run("--lint")
    assert answer.returncode == 0, answer.stdout


@pytest.mark.parametrize("tool", [["snakefmt", "--check", "."], ["ruff", "check", "."],
                                  ["ruff", "format", "--check", "."]])  # fmt: skip
def test_formatting_and_style(tool):
    program = Path(sys.executable).parent / tool[0]
    answer = subprocess.run(
        [program, *tool[1:]], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert answer.returncode == 0, answer.stdout + answer.stderr
