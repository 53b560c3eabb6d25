"""Files damaged, replaced or of another time: datasets, checkpoints, tables."""

import hashlib
import os
import pickle
import shutil
import time

import pytest
from tests.workflow.conftest import kill

from .conftest import FINISHED, SETTINGS, Faulty
from .reliability import said

pytestmark = [pytest.mark.faults, pytest.mark.workflow]
DAMAGES = ["truncated", "altered", "emptied"]
LEFT_OUT = r"checkpoint \S+ is damaged and left out \([^.)\n]*[.)]"  # torch goes on and on
LIMITS = "results/smoke/beyond/experiments/theory_limits.csv"


def damage(file, kind):
    """Cut, change or empty a file."""
    content = bytearray(file.read_bytes())
    middle = len(content) // 2
    content[middle] = ord("1") if content[middle] != ord("1") else ord("2")
    file.write_bytes({"truncated": content[:middle], "emptied": b""}.get(kind, content))


@pytest.mark.case("Dataset truncated, altered, zero-length")
@pytest.mark.parametrize("kind", DAMAGES)
def test_a_damaged_dataset_is_refused_by_name(case, kind):
    file = case.checkout.path / FINISHED[0]
    damage(file, kind)
    refused = case.checkout.finish()
    assert refused.returncode != 0
    assert "snakemake --cores 1 results/data/digits.npz" in case.checkout.log  # the remedy
    assert "Traceback" not in case.checkout.log + refused.stdout
    message = said(r"\S*digits\.npz is [^\n;:]*", case.checkout.log)
    file.unlink()
    done = case.checkout.finish()
    assert done.returncode == 0, done.stdout
    assert case.checkout.results() == case.undisturbed
    case.publish(message, "the file")


def interrupted(case, *settings, checkpoints=4):
    """Kill everything in the middle of the training."""
    process = case.checkout.begin(*settings)
    case.checkout.wait(process, checkpoints)
    kill(process)
    return case.checkout.checkpoints()


@pytest.mark.full
@pytest.mark.case("Checkpoint truncated, altered, zero-length")
@pytest.mark.parametrize("kind", DAMAGES)
def test_a_damaged_checkpoint_gives_way_to_the_one_before(case, kind):
    saved = interrupted(case)
    assert len(saved) == 2
    damage(saved[-1], kind)
    case.survives(lost="steps since the checkpoint before", log=LEFT_OUT)
    assert "continuing after" in case.checkout.log


class Poison:
    """Runs a command when unpickled."""

    def __init__(self, canary):
        self.canary = canary

    def __reduce__(self):
        return os.mkdir, (str(self.canary),)


@pytest.mark.full
@pytest.mark.case("Poisoned pickle in place of a checkpoint")
def test_a_poisoned_pickle_is_not_executed(case, tmp_path):
    canary = tmp_path / "canary"
    for file in interrupted(case):
        content = pickle.dumps(Poison(canary))
        owner = file.parent.name.encode()
        file.write_bytes(content + hashlib.sha256(content + owner).digest())
    case.survives(lost="the training's progress", log=LEFT_OUT)
    assert case.checkout.log.count("is damaged and left out") == 2
    assert not canary.exists()


@pytest.mark.full
@pytest.mark.case("Checkpoint of other settings")
def test_a_checkpoint_of_other_settings_is_not_met(case):
    other = SETTINGS[0].replace("epochs", "step_size: 0.02, epochs")
    interrupted(case, other, SETTINGS[1])
    case.survives("none: it lies in a folder of its own")
    assert "continuing after" not in case.checkout.log


@pytest.mark.full
@pytest.mark.case("Checkpoint of other code")
def test_a_checkpoint_of_other_code_is_not_met(case):
    file = "src/finitewidth/training/losses.py"
    whole = (case.checkout.path / file).read_text()
    case.checkout.edit(file, "argmax(dim=-1)", "argmin(dim=-1)")
    interrupted(case)
    (case.checkout.path / file).write_text(whole)
    case.survives("none: it lies in a folder of its own")
    assert "continuing after" not in case.checkout.log


@pytest.mark.full
@pytest.mark.case("Checkpoint moved in from another training")
def test_a_checkpoint_moved_in_from_another_training_is_refused(case):
    other = SETTINGS[0].replace("epochs", "step_size: 0.02, epochs")
    saved = interrupted(case, other, SETTINGS[1])
    ours = [file for file in interrupted(case) if file.parent != saved[0].parent]
    for theirs, place in zip(saved, ours, strict=True):
        shutil.copy2(theirs, place)
    case.survives(lost="the training's progress", log=LEFT_OUT)


@pytest.fixture(scope="session")
def drawn(base):
    """A copy of the base with a table made and a figure drawn of it, and what both are."""
    checkout = Faulty(base.path.parent / "drawn", base)
    assert checkout.finish(LIMITS).returncode == 0
    figure = Faulty(base.path.parent / "figure", checkout)
    assert figure.finish("beyond_fig5").returncode == 0
    return checkout, figure


@pytest.mark.full
@pytest.mark.case("Intermediate table truncated, altered, zero-length")
@pytest.mark.parametrize("kind", DAMAGES)
def test_a_damaged_table_is_refused_by_name(case, drawn, tmp_path, kind):
    checkout = Faulty(tmp_path / "table", drawn[0])
    damage(checkout.path / LIMITS, kind)
    refused = checkout.finish("beyond_fig5")
    assert refused.returncode != 0
    message = said(r"\S*theory_limits\.csv is damaged.*?delete it and run again", refused.stdout)
    assert "Traceback" not in refused.stdout
    (checkout.path / LIMITS).unlink()
    done = checkout.finish("beyond_fig5")
    assert done.returncode == 0, done.stdout
    assert checkout.results() == drawn[1].results()
    case.publish(message, "the file")


def dated(case, days):
    """Give all that is finished the time of another day."""
    moment = time.time() + days * 86400
    for name in FINISHED:
        for file in (case.checkout.path / name).parent.glob("*.*"):
            os.utime(file, (moment, moment))


@pytest.mark.full
@pytest.mark.case("Clock set back: finished files of the future")
def test_files_of_the_future_are_not_made_anew(case):
    dated(case, 1)
    assert case.checkout.planned(*FINISHED, *SETTINGS) == {}
    started = case.checkout.run(*FINISHED, *SETTINGS, cores=1)
    assert "Nothing to be done" in started.stdout
    case.before = case.checkout.finished()
    assert max(case.before.values()) <= time.time_ns()
    case.survives("none: the next start dates them now")
    assert case.checkout.planned(*FINISHED, *SETTINGS) == {}


@pytest.mark.full
@pytest.mark.case("Clock behind: finished files older than the workflow's scripts")
def test_files_of_the_past_are_made_anew_to_the_same_bytes(case):
    dated(case, -3650)
    done = case.checkout.run(*FINISHED, *SETTINGS, cores=1)
    assert done.returncode == 0, done.stdout
    case.before = case.checkout.finished()
    case.survives("none", "time: finished work is done again, to the same bytes")
