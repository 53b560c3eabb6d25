#!/usr/bin/env python3
"""Say running, success or failed of the Slurm job whose number is the last argument."""

import re
import subprocess
import sys

FAILED = {
    "BOOT_FAIL", "CANCELLED", "DEADLINE", "FAILED", "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED",
    "TIMEOUT",
}  # fmt: skip


def state(job: str) -> str:
    """The scheduler's word for a job; of one that it has forgotten, by its accounting."""
    controller = ["scontrol", "--oneliner", "show", "job", job]
    accounting = ["sacct", "-n", "-P", "-X", "--format=State", "-j", job]
    for command, pattern in ((controller, r"\bJobState=([A-Z_]+)"), (accounting, r"^([A-Z_]+)")):
        answer = subprocess.run(command, capture_output=True, text=True, check=False)
        found = re.search(pattern, answer.stdout)
        if answer.returncode == 0 and found:
            return found.group(1)
    return "UNKNOWN"  # a busy controller: ask again later


if __name__ == "__main__":
    word = state(sys.argv[-1])
    print("success" if word == "COMPLETED" else "failed" if word in FAILED else "running")
