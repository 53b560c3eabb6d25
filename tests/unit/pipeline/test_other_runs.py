"""A run that would disturb another one in the same clone is refused."""

from dataclasses import replace

import pytest

from finitewidth.common.errors import ConfigError
from finitewidth.pipeline.runs import other_runs
from finitewidth.records.running import RUN, begun, file_of, write

QUICK = "results/quick"
LAPTOP = "results/laptop"


@pytest.fixture(autouse=True)
def clone(tmp_path, monkeypatch):
    """A folder with results of two runs."""
    monkeypatch.chdir(tmp_path)
    for folder in (QUICK, LAPTOP, "results/data"):
        (tmp_path / folder).mkdir(parents=True)


def start(folder, job=RUN, **facts):
    write(file_of(folder, job), replace(begun(job), **facts))


def test_nothing_is_refused_if_nothing_runs():
    other_runs.refuse(QUICK, locked=True)
    other_runs.refuse_dataset("results/data/digits.npz", QUICK)
    assert other_runs.elsewhere(QUICK) == []


@pytest.mark.parametrize("job", [RUN, "npf/nu"])
@pytest.mark.parametrize("locked", [True, False])
def test_a_second_run_of_the_same_results_is_refused(job, locked):
    start(QUICK, job)
    with pytest.raises(ConfigError, match=f"is at work in {QUICK} .*wait until it ends"):
        other_runs.refuse(QUICK, locked=locked)


def test_a_run_of_other_results_goes_beside_it_without_locks():
    start(LAPTOP)
    start("results/data", "dataset digits")
    assert other_runs.elsewhere(QUICK) == [LAPTOP]
    other_runs.refuse(QUICK, locked=False)
    with pytest.raises(ConfigError, match=f"at work in {LAPTOP}, whose locks.* add --nolock"):
        other_runs.refuse(QUICK, locked=True)
    with pytest.raises(ConfigError, match=r"digits\.npz has to be made, and the run at work"):
        other_runs.refuse_dataset("results/data/digits.npz", QUICK)


def test_a_run_that_was_killed_is_not_at_work():
    start(QUICK, pid=2**22 + 1)
    start(LAPTOP, host="elsewhere", updated=0.0)
    other_runs.refuse(QUICK, locked=True)
