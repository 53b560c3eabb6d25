"""What this process uses and may use of the machine: CPU time, memory, cores."""

import contextlib
import math
import os
import re
import resource
import sys
from pathlib import Path

STATUS, MEMORY = "/proc/self/status", "/proc/meminfo"  # Linux
CONTROL_GROUPS, GROUP_FILES = "/proc/self/cgroup", "/sys/fs/cgroup"  # Linux


def cpu_seconds() -> float:
    """Return the CPU time of this process and its finished children, in seconds.

    Unlike wall time it hardly depends on what else the machine does. The time before an
    interruption, after which a job resumed, is not in it.
    """
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def peak_memory() -> float:
    """Return the largest resident memory of this process so far, in MB (10^6 bytes).

    Memory of children is not in it. ``getrusage`` is asked only where there is no `STATUS`, because
    on Linux its figure is at least that of the process which started this one.
    """
    if Path(STATUS).is_file():
        text = Path(STATUS).read_text(encoding="utf-8")
        if found := re.search(r"^VmHWM:\s*(\d+) kB", text, re.MULTILINE):
            return int(found[1]) * 1024 / 1e6
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1e6 if sys.platform == "darwin" else peak * 1024 / 1e6  # bytes on macOS


def usable_cores() -> int:
    """Return the number of cores that this process may use, at least 1.

    It is the least of the cores of its affinity mask or, without one, of the machine; of the CPU
    quota of its control groups, as in a container; and of those that Slurm allocated to its task.
    """
    counts = [_affine_cores()]
    counts += [math.ceil(quota) for quota in _cpu_quotas()]
    for variable in ("SLURM_CPUS_PER_TASK", "SLURM_CPUS_ON_NODE"):
        if os.environ.get(variable, "").isdecimal():
            counts.append(int(os.environ[variable]))
    return max(min(counts), 1)


def _affine_cores() -> int:
    if hasattr(os, "sched_getaffinity"):  # not on macOS
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def free_memory() -> int:
    """Return the bytes of memory that this process can still take without swapping.

    It is the least of what the machine has free and what the control groups leave; 0 where this is
    not known, as on macOS.
    """
    free = 0
    with contextlib.suppress(OSError):
        text = Path(MEMORY).read_text(encoding="ascii")
        if available := re.search(r"^MemAvailable:\s*(\d+) kB", text, re.MULTILINE):
            free = int(available[1]) * 1024
    left = [free]
    for group in _control_groups():
        left += _memory_left(group)
    return max(min(left), 0)


def _memory_left(group: Path) -> list[int]:
    """The bytes that one control group leaves; nothing without a limit."""
    left = []
    versions = ("memory.max", "memory.current"), ("memory.limit_in_bytes", "memory.usage_in_bytes")
    for names in versions:  # versions 2 and 1
        with contextlib.suppress(OSError):
            limit, used = ((group / name).read_text(encoding="ascii").strip() for name in names)
            if limit != "max":
                left.append(int(limit) - int(used))
    return left


def _cpu_quotas() -> list[float]:
    """The cores that the control groups of this process allow, of it and of all above it."""
    return [quota for group in _control_groups() for quota in _quota_of(group)]


def _control_groups() -> list[Path]:
    """The folders of the control groups of this process, and of all above them."""
    groups = []
    with contextlib.suppress(OSError):
        for line in Path(CONTROL_GROUPS).read_text(encoding="utf-8").splitlines():
            _, controllers, group = line.split(":", 2)
            top = Path(GROUP_FILES, controllers)
            # in a container, its own group may be at the top
            place = top / group.strip("/")
            while place.is_relative_to(top):
                groups.append(place)
                place = place.parent
    return groups


def _quota_of(group: Path) -> list[float]:
    """The cores that one control group allows; nothing without a limit."""
    texts = []
    for names in (("cpu.max",), ("cpu.cfs_quota_us", "cpu.cfs_period_us")):  # versions 2 and 1
        with contextlib.suppress(OSError):
            texts.append(" ".join((group / name).read_text(encoding="ascii") for name in names))
    quotas = []
    for text in texts:
        quota, period = text.split()
        if quota not in ("max", "-1"):
            quotas.append(int(quota) / int(period))
    return quotas
