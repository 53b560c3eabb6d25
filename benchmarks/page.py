"""Measure the benchmarks, and write their table, figures and page of the documentation.

    python benchmarks/page.py                 most of an hour; make benchmarks does the same
    python benchmarks/page.py --device cuda   the same cases on a GPU
    python benchmarks/page.py --quick --into build/benchmarks   tiny sizes, to try it out
    python benchmarks/page.py --written       the page and the figures, from tables that exist

The table of this machine is written to benchmarks/results, and docs/benchmarks.md shows all tables
there. With --only or --threads, the other rows of the table stay as they were. Each number of
threads is measured in a process of its own. The kernels of users' networks (networks) have a table
of their own, in benchmarks/results/networks. Neural-tangents is among them if --neural-tangents
names the Python of an environment that has it; benchmarks/neural_tangents.txt says how to make one.
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

from benchmarks import document, rows, side_by_side  # noqa: E402
from benchmarks.timing import Timer  # noqa: E402

from finitewidth.common.torch_setup import prepare_torch  # noqa: E402


def main(arguments: list[str] | None = None) -> None:
    options = parser().parse_args(arguments)
    if options.child:
        return measure_here(options)
    results = options.into / "benchmarks/results"
    if not options.written:
        if not (options.busy or options.quick) and (reason := busy()):
            print(f"one thread only, and no networks: {reason}; --busy measures all the same")
            options.threads = [threads for threads in options.threads if threads == 1]
            options.only = [name for name in options.only if name != side_by_side.NAME]
        measured = [measure_all(options, results), measure_networks(options, results / "networks")]
        if not any(measured):
            raise SystemExit("nothing was measured")
    print(write(results, options.into / "docs"))
    return None


def write(results: Path, folder: Path) -> Path:
    """Write the page and its figures from the tables in a folder."""
    tables = [rows.read(file) for file in sorted(results.glob("*.csv"))]
    networks = sorted(results.glob("networks/*.csv"))
    networks = [rows.read(file, side_by_side.COLUMNS) for file in networks]
    return document.write(tables, folder, networks)


def parser() -> argparse.ArgumentParser:
    wanted = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    wanted.add_argument("--quick", action="store_true", help="tiny sizes; the times mean nothing")
    wanted.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    wanted.add_argument("--threads", type=int, nargs="+", default=list(document.THREADS))
    wanted.add_argument(
        "--busy", action="store_true", help="several threads even on a busy machine"
    )
    parts = [*rows.PARTS, side_by_side.NAME]
    wanted.add_argument("--only", choices=parts, nargs="+", default=parts)
    wanted.add_argument("--neural-tangents", metavar="PYTHON", help="of its environment")
    wanted.add_argument("--rounds", type=int, default=7)
    wanted.add_argument("--seconds", type=float, default=0.02, help="of a way in each round")
    wanted.add_argument("--into", type=Path, default=ROOT, help="folder that is written to")
    wanted.add_argument("--written", action="store_true", help="measure nothing")
    wanted.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    return wanted


def measure_all(options: argparse.Namespace, folder: Path) -> bool:
    """Measure each number of threads in a new process, and write the table, if there are rows."""
    found, parts = [], [name for name in options.only if name in rows.PARTS]
    with tempfile.TemporaryDirectory() as temporary:
        for threads in options.threads if parts else ():
            file = Path(temporary) / f"{threads}.csv"
            command = [
                sys.executable,
                __file__,
                "--child",
                str(file),
                "--threads",
                str(threads),
                "--device",
                options.device,
                "--rounds",
                str(options.rounds),
                "--seconds",
                str(options.seconds),
                "--only",
                *parts,
            ]
            command += ["--quick"] if options.quick else []
            names = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
            env = os.environ | dict.fromkeys(names, str(threads))
            # cuBLAS repeats its results only with a workspace of fixed size
            env["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"
            subprocess.run(command, check=True, env=env)
            found.append(pd.read_csv(file))
    if not found:
        return False
    table = pd.concat(found, ignore_index=True)
    file = folder / rows.file_name(table)
    store(rows.merged(rows.read(file), table) if file.exists() else table, file)
    return True


def measure_networks(options: argparse.Namespace, folder: Path) -> bool:
    """Measure the kernels of users' networks on the CPU, and write their table."""
    if side_by_side.NAME not in options.only or options.device != "cpu":
        return False
    threads = max(options.threads)
    table = side_by_side.measure(options.quick, threads, options.neural_tangents)
    store(table, folder / rows.file_name(table))
    return True


def store(table: pd.DataFrame, file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    table.to_csv(file, index=False, float_format="%.6g")


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
