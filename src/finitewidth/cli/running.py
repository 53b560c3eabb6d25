"""``finitewidth run``: the Snakemake command of some targets, printed and carried out."""

import os
import shlex
import subprocess
import sys
from collections.abc import Sequence

from finitewidth.common.settings import results_folder


def command(
    targets: Sequence[str], preset: str, seed: int, cores: int | None, dry: bool,
    settings: Sequence[str], more: Sequence[str],
) -> list[str]:  # fmt: skip
    """Return the words of the Snakemake command.

    Args:
        targets: artifacts, papers, experiments or files; none for everything.
        preset: of sizes.
        seed: base seed.
        cores: to use; None for all of this machine.
        dry: whether to show only what would be done.
        settings: overrides, ``key=value`` in YAML.
        more: further options of Snakemake.
    """
    words = ["snakemake", "--cores", str(cores or os.cpu_count() or 1), *targets]
    words += ["--dry-run"] * dry + list(more)
    return [*words, "--config", f"preset={preset}", *([f"seed={seed}"] if seed else []), *settings]


def run(words: Sequence[str]) -> int:
    """Print a Snakemake command and carry it out; return its exit status."""
    print(shlex.join(words), flush=True)
    return subprocess.run([sys.executable, "-m", *words], check=False).returncode


def run_rule(rule: str, preset: str, *settings: str) -> int:
    """Run a rule without inputs, beside other runs; return the exit status."""
    words = [rule, "--cores", "1", "--quiet", "all", "--nolock"]
    words += ["--config", f"preset={preset}", *settings]
    return subprocess.run([sys.executable, "-m", "snakemake", *words], check=False).returncode


def report(preset: str, seed: int = 0, *settings: str) -> int:
    """Build the report from the results there are; another run may be making more meanwhile."""
    status = run_rule("report_now", preset, f"seed={seed}", *settings)
    if status == 0:
        print(f"{results_folder(preset, seed)}/report/index.html")
    return status
