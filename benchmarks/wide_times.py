"""Kernels of infinitely wide networks, timed beside neural-tangents, each in its own process.

page.py measures all cases; this file is also the process of ours: it gets a task, and writes a
result.
"""

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from itertools import chain
from math import inf
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402
from benchmarks import rows, side_by_side  # noqa: E402
from benchmarks.networks import NEURAL_TANGENTS, OURS  # noqa: E402
from benchmarks.usage import SHORT, usage_of  # noqa: E402
from benchmarks.wide_agreement import Steps  # noqa: E402

from finitewidth.common.torch_setup import prepare_torch  # noqa: E402
from finitewidth.kernels.wide import wide_kernel  # noqa: E402

NAME = "wide"
SETTINGS = {"sigma_w2": 1.6, "sigma_b2": 0.3}
LIMIT = 60  # seconds of a process, with its imports and, for neural-tangents, compiling
COLUMNS = {
    "network": "its layers",
    "inputs": "number of inputs, and their shape",
    "way": "ours or another",
    "state": f"{side_by_side.MEASURED}, or why not; a process has {LIMIT} seconds",
    "seconds": "that pass, in the fastest round",
    "cpu_seconds": "of all threads in this round",
    "memory": "bytes of the largest resident memory, less what was resident before",
    "rounds": "number of rounds after a first call",
    "apart": "largest difference from ours, over the largest entry",
    "ratio": "seconds over those of ours",
    "memory_ratio": "memory of ours over this memory",
    **{name: rows.COLUMNS[name] for name in side_by_side.FACTS},
}
CONV = [["conv", 3, 1, "same"]]
RESIDUAL = [["residual", [["relu"], *CONV]]]


def dense(activation: str, depth: int) -> list:
    """Return fully connected layers."""
    return [["dense"], [activation]] * depth + [["dense"]]


@dataclass(frozen=True)
class Case:
    """A network as steps of `wide_architectures`, and its inputs."""

    title: str
    steps: list
    inputs: int
    shape: tuple[int, ...]


CONVOLUTIONS = [*CONV, ["relu"]] * 5
BLOCKS = [*CONV, *RESIDUAL * 4, ["relu"]]
MEAN = [["global average"], ["dense"]]
FLAT = [["flatten"], ["dense"]]
CASES = (
    Case("3 hidden layers, ReLU", dense("relu", 3), 1000, (784,)),
    Case("3 hidden layers, erf", dense("erf", 3), 1000, (784,)),
    Case("3 hidden layers, GELU", dense("gelu", 3), 1000, (784,)),
    Case("5 convolutions, flatten", CONVOLUTIONS + FLAT, 100, (3, 8, 8)),
    Case("5 convolutions, flatten", CONVOLUTIONS + FLAT, 40, (3, 32, 32)),
    Case("5 convolutions, mean", CONVOLUTIONS + MEAN, 20, (3, 8, 8)),
    Case("5 convolutions, mean", CONVOLUTIONS + MEAN, 2, (3, 32, 32)),
    Case("4 residual blocks, flatten", BLOCKS + FLAT, 40, (3, 32, 32)),
    Case("4 residual blocks, mean", BLOCKS + MEAN, 20, (3, 8, 8)),
)
QUICK = (
    Case("1 hidden layer, ReLU", dense("relu", 1), 2, (3,)),
    Case("1 convolution, mean", [*CONV, ["relu"], *MEAN], 2, (3, 4, 4)),
)


def measure(quick: bool, threads: int, interpreter: str | None) -> pd.DataFrame:
    """Measure all cases and ways; say on the terminal what has been done.

    Args:
        quick: tiny networks only.
        threads: number of threads.
        interpreter: that of an environment with neural-tangents, if there is one.
    """
    cases = QUICK if quick else CASES
    turns = 1 if quick else side_by_side.TURNS
    lines = chain.from_iterable(lines_of(case, threads, interpreter, turns) for case in cases)
    return rows.table_of(NAME, lines, title_of, threads, COLUMNS)


def title_of(line: dict) -> str:
    return f"{line['network']}, {line['inputs']}"


def lines_of(case: Case, threads: int, interpreter: str | None, turns: int) -> Iterator[dict]:
    """Yield the row of ours, and that of neural-tangents; short ones are measured in turns."""
    ways = [OURS, NEURAL_TANGENTS] if interpreter else [OURS]
    best = fastest(case, ways, threads, interpreter, turns)
    ours = best[OURS]
    side_by_side.must_be(ours, side_by_side.MEASURED)
    shape = "×".join(map(str, case.shape))
    inputs = f"{case.inputs} × {shape}"
    for way, outcome in best.items():
        if way != OURS and outcome["state"] == side_by_side.MEASURED:
            outcome["apart"] = side_by_side.apart(f"{case.title}, {inputs}", ours, outcome)
            outcome["ratio"] = outcome["seconds"] / ours["seconds"]
            outcome["memory_ratio"] = ours["memory"] / outcome["memory"]
        yield outcome | {"network": case.title, "inputs": inputs, "way": way}


def fastest(
    case: Case, ways: list[str], threads: int, interpreter: str | None, turns: int
) -> dict[str, dict]:
    """Return the fastest outcome of each way; only short ones have more than one turn."""
    best: dict[str, dict] = {}
    run = partial(side_by_side.outcome, limit=LIMIT)
    with TemporaryDirectory() as folder:
        task = {
            "threads": threads,
            "steps": case.steps,
            "shape": case.shape,
            "inputs": case.inputs,
            "result": f"{folder}/result.npz",
        }
        for turn in range(turns):
            for way in ways:
                if turn and seconds_of(best[way]) >= SHORT:
                    continue
                outcome = outcome_of(task | {"way": way}, interpreter, run)
                best[way] = min(best.get(way, outcome), outcome, key=seconds_of)
    return best


def seconds_of(outcome: dict) -> float:
    """Return the seconds of an outcome; infinity if it has none."""
    return outcome.get("seconds", inf)


def outcome_of(task: dict, interpreter: str | None, run: Callable[..., dict]) -> dict:
    """Do one task with ``run``, which is `side_by_side.outcome`."""
    task = task | SETTINGS
    if task["way"] == NEURAL_TANGENTS:
        return run(task, interpreter, "wide_neural_tangents_times.py")
    return run(task, script="wide_times.py")


def images(inputs: int, shape: tuple[int, ...]) -> np.ndarray:
    """Return random inputs, the same ones each time; channels of images lie on the first axis."""
    return np.random.default_rng(0).standard_normal((inputs, *shape))


def main(file: str) -> None:
    """Do one task: write a kernel, and what it takes."""
    task = json.loads(Path(file).read_text(encoding="utf-8"))
    prepare_torch(task["threads"])
    shape = tuple(task["shape"])
    network = Steps(task["steps"], shape)
    x = images(task["inputs"], shape)
    # few inputs first: some modules are imported at the first call
    wide_kernel(network, x[:1], **SETTINGS)
    kernel, usage = usage_of(lambda: wide_kernel(network, x, **SETTINGS))
    np.savez(task["result"], values=kernel.numpy(), **asdict(usage))


if __name__ == "__main__":
    main(sys.argv[1])
