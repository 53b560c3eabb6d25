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
from functools import partial
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
        without_the_noisy(options)
        measured = [measure_all(options, results)]
        measured += [measure_beside(name, options, results / name) for name in SIDE_BY_SIDE]
        if not any(measured):
            raise SystemExit("nothing was measured")
    print(write(results, options.into / "docs"))
    return None


def without_the_noisy(options: argparse.Namespace) -> None:
    """Remove from the options what other work on the machine would disturb, if there is any."""
    if options.busy or options.quick:
        return
    reason = other_work()
    if reason:
        print(f"one thread only, and no networks: {reason}; --busy measures all the same")
        options.threads = [threads for threads in options.threads if threads == 1]
        options.only = [name for name in options.only if name not in SIDE_BY_SIDE]


def write(results: Path, folder: Path) -> Path:
    """Write the page and its figures from the tables in a folder."""
    tables = [rows.read(file) for file in sorted(results.glob("*.csv"))]
    beside: dict[str, list[pd.DataFrame]] = {}
    for name, module in SIDE_BY_SIDE.items():
        beside[name] = []
        for file in sorted(results.glob(f"{name}/*.csv")):
            beside[name].append(rows.read(file, module.COLUMNS))
    folder.mkdir(parents=True, exist_ok=True)
    further: list[str] = []
    for table in beside[growth.NAME]:
        further += growth_page.of_growth(table, folder)
    for table in beside[wide_times.NAME]:
        further += growth_page.of_wide(table)
    return document.write(tables, folder, beside[side_by_side.NAME], further)


def parser() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--quick", action="store_true", help="tiny sizes; the times mean nothing")
    options.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    options.add_argument("--threads", type=int, nargs="+", default=list(document.THREADS))
    options.add_argument(
        "--busy", action="store_true", help="several threads even on a busy machine"
    )
    parts = [*rows.PARTS, *SIDE_BY_SIDE]
    options.add_argument("--only", choices=parts, nargs="+", default=parts)
    options.add_argument("--networks", choices=networks.CASES, nargs="+", default=[])
    options.add_argument("--neural-tangents", metavar="PYTHON", help="of its environment")
    options.add_argument("--rounds", type=int, default=7)
    options.add_argument("--seconds", type=float, default=0.02, help="of a way in each round")
    options.add_argument("--into", type=Path, default=ROOT, help="folder that is written to")
    options.add_argument("--written", action="store_true", help="measure nothing")
    options.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    return options


def measure_all(options: argparse.Namespace, folder: Path) -> bool:
    """Measure each number of threads in a new process, and write the table, if there are rows."""
    parts = [name for name in options.only if name in rows.PARTS]
    if not parts or not options.threads:
        return False
    tables = [measure_in_child(options, threads, parts) for threads in options.threads]
    table = pd.concat(tables, ignore_index=True)
    file = folder / rows.file_name(table)
    if file.exists():
        table = rows.merged(rows.read(file), table)
    store(table, file)
    return True


def measure_in_child(options: argparse.Namespace, threads: int, parts: list[str]) -> pd.DataFrame:
    """Measure some benchmarks in a new process with a number of threads; return the rows."""
    names = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
    environment = os.environ | dict.fromkeys(names, str(threads))
    # cuBLAS repeats its results only with a workspace of fixed size
    environment["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"{threads}.csv"
        command = [sys.executable, __file__]
        command += ["--child", str(file)]
        command += ["--threads", str(threads)]
        command += ["--device", options.device]
        command += ["--rounds", str(options.rounds)]
        command += ["--seconds", str(options.seconds)]
        command += ["--only", *parts]
        if options.quick:
            command.append("--quick")
        subprocess.run(command, check=True, env=environment)
        return pd.read_csv(file)


def measure_beside(name: str, options: argparse.Namespace, folder: Path) -> bool:
    """Measure one of `SIDE_BY_SIDE` on the CPU, and write its table."""
    if name not in options.only or options.device != "cpu":
        return False
    threads = max(options.threads)
    measure = SIDE_BY_SIDE[name].measure
    chosen = options.networks if name == side_by_side.NAME else []
    if chosen:
        measure = partial(measure, chosen=chosen)
    table = measure(options.quick, threads, options.neural_tangents)
    file = folder / rows.file_name(table)
    if chosen and file.exists():
        table = side_by_side.merged(rows.read(file, side_by_side.COLUMNS), table)
    store(table, file)
    return True


def store(table: pd.DataFrame, file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    table.to_csv(file, index=False, float_format="%.6g")


def other_work() -> str:
    """Say what other work there is, if the machine is not idle; measuring itself loads one core."""
    load = os.getloadavg()[0]
    return f"the load average is {load:.1f}" if load > IDLE else ""


def measure_here(options: argparse.Namespace) -> None:
    """Measure one number of threads and write the rows to a file."""
    (threads,) = options.threads
    device = prepare_torch(threads, options.device)
    clock = "cpu" if device == "cpu" and threads == 1 else "wall"
    timer = Timer(device=device, clock=clock, rounds=options.rounds, seconds=options.seconds)
    if options.quick:
        timer = Timer(device=device, clock=clock, rounds=2, seconds=0.0)
    table = rows.measure(options.only, timer, threads, options.quick)
    table.to_csv(options.child, index=False)


if __name__ == "__main__":
    main()
