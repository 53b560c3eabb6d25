"""Time to train replicas in one stack and one after the other.

Run ``python benchmarks/stacked_training.py [--threads 1 2] [--device cpu]``. Times are microseconds
per model and step at batch size 32. They are medians over repetitions in which the candidates
alternate. Each number of threads is measured in its own process, and so is a run without
`torch_setup._keep_freed_memory`.

The following limits hold for one core of a server CPU (2026, AVX-512, 107 GFLOP/s in a large matrix
product). A step of 784-128x4-10 has 23 MFLOP in matrix products. This takes 0.21 ms at that rate,
and 0.26 ms at the 90 GFLOP/s that are possible with 32 rows. Plain torch takes about 0.5 ms with
SGD, so a stack can be at most twice as fast. At batch size 32 a weight takes part in 6·32
operations per step and is moved five times (forward, backward, gradient written and read, weight
written). This is 3 MB per model. One model fits in the L2 cache; the weights of a stack of 20 are
12 MB and come from the L3 cache or from memory. A stack therefore saves the time that torch needs
per call, but loses some of it to memory traffic. Narrow networks gain most, because the calls take
most of their time. With two threads the gain is larger, because the products of one small model
cannot be divided well between threads.
"""

import argparse
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from finitewidth.common import torch_setup
from finitewidth.common.provenance import environment
from finitewidth.networks.architecture import Architecture, layers_of
from finitewidth.training import loop
from finitewidth.training.run import Replica, TrainingRun
from finitewidth.training.stack import Images, build_stack

BATCH = 32
Steps = Callable[[int], None]
CASES = {
    "784-128x4-10": (Architecture(dense=(128,) * 4), (784,), (1, 5, 20)),
    "64-64x5-10": (Architecture(dense=(64,) * 5), (64,), (1, 5, 20)),
    "16x16x3, 8-8-16-16": (
        Architecture(channels=(8, 8, 16, 16), dense=(32, 32)),
        (3, 16, 16),
        (1, 5),
    ),
    "32x32x3, 8-8-16-16": (
        Architecture(channels=(8, 8, 16, 16), dense=(32, 32)),
        (3, 32, 32),
        (1, 5),
    ),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--device", default="cpu", help="cpu, cuda or auto")
    parser.add_argument("--repetitions", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.15, help="approximate time per turn")
    parser.add_argument("--return-memory", action="store_true", help="do not keep freed memory")
    parser.add_argument("--alone", action="store_true", help="run the first of --threads here")
    options = parser.parse_args()
    if options.alone:
        measure(options)
        return
    print(
        f"{environment()['machine']['processor']}, {platform.system()}, torch {torch.__version__}"
    )
    same = ["--device", options.device, "--repetitions", str(options.repetitions)]
    same += ["--seconds", str(options.seconds), "--alone"]
    kinds = [[str(threads)] for threads in options.threads]
    kinds += [[str(options.threads[0]), "--return-memory"]] if options.device == "cpu" else []
    for kind in kinds:
        subprocess.run([sys.executable, __file__, "--threads", *kind, *same], check=True)


def measure(options: argparse.Namespace) -> None:
    if options.return_memory:
        torch_setup._keep_freed_memory = lambda: None
    device = torch_setup.prepare_torch(options.threads[0], options.device)
    memory = "returned to the system" if options.return_memory else "kept"
    print(f"\n{options.threads[0]} threads, {device}, freed memory {memory}; µs per model and step")
    for name, (architecture, shape, sizes) in CASES.items():
        for optimiser in ("sgd", "adam"):
            candidates = {"torch": (plain(architecture, shape, optimiser, device), 1)}
            for size in sizes:
                steps = stacked(architecture, shape, optimiser, size, device)
                candidates[f"stack of {size}"] = steps, size
            report(f"{name} {optimiser}", candidates, options)


def report(
    name: str, candidates: dict[str, tuple[Steps, int]], options: argparse.Namespace
) -> None:
    """Time all in turn and print medians and ratios to plain torch and to a stack of one."""
    turns = {}
    for label, (steps, _) in candidates.items():
        steps(3)
        start = time.perf_counter()
        steps(3)
        turns[label] = max(1, round(options.seconds * 3 / (time.perf_counter() - start)))
    times: dict[str, list[float]] = {label: [] for label in candidates}
    for _ in range(options.repetitions):
        for label, (steps, size) in candidates.items():
            start = time.perf_counter()
            steps(turns[label])
            times[label].append((time.perf_counter() - start) / turns[label] / size * 1e6)
    medians = {label: statistics.median(each) for label, each in times.items()}
    ours = [label for label in medians if label != "torch"]
    cells = [f"torch {medians['torch']:7.0f}"]
    cells += [
        f"{label} {medians[label]:7.0f} ({medians['torch'] / medians[label]:4.2f}x torch, "
        f"{medians[ours[0]] / medians[label]:4.2f}x one)"
        for label in ours
    ]
    print(f"{name:24s} " + "  ".join(cells), flush=True)


def stacked(
    architecture: Architecture, shape: Sequence[int], optimiser: str, size: int, device: str
) -> Steps:
    """Return a function that runs steps of our training loop with a stack of ``size`` models."""
    data = images(shape, device)
    replicas = tuple(
        Replica(name=f"run {seed}", regime="relu", seed=seed, step_size=1e-3)
        for seed in range(size)
    )
    run = TrainingRun(
        row="benchmark", replicas=replicas, architecture=architecture, optimiser=optimiser
    )
    stack = build_stack(run, layers_of(architecture, data.shape, 10), None, device)
    training = loop._Training(run, data, stack, None, 1e9)
    return in_batches(training._step, training._order(1), device)


def plain(architecture: Architecture, shape: Sequence[int], optimiser: str, device: str) -> Steps:
    """Return a function that runs steps of one model in plain torch.

    It also sums loss and accuracy, as our training loop does.
    """
    data, sizes = images(shape, device), layers_of(architecture, image_shape(shape), 10)
    modules: list[nn.Module] = []
    for layer in sizes:
        if layer.kind == "conv":
            modules.append(nn.Conv2d(layer.fan_in, layer.fan_out, 3, padding=1))
        else:
            modules += [nn.Flatten()] if layer.reduce and len(shape) == 3 else []
            modules.append(nn.Linear(layer.fan_in, layer.fan_out))
        modules.append(nn.ReLU())
    network = nn.Sequential(*modules[:-1]).to(device)
    make = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam}[optimiser]
    torch_optimiser = make(network.parameters(), lr=1e-3)
    sums = torch.zeros(2, device=device)

    def step(batch: Tensor) -> None:
        x, targets = data.train_x[batch[0]], data.train_y[batch[0]]
        outputs = network(x)
        loss = nn.functional.cross_entropy(outputs, targets)
        torch_optimiser.zero_grad()
        loss.backward()
        torch_optimiser.step()
        with torch.no_grad():
            sums[0] += loss * len(x)
            sums[1] += (outputs.argmax(1) == targets).sum()

    return in_batches(step, torch.randperm(len(data.train_x))[None].to(device), device)


def in_batches(step: Callable[[Tensor], None], order: Tensor, device: str) -> Steps:
    batches = order.split(BATCH, dim=1)

    def steps(count: int) -> None:
        for number in range(count):
            step(batches[number % len(batches)])
        if device == "cuda":
            torch.cuda.synchronize()

    return steps


def images(shape: Sequence[int], device: str, count: int = 1920) -> Images:
    stream = torch.Generator().manual_seed(0)
    x = torch.rand(count, *shape, generator=stream).to(device)
    y = torch.randint(0, 10, (count,), generator=stream).to(device)
    return Images(train_x=x, train_y=y, test_x=x[:10], test_y=y[:10], outputs=10)


def image_shape(shape: Sequence[int]) -> tuple[int, int, int]:
    return (1, 1, shape[0]) if len(shape) == 1 else (shape[1], shape[2], shape[0])


if __name__ == "__main__":
    main()
