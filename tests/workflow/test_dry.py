"""Bad settings are refused before any job; the workflow and the code are in style."""

import re
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
        (["data={root: '/data/$(touch X)'}"], ["data.root", "it must match"]),
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


def test_robustness_plans_the_cheap_experiments_in_the_folder_of_the_seed(fresh):
    planned = [fresh.planned("robustness", f"seed={seed}", preset="quick") for seed in (0, 3)]
    assert planned[0] == planned[1]
    jobs = planned[0]
    assert jobs["robustness_claims"] > 1
    assert jobs["trust_depth"] == 1
    assert not {"trust_mean_field", "npf_regimes", "report", "claims"} & {*jobs}
    answer = fresh.run("--dry-run", "--forceall", "robustness", "seed=3", preset="quick")
    written = re.findall(r"^ +output: (.*)$", answer.stdout, re.M)
    files = {file for line in written for file in line.split(", ")}
    assert "results/quick-seed3/robustness/trust_verdicts.csv" in files
    folders = {"results/quick-seed3/", "results/data/"}
    assert {file[: file.index("/", 8) + 1] for file in files} == folders


def test_results_of_two_base_seeds_share_datasets_only(fresh):
    def outputs(seed):
        answer = fresh.run("--dry-run", "--forceall", "trust_fig2", "npf_fig3", f"seed={seed}")
        return set(", ".join(re.findall(r"^ +output: (.*)$", answer.stdout, re.M)).split(", "))

    shared = outputs(0) & outputs(1)
    assert shared
    assert all(file.startswith("results/data/") for file in shared)


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
