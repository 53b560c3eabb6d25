"""SIGKILL at any moment loses nothing finished, and changes no result."""

import time

import pytest

from .conftest import kill

LONG = "npf={kvf: {epochs: 60, every: 20}}"
TARGET = "results/smoke/npf/experiments/kvf.csv"
pytestmark = [pytest.mark.workflow, pytest.mark.xdist_group("kill")]


@pytest.fixture(scope="module")
def undisturbed(make_checkout):
    """The tables of a run that nobody killed."""
    checkout = make_checkout("undisturbed")
    finished = checkout.run(TARGET, LONG)
    assert finished.returncode == 0, finished.stdout
    return checkout.tables()


def test_a_run_killed_again_and_again_ends_in_the_same_bytes(make_checkout, undisturbed):
    checkout = make_checkout("killed")
    fast = "checkpoint_seconds=0.001"
    log = checkout.path / "results/smoke/logs/npf/training/kvf.log"
    for _ in range(2):  # killed while it trains, once there is something to lose
        process = checkout.start(TARGET, LONG, fast)
        _wait_for(lambda: log.is_file() and "checkpoint after" in log.read_text(), process)
        kill(process)
        log.write_text("")
    process = checkout.start(TARGET, LONG, fast)  # and while Snakemake is still starting
    time.sleep(0.5)
    kill(process)
    finished = checkout.run(TARGET, LONG, fast)
    assert finished.returncode == 0, finished.stdout
    assert "continuing after epoch" in log.read_text()
    tables = checkout.tables()
    assert {n for n in tables if "benchmarks" not in n} == {
        n for n in undisturbed if "benchmarks" not in n}  # fmt: skip
    assert all(tables[n] == undisturbed[n] for n in tables if "benchmarks" not in n)
    assert not list((checkout.path / "results/smoke/.checkpoints").glob("*/*.pt"))


def _wait_for(happened, process) -> None:
    end = time.monotonic() + 60
    while not happened():
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < end, "the training never reached a checkpoint"
        time.sleep(0.02)
