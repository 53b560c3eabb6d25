"""The command line: its commands, and their exit status."""

import contextlib
import io
import os
import signal
import sys
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import App, CycloptsError, Parameter

from finitewidth.cli import comparing, network, running, show, status, summary, tiles, trust
from finitewidth.cli.names import complete_papers, file_of
from finitewidth.cli.options import Count, File, More, Preset, Results, Settings
from finitewidth.cli.outputs import try_file, written
from finitewidth.common.errors import ConfigError, FinitewidthError, ResultError
from finitewidth.common.interrupts import MESSAGE, status_of
from finitewidth.common.machine import usable_cores
from finitewidth.declarations.papers import artifacts_of, read_papers
from finitewidth.pipeline.runs import surroundings
from finitewidth.records.provenance import SOURCE_ROOT, git_state
from finitewidth.records.running import read_running
from finitewidth.settings.presets import preset_only, results_folder


def _default(value: Any) -> str | None:
    """A default in the help; none for what is off or left to the command."""
    return None if value is None or value is False or value == () else str(value)


def version() -> str:
    """The version of the package and, in a clone, the commit: ``0.1.0 (commit 0d3628b4)``."""
    number = metadata.version("finitewidth")
    commit = git_state() if (SOURCE_ROOT.parent / "Snakefile").is_file() else {"commit": None}
    if commit["commit"] is None:
        return f"finitewidth {number}"
    changed = ", with changes" if commit["dirty"] else ""
    return f"finitewidth {number} (commit {commit['commit'][:8]}{changed})"


app = App(
    name="finitewidth",
    help="Every numbered table and figure of five papers on finite-width networks.",
    help_format="plaintext",
    version=version,
    version_flags=("--version",),
    default_parameter=Parameter(negative=(), show_default=_default),
)
RAISES: dict[str, Any] = {"exit_on_error": False, "print_error": False}  # `main` writes the message
app.command(running.make, name="run")
app.command(running.report)
app.command(show.show)
app.command(status.status)
app.command(comparing.compare)
app.command(network.network)
app.command(tiles.kernel)
app.command(trust.trust)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit status.

    Args:
        arguments: the words after the command; those of the process by default. What follows
            ``--`` is passed on to Snakemake.
    """
    for stream in (sys.stdout, sys.stderr):  # an ASCII terminal shows \u00d7 for a times sign
        with contextlib.suppress(OSError):  # a stream that has been written to stays as it is
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="backslashreplace")
    words = list(sys.argv[1:] if arguments is None else arguments)
    end = words.index("--") if "--" in words else len(words)
    more = words[end + 1 :]
    try:
        start, bound, unbound = app.meta.parse_args(words[:end], **RAISES)
        return start(*bound.args, **bound.kwargs, **dict.fromkeys(unbound, more)) or 0
    except FinitewidthError as error:
        print(f"finitewidth: {error}", file=sys.stderr)
        return 1
    except CycloptsError as error:
        print(f"finitewidth: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        print(MESSAGE, file=sys.stderr)
        return status_of(signal.SIGINT)


@app.meta.default
def _in_project(
    *words: Annotated[str, Parameter(show=False, allow_leading_hyphen=True)],
    project: File | None = None,
    more: More = (),
) -> int | None:
    """Call a command in the folder of the project, or where the user is if it needs none.

    Args:
        words: the command and its options
        project: a clone of finitewidth (default: here or above)
    """
    command, bound, unbound = app.parse_args(words, **RAISES)
    if command not in (network.network, trust.trust, completion):
        os.chdir(surroundings.find_project(Path.cwd(), project))
        surroundings.name_user()
        surroundings.refuse_missing_target("results")
    if command in (running.make, running.report):  # the Snakefile says the same in more lines
        surroundings.refuse_unwritable(".snakemake", "results")
    return command(*bound.args, **bound.kwargs, **dict.fromkeys(unbound, more))


# --- short commands: each imports what it needs, so that the others start at once -----------------


@app.command(name="list")
def list_artifacts(
    *,
    paper: Annotated[str | None, Parameter(completer=complete_papers)] = None,
    short: bool = False,
    results: Results = Results(),
) -> None:
    """List all artifacts and the files of those made.

    Example: finitewidth list --paper thesis

    Args:
        paper: only the artifacts of one paper
        short: a line for each paper instead: how many are made, and at which sizes
    """
    papers = read_papers()
    names = [entry.name for entry in papers]
    if paper is not None and paper not in names:
        raise ConfigError(f"--paper {paper}: must be one of {', '.join(names)}")
    artifacts = artifacts_of(papers)
    if paper is not None:
        artifacts = [artifact for artifact in artifacts if artifact.paper == paper]
    if short:
        print(summary.of_papers(artifacts, results))
        return
    for artifact in artifacts:
        path = file_of(artifact, results.folder)
        file = str(path) if path.is_file() else "not made yet"
        print(f"{artifact.artifact:<22} {file:<55} {artifact.title}")


@app.command
def verify(*, config: Settings = (), results: Results = Results()) -> int:
    """Is every result what its job wrote, with the settings and the code of today?

    Nothing is written.

    Example: finitewidth verify --preset laptop

    Args:
        config: the settings that the run overrode, KEY=VALUE
    """
    from finitewidth.pipeline.plan import Plan
    from finitewidth.pipeline.plans.planned_jobs import plans_of_jobs
    from finitewidth.pipeline.plans.verified import WORKING, problems

    if not os.path.isdir(results.folder):
        raise ResultError(
            f"{results.folder} has no results; finitewidth run with the same options makes them"
        )
    plan = Plan(running.configuration(results, config), ".")
    plans = plans_of_jobs(plan)
    at_work = {job.job for job in read_running([results.folder, "results/data"])}
    all_problems = problems(results.folder, plan.graph.needs, plans, at_work)
    for problem in all_problems:
        print(problem.text)
    for package, count in plans.other_packages.items():
        print(f"{package}: {count} results were made with the other version")
    wrong = [problem for problem in all_problems if problem.kind != WORKING]
    checked = [name for name in plan.graph.needs if os.path.exists(plans[name].provenance)]
    print(f"{len(checked)} jobs checked, {len(wrong)} problems")
    return 1 if wrong else 0


@app.command
def plan(*, preset: Preset = "quick", cores: Count | None = None) -> None:
    """Forecast time, memory and disk space of every artifact and of a run.

    Example: finitewidth plan --preset paper --cores 64

    Args:
        cores: also forecast a run on so many cores, not only on 1, 2, 8 and 64 (default: all)
    """
    from finitewidth.pipeline.plan import Plan

    print(Plan(preset_only(preset, "config"), ".").forecast.text(cores or usable_cores()))


@app.command
def errata(*, write: File | None = None) -> None:
    """Compute the errata of the papers, as Markdown.

    Example: finitewidth errata --write errata.md

    Args:
        write: write to a file, not to stdout
    """
    from finitewidth.errata import document, table

    if write:
        try_file(write, "--write")
    titles = {paper.name: paper.title for paper in read_papers()}
    networks = preset_only("paper", "config")["errata"]["networks"]
    text = document.markdown(table.errata_of(titles), titles, networks)
    if write is None:
        print(text, end="")
    else:
        with written(write):
            write.write_text(text, encoding="utf-8")


@app.command
def costs(*, preset: Preset = "quick", new: bool = False) -> None:
    """Update the table of costs from a finished run.

    Example: finitewidth costs --preset smoke --new

    Args:
        new: only jobs that have no row yet
    """
    from finitewidth.pipeline.costs import refresh

    print(refresh(preset, results_folder(preset), only_new=new))


@app.command
def completion(shell: Literal["bash", "zsh", "fish"]) -> None:
    """Print the completion for a shell.

    Write it to the file _cyclopts_finitewidth in a folder of fpath for zsh, and to
    ~/.config/fish/completions/finitewidth.fish for fish.

    Example: finitewidth completion bash > ~/.local/share/bash-completion/completions/finitewidth

    Args:
        shell: the shell that you use
    """
    print(app.generate_completion(shell=shell))
