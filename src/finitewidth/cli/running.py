"""``finitewidth run`` and ``report``: Snakemake's commands, printed or carried out."""

import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from typing import Annotated

import yaml
from cyclopts import Parameter

from finitewidth.cli.options import Count, DryRun, More, Results, Settings
from finitewidth.common.declarations import read_papers
from finitewidth.common.errors import ConfigError
from finitewidth.common.settings import nearest


def make(
    *targets: Annotated[str, Parameter(name="TARGET")],
    cores: Count | None = None,
    dry_run: DryRun = False,
    config: Settings = (),
    results: Results = Results(),
    more: More = (),
) -> int:
    """Make artifacts; prints the snakemake command.

    What follows -- is passed on to Snakemake.

    Example: finitewidth run npf_fig3 --cores 2 --config 'npf={kvf: {runs: 3}}' -- --printshellcmds

    Args:
        targets: artifacts, papers or experiments (default: everything)
        cores: jobs at the same time (default: all cores)
        dry_run: show what would be done
        config: override settings, KEY=VALUE
    """
    chosen = settings(results, config)
    _check(targets)
    words = ["snakemake", "--cores", str(cores or os.cpu_count() or 1), *targets]
    words += ["--dry-run"] * dry_run + [*more, "--config", f"preset={results.preset}"]
    words += [f"seed={results.seed}"] * bool(results.seed) + chosen
    return call(words)


def _check(targets: Sequence[str]) -> None:
    """Refuse an unknown name; files below ``results`` are left to Snakemake."""
    known = {"all", "report", "errata", "datapackages"}
    for paper in read_papers():
        known |= {paper.name, f"captions_{paper.name}"}
        known |= {each.name for each in paper.experiments}
        known |= {each.artifact for each in paper.artifacts}
    for name in targets:
        if "/" not in name and name not in known:
            raise ConfigError(f"{name!r} is no artifact, paper or experiment"
                              f"{nearest(name, sorted(known))}; finitewidth list shows "
                              "all")  # fmt: skip


def report(*, config: Settings = (), results: Results = Results()) -> int:
    """Build the report from the results there are.

    Another run may be making more meanwhile.

    Example: finitewidth report --preset laptop --config 'data={cifar10: cifar10_jpeg}'

    Args:
        config: the settings that the run overrode, KEY=VALUE
    """
    words = ["report_now", "--cores", "1", "--quiet", "all", "--nolock", "--config"]
    words += [f"preset={results.preset}", f"seed={results.seed}", *settings(results, config)]
    status = snakemake(words)
    if status == 0:
        print(f"{results.folder}/report/index.html")
    return status


def settings(results: Results, given: Sequence[str]) -> list[str]:
    """Return the overrides of a run: those given, ``key=value`` in YAML, and the images."""
    if not results.sources:
        return [*given]
    others, data = [], {}
    for text in given:
        key, _, value = text.partition("=")
        if key == "data":
            try:
                data |= yaml.safe_load(value)
            except (yaml.YAMLError, TypeError) as error:
                raise ConfigError(f"--config {text}: write data={{KEY: VALUE}} in YAML") from error
        else:
            others.append(text)
    data["images"] = str(results.images)
    flow = yaml.safe_dump(data, default_flow_style=True, width=10**6, sort_keys=False)
    return [*others, f"data={flow.strip()}"]


def call(words: Sequence[str]) -> int:
    """Print a Snakemake command and carry it out; return its exit status."""
    print(shlex.join(words), flush=True)
    return snakemake(words[1:])


def snakemake(words: Sequence[str]) -> int:
    """Call Snakemake with some arguments; return its exit status."""
    words = [sys.executable, "-m", "snakemake", *words]
    return subprocess.run(words, check=False).returncode
