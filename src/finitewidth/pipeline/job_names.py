"""Names of jobs: ``npf/nu`` for a training, ``dataset digits``, ``claims npf``, or the rule."""

from collections.abc import Mapping


def job_name(rule: str, wildcards: Mapping[str, str]) -> str:
    """Return the name of the job of a rule with these wildcards."""
    if {"paper", "training"} <= set(wildcards):
        return f"{wildcards['paper']}/{wildcards['training']}"
    return " ".join([rule, *wildcards.values()])


def rule_of(name: str) -> str:
    """Return the name of the rule of a job."""
    if "/" in name:
        return "train"
    return name.split(" ")[0]
