"""Measure the benchmarks, and write their table, figures and page of the documentation.

    python benchmarks/page.py                 some minutes; make benchmarks does the same
    python benchmarks/page.py --device cuda   the same cases on a GPU
    python benchmarks/page.py --quick --into build/benchmarks   tiny sizes, to try it out
    python benchmarks/page.py --written       the page and the figures, from tables that exist

The table of this machine is written to benchmarks/results, and docs/benchmarks.md shows all tables
there. With --only or --threads, the other rows of the table stay as they were. Each number of
threads is measured in a process of its own.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pandas as pd

ROOT = Path(__file__).parents[1]
IDLE = 1.5  # load average
sys.path.insert(0, str(ROOT))

from benchmarks import document, rows  # noqa: E402
from benchmarks.timing import Timer  # noqa: E402

from finitewidth.common.torch_setup import prepare_torch  # noqa: E402


def main(arguments: list[str] | None = None) -> None:
    options = parser().parse_args(arguments)
    if options.child:
        return measure_here(options)
    results = options.into / "benchmarks/results"
    if not options.written:
        found = measure_all(options)
        results.mkdir(parents=True, exist_ok=True)
        file = results / rows.file_name(found)
        found = rows.merged(rows.read(file), found) if file.exists() else found
        found.to_csv(file, index=False, float_format="%.6g")
    tables = [rows.read(file) for file in sorted(results.glob("*.csv"))]
    print(document.write(tables, options.into / "docs"))
    return None


def parser() -> argparse.ArgumentParser:
    wanted = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    wanted.add_argument("--quick", action="store_true", help="tiny sizes; the times mean nothing")
    wanted.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    wanted.add_argument("--threads", type=int, nargs="+", default=list(document.THREADS))
    wanted.add_argument(
        "--busy", action="store_true", help="several threads even on a busy machine"
    )
    wanted.add_argument("--only", choices=rows.PARTS, nargs="+", default=list(rows.PARTS))
    wanted.add_argument("--rounds", type=int, default=7)
    wanted.add_argument("--seconds", type=float, default=0.02, help="of a way in each round")
    wanted.add_argument("--into", type=Path, default=ROOT, help="folder that is written to")
    wanted.add_argument("--written", action="store_true", help="measure nothing")
    wanted.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    return wanted


def measure_all(options: argparse.Namespace) -> pd.DataFrame:
    """Measure each number of threads in a new process and return all rows."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for threads in options.threads:
            if threads > 1 and (reason := busy()) and not (options.busy or options.quick):
                print(f"{threads} threads: left out, {reason}; --busy measures them all the same")
                continue
            file = Path(folder) / f"{threads}.csv"
            command = [sys.executable, __file__, "--child", str(file), "--threads", str(threads),
                       "--device", options.device, "--rounds", str(options.rounds),
                       "--seconds", str(options.seconds), "--only", *options.only]  # fmt: skip
            command += ["--quick"] if options.quick else []
            names = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
            env = os.environ | dict.fromkeys(names, str(threads))
            # cuBLAS repeats its results only with a workspace of fixed size
            env["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"
            subprocess.run(command, check=True, env=env)
            found.append(pd.read_csv(file))
    if not found:
        raise SystemExit("nothing was measured")
    return pd.concat(found, ignore_index=True)


def busy() -> str:
    """Say what other work there is, if the machine is not idle; measuring itself loads one core."""
    load = os.getloadavg()[0]
    return f"the load average is {load:.1f}" if load > IDLE else ""


def measure_here(options: argparse.Namespace) -> None:
    """Measure one number of threads and write the rows to a file."""
    (threads,) = options.threads
    device = prepare_torch(threads, options.device)
    clock = "cpu" if device == "cpu" and threads == 1 else "wall"
    rounds, seconds = (2, 0.0) if options.quick else (options.rounds, options.seconds)
    timer = Timer(device=device, clock=clock, rounds=rounds, seconds=seconds)
    rows.measure(options.only, timer, threads, options.quick).to_csv(options.child, index=False)


if __name__ == "__main__":
    main()
