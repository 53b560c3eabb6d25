"""``python -m finitewidth``: what there is, where the results are, and what a run will cost."""

import argparse
import subprocess
import sys
from pathlib import Path

from finitewidth.common.declarations import Artifact, artifacts_of, read_papers
from finitewidth.common.errors import FinitewidthError
from finitewidth.common.settings import LARGEST_SEED, PRESETS, preset_only, results_folder


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    options = _parser().parse_args(arguments)
    if options.command == "plan":
        return _snakemake("plan", options.preset)
    if options.command == "report":
        return reported(options.preset, options.seed)
    try:
        if options.command == "errata":
            show_errata(options.write)
        elif options.command == "costs":
            refresh_costs(options.preset, options.new)
        elif options.command == "robustness":
            compare_seeds(options.preset, options.seeds)
        else:
            print("\n".join(listed(options.preset, options.planned, options.seed)))
    except FinitewidthError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="finitewidth", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    listing = commands.add_parser("list", help="list all artifacts and the files of those made")
    listing.add_argument("--planned", action="store_true", help="list planned artifacts as well")
    plan = commands.add_parser("plan", help="forecast the cost of every artifact")
    errata = commands.add_parser("errata", help="compute the errata of the papers, as Markdown")
    errata.add_argument("--write", type=Path, metavar="FILE", help="write to a file, not to stdout")
    report = commands.add_parser("report", help="build the report from the results there are")
    costs = commands.add_parser("costs", help="update the table of costs from a finished run")
    costs.add_argument("--new", action="store_true", help="only jobs that have no row yet")
    robustness = commands.add_parser(
        "robustness", help="compare verdicts under several base seeds, after `make robustness`"
    )
    robustness.add_argument(
        "--seeds", type=_seed, nargs="+", default=[1, 2, 3], metavar="SEED",
        help="base seeds to compare with base seed 0 (default: 1 2 3)",
    )  # fmt: skip
    for command in (listing, plan, report, costs, robustness):
        command.add_argument("--preset", choices=PRESETS, default="quick")
    for command in (listing, report):
        command.add_argument("--seed", type=_seed, default=0, help="base seed of the run")
    return parser


def _seed(text: str) -> int:
    """A base seed as the settings allow it."""
    if not text.isdecimal() or int(text) > LARGEST_SEED:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 0 to {LARGEST_SEED}")
    return int(text)


def reported(preset: str, seed: int = 0) -> int:
    """Build the report from the results there are; another run may be making more meanwhile."""
    status = _snakemake("report_now", preset, f"seed={seed}")
    if status == 0:
        print(f"{results_folder(preset, seed)}/report/index.html")
    return status


def _snakemake(rule: str, preset: str, *settings: str) -> int:
    """Run a rule without inputs; only Snakemake knows which job rests on which."""
    words = [rule, "--cores", "1", "--quiet", "all", "--nolock"]
    words += ["--config", f"preset={preset}", *settings]
    return subprocess.run([sys.executable, "-m", "snakemake", *words], check=False).returncode


def show_errata(file: Path | None) -> None:
    """Compute all errata; write or print them."""
    # imported here because computing them imports torch
    from finitewidth.errata import document, table

    titles = {paper.name: paper.title for paper in read_papers()}
    networks = preset_only("paper", "config")["errata"]["networks"]
    text = document.markdown(table.errata_of(titles), titles, networks)
    if file is None:
        print(text, end="")
    else:
        file.write_text(text, encoding="utf-8")


def refresh_costs(preset: str, only_new: bool) -> None:
    """Update the table of costs from the benchmark files of a finished run."""
    from finitewidth.pipeline.costs.refresh import refresh

    print(refresh(preset, results_folder(preset), only_new=only_new))


def compare_seeds(preset: str, seeds: list[int]) -> None:
    """Compare the verdicts under several base seeds; write the table, print a summary."""
    from finitewidth.claims import robustness

    print(robustness.summary(robustness.compare(preset, seeds)))
    print(f"{results_folder(preset)}/{robustness.TABLE}")


def listed(preset: str, planned: bool, seed: int = 0) -> list[str]:
    """A line per artifact: name, the file that a reader opens first, and title."""
    lines = []
    for artifact in artifacts_of(read_papers()):
        if artifact.done:
            path = first_file(preset, artifact, seed)
            found = str(path) if path.is_file() else "not made yet"
        elif planned:
            found = "planned"
        else:
            continue
        lines.append(f"{artifact.artifact:<14} {found:<50} {artifact.title}")
    return lines


def first_file(preset: str, artifact: Artifact, seed: int = 0) -> Path:
    """The PDF of a figure, the Markdown of a table."""
    suffix = "pdf" if artifact.kind == "figure" else "md"
    folder = Path(results_folder(preset, seed)) / artifact.paper / f"{artifact.kind}s"
    return folder / f"{artifact.artifact}.{suffix}"


if __name__ == "__main__":
    sys.exit(main())
