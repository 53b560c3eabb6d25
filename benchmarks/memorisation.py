"""How much faster memorisation networks are followed stacked than one at a time with autograd.

Run ``python benchmarks/memorisation.py``. For each width and depth the same runs are followed twice
in this process, in float64: kernels at the start (per-sample gradients of ``torch.func``, one
network at a time, against the closed form) and gradient descent (autograd and SGD, one network at a
time, against all at once, by hand). Results must agree to 1e-8 of the largest entry. Times are CPU
seconds, medians; ``both`` is one kernel and ``--steps`` steps of every run. Descent is bound by the
same matrix products either way: stacking gains where they are small, nothing at width 500.
"""

import argparse
import platform
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from finitewidth.experiments.npf.memorisation import networks
from finitewidth.measures.dynamics import Networks
from finitewidth.provenance import environment
from finitewidth.training.full_batch import gradient_descent

TOLERANCE = 1e-8
TASK = {"samples": 200, "mu": 0.5}


def main() -> None:
    parser = argparse.ArgumentParser(description="stacked memorisation against one at a time")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--repetitions", type=int, default=3)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    machine = environment()["machine"]
    print(f"{machine['processor']}, {machine['cores']} cores, {platform.system()}")
    print(f"torch {torch.__version__}, {torch.get_num_threads()} threads, float64")
    print(f"{'':26s} {'alone s':>9s} {'stacked s':>9s} {'ratio':>7s} {'difference':>11s}")
    for width, depth, runs in ((25, 8, 20), (25, 20, 20), (500, 8, 2)):
        compare(networks(width, depth, range(runs), TASK), options.steps, options.repetitions)


def compare(found: Networks, steps: int, repetitions: int) -> None:
    """One line each for kernels, for descent, and for both together."""
    runs, width = len(found.y), found.weights[0].shape[-1]
    label = f"w={width} d={found.depth} runs={runs}"
    step = 0.1 / torch.linalg.eigvalsh(found.kernel())[:, -1]
    kernels = timed(lambda: kernels_alone(found), 1), timed(found.kernel, repetitions)
    descents = (
        timed(lambda: descend_alone(found, step, steps), 1),
        timed(lambda: descend_stacked(found, step, steps), repetitions),
    )
    totals = [0.0, 0.0]
    for what, ((slow, wanted), (fast, mine)) in (("kernel", kernels), ("descent", descents)):
        difference = max(gap(a, b) for a, b in zip(mine, wanted, strict=True))
        if difference > TOLERANCE:
            raise SystemExit(f"{label}, {what}: the two differ by {difference:.1e}")
        line(f"{label} {what}", slow, fast, f"{difference:11.1e}")
        totals = [totals[0] + slow, totals[1] + fast]
    line(f"{label} both", *totals, "")


def line(label: str, slow: float, fast: float, rest: str) -> None:
    print(f"{label:26s} {slow:9.3f} {fast:9.4f} {slow / fast:6.1f}x {rest}")


def gap(mine: Tensor, wanted: Tensor) -> float:
    return float((mine - wanted).abs().max() / wanted.abs().max())


def output(weights: Sequence[Tensor], gates: Sequence[Tensor]) -> Tensor:
    """Outputs of one network for all gates, or for those of one input."""
    z = torch.ones(*gates[0].shape[:-1], 1, dtype=torch.float64)
    for weight, gate in zip(weights, gates, strict=False):
        z = (z @ weight) * gate
    return (z @ weights[-1])[..., 0]


def of_run(found: Networks, run: int) -> tuple[list[Tensor], list[Tensor]]:
    return [weight[run].clone() for weight in found.weights], [gate[run] for gate in found.gates]


def kernels_alone(found: Networks) -> list[Tensor]:
    """Kernels from per-sample gradients, a network at a time."""
    kernels = []
    for run in range(len(found.y)):
        weights, gates = of_run(found, run)
        gradient = torch.func.vmap(torch.func.grad(output), in_dims=(None, 0))
        kernel = torch.zeros(found.y.shape[1], found.y.shape[1], dtype=torch.float64)
        for part in gradient(weights, gates):
            flat = part.flatten(1)
            kernel += flat @ flat.T
        kernels.append(kernel)
    return kernels


def descend_alone(found: Networks, step: Tensor, steps: int) -> list[Tensor]:
    """Weights of each layer, (R, ...), after descent with autograd and SGD, a network at a time."""
    trained = []
    for run in range(len(found.y)):
        weights, gates = of_run(found, run)
        for weight in weights:
            weight.requires_grad_()
        optimiser = torch.optim.SGD(weights, lr=float(step[run]))
        for _ in range(steps):
            optimiser.zero_grad()
            (0.5 * ((output(weights, gates) - found.y[run]) ** 2).sum()).backward()
            optimiser.step()
        trained.append([weight.detach() for weight in weights])
    return [torch.stack(layer) for layer in zip(*trained, strict=True)]


def descend_stacked(found: Networks, step: Tensor, steps: int) -> list[Tensor]:
    *_, last = gradient_descent(found.x, found.y, found.weights, found.gates, step=step,
                                times=[0, steps])  # fmt: skip
    return last.weights


def timed(function: Callable[[], Any], repetitions: int) -> tuple[float, Any]:
    """Median CPU seconds, and the last result."""
    times = []
    for _ in range(repetitions):
        start = time.process_time()
        result = function()
        times.append(time.process_time() - start)
    return statistics.median(times), result


if __name__ == "__main__":
    main()
