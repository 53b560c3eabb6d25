"""What the workflow tells the terminal: the forecast of the jobs of this run."""

from collections.abc import Callable, Mapping

# Job that has to run -> its CPU seconds, or None. Snakemake starts its logger before it reads the
# workflow, which puts its own function here.
forecast: Callable[[], Mapping[str, float | None]] = dict


def job_name(rule: str, wildcards: dict[str, str]) -> str:
    """Return the name of a job: ``npf/nu`` for a training, ``dataset digits``, or the rule."""
    if {"paper", "training"} <= set(wildcards):
        return f"{wildcards['paper']}/{wildcards['training']}"
    return " ".join([rule, *wildcards.values()])
