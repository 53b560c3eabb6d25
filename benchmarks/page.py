"""Measure the benchmarks, and write their table, figures and page of the documentation.

    python benchmarks/page.py                 most of an hour; make benchmarks does the same
    python benchmarks/page.py --device cuda   the same cases on a GPU
    python benchmarks/page.py --quick --into build/benchmarks   tiny sizes, to try it out
    python benchmarks/page.py --written       the page and the figures, from tables that exist

The table of this machine is written to benchmarks/results, and docs/benchmarks.md shows all tables
there. With --only or --threads, the other rows of the table stay as they were. Each number of
threads is measured in a process of its own. The kernels of users' networks (networks), their growth
(growth) and infinitely wide networks (wide) have tables of their own, in folders of these names;
--networks chooses some of the users' networks, and the table keeps the others.
Neural-tangents is among them if --neural-tangents names the Python of an environment that has it;
benchmarks/neural_tangents.txt says how to make one.
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

from benchmarks import (  # noqa: E402
    document,
    growth,
    growth_page,
    networks,
    rows,
    side_by_side,
    wide_times,
)
from benchmarks.timing import Timer  # noqa: E402

from finitewidth.common.torch_setup import prepare_torch  # noqa: E402

# each has the same function `measure`, and `COLUMNS`
SIDE_BY_SIDE = {module.NAME: module for module in (side_by_side, growth, wide_times)}


def main(arguments: list[str] | None = None) -> None:
    options = parser().parse_args(arguments)
    if options.child:
        return measure_here(options)
    results = options.into / "benchmarks/results"
    if not options.written:
        if not (options.busy or options.quick) and (reason := busy()):
            print(f"one thread only, and no networks: {reason}; --busy measures all the same")
            options.threads = [threads for threads in options.threads if threads == 1]
            options.only = [name for name in options.only if name not in SIDE_BY_SIDE]
        measured = [measure_all(options, results)]
        measured += [measure_beside(name, options, results / name) for name in SIDE_BY_SIDE]
        if not any(measured):
            raise SystemExit("nothing was measured")
    print(write(results, options.into / "docs"))
    return None


def write(results: Path, folder: Path) -> Path:
    """Write the page and its figures from the tables in a folder."""
    tables = [rows.read(file) for file in sorted(results.glob("*.csv"))]
    beside = {}
    for name, module in SIDE_BY_SIDE.items():
        files = sorted(results.glob(f"{name}/*.csv"))
        beside[name] = [rows.read(file, module.COLUMNS) for file in files]
    folder.mkdir(parents=True, exist_ok=True)
    further: list[str] = []
    for table in beside[growth.NAME]:
        further += growth_page.of_growth(table, folder)
    for table in beside[wide_times.NAME]:
        further += growth_page.of_wide(table)
    return document.write(tables, folder, beside[side_by_side.NAME], further)


def parser() -> argparse.ArgumentParser:
    wanted = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    wanted.add_argument("--quick", action="store_true", help="tiny sizes; the times mean nothing")
    wanted.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    wanted.add_argument("--threads", type=int, nargs="+", default=list(document.THREADS))
    wanted.add_argument(
        "--busy", action="store_true", help="several threads even on a busy machine"
    )
    parts = [*rows.PARTS, *SIDE_BY_SIDE]
    wanted.add_argument("--only", choices=parts, nargs="+", default=parts)
    wanted.add_argument("--networks", choices=networks.CASES, nargs="+", default=[])
    wanted.add_argument("--neural-tangents", metavar="PYTHON", help="of its environment")
    wanted.add_argument("--rounds", type=int, default=7)
    wanted.add_argument("--seconds", type=float, default=0.02, help="of a way in each round")
    wanted.add_argument("--into", type=Path, default=ROOT, help="folder that is written to")
    wanted.add_argument("--written", action="store_true", help="measure nothing")
    wanted.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    return wanted


def measure_all(options: argparse.Namespace, folder: Path) -> bool:
    """Measure each number of threads in a new process, and write the table, if there are rows."""
    found = []
    parts = [name for name in options.only if name in rows.PARTS]
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


def measure_beside(name: str, options: argparse.Namespace, folder: Path) -> bool:
    """Measure one of `SIDE_BY_SIDE` on the CPU, and write its table."""
    if name not in options.only or options.device != "cpu":
        return False
    threads = max(options.threads)
    measure = SIDE_BY_SIDE[name].measure
    chosen = {}
    if name == side_by_side.NAME:
        chosen = {"chosen": options.networks}
    table = measure(options.quick, threads, options.neural_tangents, **chosen)
    file = folder / rows.file_name(table)
    if any(chosen.values()) and file.exists():
        table = side_by_side.merged(rows.read(file, side_by_side.COLUMNS), table)
    store(table, file)
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
