"""The parser of the command line, the functions of its commands, and its exit status."""

import argparse
import os
import sys
from pathlib import Path

from finitewidth.cli import images, kernel, network, running, tiles
from finitewidth.cli.project import checked_targets, find_project
from finitewidth.common.errors import FinitewidthError
from finitewidth.common.settings import LARGEST_SEED, PRESETS, preset_only, results_folder

WITHOUT_PROJECT = ("ntk", "network", "completion")
SHELLS = ("bash", "zsh", "tcsh")
# options that are paths, relative to the user's folder
FILES = ("file", "to", "write", "images", "network", "output")


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return the exit status.

    Args:
        arguments: the words after the command; those of the process by default. What follows
            ``--`` is passed on to Snakemake.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    end = words.index("--") if "--" in words else len(words)
    options = parser().parse_args(words[:end])
    options.more = words[end + 1 :]
    try:
        if options.command not in WITHOUT_PROJECT:
            _enter_project(options)
        return COMMANDS[options.command](options) or 0
    except FinitewidthError as error:
        print(f"finitewidth: {error}", file=sys.stderr)
        return 1
    except BlockingIOError:  # of fork
        print("finitewidth: no process can be started: the limit on processes is reached; raise it "
              "(ulimit -u), or stop other processes of this user", file=sys.stderr)  # fmt: skip
        return 1
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return 130


def _enter_project(options: argparse.Namespace) -> None:
    """Go to the folder of the project; paths that the user gave stay what they were."""
    here = Path.cwd()
    for name in FILES:
        if isinstance(path := getattr(options, name, None), Path):
            setattr(options, name, here / path)
    os.chdir(find_project(here, options.project))


def parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    whole = argparse.ArgumentParser(
        prog="finitewidth",
        description="Every numbered table and figure of five papers on finite-width networks.",
    )
    whole.add_argument("--project", type=Path, metavar="DIR",
                       help="a clone of finitewidth (default: here or above)")  # fmt: skip
    commands = whole.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_results(commands)
    _add_runs(commands)
    answer = commands.add_parser("ntk", help="can the infinite-width kernel be trusted?")
    kernel.add_options(answer)
    complete = commands.add_parser("completion", help="print the completion for a shell")
    complete.add_argument("shell", choices=SHELLS)
    return whole


def _add_results(commands: argparse._SubParsersAction) -> None:
    """Commands that read results."""
    listing = commands.add_parser("list", help="list all artifacts and the files of those made")
    listing.add_argument("--planned", action="store_true", help="list planned artifacts as well")
    listing.add_argument("--paper", help="only the artifacts of one paper")
    report = commands.add_parser("report", help="build the report from the results there are")
    report.add_argument("--config", nargs="+", default=[], metavar="KEY=VALUE",
                        help="the settings that the run overrode")  # fmt: skip
    verify = commands.add_parser("verify", help="is every result what its job wrote?")
    errata = commands.add_parser("errata", help="compute the errata of the papers, as Markdown")
    errata.add_argument("--write", type=Path, metavar="FILE", help="write to a file, not to stdout")
    compare = commands.add_parser("compare", help="which verdicts and numbers of two runs differ")
    compare.add_argument("runs", nargs=2, metavar="RUN",
                         help="a preset, <preset>-seed<k>, or a folder of results")  # fmt: skip
    compare.add_argument("--least", type=float, default=3.0, metavar="ERRORS",
                         help="smallest difference, in standard errors (default: 3)")  # fmt: skip
    compare.add_argument("--rows", type=int, default=20, help="numbers to show (default: 20)")
    redraw = commands.add_parser("redraw", help="draw a figure from its CSV file alone")
    redraw.add_argument("file", type=Path, metavar="CSV")
    redraw.add_argument("--to", type=Path, required=True, metavar="FILE", help="PDF, SVG or PNG")
    for command in (listing, report, verify):
        _add_preset(command)
        _add_images(command)


def _add_runs(commands: argparse._SubParsersAction) -> None:
    """Commands about runs."""
    run = commands.add_parser(
        "run", help="make artifacts; prints the snakemake command",
        epilog="What follows -- is passed on to Snakemake.",
    )  # fmt: skip
    run.add_argument("targets", nargs="*", metavar="TARGET",
                     help="artifacts, papers or experiments (default: everything)")  # fmt: skip
    run.add_argument("--cores", type=int, help="default: all")
    run.add_argument("-n", "--dry-run", action="store_true", help="show what would be done")
    run.add_argument(
        "--config", nargs="+", default=[], metavar="KEY=VALUE", help="override settings"
    )
    own = commands.add_parser(
        "network", help="kernels and gates of a network of your own, over draws and in training"
    )
    network.add_options(own)
    tiled = commands.add_parser(
        "kernel", help="the tangent kernel of a network of your own, in tiles, as a file",
        epilog="What follows -- is passed on to Snakemake.",
    )  # fmt: skip
    tiles.add_options(tiled)
    status = commands.add_parser("status", help="how far the last run is: done, running, failed")
    plan = commands.add_parser("plan", help="forecast time and memory of every artifact")
    costs = commands.add_parser("costs", help="update the table of costs from a finished run")
    costs.add_argument("--new", action="store_true", help="only jobs that have no row yet")
    robustness = commands.add_parser(
        "robustness", help="compare verdicts under several base seeds, after `make robustness`"
    )
    robustness.add_argument(
        "--seeds", type=_seed, nargs="+", default=[1, 2, 3], metavar="SEED",
        help="base seeds to compare with base seed 0 (default: 1 2 3)",
    )  # fmt: skip
    _add_preset(run)
    for command in (run, status):
        _add_images(command)
    _add_preset(status)
    for command in (plan, costs, robustness):
        command.add_argument("--preset", choices=PRESETS, default="quick")


def _add_preset(command: argparse.ArgumentParser) -> None:
    command.add_argument("--preset", choices=PRESETS, default="quick")
    command.add_argument("--seed", type=_seed, default=0, help="base seed of the run")


def _add_images(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--images", type=Path, metavar="FOLDER",
        help="images of your own, {train,test}/<class>/*, in place of all datasets",
    )  # fmt: skip


def _seed(text: str) -> int:
    """A base seed as the settings allow it."""
    if not text.isdecimal() or int(text) > LARGEST_SEED:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 0 to {LARGEST_SEED}")
    return int(text)


# --- commands: each imports what it needs, so that the others start at once -----------------------


def _list(options: argparse.Namespace) -> None:
    from finitewidth.cli.listing import listed

    own = images.names(options.images)
    print("\n".join(listed(options.preset, options.planned, options.seed, options.paper, own)))


def _run(options: argparse.Namespace) -> int:
    settings = images.settings(options.images, options.preset, options.config)
    words = running.command(
        checked_targets(options.targets), options.preset, options.seed,
        options.cores, options.dry_run, settings, options.more,
    )  # fmt: skip
    return running.run(words)


def _status(options: argparse.Namespace) -> int:
    from finitewidth.cli.status import status

    own = images.names(options.images)
    text, code = status(results_folder(options.preset, options.seed, own))
    print(text)
    return code


def _verify(options: argparse.Namespace) -> int:
    from finitewidth.cli.verifying import verify

    return verify(results_folder(options.preset, options.seed, images.names(options.images)))


def _errata(options: argparse.Namespace) -> None:
    from finitewidth.common.declarations import read_papers
    from finitewidth.errata import document, table

    titles = {paper.name: paper.title for paper in read_papers()}
    networks = preset_only("paper", "config")["errata"]["networks"]
    text = document.markdown(table.errata_of(titles), titles, networks, table.unused(titles))
    if options.write is None:
        print(text, end="")
    else:
        options.write.write_text(text, encoding="utf-8")


def _plan(options: argparse.Namespace) -> None:
    from finitewidth.pipeline.plan import Plan

    print(Plan(preset_only(options.preset, "config"), ".").forecast())


def _costs(options: argparse.Namespace) -> None:
    from finitewidth.pipeline.costs import refresh

    print(refresh(options.preset, results_folder(options.preset), only_new=options.new))


def _robustness(options: argparse.Namespace) -> None:
    from finitewidth.claims import robustness

    print(robustness.summary(robustness.compare(options.preset, options.seeds)))
    print(f"{results_folder(options.preset)}/{robustness.TABLE}")


def _compare(options: argparse.Namespace) -> None:
    from finitewidth.cli.comparing import compared

    print(compared(options.runs, options.least, options.rows))


def _redraw(options: argparse.Namespace) -> None:
    from finitewidth.cli.redrawing import redraw

    redraw(options.file, options.to)


def _completion(options: argparse.Namespace) -> None:
    import shtab

    print(shtab.complete(parser(), shell=options.shell))


COMMANDS = {
    "list": _list,
    "run": _run,
    "network": network.run,
    "kernel": tiles.run,
    "status": _status,
    "plan": _plan,
    "report": lambda options: images.report(
        options.images, options.preset, options.seed, options.config
    ),
    "verify": _verify,
    "errata": _errata,
    "costs": _costs,
    "robustness": _robustness,
    "compare": _compare,
    "redraw": _redraw,
    "ntk": lambda options: print(kernel.answered(options)),
    "completion": _completion,
}
