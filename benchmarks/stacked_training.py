"""How much faster replicas train in one stack than one after the other.

Run ``python benchmarks/stacked_training.py [--threads 1 2] [--device cpu]``. Times are microseconds
per model and step at batch 32, medians over repetitions in which the candidates take turns; each
number of threads is a process of its own, and so is one without `torch_setup._keep_freed_memory`.

What bounds it, on one core of a server CPU (2026, AVX-512, 107 GFLOP/s in a large product). A step
of 784-128x4-10 is 23 MFLOP of matrix products, 0.21 ms at that rate, and 0.26 ms at the 90 GFLOP/s
that 32 rows allow. Plain torch takes about 0.5 ms with SGD: no stack can gain more than twice. At
batch 32 a weight is used for 6·32 operations per step and moved five times (forward, backward,
gradient written and read, weight written): 3 MB per model, from L2 for one model, from L3 or memory
for a stack of 20, of which the weights alone are 12 MB. So a stack saves what torch spends per
call, and pays some of it back in memory traffic; narrow networks gain most, as they are all calls.
Two threads gain more: products of one small model do not divide well, those of a stack do.
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
    parser = argparse.ArgumentParser(description="replicas in one stack against one by one")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--device", default="cpu", help="cpu, cuda or auto")
    parser.add_argument("--repetitions", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.15, help="of each turn, about")
    parser.add_argument("--return-memory", action="store_true", help="freed blocks to the system")
    parser.add_argument("--alone", action="store_true", help="in this process, first of --threads")
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
    """Take turns, then print medians and the ratio to plain torch and to a stack of one."""
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
    """Steps of our engine; a stack of one is one model at a time."""
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
    """One model as anyone writes it in torch, with loss and accuracy summed up as ours are."""
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
