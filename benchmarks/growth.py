"""How time and memory of a kernel grow with its sizes, to where each way to compute it ends.

A size is doubled or quadrupled until a process takes longer than `LIMIT` seconds, or more memory
than there is. Each kernel is computed in a process of its own. page.py measures all sizes and
writes the figure; this file is also that process: it gets a task, and writes a result.
"""

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402
import torch  # noqa: E402
from benchmarks import rows, side_by_side, wide_times  # noqa: E402
from benchmarks.networks import JACOBIAN, NEURAL_TANGENTS, OURS, by_jacobian, cnn  # noqa: E402
from benchmarks.usage import usage_of  # noqa: E402

from finitewidth.common.torch_setup import prepare_torch  # noqa: E402
from finitewidth.kernels.trained import traced_kernel  # noqa: E402

NAME = "growth"
TRACED = "traced"
WIDE = "infinite width"
LIMIT = 30  # seconds of a process, with its imports
CHUNK = 4  # inputs at a time of vmap(jacrev)
COLUMNS = {
    "kernel": f"{TRACED}: of a given network, the sum over outputs; {WIDE}: its limit",
    "sweep": "the size that grows",
    "value": "that size",
    "inputs": "number of inputs",
    "outputs": "number of outputs",
    "channels": "number of channels of each convolution",
    "depth": "number of convolutions",
    "side": "rows and columns of an image",
    "parameters": "number of parameters",
    "way": "ours or another",
    "how": "implementation",
    "state": f"{side_by_side.MEASURED}, or why not; a process has {LIMIT} seconds",
    "seconds": "that pass, in the fastest round",
    "memory": "bytes of the largest resident memory, less what was resident before",
    "apart": "largest difference from ours, over the largest entry",
    **{name: rows.COLUMNS[name] for name in side_by_side.FACTS},
}


@dataclass(frozen=True)
class Sizes:
    """The sizes of a network of convolutions with a mean over positions, and of its inputs."""

    inputs: int = 20
    outputs: int = 10
    channels: int = 32
    depth: int = 4
    side: int = 16

    @property
    def parameters(self) -> int:
        """Return the number of parameters."""
        return sum(p.numel() for p in cnn(self.channels, self.depth, self.outputs).parameters())


@dataclass(frozen=True)
class Sweep:
    """A size that grows from a start."""

    kernel: str
    size: str
    start: Sizes
    values: tuple[int, ...]
    ways: tuple[str, ...]


FINITE_WAYS = (OURS, JACOBIAN, NEURAL_TANGENTS)
LIMIT_WAYS = (OURS, NEURAL_TANGENTS)
SWEEPS = (
    Sweep(TRACED, "inputs", Sizes(), tuple(5 * 4**n for n in range(7)), FINITE_WAYS),
    Sweep(TRACED, "outputs", Sizes(), tuple(4**n for n in range(7)), FINITE_WAYS),
    Sweep(TRACED, "channels", Sizes(), tuple(8 * 2**n for n in range(8)), FINITE_WAYS),
    Sweep(TRACED, "depth", Sizes(), tuple(2 * 2**n for n in range(9)), FINITE_WAYS),
    Sweep(WIDE, "inputs", Sizes(inputs=20), tuple(5 * 4**n for n in range(8)), LIMIT_WAYS),
    Sweep(WIDE, "side", Sizes(inputs=20), tuple(4 * 2**n for n in range(8)), LIMIT_WAYS),
    Sweep(WIDE, "depth", Sizes(inputs=20), tuple(2 * 2**n for n in range(9)), LIMIT_WAYS),
)
QUICK = (
    Sweep(TRACED, "inputs", Sizes(2, 2, 2, 1, 4), (2, 3), FINITE_WAYS[:2]),
    Sweep(WIDE, "side", Sizes(2, 1, 2, 1, 4), (4, 5), LIMIT_WAYS[:1]),
)


def measure(quick: bool, threads: int, interpreter: str | None) -> pd.DataFrame:
    """Measure all sizes and ways; say on the terminal what has been done.

    Args:
        quick: tiny networks only.
        threads: number of threads.
        interpreter: that of an environment with neural-tangents, if there is one.
    """
    sweeps = QUICK if quick else SWEEPS
    lines = chain.from_iterable(lines_of(sweep, threads, interpreter) for sweep in sweeps)
    return rows.table_of(NAME, lines, title_of, threads, COLUMNS)


def title_of(line: dict) -> str:
    return f"{line['kernel']}, {line['sweep']} {line['value']}"


def lines_of(sweep: Sweep, threads: int, interpreter: str | None) -> Iterator[dict]:
    """Yield a row for each size and way, until all ways have ended."""
    ended: set[str] = set() if interpreter else {NEURAL_TANGENTS}
    for value in sweep.values:
        sizes = replace(sweep.start, **{sweep.size: value})
        size_columns = {"kernel": sweep.kernel, "sweep": sweep.size, "value": value}
        size_columns |= asdict(sizes) | {"parameters": sizes.parameters}
        with TemporaryDirectory() as folder:
            task = {
                "threads": threads,
                "kernel": sweep.kernel,
                "sizes": asdict(sizes),
                "arrays": f"{folder}/arrays.npz",
                "result": f"{folder}/result.npz",
            }
            ours: dict = {}
            for way in sweep.ways:
                if way in ended:
                    continue
                outcome = outcome_of(task | {"way": way}, interpreter)
                if outcome["state"] != side_by_side.MEASURED:
                    ended.add(way)
                elif way == OURS:
                    ours = outcome
                elif ours:
                    name = f"{sweep.kernel}, {sweep.size} {value}, {way}"
                    outcome["apart"] = side_by_side.apart(name, ours, outcome)
                yield outcome | size_columns | {"way": way}


def outcome_of(task: dict, interpreter: str | None) -> dict:
    """Do one task; neural-tangents has its fastest implementation."""
    run = partial(side_by_side.outcome, limit=LIMIT)
    if task["kernel"] == WIDE:
        sizes = Sizes(**task["sizes"])
        steps = [["conv", 3, 1, "same"], ["relu"]] * sizes.depth + [["flatten"], ["dense"]]
        shape = (3, sizes.side, sizes.side)
        task = task | {"steps": steps, "shape": shape, "inputs": sizes.inputs}
        return wide_times.outcome_of(task, interpreter, run)
    if task["way"] != NEURAL_TANGENTS:
        return run(task, script="growth.py")
    # structured derivatives do not win for a mean over many positions
    how = side_by_side.IMPLEMENTATIONS[1]
    return run(task | {"how": how, "jax": "cnn"}, interpreter, "neural_tangents_times.py")


def main(file: str) -> None:
    """Do one task: write a kernel and what it takes, and for ours also the inputs and parameters.

    The arrays are written first, since neural-tangents needs them also where ours ends.
    """
    task = json.loads(Path(file).read_text(encoding="utf-8"))
    prepare_torch(task["threads"])
    sizes = Sizes(**task["sizes"])
    torch.manual_seed(0)
    network = cnn(sizes.channels, sizes.depth, sizes.outputs).eval()
    x = torch.randn(sizes.inputs, 3, sizes.side, sizes.side)
    if task["way"] == OURS:
        parameters = [parameter.detach() for parameter in network.parameters()]
        np.savez(task["arrays"], x, *parameters)
        way = traced_kernel
    else:
        way = partial(by_jacobian, full=False, chunk=CHUNK, outputs=sizes.outputs)
    # a tiny network first: some modules are imported at the first call
    tiny = cnn(1, 1, sizes.outputs).eval()
    way(tiny, torch.ones(1, 3, 2, 2))
    kernel, usage = usage_of(lambda: way(network, x))
    np.savez(task["result"], values=kernel.numpy(), **asdict(usage))


if __name__ == "__main__":
    main(sys.argv[1])
