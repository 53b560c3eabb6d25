"""``finitewidth run`` and ``report``: Snakemake's commands, printed or carried out."""

import re
import shlex
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from finitewidth.cli import overrides
from finitewidth.cli.names import complete_targets, target_names
from finitewidth.cli.options import Cores, DryRun, More, Results, Settings
from finitewidth.common.errors import ConfigError, nearest
from finitewidth.common.interrupts import MESSAGE, ending_at_once, handled, status_of
from finitewidth.common.machine import usable_cores
from finitewidth.declarations.papers import read_papers
from finitewidth.pipeline.runs.other_runs import elsewhere
from finitewidth.settings.nested import merged
from finitewidth.settings.presets import PRESETS, assignments, preset_only

Target = Annotated[str, Parameter(name="TARGET", completer=complete_targets)]


def make(
    *targets: Target,
    cores: Cores | None = None,
    dry_run: DryRun = False,
    force: Annotated[bool, Parameter(alias="-f")] = False,
    forceall: Annotated[bool, Parameter(alias="-F")] = False,
    config: Settings = (),
    results: Results = Results(),
    more: More = (),
) -> int:
    """Make artifacts; prints the snakemake command.

    What follows -- is passed on to Snakemake.

    Example: finitewidth run npf_fig3 -j 2 --config npf.kvf.runs=3 -- --printshellcmds

    Args:
        targets: artifacts, papers or experiments (default: everything)
        cores: number of jobs at the same time, or all (default: all cores that may be used)
        dry_run: show what would be done
        force: make the targets anew
        forceall: make the targets anew, and everything that they are computed from
        config: override settings, KEY=VALUE
    """
    changed_settings = settings(results, config)
    if {"--config", "-C"} & {word.partition("=")[0] for word in more}:
        raise ConfigError("write --config before --, or its settings would be lost")
    names = [_checked(name, results) for name in targets]
    if force:
        names = _artifacts_in(names)
    words = ["snakemake", "--cores", str(cores or usable_cores()), *names]
    if dry_run:
        words.append("--dry-run")
    if force:
        words.append("--force")
    if forceall:
        words.append("--forceall")
    if elsewhere(results.folder):
        # Snakemake would remove the locks of the other run at the end of this one
        words.append("--nolock")
    words += [*more, "--config", f"preset={results.preset}"]
    if results.seed:
        words.append(f"seed={results.seed}")
    return call([*words, *changed_settings])


def _checked(target: str, results: Results) -> str:
    """Refuse an unknown name, and a file of another run; return the target for Snakemake."""
    if "/" not in target:
        known = target_names(read_papers())
        if target not in known:
            raise ConfigError(
                f"{target!r} is no artifact, paper or experiment"
                f"{nearest(target, sorted(known))}; finitewidth list shows "
                "all"
            )
        return target
    file = Path(target)
    if file.is_absolute():
        if not file.is_relative_to(Path.cwd()):
            raise ConfigError(
                f"{target} is not in the project, {Path.cwd()}; name an artifact, "
                f"or a file such as {results.folder}/claims/npf_verdicts.csv"
            )
        file = file.relative_to(Path.cwd())
    name = file.as_posix()
    of_this_run = name.startswith((f"{results.folder}/", "results/data/"))
    if name.startswith("results/") and not of_this_run:
        raise ConfigError(
            f"{target} is a file of another run; the files of this one are in "
            f"{results.folder}{_options_of(file.parts[1])}"
        )
    return name


def _options_of(folder: str) -> str:
    """How to ask for the run whose results are in a folder; empty if it is not known."""
    match = re.fullmatch(rf"({'|'.join(PRESETS)})(?:-seed(\d+))?", folder)
    if match:
        preset, seed = match.groups()
        options = f"--preset {preset}"
        if seed:
            options += f" --seed {seed}"
        return f"; add {options}"
    if folder.isidentifier():
        return f"; add --name {folder} if it is that of a run"
    return ""


def _artifacts_in(names: Sequence[str]) -> list[str]:
    """Return the targets, with the artifacts of each paper in its place: a paper is no job."""
    if not names or "all" in names:
        raise ConfigError(
            "--force: name artifacts, experiments or papers; --forceall makes everything anew"
        )
    artifacts_of = {}
    for paper in read_papers():
        artifacts_of[paper.name] = [artifact.artifact for artifact in paper.artifacts]
    targets = []
    for name in names:
        targets += artifacts_of.get(name, [name])
    return targets


def report(*, config: Settings = (), results: Results = Results()) -> int:
    """Build the report from the results there are.

    Another run may still be adding results.

    Example: finitewidth report --preset laptop --config data.cifar10=cifar10_jpeg

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
    """Return the overrides of a run as Snakemake takes them: those given, and the options."""
    return assignments(overridden(results, given))


def configuration(results: Results, given: Sequence[str]) -> dict[str, Any]:
    """Return all settings of a run, which `finitewidth.pipeline.plan.Plan` checks."""
    chosen = {"seed": results.seed, **overridden(results, given)}
    return merged(preset_only(results.preset, "config"), chosen)


def overridden(results: Results, given: Sequence[str]) -> dict[str, Any]:
    """Return the settings that are given, with the name and the images of the run."""
    chosen = overrides.read(given)
    overrides.agree(chosen, {"preset": results.preset, "seed": results.seed})
    if results.name is not None:
        overrides.agree(chosen, {"name": results.name})
        chosen["name"] = results.name
    if results.sources:  # a folder without images is refused
        overrides.add(chosen, {"data": {"images": str(results.images)}})
    return chosen


def call(words: Sequence[str]) -> int:
    """Print a Snakemake command and carry it out; return its exit status."""
    print(shlex.join(words), flush=True)
    return snakemake(words[1:])


def snakemake(words: Sequence[str]) -> int:
    """Carry out a Snakemake command in this process, which gets all signals; return its status.

    If a signal ended it, the status is that of a shell, such as 130 for Ctrl-C.
    """
    with ending_at_once():  # it takes a second
        from snakemake.cli import main
    received: list[int] = []

    def stop(number: int, frame: object) -> None:
        received.append(number)
        raise KeyboardInterrupt

    status = 0
    silent = "--quiet" in words
    # of a closed terminal: SIGHUP; for SIGTERM, Snakemake has a handler of its own once jobs start
    with handled(dict.fromkeys((signal.SIGINT, signal.SIGTERM, signal.SIGHUP), stop)):
        try:
            main([*words])
        except SystemExit as end:
            status = int(end.code or 0)
        except KeyboardInterrupt:  # before or after the jobs, where Snakemake does not catch it
            silent = True
    if not received:
        return status
    if silent:
        print(MESSAGE, file=sys.stderr)
    return status_of(received[-1])
