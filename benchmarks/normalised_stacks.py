"""Time of a training step of stacked networks with batch normalisation, per replica.

Run ``python benchmarks/normalised_stacks.py [--threads 1] [--device cpu] [--replicas 1 12]``.
A step is a forward and a backward pass of the squared loss, without the update. Times are
milliseconds per replica: medians over repetitions in which the candidates alternate. ``plain`` is
one module of torch. Ratios are to it and to a stack of one. With one thread on a CPU, times are
those of the processor, so that other work on the machine does not count.
"""

import argparse
import statistics
import time
from collections.abc import Callable

import torch

from finitewidth.common import torch_setup
from finitewidth.common.provenance import environment
from finitewidth.networks.normalised.initial import initial_state
from finitewidth.networks.normalised.plain import build
from finitewidth.networks.normalised.specs import Network
from finitewidth.networks.normalised.stacked import StackedNetwork

CLASSES = 10
NETWORKS = {
    "VGG 8-16-32, 64-32": {
        "kind": "vgg", "convolutions": [8, "M", 16, "M", 32, "M"], "dense": [64, 32]
    },
    "ResNet 8-16-32, 1-1-1": {"kind": "resnet", "channels": [8, 16, 32], "blocks": [1, 1, 1]},
    "DenseNet growth 8, 2-2": {
        "kind": "densenet", "growth": 8, "blocks": [2, 2], "stem": 16, "pooled_stem": True
    },
}  # fmt: skip
Step = Callable[[], None]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--device", default="cpu", help="cpu, cuda or auto")
    parser.add_argument("--images", type=int, default=8, help="length of their sides")
    parser.add_argument("--batch", type=int, default=60)
    parser.add_argument("--replicas", type=int, nargs="+", default=[1, 4, 12, 24])
    parser.add_argument("--repetitions", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=0.15, help="approximate time per turn")
    options = parser.parse_args()
    device = torch_setup.prepare_torch(options.threads, options.device)
    machine = environment()["machine"]["processor"]
    print(f"{machine}, {options.threads} threads, {device}, torch {torch.__version__}")
    print(f"batch {options.batch}, images {options.images}²; ms per replica and step")
    for name, settings in NETWORKS.items():
        network = Network.from_mapping(settings)
        shape = (1, options.images, options.images)
        x = torch.rand(options.batch, *shape, generator=torch.Generator().manual_seed(0)).to(device)
        candidates = {"plain": (plain(network, shape, x), 1)}
        for size in options.replicas:
            candidates[f"stack of {size}"] = stacked(network, shape, x, size), size
        report(name, candidates, options)


def plain(network: Network, shape: tuple[int, int, int], x: torch.Tensor) -> Step:
    """Return a function that makes one step of one module."""
    module = build(network, shape, CLASSES).to(x.device)
    targets = one_hot(x)

    def step() -> None:
        module.zero_grad()
        (module(x) - targets).square().mean().backward()

    return in_time(step, x)


def stacked(network: Network, shape: tuple[int, int, int], x: torch.Tensor, size: int) -> Step:
    """Return a function that makes one step of a stack."""
    module = build(network, shape, CLASSES)
    states = [initial_state(module, "lecun", f"benchmark {number}") for number in range(size)]
    states = [{name: tensor.to(x.device) for name, tensor in state.items()} for state in states]
    stack = StackedNetwork.from_states(network, shape, CLASSES, states)
    targets = one_hot(x)

    def step() -> None:
        for tensor in stack.parameters.values():
            tensor.grad = None
        _, outputs = stack.forward(x, training=True)
        (outputs - targets).square().mean().backward()

    return in_time(step, x)


def one_hot(x: torch.Tensor) -> torch.Tensor:
    labels = torch.arange(len(x), device=x.device) % CLASSES
    return torch.nn.functional.one_hot(labels, CLASSES).to(x.dtype)


def in_time(step: Step, x: torch.Tensor) -> Step:
    """Let a step end only when the device has finished it."""

    def synchronised() -> None:
        step()
        torch.cuda.synchronize()

    return synchronised if x.is_cuda else step


def report(name: str, candidates: dict[str, tuple[Step, int]], options: argparse.Namespace) -> None:
    """Time all in turn and print medians and ratios to plain torch and to a stack of one."""
    alone = options.threads == 1 and options.device == "cpu"
    clock = time.process_time if alone else time.perf_counter
    turns = {}
    for label, (step, _) in candidates.items():
        timed(step, 3, clock)
        turns[label] = max(1, round(options.seconds / timed(step, 3, clock)))
    times: dict[str, list[float]] = {label: [] for label in candidates}
    for _ in range(options.repetitions):
        for label, (step, size) in candidates.items():
            times[label].append(timed(step, turns[label], clock) / size * 1e3)
    medians = {label: statistics.median(each) for label, each in times.items()}
    ours = [label for label in medians if label != "plain"]
    cells = [f"plain {medians['plain']:5.2f}"]
    cells += [
        f"{label} {medians[label]:5.2f} ({medians['plain'] / medians[label]:4.2f}x plain, "
        f"{medians[ours[0]] / medians[label]:4.2f}x one)"
        for label in ours
    ]
    print(f"{name:24s} " + "  ".join(cells), flush=True)


def timed(step: Step, turns: int, clock: Callable[[], float]) -> float:
    """Return the seconds of one step, the mean over some."""
    start = clock()
    for _ in range(turns):
        step()
    return (clock() - start) / turns


if __name__ == "__main__":
    main()
