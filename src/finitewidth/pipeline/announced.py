"""What the workflow tells the terminal of this run: its jobs, and where their results are."""

from collections.abc import Callable, Mapping, Sequence

from finitewidth.pipeline.schedule import Step

# Job that has to run -> what is known of it. Snakemake starts its logger before it reads the
# workflow, which puts its own function and its own folders here.
forecast: Callable[[], Mapping[str, Step]] = dict
# Job -> why it runs again, in words; nothing of results that are not made yet.
reasons: Callable[[str], Sequence[str]]


def no_reasons(job: str) -> Sequence[str]:
    """Say nothing, before the workflow has been read."""
    return ()


reasons = no_reasons
# Package with its versions then and now -> number of jobs whose results are kept all the same.
packages: Callable[[], Mapping[str, int]] = dict
folders: tuple[str, ...] = ()  # of the results, and of the datasets
report: str = ""  # the first page of the report


def job_name(rule: str, wildcards: dict[str, str]) -> str:
    """Return the name of a job: ``npf/nu`` for a training, ``dataset digits``, or the rule."""
    if {"paper", "training"} <= set(wildcards):
        return f"{wildcards['paper']}/{wildcards['training']}"
    return " ".join([rule, *wildcards.values()])
