"""``python -m finitewidth``: what there is, where the results lie, and what a run will cost."""

import argparse
import subprocess
import sys
from pathlib import Path

from finitewidth.common import index
from finitewidth.common.errors import FinitewidthError
from finitewidth.common.settings import PRESETS, preset_only
from finitewidth.pipeline.plan import FIGURE_FORMATS, TABLE_FORMATS


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    parser = argparse.ArgumentParser(prog="finitewidth", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    listing = commands.add_parser("list", help="all artifacts, and the files of those made")
    listing.add_argument("--preset", choices=PRESETS, default="quick")
    listing.add_argument("--planned", action="store_true", help="also those still to come")
    costs = commands.add_parser("plan", help="what every artifact will cost, before any run")
    costs.add_argument("--preset", choices=PRESETS, default="quick")
    errata = commands.add_parser("errata", help="misprints of the papers, computed, as Markdown")
    errata.add_argument("--write", type=Path, metavar="FILE", help="write there, not to stdout")
    pages = commands.add_parser("report", help="pages on whatever results there are now")
    pages.add_argument("--preset", choices=PRESETS, default="quick")
    options = parser.parse_args(arguments)
    if options.command == "plan":
        return _snakemake("plan", options.preset)
    if options.command == "report":
        return reported(options.preset)
    try:
        if options.command == "errata":
            show_errata(options.write)
            return 0
        print("\n".join(listed(options.preset, options.planned)))
    except FinitewidthError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def reported(preset: str) -> int:
    """Build the report on whatever results there are, beside a run that may be making more."""
    status = _snakemake("report_now", preset)
    if status == 0:
        print(f"results/{preset}/report/index.html")
    return status


def _snakemake(rule: str, preset: str) -> int:
    """Run a rule without inputs: Snakemake knows what rests on what."""
    words = [rule, "--cores", "1", "--quiet", "all", "--nolock", "--config", f"preset={preset}"]
    return subprocess.run([sys.executable, "-m", "snakemake", *words], check=False).returncode


def show_errata(file: Path | None) -> None:
    """Compute all misprints; write or print them."""
    # only here: computing imports torch
    from finitewidth.errata import document, table

    text = document.markdown(table.ERRATA, preset_only("paper", "config")["errata"]["networks"])
    if file is None:
        print(text, end="")
    else:
        file.write_text(text, encoding="utf-8")


def listed(preset: str, planned: bool) -> list[str]:
    """A line per artifact: id, title, and the path of what a reader opens first, if it is there."""
    lines = []
    entries = index.read_index("config/artifacts.tsv") + index.read_extras("config/extras.tsv")
    for artifact in entries:
        if artifact.status == "done":
            path = first_file(preset, artifact)
            found = str(path) if path.is_file() else "not made yet"
        elif planned:
            found = "planned"
        else:
            continue
        lines.append(f"{artifact.artifact:<14} {found:<50} {artifact.title}")
    return lines


def first_file(preset: str, artifact: index.Artifact) -> Path:
    """The PDF of a figure, the Markdown of a table."""
    suffix = FIGURE_FORMATS[0] if artifact.kind == "figure" else TABLE_FORMATS[1]
    folder = Path("results") / preset / artifact.paper / f"{artifact.kind}s"
    return folder / f"{artifact.artifact}.{suffix}"


if __name__ == "__main__":
    sys.exit(main())
