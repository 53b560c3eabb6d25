"""``finitewidth show``: a job and all jobs behind it as plain rules, or the graph of stages."""

import shlex
from typing import Annotated

from cyclopts import Parameter

from finitewidth.cli import running
from finitewidth.cli.names import complete_jobs
from finitewidth.cli.options import Results, Settings
from finitewidth.common.errors import ConfigError, nearest

Name = Annotated[str, Parameter(name="NAME", completer=complete_jobs)]


def show(
    name: Name | None = None, /, *, config: Settings = (), results: Results = Results()
) -> None:
    """Print a job and all jobs behind it as plain Snakemake rules, with real paths and settings.

    Without a name: the stages of all jobs and what they pass on, as a graph for Mermaid.

    Example: finitewidth show npf_fig3 --preset paper

    Args:
        name: an artifact, an experiment or a training, such as npf_fig3, npf_nu or npf/nu
        config: override settings, KEY=VALUE
    """
    # they take a second, and the other commands start at once
    from finitewidth.cli import plain_rules, stages
    from finitewidth.pipeline.plan import Plan

    plan = Plan(running.configuration(results, config), ".")
    if name is None:
        print(stages.mermaid(plan))
        return
    known = [*plan.jobs.artifacts, *plan.jobs.experiments, *plan.jobs.trainings]
    if name not in known:
        raise ConfigError(
            f"{name!r} is no artifact, experiment or training{nearest(name, known)}; "
            "finitewidth list shows all artifacts"
        )
    given = {"preset": results.preset, **running.overridden(results, config)}
    if results.seed:
        given["seed"] = results.seed
    print(plain_rules.snakefile(name, plan, given, _options(results, config)))


def _options(results: Results, config: Settings) -> str:
    """The options of the user, as a shell reads them."""
    words = []
    if results.preset != Results().preset:
        words += ["--preset", results.preset]
    if results.seed:
        words += ["--seed", str(results.seed)]
    if results.images:
        words += ["--images", str(results.images)]
    if results.name:
        words += ["--name", str(results.name)]
    if config:
        words += ["--config", *config]
    return shlex.join(words)
