"""What the Makefile calls takes the arguments that it is given; what `make clean` removes."""

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.helpers.project import ROOT

from finitewidth.cli.main import RAISES, app
from finitewidth.cli.options import Results


def test_any_other_target_is_an_artifact():
    said = subprocess.run(
        ["make", "--dry-run", "npf_fig3", "PRESET=smoke", "CORES=3"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    words = shlex.split(re.search(r"bin/finitewidth (run .*)", said)[1])
    _, bound, _ = app.parse_args(words, **RAISES)
    assert bound.args == ("npf_fig3",)
    assert bound.kwargs == {"cores": 3, "results": Results(preset="smoke")}


def test_a_complete_run_ends_with_a_short_list():
    said = subprocess.run(
        ["make", "--dry-run", "all", "PRESET=smoke", "CORES=3"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    run, shown = (shlex.split(line) for line in re.findall(r"bin/finitewidth (.*)", said))
    _, bound, _ = app.parse_args(run, **RAISES)
    assert (bound.args, bound.kwargs) == ((), {"cores": 3, "results": Results(preset="smoke")})
    _, bound, _ = app.parse_args(shown, **RAISES)
    assert bound.kwargs == {"short": True, "results": Results(preset="smoke")}


def test_make_clean_leaves_all_but_the_folders_of_presets_and_seeds(tmp_path):
    gone = ["smoke", "quick-seed12", "paper"]
    kept = ["data", "quick-mine", "quick-seed1-backup", "quick-seed3_images", "README.md"]
    for name in (*gone, *kept):
        (tmp_path / "results" / name).mkdir(parents=True)
    subprocess.run(
        ["make", "-f", ROOT / "Makefile", "clean"], cwd=tmp_path, check=True, capture_output=True
    )
    assert sorted(os.listdir(tmp_path / "results")) == sorted(kept)


FAKE_PYTHON = """#!/bin/sh
test "$2" != venv || { echo "making $3"; exit 1; }
"""


@pytest.fixture
def clone(tmp_path) -> Path:
    """A folder that `make setup` takes for a clone that is set up."""
    folder = tmp_path / "clone"
    repair = folder / "src/finitewidth/common/torchvision_operators.py"
    repair.parent.mkdir(parents=True)
    repair.touch()
    for file in (ROOT / "Makefile", ROOT / "pyproject.toml", *ROOT.glob("*.lock")):
        shutil.copy(file, folder)
    (folder / "python").write_text(FAKE_PYTHON)
    (folder / "python").chmod(0o755)
    (folder / ".venv").mkdir()
    (folder / ".venv/installed").write_text(f"{folder}\n")
    (folder / ".venv/torchvision").touch()
    return folder


def set_up(folder: Path) -> str:
    words = ["make", "setup", "PYTHON=./python"]
    return subprocess.run(
        words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    ).stdout


def test_a_clone_is_set_up_once(clone):
    assert "Nothing to be done" in set_up(clone)


def test_a_moved_clone_is_set_up_anew(clone):
    moved = clone.with_name("moved")
    clone.rename(moved)
    assert "making .venv" in set_up(moved)
    assert not (moved / ".venv").exists()


def test_an_environment_of_another_clone_behind_a_link_stays(clone):
    worktree = clone.with_name("worktree")
    shutil.copytree(clone, worktree, ignore=shutil.ignore_patterns(".venv"))
    (worktree / ".venv").symlink_to(clone / ".venv")
    assert "making .venv" in set_up(worktree)
    assert not (worktree / ".venv").is_symlink()
    assert sorted(os.listdir(clone / ".venv")) == ["installed", "torchvision"]


def test_a_path_with_braces_is_refused_before_the_set_up(clone):
    braces = clone.with_name("{clone}")
    clone.rename(braces)
    said = set_up(braces)
    assert "Snakemake takes braces" in said
    assert "making" not in said
