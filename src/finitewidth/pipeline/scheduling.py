"""When Snakemake looks for jobs that can start."""

from typing import Any

LIMIT = (100, 1)  # jobs and seconds: how many jobs Snakemake starts if nobody sets a limit


def look_when_jobs_end(scheduler: Any) -> None:
    """Let Snakemake look for jobs whenever a job has ended, and not all the time.

    As long as there is a limit of jobs per second, each look starts a timer for another one. Thus
    every job that ends adds one look per second until the run is over: after 100 jobs, these take
    a tenth of a core or more. The limit that Snakemake has by default is removed; one that the
    user sets is kept.

    Args:
        scheduler: Snakemake's, before its first look.
    """
    limiter = scheduler.job_rate_limiter
    if limiter is not None and (limiter.max_jobs, limiter.timespan) == LIMIT:
        scheduler.job_rate_limiter = None
