"""A job, Snakemake or all processes are killed; two runs in one folder."""

import random
import re
import signal
import time

import pytest
from tests.workflow.conftest import kill

from .reliability import said

pytestmark = [pytest.mark.faults, pytest.mark.workflow]
DRAWN = random.Random(20210525)
# number of checkpoints before the kill, and seconds after the last of them
MOMENTS = [(DRAWN.randrange(1, 25), DRAWN.random() / 10) for _ in range(9)] + [(0, 0.0)]
LOST = "steps since the last checkpoint"
LOCKED = "Directory cannot be locked"


def places(words, case):
    """The (epoch, step) after each occurrence of ``words`` in the log of the training."""
    found = re.findall(rf"{words} epoch (\d+), step (\d+)", case.checkout.log)
    return [(int(epoch), int(step)) for epoch, step in found]


@pytest.mark.full
@pytest.mark.case("SIGKILL to a training job at random times")
@pytest.mark.parametrize(
    ("checkpoints", "seconds"),
    [pytest.param(*moment, id=str(number))
     for number, moment in enumerate(MOMENTS)],
)  # fmt: skip
def test_a_killed_job_continues_from_its_last_checkpoint(case, checkpoints, seconds):
    process = case.checkout.begin()
    job = case.checkout.wait(process, checkpoints)
    time.sleep(seconds)
    job.send_signal(signal.SIGKILL)
    output, _ = process.communicate(timeout=120)
    assert process.returncode != 0
    assert "Error in rule train" in output
    saved, files = places("checkpoint after", case), case.checkout.checkpoints()
    assert len(saved) >= checkpoints
    assert len(files) >= min(len(saved), 2)  # the last two are kept
    case.survives(said(r"died with <Signals.SIGKILL: 9>|Error in rule train", output), LOST)
    continued = places("continuing after", case)
    # a further checkpoint may have been written before its log line
    assert continued[-1] >= saved[-1] if saved else len(continued) == bool(files)


@pytest.mark.full
@pytest.mark.case("SIGKILL to Snakemake while its job keeps running")
def test_snakemake_killed_while_its_job_lives(case):
    process = case.checkout.begin()
    job = case.checkout.wait(process, 3)
    process.kill()
    process.wait()
    process.stdout.close()  # the job still has the other end open
    case.survives("none: the next start removes the stale lock")
    job.wait(60)
    assert case.checkout.results() == case.undisturbed


@pytest.mark.full
@pytest.mark.case("SIGTERM to Snakemake")
def test_snakemake_is_asked_to_stop(case):
    process = case.checkout.begin()
    case.checkout.wait(process, 3)
    process.send_signal(signal.SIGTERM)
    output, _ = process.communicate(timeout=120)
    case.survives(
        said(r"Will exit after finishing [\w ]+|[Tt]erminat[\w ]+|Cancelling[\w ]+", output)
    )


@pytest.mark.full
@pytest.mark.case("Reboot: all processes killed at once")
def test_all_processes_are_killed_at_once(case):
    for seconds in (0.5, 2):  # while Snakemake is still starting
        process = case.checkout.begin()
        time.sleep(seconds)
        kill(process)
    process = case.checkout.begin()
    case.checkout.wait(process, 5)
    kill(process)
    state = case.checkout.path / ".snakemake"
    assert list((state / "locks").glob("*")), "there is no stale lock"
    assert list((state / "incomplete").rglob("*")), "there is no marker of incomplete files"
    case.survives("none: the next start removes the stale lock", LOST)
    assert "continuing after" in case.checkout.log


@pytest.mark.full
@pytest.mark.case("Second run in a folder in which one is running")
def test_a_second_run_is_rejected_and_does_no_harm(case):
    process = case.checkout.begin()
    job = case.checkout.wait(process, 1)
    job.suspend()  # otherwise it might end before the second run checks the lock
    refused = case.checkout.finish()
    job.resume()
    output, _ = process.communicate(timeout=120)
    assert process.returncode == 0, output
    assert refused.returncode != 0
    case.survives(said(LOCKED, refused.stdout))


@pytest.mark.full
@pytest.mark.case("Two runs started in one folder at the same time")
@pytest.mark.parametrize("number", range(3))
def test_of_two_runs_started_together_one_finishes_and_none_does_harm(case, number):
    both = [case.checkout.begin(), case.checkout.begin()]
    outputs = [process.communicate(timeout=300)[0] for process in both]
    failed = [text for process, text in zip(both, outputs, strict=True) if process.returncode]
    assert len(failed) <= 1, outputs
    assert case.checkout.results() == case.undisturbed
    case.survives(said(f"{LOCKED}|another run wrote here[^\n]*", failed[0]) if failed else "none")
