"""Time to train convolutional networks with joined replicas, and one after the other, on a CPU.

Run ``OMP_NUM_THREADS=1 python benchmarks/joined_replicas.py``. Joined replicas are groups of
channels of one convolution, with the channels last in memory (`finitewidth.networks.forward`).
Times are CPU milliseconds of one thread. They are minima over repetitions in which both ways
alternate, since the work is the same each time and other processes can only add to it. A step is a
whole training step: images, forward and backward pass, optimiser and scores. The evaluation is that
of 500 test images.

``--numbers`` replaces `forward.NUMBERS_AT_ONCE`, which decides how many replicas are joined.
"""

import argparse
import time
from collections.abc import Callable

import torch

from finitewidth.common import torch_setup
from finitewidth.networks import forward
from finitewidth.networks.architecture import Architecture, layers_of
from finitewidth.training import gated
from finitewidth.training.gated_stack import Images, build_stack
from finitewidth.training.run import Replica, TrainingRun

QUICK, LAPTOP = (8, 8, 8, 16), (8, 8, 16, 16)
# where, channels, average over positions, regime, replicas, side of an image, optimiser
CASES = (
    ("quick, npf Table 2, gconv", QUICK, True, "relu", 3, 16, "adam"),
    ("quick, npf Table 2, gconv", QUICK, True, "dlnpf", 3, 16, "adam"),
    ("quick, npf Table 2, gconv", QUICK, True, "frnpf_ii", 9, 16, "adam"),
    ("quick, npf Table 2, vconv", QUICK, False, "frnpf_ii", 9, 16, "sgd"),
    ("quick, npf stages", QUICK, True, "frnpf_ii", 21, 16, "adam"),
    ("quick, npf cntk", QUICK, True, "frnpf_ii", 9, 8, "adam"),
    ("quick, dgn Table 4", QUICK, False, "linear", 3, 8, "adam"),
    ("quick, dgn Table 4", QUICK, False, "relu", 3, 8, "adam"),
    ("quick, dgn Table 4", QUICK, False, "soft_relu", 48, 8, "adam"),
    ("16 gates", QUICK, False, "soft_relu", 16, 16, "adam"),
    ("quick, dgn gates only", QUICK, False, "gates_only", 3, 8, "adam"),
    ("laptop, npf Table 2, gconv", LAPTOP, True, "frnpf_ii", 9, 32, "adam"),
    ("laptop, npf Table 2, gconv", LAPTOP, True, "relu", 3, 32, "adam"),
)
SOFT = ("dlnpf", "soft_relu", "gates_only")
BATCH, TESTED = 32, 500


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=20)
    parser.add_argument("--numbers", type=int, default=forward.NUMBERS_AT_ONCE)
    parser.add_argument("--only", default="", help="cases whose names begin with this")
    options = parser.parse_args()
    torch_setup.prepare_torch(1)
    for case in CASES:
        if case[0].startswith(options.only):
            measure(case, {"alone": 1, "joined": options.numbers}, options.repetitions)


def measure(case: tuple, ways: dict[str, int], repetitions: int) -> None:
    """Time both ways in turn and print the minima and their ratios."""
    name, channels, average, regime, replicas, side, optimiser = case
    architecture = Architecture(
        channels=channels, dense=(32,), global_average_pooling=average, init="he_uniform"
    )
    works = {way: training(architecture, regime, replicas, side, optimiser) for way in ways}
    best: dict[tuple[str, str], float] = {}
    for _ in range(repetitions):
        for way, numbers in ways.items():
            forward.NUMBERS_AT_ONCE = numbers
            for work, run in works[way].items():
                start = time.process_time()
                run()
                taken = (time.process_time() - start) * 1e3
                best[way, work] = min(best.get((way, work), taken), taken)
    cells = [
        f"{work} {best['alone', work]:7.1f} alone {best['joined', work]:7.1f} joined, ratio "
        f"{best['alone', work] / best['joined', work]:4.2f}"
        for work in ("step", "evaluation")
    ]
    print(f"{name + ', ' + regime:36s} R={replicas:2d} {side}x{side}  " + "   ".join(cells),
          flush=True)  # fmt: skip


def training(
    architecture: Architecture, regime: str, replicas: int, side: int, optimiser: str
) -> dict[str, Callable[[], object]]:
    """Return a training step of a stack, and its evaluation, as functions."""
    data = images(side)
    soft = [{"beta": float(1 + 3 * (seed % 8)), "eps": 0.1} for seed in range(replicas)]
    run = TrainingRun(
        row="benchmark",
        replicas=tuple(
            Replica(
                name=f"run {seed}", regime=regime, seed=seed, step_size=1e-3,
                **(soft[seed] if regime in SOFT else {}),
            )
            for seed in range(replicas)
        ),
        architecture=architecture,
        optimiser=optimiser,
    )  # fmt: skip
    stack = build_stack(run, layers_of(architecture, data.shape, data.outputs), None, "cpu")
    under_way = gated._Training(run, data, stack)
    batch = under_way._drawn(1)[0]
    return {"step": lambda: under_way._step(batch), "evaluation": under_way._scores}


def images(side: int, count: int = 320) -> Images:
    stream = torch.Generator().manual_seed(0)
    x = torch.rand(count + TESTED, 3, side, side, generator=stream)
    y = torch.randint(0, 10, (len(x),), generator=stream)
    return Images(
        train_x=x[:count], train_y=y[:count], test_x=x[count:], test_y=y[count:], outputs=10
    )


if __name__ == "__main__":
    main()
