"""Wall time of the workflow: a run with nothing to do, a redrawn figure and a complete run.

    python benchmarks/workflow.py            nothing to do and redraw, on finished results
    python benchmarks/workflow.py --fresh    also a complete run in a new folder

Times are wall seconds of whole processes. The script also prints the ratio to
``snakemake --version``, which shows how much of the time is the start of Python and Snakemake. The
goals on two cores are 5 s for a run with nothing to do, 10 s for a redrawn figure and 180 s for a
complete run of preset quick.
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
    """Return the median wall time of a command, which must succeed."""
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
