"""The command line: its commands, and their exit status."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import App, CycloptsError, Parameter

from finitewidth.cli import comparing, network, running, tiles
from finitewidth.cli.options import File, More, Preset, Results
from finitewidth.common.declarations import artifacts_of, read_papers
from finitewidth.common.errors import ConfigError, FinitewidthError, ResultError
from finitewidth.common.settings import preset_only, results_folder
from finitewidth.common.usage import provenance_files
from finitewidth.common.verification import Provenances
from finitewidth.pipeline import surroundings


def _default(value: Any) -> str | None:
    """A default in the help; none for what is off or left to the command."""
    return None if value is None or value is False or value == () else str(value)


app = App(
    name="finitewidth",
    help="Every numbered table and figure of five papers on finite-width networks.",
    help_format="plaintext",
    version_flags=(),
    default_parameter=Parameter(negative=(), show_default=_default),
)
RAISES = {"exit_on_error": False, "print_error": False}  # so that `main` writes the message
app.command(running.make, name="run")
app.command(running.report)
app.command(comparing.compare)
app.command(network.network)
app.command(tiles.kernel)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit status.

    Args:
        arguments: the words after the command; those of the process by default. What follows
            ``--`` is passed on to Snakemake.
    """
    words = [*(sys.argv[1:] if arguments is None else arguments)]
    end = words.index("--") if "--" in words else len(words)
    try:
        start, bound, left = app.meta.parse_args(words[:end], **RAISES)
        return start(*bound.args, **bound.kwargs, **dict.fromkeys(left, words[end + 1 :])) or 0
    except (CycloptsError, FinitewidthError) as error:
        print(f"finitewidth: {error}", file=sys.stderr)
        return 1 if isinstance(error, FinitewidthError) else 2
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return 130


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
    command, bound, left = app.parse_args(words, **RAISES)
    if command not in (network.network, completion):
        os.chdir(find_project(Path.cwd(), project))
        surroundings.name_user()
        surroundings.refuse_missing_target("results")
    if command in (running.make, running.report):  # the Snakefile says the same in more lines
        surroundings.refuse_unwritable(".snakemake", "results")
    return command(*bound.args, **bound.kwargs, **dict.fromkeys(left, more))


def find_project(start: Path, given: Path | None = None) -> Path:
    """Return the folder of the project: ``given``, or ``start`` or a folder above it.

    Raises:
        ConfigError: there is none, or it is not the one that this package belongs to.
    """
    places = (start.resolve(), *start.resolve().parents) if given is None else (given.resolve(),)
    for folder in places:
        if (folder / "Snakefile").exists() and (folder / "workflow/papers").exists():
            surroundings.refuse_other_package(folder)
            return folder
    raise ConfigError(f"{given or start} has no Snakefile and workflow/papers, so it is no clone "
                      "of finitewidth; go to one, or name it with --project DIR")  # fmt: skip


# --- short commands: each imports what it needs, so that the others start at once -----------------


@app.command(name="list")
def list_artifacts(*, paper: str | None = None, results: Results = Results()) -> None:
    """List all artifacts and the files of those made.

    Example: finitewidth list --paper thesis

    Args:
        paper: only the artifacts of one paper
    """
    papers = read_papers()
    if paper is not None and paper not in {each.name for each in papers}:
        raise ConfigError(f"--paper {paper}: must be one of {', '.join(p.name for p in papers)}")
    for artifact in artifacts_of(papers):
        if paper not in (None, artifact.paper):
            continue
        suffix = "pdf" if artifact.kind == "figure" else "md"
        name = f"{artifact.paper}/{artifact.kind}s/{artifact.artifact}.{suffix}"
        path = Path(results.folder, name)
        found = str(path) if path.is_file() else "not made yet"
        print(f"{artifact.artifact:<22} {found:<55} {artifact.title}")


@app.command
def verify(*, results: Results = Results()) -> int:
    """Is every result what its job wrote? Nothing is written.

    Example: finitewidth verify --preset laptop
    """
    if not provenance_files(results.folder):
        raise ResultError(f"{results.folder} has no results; finitewidth run with the same options "
                          "makes them")  # fmt: skip
    provenances = Provenances(results.folder)
    problems = provenances.problems()
    checked = f"{len(provenances.stamps)} jobs checked, {len(problems)} problems"
    print("\n".join([*problems, checked]))
    return int(bool(problems))


@app.command
def plan(*, preset: Preset = "quick") -> None:
    """Forecast time and memory of every artifact.

    Example: finitewidth plan --preset paper
    """
    from finitewidth.pipeline.plan import Plan

    print(Plan(preset_only(preset, "config"), ".").forecast())


@app.command
def errata(*, write: File | None = None) -> None:
    """Compute the errata of the papers, as Markdown.

    Example: finitewidth errata --write errata.md

    Args:
        write: write to a file, not to stdout
    """
    from finitewidth.errata import document, table

    titles = {paper.name: paper.title for paper in read_papers()}
    networks = preset_only("paper", "config")["errata"]["networks"]
    text = document.markdown(table.errata_of(titles), titles, networks)
    if write is None:
        print(text, end="")
    else:
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

    Example: finitewidth completion bash > ~/.local/share/bash-completion/completions/finitewidth

    Args:
        shell: that you use
    """
    print(app.generate_completion(shell=shell))
