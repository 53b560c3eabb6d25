"""Locks of dead runs go, locks of live ones stay; a start says what it cannot write."""

import errno
import fcntl
import os
import subprocess
import sys
import time

import pytest

from finitewidth.common.errors import ConfigError, ResultError
from finitewidth.pipeline.startup_checks import (
    is_dry_run,
    keep_records_with_results,
    refuse_braces,
    refuse_files_of_others,
    refuse_unreadable_records,
    refuse_unwritable,
    release_stale_locks,
)

HOLD = """
import sys, time
from finitewidth.pipeline.startup_checks import release_stale_locks
share = release_stale_locks(sys.argv[1], sys.argv[1])
print("held", flush=True)
time.sleep(60)
"""


def leave_lock(folder):
    (folder / "locks").mkdir(parents=True, exist_ok=True)
    (folder / "locks" / "0.output.lock").write_text("results/a.csv")
    return folder / "locks" / "0.output.lock"


def test_a_dead_run_s_lock_goes(tmp_path):
    lock = leave_lock(tmp_path)
    release_stale_locks(tmp_path, tmp_path / "results").close()
    assert not lock.exists()


def test_a_live_run_s_lock_stays_until_it_is_killed(tmp_path):
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert holder.stdout.readline() == "held\n"
        lock = leave_lock(tmp_path)
        release_stale_locks(tmp_path, tmp_path / "results").close()
        assert lock.exists()
    finally:
        holder.kill()
        holder.communicate()
    release_stale_locks(tmp_path, tmp_path / "results").close()
    assert not lock.exists()


def test_records_that_went_with_the_results_leave_no_link_behind_a_dry_run(tmp_path):
    link, results = tmp_path / ".snakemake" / "metadata", tmp_path / "results"
    keep_records_with_results(link.parent, results)
    assert link.is_symlink()
    assert link.is_dir()
    (results / ".records").rmdir()
    keep_records_with_results(link.parent, results, make=False)
    assert not link.is_symlink()
    keep_records_with_results(link.parent, results)
    assert link.is_dir()


def test_files_of_the_future_come_to_the_present_together_and_others_stay(tmp_path):
    results, now = tmp_path / "results", time.time()
    times = {"old.csv": now - 1000, "input.csv": now + 5000, "output.csv": now + 90000}
    results.mkdir()
    for name, moment in times.items():
        (results / name).touch()
        os.utime(results / name, (moment, moment))
    release_stale_locks(tmp_path, results).close()
    found = {name: (results / name).stat().st_mtime for name in times}
    assert abs(found["old.csv"] - times["old.csv"]) < 1
    assert now - 1 <= found["input.csv"] == found["output.csv"] <= time.time()


def test_a_share_can_be_had_where_only_readable_files_are_shared(tmp_path, monkeypatch):
    """As NFSv4 does, which makes a lock of the kernel one of bytes."""
    flock = fcntl.flock

    def strict(stream, how):
        if how & fcntl.LOCK_SH and not stream.readable():
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        flock(stream, how)

    monkeypatch.setattr(fcntl, "flock", strict)
    lock = leave_lock(tmp_path)
    release_stale_locks(tmp_path, tmp_path / "results").close()
    assert not lock.exists()


@pytest.mark.parametrize("number", [errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP])
def test_without_locks_a_run_starts_and_removes_nothing(tmp_path, monkeypatch, number):
    def absent(*_):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", absent)
    lock = leave_lock(tmp_path)
    release_stale_locks(tmp_path, tmp_path / "results").close()
    assert lock.exists()


def test_a_file_that_vanishes_or_may_not_be_dated_stops_no_start(tmp_path, monkeypatch):
    results, later, utime = tmp_path / "results", time.time() + 5000, os.utime
    (results / "a").mkdir(parents=True)
    for name in ("a/gone.csv", "a/theirs.csv", "a/ours.csv"):
        (results / name).touch()
        os.utime(results / name, (later, later))
    (results / "a/dangling").symlink_to("nowhere")
    lstat = type(results).lstat

    def vanishing(path):
        if path.name == "gone.csv":
            path.unlink(missing_ok=True)
        return lstat(path)

    def theirs(path, *words, **more):
        if os.path.basename(path) == "theirs.csv":
            raise PermissionError(errno.EPERM, "not yours")
        utime(path, *words, **more)

    monkeypatch.setattr(type(results), "lstat", vanishing)
    monkeypatch.setattr(os, "utime", theirs)
    release_stale_locks(tmp_path, results).close()
    assert (results / "a/ours.csv").stat().st_mtime <= time.time()
    assert (results / "a/theirs.csv").stat().st_mtime == pytest.approx(later, abs=1)


@pytest.mark.parametrize("words", [["-n"], ["--dry-run"], ["--dryrun"], ["-np"], ["x", "-Fn"]])
def test_a_dry_run_is_known(words):
    assert is_dry_run(["snakemake", "--cores", "1", *words])


@pytest.mark.parametrize("words", [["--nolock"], ["-c1"], ["npf_fig3"], ["--config", "n"], ["-p"]])
def test_other_words_are_no_dry_run(words):
    assert not is_dry_run(["snakemake", *words])


def test_a_folder_that_cannot_be_written_is_named_with_the_remedy(tmp_path, monkeypatch):
    results = tmp_path / "results"
    results.mkdir()
    refuse_unwritable(tmp_path, results, results / "smoke")
    monkeypatch.setattr(os, "access", lambda path, _: str(path) != str(results))
    refuse_unwritable(tmp_path / "absent")
    with pytest.raises(ResultError, match=rf"the folder {results}; make it writable .*copy"):
        refuse_unwritable(tmp_path, results / "smoke")


@pytest.mark.parametrize("name", ["a{b}", "a{", "}a"])
def test_braces_in_the_path_of_the_project_are_refused(tmp_path, name):
    refuse_braces(tmp_path / "it's ünïcode\n")
    with pytest.raises(ConfigError, match=r"lies in .*: rename the folder, or clone"):
        refuse_braces(tmp_path / name / "project")


def test_a_link_that_leads_nowhere_is_named_with_the_remedy(tmp_path):
    results = tmp_path / "results"
    for target in ("absent", "results"):
        results.symlink_to(target)
        with pytest.raises(ResultError, match=rf"results is a link to {target}, .* remove the"):
            refuse_unwritable(results / "smoke")
        results.unlink()
    (tmp_path / "disk").mkdir()
    results.symlink_to("disk")
    refuse_unwritable(results / "smoke")


def test_a_file_in_place_of_a_folder_is_named_with_the_remedy(tmp_path):
    (tmp_path / "results").touch()
    with pytest.raises(ResultError, match=r"results is no folder, .* move it elsewhere"):
        refuse_unwritable(tmp_path / "results" / "smoke")


def test_files_that_are_written_in_place_must_be_writable(tmp_path, monkeypatch):
    files = ["logs/npf/a.log", "npf/figures/a.csv", "report/logs/a.html", ".records/abc"]
    for name in files:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "logs/gone").symlink_to("nowhere")
    for name, refused in zip(files, (True, False, False, True), strict=True):
        theirs = str(tmp_path / name)
        monkeypatch.setattr(os, "access", lambda path, _, theirs=theirs: str(path) != theirs)
        if refused:
            with pytest.raises(ResultError, match=rf"cannot write {theirs}, which belongs to \w+"):
                refuse_files_of_others(tmp_path)
        else:
            refuse_files_of_others(tmp_path)


@pytest.mark.parametrize("name", ["npf/figures", "report"])
def test_folders_in_which_files_are_made_must_be_writable(tmp_path, monkeypatch, name):
    (tmp_path / name / "deep").mkdir(parents=True)
    theirs = str(tmp_path / name)
    monkeypatch.setattr(os, "access", lambda path, _: str(path) != theirs)
    if name == "report":
        refuse_files_of_others(tmp_path)
    else:
        with pytest.raises(ResultError, match=rf"cannot write {theirs}, "):
            refuse_files_of_others(tmp_path)


def test_locks_are_removed_by_name_and_not_where_a_link_leads(tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "0.output.lock").touch()
    (tmp_path / "run").mkdir()
    (tmp_path / "run/locks").symlink_to(outside)
    release_stale_locks(tmp_path / "run", tmp_path / "results").close()
    assert (outside / "0.output.lock").exists()
    leave_lock(tmp_path)
    (tmp_path / "locks/notes.txt").touch()
    release_stale_locks(tmp_path, tmp_path / "results").close()
    assert [file.name for file in (tmp_path / "locks").iterdir()] == ["notes.txt"]


def test_a_record_that_cannot_be_read_is_named(tmp_path, monkeypatch):
    (tmp_path / "@part").mkdir()
    (tmp_path / "@part/record").touch()
    refuse_unreadable_records(tmp_path)
    refuse_unreadable_records(tmp_path / "absent")
    monkeypatch.setattr(os, "access", lambda path, how: how != os.R_OK)
    with pytest.raises(ResultError, match=r"cannot read a record in \S+, which belongs to \w+"):
        refuse_unreadable_records(tmp_path)


def test_environments_of_conda_may_be_read_only(tmp_path, monkeypatch):
    (tmp_path / ".snakemake/conda/abc").mkdir(parents=True)
    (tmp_path / ".snakemake/conda/abc/python").touch()
    (tmp_path / ".snakemake/finitewidth.lock").touch()
    monkeypatch.setattr(os, "access", lambda path, _: "abc" not in str(path))
    refuse_files_of_others(tmp_path / ".snakemake")
    for name in ("finitewidth.lock", "conda"):
        monkeypatch.setattr(os, "access", lambda path, _, name=name: not str(path).endswith(name))
        with pytest.raises(ResultError, match=rf"cannot write \S*\.snakemake/{name}, which"):
            refuse_files_of_others(tmp_path / ".snakemake")
