"""Datasets, checkpoints and tables that are damaged, replaced or have a wrong date."""

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
IGNORED = r"checkpoint \S+ is damaged and is ignored \([^.)\n]*[.)]"  # torch's message is long
LIMITS = "results/smoke/beyond/experiments/theory_limits.csv"


def damage(file, kind):
    """Truncate, change or empty a file."""
    content = bytearray(file.read_bytes())
    middle = len(content) // 2
    content[middle] = ord("1") if content[middle] != ord("1") else ord("2")
    file.write_bytes({"truncated": content[:middle], "emptied": b""}.get(kind, content))


@pytest.mark.full
@pytest.mark.case("Dataset truncated, altered or empty")
@pytest.mark.parametrize("kind", DAMAGES)
def test_a_damaged_dataset_is_refused_by_name(case, kind):
    file = case.checkout.path / FINISHED[0]
    damage(file, kind)
    refused = case.checkout.finish()
    assert refused.returncode != 0
    assert "delete it and run again" in case.checkout.log
    assert "Traceback" not in case.checkout.log + refused.stdout
    message = said(r"\S*digits\.npz is [^\n;:]*", case.checkout.log)
    file.unlink()
    done = case.checkout.finish()
    assert done.returncode == 0, done.stdout
    assert case.checkout.results() == case.undisturbed
    case.publish(message, "the file")


def interrupted(case, *settings, checkpoints=4):
    """Kill all processes in the middle of the training; returns its checkpoints."""
    process = case.checkout.begin(*settings)
    case.checkout.wait(process, checkpoints)
    kill(process)
    return case.checkout.checkpoints()


@pytest.mark.full
@pytest.mark.case("Checkpoint truncated, altered or empty")
@pytest.mark.parametrize("kind", DAMAGES)
def test_the_previous_checkpoint_replaces_a_damaged_one(case, kind):
    saved = interrupted(case)
    assert len(saved) == 2
    damage(saved[-1], kind)
    case.survives(lost="steps since the previous checkpoint", log=IGNORED)
    assert "continuing after" in case.checkout.log


class Poison:
    """Creates a folder when unpickled."""

    def __init__(self, canary):
        self.canary = canary

    def __reduce__(self):
        return os.mkdir, (str(self.canary),)


@pytest.mark.full
@pytest.mark.case("Checkpoint replaced by a malicious pickle")
def test_a_malicious_pickle_is_not_executed(case, tmp_path):
    canary = tmp_path / "canary"
    for file in interrupted(case):
        content = pickle.dumps(Poison(canary))
        owner = file.parent.name.encode()
        file.write_bytes(content + hashlib.sha256(content + owner).digest())
    case.survives(lost="the progress of the training", log=IGNORED)
    assert case.checkout.log.count("is damaged and is ignored") == 2
    assert not canary.exists()


@pytest.mark.full
@pytest.mark.case("Checkpoint of a training with other settings")
def test_a_checkpoint_of_other_settings_is_not_used(case):
    other = SETTINGS[0].replace("epochs", "step_size: 0.02, epochs")
    interrupted(case, other, SETTINGS[1])
    case.survives("none: it is in another folder")
    assert "continuing after" not in case.checkout.log


@pytest.mark.full
@pytest.mark.case("Checkpoint of a training with other code")
def test_a_checkpoint_of_other_code_is_not_used(case):
    file = "src/finitewidth/training/losses.py"
    whole = (case.checkout.path / file).read_text()
    case.checkout.edit(file, "argmax(dim=-1)", "argmin(dim=-1)")
    interrupted(case)
    (case.checkout.path / file).write_text(whole)
    case.survives("none: it is in another folder")
    assert "continuing after" not in case.checkout.log


@pytest.mark.full
@pytest.mark.case("Checkpoint copied from another training")
def test_a_checkpoint_copied_from_another_training_is_rejected(case):
    other = SETTINGS[0].replace("epochs", "step_size: 0.02, epochs")
    saved = interrupted(case, other, SETTINGS[1])
    ours = [file for file in interrupted(case) if file.parent != saved[0].parent]
    for theirs, place in zip(saved, ours, strict=True):
        shutil.copy2(theirs, place)
    case.survives(lost="the progress of the training", log=IGNORED)


@pytest.fixture(scope="session")
def drawn(base):
    """A checkout with a finished table, and one with the figure drawn from it."""
    checkout = Faulty(base.path.parent / "drawn", base)
    assert checkout.finish(LIMITS).returncode == 0
    figure = Faulty(base.path.parent / "figure", checkout)
    assert figure.finish("beyond_fig5").returncode == 0
    return checkout, figure


@pytest.mark.full
@pytest.mark.case("Intermediate table truncated, altered or empty")
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
    """Set the dates of all finished files to another day."""
    moment = time.time() + days * 86400
    for name in FINISHED:
        for file in (case.checkout.path / name).parent.glob("*.*"):
            os.utime(file, (moment, moment))


@pytest.mark.full
@pytest.mark.case("Clock set back: finished files dated in the future")
def test_files_dated_in_the_future_are_not_made_again(case):
    dated(case, 1)
    assert case.checkout.planned(*FINISHED, *SETTINGS) == {}
    started = case.checkout.run(*FINISHED, *SETTINGS, cores=1)
    assert "Nothing to be done" in started.stdout
    case.before = case.checkout.finished()
    assert max(case.before.values()) <= time.time_ns()
    case.survives("none: the next start sets their dates to the present")
    assert case.checkout.planned(*FINISHED, *SETTINGS) == {}


@pytest.mark.full
@pytest.mark.case("Clock behind: finished files older than the scripts of the workflow")
def test_files_dated_in_the_past_are_as_good_as_any(case):
    dated(case, -3650)
    started = case.checkout.run(*FINISHED, *SETTINGS, cores=1)
    assert "Nothing to be done" in started.stdout
    case.before = case.checkout.finished()
    case.survives("none: the time of a file decides nothing")
