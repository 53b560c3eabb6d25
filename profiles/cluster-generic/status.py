#!/usr/bin/env python3
"""Print the state of a Slurm job: running, success or failed. The last argument is its id."""

import re
import subprocess
import sys

FAILED = {
    "BOOT_FAIL",
    "CANCELLED",
    "DEADLINE",
    "FAILED",
    "NODE_FAIL",
    "OUT_OF_MEMORY",
    "PREEMPTED",
    "TIMEOUT",
}


def state(job: str) -> str:
    """The state of a job from the scheduler or, for an old job, from the accounting."""
    controller = ["scontrol", "--oneliner", "show", "job", job]
    accounting = ["sacct", "-n", "-P", "-X", "--format=State", "-j", job]
    for command, pattern in ((controller, r"\bJobState=([A-Z_]+)"), (accounting, r"^([A-Z_]+)")):
        answer = subprocess.run(command, capture_output=True, text=True, check=False)
        found = re.search(pattern, answer.stdout)
        if answer.returncode == 0 and found:
            return found.group(1)
    return "UNKNOWN"  # the controller may be busy; Snakemake asks again later


if __name__ == "__main__":
    word = state(sys.argv[-1])
    print("success" if word == "COMPLETED" else "failed" if word in FAILED else "running")
