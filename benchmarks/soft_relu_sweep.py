"""Time to train the 16 soft-ReLU networks of dgn Table 4 in one stack and one by one.

Run ``python benchmarks/soft_relu_sweep.py [--device cpu]``. On a CPU the times are CPU seconds of
one thread, on other devices wall seconds. They are medians over repetitions in which both
alternate. The ReLU network and the deep linear network are trained alone in both cases, because
their gates cannot be stacked with soft gates. Hence 3 trainings are compared with 18. On a CPU,
stacking helps convolutional networks where their images are small, as in
benchmarks/joined_replicas.py. With the images of this benchmark it helps little.
"""

import argparse
import statistics
import time
from collections.abc import Callable

import torch

from finitewidth.common import torch_setup
from finitewidth.networks.architecture import Architecture, layers_of
from finitewidth.training import loop
from finitewidth.training.run import Replica, TrainingRun
from finitewidth.training.stack import Images, build_stack

GATES = [(beta, eps) for eps in (0.1, 0.4) for beta in (1, 2, 4, 8, 12, 16, 20, 24)]
CASES = {
    "conv 8-8-8-16, dense 32, images 16x16x3": (
        Architecture(channels=(8, 8, 8, 16), dense=(32,)), (3, 16, 16)),
    "dense 128x4, images of 784": (Architecture(dense=(128,) * 4), (784,)),
    "dense 64x4, images of 64": (Architecture(dense=(64,) * 4), (64,)),
}  # fmt: skip
BATCH, STEPS = 32, 20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cpu", help="cpu, cuda or auto")
    parser.add_argument("--repetitions", type=int, default=5)
    options = parser.parse_args()
    device = torch_setup.prepare_torch(1, options.device)
    for name, (architecture, shape) in CASES.items():
        data = images(shape, device)
        others = [(Replica(name=kind, regime=kind, seed=0, step_size=1e-3),)
                  for kind in ("linear", "relu")]  # fmt: skip
        soft = tuple(
            Replica(name="soft", regime="soft_relu", seed=0, step_size=1e-3, beta=beta, eps=eps)
            for beta, eps in GATES
        )
        ways = {
            "stacked": [training(each, architecture, data) for each in (*others, soft)],
            "one by one": [
                training(each, architecture, data) for each in (*others, *((r,) for r in soft))
            ],
        }
        report(name, ways, device, options.repetitions)


def report(
    name: str, ways: dict[str, list[Callable[[], None]]], device: str, repetitions: int
) -> None:
    """Time both in turn and print the medians and their ratio."""
    clock = time.process_time if device == "cpu" else time.perf_counter
    seconds: dict[str, list[float]] = {way: [] for way in ways}
    for repetition in range(repetitions + 1):  # the first one is not measured
        for way, steps in ways.items():
            start = clock()
            for each in steps:
                each()
            if device != "cpu":
                torch.cuda.synchronize()
            if repetition:
                seconds[way].append(clock() - start)
    stacked, alone = (statistics.median(seconds[way]) for way in ("stacked", "one by one"))
    print(f"{name}: {STEPS} steps of 18 networks, {device}: {stacked:.2f} s in 3 trainings, "
          f"{alone:.2f} s in 18, ratio {alone / stacked:.2f}", flush=True)  # fmt: skip


def training(
    replicas: tuple[Replica, ...], architecture: Architecture, data: Images
) -> Callable[[], None]:
    """Return a function that runs the training steps of one stack."""
    run = TrainingRun(
        row="benchmark", replicas=replicas, architecture=architecture, optimiser="adam"
    )
    layers = layers_of(architecture, data.shape, data.outputs)
    stack = build_stack(run, layers, None, str(data.train_x.device))
    under_way = loop._Training(run, data, stack, None, 1e9)
    batches = under_way._order(1).split(BATCH, dim=1)

    def steps() -> None:
        for number in range(STEPS):
            under_way._step(batches[number % len(batches)])

    return steps


def images(shape: tuple[int, ...], device: str, count: int = 640) -> Images:
    stream = torch.Generator().manual_seed(0)
    x = torch.rand(count, *shape, generator=stream).to(device)
    y = torch.randint(0, 10, (count,), generator=stream).to(device)
    return Images(train_x=x, train_y=y, test_x=x[:10], test_y=y[:10], outputs=10)


if __name__ == "__main__":
    main()
