"""Time and memory of jobs: what the system counts, and sums of what provenance has."""

import json
import subprocess
import sys

import pytest

from finitewidth.common.usage import Usage, total

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


def test_times_add_up_and_memory_is_the_largest():
    parts = [Usage(jobs=1, wall=1, cpu=2, memory=300), Usage(jobs=2, wall=3, cpu=4, memory=200)]
    assert total(parts) == Usage(jobs=3, wall=4, cpu=6, memory=300)
    assert total([]) == Usage()
