"""Runs in one folder leave the locks and checkpoints of each other alone."""

import errno
import fcntl
import os
from pathlib import Path

import pytest
from snakemake.persistence.file import FilePersistence

from finitewidth.pipeline.shared_folder import alone, keep_locks_of_others
from finitewidth.pipeline.startup_checks import release_stale_locks


def test_a_run_is_alone_until_another_one_starts_and_keeps_its_lock(tmp_path):
    first = release_stale_locks(tmp_path, tmp_path / "results")
    assert alone(first)
    second = release_stale_locks(tmp_path, tmp_path / "results")
    assert not alone(first)
    assert not alone(second)
    second.close()
    assert alone(first)
    with (tmp_path / "finitewidth.lock").open("a+") as other, pytest.raises(BlockingIOError):
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    first.close()


def test_without_locks_of_the_kernel_a_run_counts_as_alone(tmp_path, monkeypatch):
    def absent(*_):
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))

    share = release_stale_locks(tmp_path, tmp_path / "results")
    monkeypatch.setattr(fcntl, "flock", absent)
    assert alone(share)
    share.close()


@pytest.fixture
def runs(tmp_path):
    """Snakemake's persistence of two runs of other files, in one folder; both hold their locks."""

    class Persistence(FilePersistence):  # a class of our own, since it is changed
        def all_inputfiles(self):
            return []

        def all_outputfiles(self):
            return [self.file]

    keep_locks_of_others(Persistence)
    keep_locks_of_others(Persistence)  # a second time changes nothing
    both = [Persistence(path=tmp_path / ".snakemake") for _ in range(2)]
    for number, run in enumerate(both):
        run.file = f"results/{number}.csv"
        run._write_locks("output", [run.file])
    return both


def locks(tmp_path):
    return sorted(Path(tmp_path, ".snakemake/locks").iterdir())


def test_a_run_that_ends_keeps_the_locks_of_others(tmp_path, runs):
    first, second = runs
    assert len(locks(tmp_path)) == 2
    first.unlock()
    assert [file.read_text() for file in locks(tmp_path)] == ["results/1.csv\n"]
    assert second.locked
    second.unlock()
    second.unlock()
    assert not locks(tmp_path)


def test_the_user_may_delete_all_locks(tmp_path, runs):
    runs[0].cleanup_locks()
    assert not (tmp_path / ".snakemake/locks").exists()
