"""``finitewidth run``: the Snakemake command of some targets, printed and carried out."""

import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from finitewidth.common.settings import results_folder
from finitewidth.common.unwritable import unwritable


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


def verify(preset: str, seed: int, results: str, *settings: str) -> int:
    """Check that all results are what their jobs wrote, from today's settings and code.

    Args:
        preset: of sizes.
        seed: base seed.
        results: their folder.
        *settings: overrides, ``key=value``.

    Returns:
        The exit status: 0 if the chain of digests holds, 1 if it is broken or was not checked.
    """
    log = Path(results, "logs", "verify.log")
    try:
        log.unlink(missing_ok=True)
    except OSError as error:
        raise unwritable(error, log) from error
    words = ["verify", "--cores", "1", "--quiet", "all", "--nolock"]
    words += ["--config", f"preset={preset}", f"seed={seed}", *settings]
    done = subprocess.run([sys.executable, "-m", "snakemake", *words], check=False,
                          capture_output=True, text=True)  # fmt: skip
    if log.is_file():
        print(log.read_text(encoding="utf-8"), end="")
    else:  # the configuration was refused
        print(done.stdout + done.stderr, end="", file=sys.stderr)
    return int(done.returncode != 0)
