"""Snakemake looks for jobs when one has ended, and otherwise rests."""

import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from snakemake.cli import get_argument_parser
from snakemake.scheduling.job_scheduler import JobRateLimiter
from snakemake.settings.types import MaxJobsPerTimespan

from finitewidth.pipeline.scheduling import look_when_jobs_end

COMMON = Path(__file__).parents[2] / "workflow/rules/common.smk"


def limiter_after(words):
    limit = get_argument_parser().parse_args(words).max_jobs_per_timespan
    scheduler = SimpleNamespace(job_rate_limiter=JobRateLimiter(limit))
    look_when_jobs_end(scheduler)
    return scheduler.job_rate_limiter


def test_snakemake_s_own_limit_is_removed():
    assert limiter_after([]) is None
    without = SimpleNamespace(job_rate_limiter=None)
    look_when_jobs_end(without)
    assert without.job_rate_limiter is None


@pytest.mark.parametrize("limit", ["5/1s", "100/1m"])
def test_a_limit_of_the_user_is_kept(limit):
    wanted = MaxJobsPerTimespan.parse_choice(limit)
    kept = limiter_after(["--max-jobs-per-timespan", limit])
    assert (kept.max_jobs, kept.timespan) == (wanted.max_jobs, wanted.timespan)


def test_every_run_begins_with_it():
    text = COMMON.read_text(encoding="utf-8")
    assert re.search(
        r"^onstart:\n(    .*\n)*    look_when_jobs_end\(workflow\.scheduler\)", text, re.M
    )
