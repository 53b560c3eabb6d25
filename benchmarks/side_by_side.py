"""The table of benchmarks/networks.py: a row for each network, kernel and way."""

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Collection, Iterator
from itertools import product
from math import inf, nan
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
from benchmarks import networks, rows
from benchmarks.networks import FULL, JACOBIAN, NEURAL_TANGENTS, NNGEOMETRY, OURS, TRACED, Case
from benchmarks.timing import Timer
from benchmarks.usage import LIMIT, SHORT

NAME = "networks"
TOLERANCE = 1e-4  # of the largest entry, in float32
LONGEST = 45  # seconds of a process of another way
TURNS = 3  # of ways that take less than SHORT: the speed of a machine varies over minutes
IMPLEMENTATIONS = ("STRUCTURED_DERIVATIVES", "JACOBIAN_CONTRACTION")
MEASURED, NO_SPACE, FAILED, ABSENT = "measured", "does not fit", "does not run", "not installed"
SLOW = f"longer than {LONGEST} s"  # other limits have their own words
OUT_OF_MEMORY = (
    "not enough memory",
    "can't allocate memory",
    "MemoryError",
    "bad_alloc",
    "RESOURCE_EXHAUSTED",
)
KILLED = -9  # as a process is without memory
HERE = Path(__file__).parent
FACTS = ("threads", "load", "device", "processor", "cores", "versions", "commit", "date")
# columns and what they say; the page and the tests follow this list
COLUMNS = {
    "network": "name of the network",
    "parameters": "number of its parameters",
    "inputs": "number of inputs",
    "kernel": "traced: sum over outputs; full: all pairs of outputs",
    "way": "ours or another",
    "how": "chunks or implementation",
    "state": f"{MEASURED}, {NO_SPACE} in {LIMIT / 1e9:.0f} GB, {SLOW}, {FAILED} or {ABSENT}",
    "seconds": "that pass, in the fastest round",
    "cpu_seconds": "of all threads in this round",
    "system_seconds": "of these by the operating system, most of them to provide memory",
    "memory": "bytes of the largest resident memory, less what was resident before",
    "peak": "bytes of the largest resident memory",
    "rounds": "number of rounds after a first call",
    "apart": "largest difference from ours, over the largest entry",
    "ratio": "seconds over those of ours",
    "least": "seconds of the passes and products of gradients that ours cannot do without",
    "most": "seconds over these: the ratio if ours took no longer",
    "memory_ratio": "memory of ours over this memory",
    "asked": "ratio that is asked for at least",
    "asked_memory": "ratio of the memories that is asked for at most",
    "flops": "operations in our products",
    "matmul_flops": "measured operations per second of a large product of the type of ours",
    "check": "share of our seconds that check=False saves",
    "share": "time of our operations at this rate, over our seconds",
    **{name: rows.COLUMNS[name] for name in FACTS},
}


def measure(
    quick: bool, threads: int, interpreter: str | None, chosen: Collection[str] = ()
) -> pd.DataFrame:
    """Measure networks, all kernels and ways; say on the terminal what has been done.

    Args:
        quick: a tiny network only.
        threads: number of threads.
        interpreter: that of an environment with neural-tangents, if there is one.
        chosen: names of networks; all by default.

    Raises:
        SystemExit: ours or the Jacobian fails, or a kernel differs from ours.
    """
    found, facts = [], rows.facts_of(Timer("cpu", "wall", 1, 0.0), threads)
    cases = networks.QUICK if quick else networks.CASES
    for (name, case), kernel in product(cases.items(), (TRACED, FULL)):
        if chosen and name not in chosen:
            continue
        with TemporaryDirectory() as folder:
            task = {
                "case": name,
                "kernel": kernel,
                "threads": threads,
                "quick": quick,
                "arrays": f"{folder}/arrays.npz",
                "result": f"{folder}/result.npz",
            }
            for row in rows_of(case, task, interpreter):
                found.append(facts | row | {"load": round(os.getloadavg()[0], 1)})
                print(
                    f"{threads} threads, {NAME}, {name}, {kernel}, {row['way']}: {row['state']}, "
                    f"{row.get('seconds', nan):.3g} s, {row.get('memory', nan) / 1e9:.3g} GB",
                    flush=True,
                )
    return pd.DataFrame(found, columns=list(COLUMNS))


def merged(old: pd.DataFrame, new: pd.DataFrame) -> pd.DataFrame:
    """Replace the rows of the networks that were measured again."""
    again = old["network"].isin(new["network"]) & old["inputs"].isin(new["inputs"])
    return pd.concat([old[~again], new], ignore_index=True)


def rows_of(case: Case, task: dict, interpreter: str | None) -> Iterator[dict]:
    """Yield the row of ours, and those of the other ways, which are compared with it."""
    kernel = task["kernel"]
    found = in_turns(case, task, interpreter)
    ours = found.pop(OURS)
    must_be(ours, MEASURED)
    size = {"network": case.title, "inputs": case.inputs, "kernel": kernel}
    size["parameters"] = ours["parameters"]
    ours["share"] = ours["flops"] / ours["matmul_flops"] / ours["seconds"]
    yield ours | size | {"way": OURS}
    for way, other in found.items():
        if way == JACOBIAN:
            must_be(other, MEASURED, NO_SPACE, SLOW)
        if other["state"] == MEASURED:
            other["apart"] = apart(f"{case.title}, {kernel}, {way}", ours, other)
            other["ratio"] = other["seconds"] / ours["seconds"]
            other["most"] = other["seconds"] / ours["least"]
            other["memory_ratio"] = ours["memory"] / other["memory"]
        asked = case.asked.get((kernel, way), nan), case.asked_memory.get((kernel, way), nan)
        yield other | size | {"way": way, "asked": asked[0], "asked_memory": asked[1]}


def in_turns(case: Case, task: dict, interpreter: str | None) -> dict[str, dict]:
    """Return the fastest outcome of each way; short ones are measured several times, in turn."""
    others = [NNGEOMETRY] * (task["kernel"] == FULL) + [NEURAL_TANGENTS] * bool(case.jax)
    best: dict[str, dict] = {}
    for turn in range(1 if task["quick"] else TURNS):
        for way in (OURS, JACOBIAN, *others):
            if not turn or best[way].get("seconds", inf) < SHORT:
                one = fastest(case, task | {"way": way}, interpreter)
                best[way] = min(best.get(way, one), one, key=lambda each: each.get("seconds", inf))
    return best


def fastest(case: Case, task: dict, interpreter: str | None) -> dict:
    """Return the outcome of a way; of neural-tangents, that of its fastest implementation."""
    way = task["way"]
    if way == NEURAL_TANGENTS and interpreter:
        tasks = [task | {"how": how, "jax": case.jax} for how in IMPLEMENTATIONS]
        found = [outcome(each, interpreter, "neural_tangents_times.py") for each in tasks]
        return min(found, key=lambda each: each.get("seconds", inf))
    if way == NEURAL_TANGENTS or (way == NNGEOMETRY and not importlib.util.find_spec(way)):
        return {"state": ABSENT, "how": ""}
    # ours are measured in parts as well
    return outcome(task, limit=None if way == OURS else LONGEST)


def outcome(
    task: dict,
    interpreter: str = sys.executable,
    script: str = "networks.py",
    limit: float | None = LONGEST,
) -> dict:
    """Do a task in a process of its own; return its state and, if it was done, what it found.

    The process ends after ``limit`` seconds.
    """
    file, result = Path(task["result"]).with_name("task.json"), Path(task["result"])
    result.unlink(missing_ok=True)
    file.write_text(json.dumps(task), encoding="utf-8")
    names = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
    env = os.environ | dict.fromkeys(names, str(task["threads"]))
    command = [interpreter, str(HERE / script), str(file)]
    try:
        done = subprocess.run(command, stderr=subprocess.PIPE, text=True, timeout=limit, env=env)
    except subprocess.TimeoutExpired:
        return {"state": f"longer than {limit} s", "how": ""}
    if done.returncode == KILLED or (
        done.returncode and any(words in done.stderr for words in OUT_OF_MEMORY)
    ):
        return {"state": NO_SPACE, "how": ""}
    if done.returncode:
        return {"state": FAILED, "how": "".join(done.stderr.splitlines()[-1:])}
    with np.load(result) as stored:
        found = {name: stored[name] for name in stored.files}
    told = {name: array if array.ndim else array.item() for name, array in found.items()}
    return {"state": MEASURED, "how": task.get("how", "")} | told


def must_be(found: dict, *states: str) -> None:
    """Raise SystemExit if an outcome has another state."""
    if found["state"] not in states:
        raise SystemExit(f"{found['state']}: {found['how']}")


def apart(name: str, ours: dict, other: dict) -> float:
    """Return how far two kernels are apart, over the largest entry.

    Raises:
        SystemExit: too far.
    """
    a, b = ours["values"], other["values"]
    difference = float(np.abs(a - b).max() / np.abs(a).max())
    if not difference <= TOLERANCE:
        raise SystemExit(f"{name}: {difference:.1e} of the largest entry apart from ours")
    return difference
