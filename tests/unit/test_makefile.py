"""What the Makefile calls takes the arguments that it is given; what `make clean` removes."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from finitewidth.cli.main import RAISES, app
from finitewidth.cli.options import Results

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("target", ["test", "test-full"])
def test_pytest_takes_the_arguments(target):
    said = subprocess.run(
        ["make", "--dry-run", target], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    words = shlex.split(re.findall(r"/pytest (.*)", said)[-1])
    answer = subprocess.run(
        [sys.executable, "-m", "pytest", *words, "--collect-only", "--ignore-glob=*/test_*.py"],
        cwd=ROOT, capture_output=True, text=True, check=False,
        env={name: value for name, value in os.environ.items() if not name.startswith("PYTEST")},
    )  # fmt: skip
    assert answer.returncode == pytest.ExitCode.NO_TESTS_COLLECTED, answer.stderr


def test_robustness_runs_every_seed_then_compares_and_reports():
    said = subprocess.run(
        ["make", "--dry-run", "robustness", "SEEDS=4 5", "PRESET=smoke"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    assert "for seed in 0 4 5; do" in said
    assert re.search(r"snakemake --cores \d+ robustness --config preset=smoke seed=\$seed ", said)
    calls = [shlex.split(line) for line in re.findall(r"-m finitewidth (.*)", said)]
    compared, reported = (app.parse_args(words, **RAISES) for words in calls)
    assert compared[0].__name__ == "robustness"
    assert compared[1].kwargs == {"preset": "smoke", "seeds": (4, 5)}
    assert reported[0].__name__ == "report"
    assert reported[1].kwargs == {"results": Results(preset="smoke")}


def test_any_other_target_is_an_artifact():
    said = subprocess.run(
        ["make", "--dry-run", "npf_fig3", "PRESET=smoke", "CORES=3"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    words = shlex.split(re.search(r"bin/finitewidth (run .*)", said)[1])
    _, bound, _ = app.parse_args(words, **RAISES)
    assert bound.args == ("npf_fig3",)
    assert bound.kwargs == {"cores": 3, "results": Results(preset="smoke")}


def test_make_clean_leaves_all_but_the_folders_of_presets_and_seeds(tmp_path):
    gone = ["smoke", "quick-seed12", "paper"]
    kept = ["data", "quick-mine", "quick-seed1-backup", "quick-seed3_images", "README.md"]
    for name in (*gone, *kept):
        (tmp_path / "results" / name).mkdir(parents=True)
    subprocess.run(["make", "-f", ROOT / "Makefile", "clean"], cwd=tmp_path, check=True,
                   capture_output=True)  # fmt: skip
    assert sorted(os.listdir(tmp_path / "results")) == sorted(kept)
