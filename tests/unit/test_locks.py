"""Locks of dead runs go, locks of live ones stay."""

import os
import subprocess
import sys
import time

from finitewidth.locks import release_stale_locks

HOLD = """
import sys, time
from finitewidth.locks import release_stale_locks
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
