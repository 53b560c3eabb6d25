"""Time and memory of jobs: what the system counts, and sums of what provenance has."""

import json
import os
import subprocess
import sys

import pytest

from finitewidth.common import machine
from finitewidth.common.machine import usable_cores
from finitewidth.records.usage import Usage, total

BUSY = """
import json, time
from finitewidth.common import machine
before = machine.cpu_seconds()
while time.process_time() < before + .3: pass
time.sleep(1)
first = machine.peak_memory()
large = bytearray(b"x") * 100_000_000
second = machine.peak_memory()
del large
print(json.dumps([machine.cpu_seconds() - before, first, second, machine.peak_memory()]))
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


@pytest.fixture
def limited_machine(tmp_path, monkeypatch):
    """A machine of 16 cores without limits; a function writes the files of a control group."""
    for name in ("SLURM_CPUS_PER_TASK", "SLURM_CPUS_ON_NODE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(16)), raising=False)
    monkeypatch.setattr(machine, "CONTROL_GROUPS", str(tmp_path / "cgroup"))
    monkeypatch.setattr(machine, "GROUP_FILES", str(tmp_path / "groups"))

    def limit(lines, **files):
        (tmp_path / "cgroup").write_text(lines)
        for name, content in files.items():
            path = tmp_path / "groups" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)

    return limit


def test_cores_are_those_of_the_affinity_mask(limited_machine, monkeypatch):
    assert usable_cores() == 16
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {3})
    assert usable_cores() == 1
    monkeypatch.delattr(os, "sched_getaffinity")  # macOS
    monkeypatch.setattr(os, "cpu_count", lambda: 10)
    assert usable_cores() == 10


@pytest.mark.parametrize(
    ("lines", "files", "cores"),
    [
        ("0::/\n", {"cpu.max": "max 100000\n"}, 16),
        ("0::/\n", {"cpu.max": "350000 100000\n"}, 4),
        ("0::/user/me\n", {"user/cpu.max": "200000 100000\n", "user/me/cpu.max": "max 100000"}, 2),
        ("0::/user/me\n", {"cpu.max": "50000 100000\n"}, 1),
        (
            "4:cpu,cpuacct:/docker/1f\n1:memory:/docker/1f\n",
            {"cpu,cpuacct/cpu.cfs_quota_us": "300000\n", "cpu,cpuacct/cpu.cfs_period_us": "100000"},
            3,
        ),
        ("4:cpu:/\n", {"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, 16),
    ],
)
def test_cores_are_those_that_the_control_groups_allow(lines, files, cores, limited_machine):
    limited_machine(lines, **files)
    assert usable_cores() == cores


@pytest.mark.parametrize(
    ("variables", "cores"),
    [
        ({"SLURM_CPUS_ON_NODE": "4"}, 4),
        ({"SLURM_CPUS_PER_TASK": "2", "SLURM_CPUS_ON_NODE": "8"}, 2),
        ({"SLURM_CPUS_ON_NODE": "64"}, 16),
    ],
)
def test_cores_are_those_that_slurm_allocated(variables, cores, limited_machine, monkeypatch):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert usable_cores() == cores


MEMINFO = "MemTotal:  4000 kB\nMemFree:  1000 kB\nMemAvailable:  3000 kB\n"


@pytest.mark.parametrize(
    ("lines", "files", "free"),
    [
        ("0::/\n", {"memory.max": "max\n", "memory.current": "9\n"}, 3_072_000),
        ("0::/a\n", {"a/memory.max": "5000\n", "a/memory.current": "4000\n"}, 1000),
        ("0::/a\n", {"memory.max": "50\n", "memory.current": "60\n"}, 0),
        (
            "4:memory:/a\n",
            {"memory/a/memory.limit_in_bytes": "900\n", "memory/a/memory.usage_in_bytes": "100\n"},
            800,
        ),
    ],
)
def test_free_memory_is_that_of_the_machine_and_its_control_groups(
    limited_machine, tmp_path, monkeypatch, lines, files, free
):
    meminfo = tmp_path / "meminfo"
    meminfo.write_text(MEMINFO)
    monkeypatch.setattr(machine, "MEMORY", str(meminfo))
    limited_machine(lines, **files)
    assert machine.free_memory() == free
    monkeypatch.setattr(machine, "MEMORY", str(tmp_path / "none"))  # macOS
    assert machine.free_memory() == 0
