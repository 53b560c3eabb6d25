"""Time and memory of jobs: what the system counts, and sums of what provenance has."""

import json
import math
import subprocess
import sys

import numpy as np
import pytest

from finitewidth.common import usage
from finitewidth.common.usage import Usage, total, usage_in

BUSY = """
import json, time
from finitewidth.common import usage
before = usage.cpu_seconds()
while time.process_time() < before + .3: pass
time.sleep(1)
first = usage.peak_memory()
large = bytearray(b"x") * 100_000_000
second = usage.peak_memory()
del large
print(json.dumps([usage.cpu_seconds() - before, first, second, usage.peak_memory()]))
"""


def test_a_process_counts_its_work_and_not_its_sleep_and_remembers_its_peak():
    said = subprocess.run([sys.executable, "-c", BUSY], capture_output=True, text=True, check=True)
    cpu, first, second, third = json.loads(said.stdout)
    assert 0.28 < cpu < 1  # without the second of sleep
    assert 95 < second - first < 110
    assert third == pytest.approx(second, abs=5)


def test_the_memory_of_the_process_that_started_a_job_is_not_counted():
    large = np.ones(30_000_000)  # 240 MB
    code = "from finitewidth.common.usage import peak_memory; print(peak_memory())"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert usage.peak_memory() > large.nbytes / 1e6
    if sys.platform == "linux":
        assert float(said.stdout) < 100


def test_without_the_file_of_linux_getrusage_tells_the_peak(monkeypatch):
    exact = usage.peak_memory()
    monkeypatch.setattr(usage, "STATUS", "/no/such/file")
    assert usage.peak_memory() >= 0.95 * exact


def test_times_add_up_and_memory_is_the_largest():
    parts = [Usage(jobs=1, wall=1, cpu=2, memory=300), Usage(jobs=2, wall=3, cpu=4, memory=200)]
    assert total(parts) == Usage(jobs=3, wall=4, cpu=6, memory=300)
    assert total([]) == Usage()


def test_what_was_not_recorded_stays_unknown_in_a_sum():
    old = usage_in({"wall_seconds": 61.0})
    both = old + Usage(jobs=1, wall=1, cpu=1, memory=5)
    assert (both.jobs, both.wall) == (2, 62)
    assert math.isnan(both.cpu)
    assert math.isnan(both.memory)
