"""The fault matrix: signals to a run, or to its job, while the job of a stage works."""

import signal
import time

import pytest

from .matrix import cells, jobs_of, lost_by
from .reliability import said

pytestmark = [pytest.mark.faults, pytest.mark.workflow]


@cells("SIGKILL to run and job")
def test_all_processes_are_killed(cell, stage):
    held = cell.hold()
    held.signal(signal.SIGKILL)
    held.end()
    cell.survives("none: the next start goes on", lost_by(stage))


@cells("SIGKILL to the job")
def test_the_job_is_killed(cell, stage):
    held = cell.hold()
    held.signal(signal.SIGKILL, everybody=False)
    assert held.end() != 0
    cell.told(held.output)
    message = said(r"SIGKILL ended [^\n]*", held.output)
    assert "go on with: snakemake" in held.output
    cell.survives(message, lost_by(stage))


@cells("SIGINT")
def test_the_user_stops_the_run(cell, stage):
    held = cell.hold()
    held.signal(signal.SIGINT)
    assert held.end() != 0
    cell.told(held.output)
    message = said(r"Stopped after [^\n]*go on with: snakemake", held.output)
    cell.survives(message, lost_by(stage))


@cells("SIGTERM")
def test_run_and_job_are_asked_to_end(cell, stage):
    held = cell.hold()
    held.signal(signal.SIGTERM)
    assert held.end() != 0
    cell.told(held.output)
    message = said(r"SIGTERM ended [^\n]*", held.output)
    assert "go on with: snakemake" in held.output
    cell.survives(message, lost_by(stage))


@cells("SIGSTOP and SIGCONT")
def test_run_and_job_are_stopped_for_some_seconds(cell, stage):
    held = cell.hold()
    held.signal(signal.SIGSTOP)
    held.go_on()
    time.sleep(2)
    assert held.process.poll() is None
    held.signal(signal.SIGCONT)
    assert held.end() == 0, held.output
    assert jobs_of(held.output)[-1] == stage.job
    cell.survives("none", "nothing", again=())
