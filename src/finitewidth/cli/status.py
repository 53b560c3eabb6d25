"""``finitewidth status``: how far the last run of a preset is."""

import time

from finitewidth.cli.terminal.state import DONE, FAILED, RUNNING, last_lines, read_run, span

WORDS = {
    RUNNING: "running",
    DONE: "all jobs are done",
    FAILED: "ended with failed jobs",
    "interrupted": "stopped by the user",
    "killed": "killed",
}


def status(results: str) -> tuple[str, int]:
    """Return how far the last run is, and the exit status of the command.

    Args:
        results: folder of the results.

    Returns:
        Lines with the numbers of jobs, what runs, what failed with the last line of its log, and
        the time left or the command that goes on; and 0, or 1 if a job failed or there is no run.
    """
    run = read_run(f"{results}/logs")
    if run is None:
        return f"{results} has no run yet; start one with: finitewidth run", 1
    now = time.time()
    running, failed = run.of(RUNNING), run.of(FAILED)
    done = len(run.of(DONE))
    lines = [f"{done} of {run.total} jobs done, {len(failed)} failed: {WORDS[run.state]}"]
    if run.state == RUNNING:
        lines += [f"  running {job.name:<32} {span(now - job.started)}, {job.share(now):.0%}"
                  for job in running]  # fmt: skip
        lines.append(f"about {span(run.left(now))} left")
    for job in failed:
        said = last_lines(job.log, 1)
        lines.append(f"  failed  {job.name:<32} {said[0] if said else 'no log'} ({job.log})")
    if run.state not in (RUNNING, DONE):
        lines.append(f"go on with: {run.command}")
    return "\n".join(lines), int(bool(failed))
