"""How long the workflow takes from the outside: a no-op run, a redrawn figure, a fresh quick run.

    python benchmarks/workflow.py            no-op and redraw, on finished results of the preset
    python benchmarks/workflow.py --fresh    also everything from scratch, in a folder of its own

Wall seconds of whole processes; the ratio to a bare ``snakemake --version`` says how much of it is
starting Python and Snakemake. Wanted on two cores: no-op 5 s, redraw 10 s, fresh quick run 180 s.
"""

import argparse
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
PARTS = ("Snakefile", "workflow", "config", "profiles")


def seconds(command: list[str], folder: Path, repetitions: int = 1) -> float:
    """Median wall time of a command that must succeed."""
    times = []
    for _ in range(repetitions):
        started = time.perf_counter()
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
        times.append(time.perf_counter() - started)
    return statistics.median(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--preset", default="quick")
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--figure", default="npf_fig3")
    parser.add_argument("--fresh", action="store_true")
    options = parser.parse_args()
    snakemake = [sys.executable, "-m", "snakemake"]
    run = [*snakemake, "--cores", str(options.cores), "--config", f"preset={options.preset}"]
    with tempfile.TemporaryDirectory() as name:
        folder = ROOT
        if options.fresh:
            folder = Path(name)
            for part in PARTS:
                copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copy2
                copy(ROOT / part, folder / part)
            print(f"fresh run, preset {options.preset}: {seconds(run, folder):.1f} s")
        bare = seconds([*snakemake, "--version"], folder, 3)
        nothing = seconds(run, folder, 3)
        print(f"bare start: {bare:.1f} s; no-op run: {nothing:.1f} s ({nothing / bare:.1f}x)")
        redraw = seconds([*run, "--force", options.figure], folder, 3)
        print(f"redrawing {options.figure}: {redraw:.1f} s ({redraw / bare:.1f}x)")


if __name__ == "__main__":
    main()
