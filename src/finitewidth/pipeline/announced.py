"""What the workflow tells the terminal: the forecast of the jobs of this run.

Snakemake starts its logger before it reads the workflow, so the workflow leaves it here.
"""

from collections.abc import Callable, Mapping

_FORECASTS: list[Callable[[], Mapping[str, float | None]]] = []


def announce(forecast: Callable[[], Mapping[str, float | None]]) -> None:
    """Leave a function that returns job that has to run -> its CPU seconds, or None."""
    _FORECASTS[:] = [forecast]


def forecast_of_run() -> dict[str, float | None]:
    """Return the forecast of this run; empty before the workflow is read."""
    return dict(_FORECASTS[0]()) if _FORECASTS else {}


def job_name(rule: str, wildcards: dict[str, str]) -> str:
    """Return the name of a job: ``npf/nu`` for a training, ``dataset digits``, or the rule."""
    if {"paper", "training"} <= set(wildcards):
        return f"{wildcards['paper']}/{wildcards['training']}"
    return " ".join([rule, *wildcards.values()])
