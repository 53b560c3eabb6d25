"""Content decides what runs again; the time of a file never does."""

import os
import shutil
import subprocess

import pytest

pytestmark = pytest.mark.workflow
NUMBERS = "config/reported/npf.csv"
HISTORY = "results/smoke/npf/training/kvf/history.csv"
WEIGHTS = "results/smoke/npf/training/kvf/weights.npz"


@pytest.fixture
def finished(smoke, make_checkout):
    """A second folder with the finished run, its records and its code."""
    other = make_checkout("finished")
    shutil.rmtree(other.path)
    shutil.copytree(smoke.path, other.path, symlinks=True)
    return other


def git(checkout, *words):
    identity = ("-c", "user.name=A tester", "-c", "user.email=tester@example.org")
    subprocess.run(["git", *identity, *words], cwd=checkout.path, check=True, capture_output=True)


def test_touching_every_file_reruns_nothing(finished):
    for folder, _, files in os.walk(finished.path, topdown=False):
        for file in files:
            os.utime(os.path.join(folder, file), follow_symlinks=False)
    assert finished.planned() == {}
    # in the order of a walk from the top, inputs are newer than what was made of them
    for folder, _, files in os.walk(finished.path):
        for file in sorted(files, reverse=True):
            os.utime(os.path.join(folder, file), follow_symlinks=False)
    assert finished.planned() == {}


def test_switching_branches_and_back_reruns_nothing(finished):
    (finished.path / ".gitignore").write_text("results\n.snakemake\n__pycache__\n")
    git(finished, "init", "--initial-branch", "main")
    git(finished, "add", ".")
    git(finished, "commit", "-m", "The finished run")
    git(finished, "checkout", "-b", "other")
    finished.edit("src/finitewidth/training/losses.py", "argmax(dim=-1)", "argmax(dim=2)")
    finished.edit("workflow/scripts/train.py", "with logged_to", "print()\nwith logged_to")
    finished.edit("workflow/report/npf_fig3.rst", "{{ footer }}", "More. {{ footer }}")
    finished.edit(NUMBERS, "97.85", "97.84")
    git(finished, "commit", "--all", "-m", "Another experiment")
    jobs = finished.planned()
    assert jobs["train"] > 0
    assert jobs["captions_npf"] == jobs["npf_regimes"] == 1
    git(finished, "checkout", "main")
    assert finished.planned() == {}


@pytest.mark.parametrize("copy", [shutil.copyfile, shutil.copy2], ids=["new times", "old times"])
def test_results_copied_into_another_clone_are_as_good_there(smoke, make_checkout, copy):
    clone = make_checkout("clone")
    shutil.copytree(smoke.path / "results", clone.path / "results", copy_function=copy)
    assert clone.planned() == {}
    # and only there where settings and code are the same
    assert clone.planned("npf={nu: {per_class: 11}}")["npf_nu"] == 1
    clone.edit("src/finitewidth/kernels/npk.py", "import torch", "import torch\n\nONE = 1\n")
    assert clone.planned()["npf_nu"] == 1


def test_changed_content_is_noticed_whatever_its_time(finished):
    before = finished.path / NUMBERS
    old = before.stat().st_mtime - 10**8
    finished.edit(NUMBERS, "97.85", "97.84")
    os.utime(before, (old, old))
    jobs = finished.planned()
    assert jobs["npf_regimes"] == 1
    assert "train" not in jobs


def test_a_training_that_was_made_anew_while_its_readers_were_not_is_noticed(finished):
    """As if a run had been killed between the two."""
    finished.edit(HISTORY, "kvf", "kvg")
    assert finished.planned("npf_fig3") == {}  # no one reads this history
    shutil.copyfile(finished.path / WEIGHTS.replace("kvf", "nu"), finished.path / WEIGHTS)
    assert finished.planned("npf_fig3") == {"npf_kvf": 1, "npf_fig3": 1}


def test_changing_the_script_of_a_job_reruns_it(finished):
    finished.edit("workflow/scripts/dataset.py", "with logged_to", "print()\nwith logged_to")
    assert finished.planned("npf_nu")["dataset"] == 1
