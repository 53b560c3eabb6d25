"""Speed of stacked memorisation networks compared with one network at a time and autograd.

Run ``python benchmarks/memorisation.py [--preset quick]``. The script times the computations of the
job npf_memorisation (npf Figure 7, dgn Figures 1 to 3) for each width and depth, in CPU seconds and
float64:

- initial kernels: per-sample gradients of ``torch.func``, one network at a time, and the closed
  form for all runs;
- gradient descent: autograd and SGD, one network at a time, and explicit gradients for all runs
  that are trained.

The results must agree to 1e-8 of the largest entry. Of the single networks, only one is timed, and
only ``--steps`` steps of gradient descent. The printed times are multiplied by the numbers of runs
and steps of the preset. The time of gradient descent is dominated by the same matrix products in
both cases. Stacking helps if they are small; at width 500 it does not.
"""

import argparse
import platform
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from finitewidth.common.provenance import environment
from finitewidth.common.settings import preset_only
from finitewidth.measures.dynamics import Networks, batches
from finitewidth.papers.npf.experiments.memorisation import networks
from finitewidth.training.full_batch import gradient_descent

CONFIG = Path(__file__).parents[1] / "config"
TOLERANCE = 1e-8


class Times(NamedTuple):
    """CPU seconds of both implementations for all runs and steps of a preset."""

    alone: float
    stacked: float

    def __add__(self, other: "Times") -> "Times":
        return Times(self.alone + other.alone, self.stacked + other.stacked)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--preset", default="quick")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--steps", type=int, default=20)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    machine = environment()["machine"]
    print(f"{machine['processor']}, {machine['cores']} cores, {platform.system()}")
    print(f"torch {torch.__version__}, {torch.get_num_threads()} threads, float64")
    print(f"npf_memorisation, preset {options.preset}")
    print(f"{'':34s} {'alone s':>9s} {'stacked s':>9s} {'ratio':>7s}")
    settings = preset_only(options.preset, CONFIG)["npf"]["memorisation"]
    task, runs = settings["task"], settings["runs"]
    warm_up(task)
    sums = {what: Times(0.0, 0.0) for what in ("kernels", "descents")}
    for name, width in settings["widths"].items():
        own = settings["descent"][name]
        for depth in task["depths"]:
            found = {
                "kernels": kernels(width, depth, runs, task),
                "descents": descents(width, depth, own, task, options.steps),
            }
            for what, times in found.items():
                line(f"w={width} d={depth}, {what}", times)
                sums[what] += times
    for what, times in (*sums.items(), ("of both", sums["kernels"] + sums["descents"])):
        line(f"all {what}", times)


def warm_up(task: dict[str, Any]) -> None:
    """Run every function once, so that the cost of first calls is not measured."""
    kernels(2, 2, 1, task)
    descents(2, 2, {"runs": 1, "steps": 1}, task, 1)


def kernels(width: int, depth: int, runs: int, task: dict[str, Any]) -> Times:
    """Time the kernels K_0 of all runs, in the batches of the experiment."""
    one = networks(width, depth, range(1), task)
    alone, wanted = timed(lambda: kernel_alone(one))
    seconds = 0.0
    for batch in batches(runs, task["samples"] * width * depth):
        found = networks(width, depth, batch, task)
        taken, mine = timed(found.kernel)
        seconds += taken
        if not batch.start:
            compare(f"kernel of width {width}, depth {depth}", [mine[0]], [wanted])
    return Times(runs * alone, seconds)


def descents(
    width: int, depth: int, own: dict[str, Any], task: dict[str, Any], steps: int
) -> Times:
    """Time gradient descent of all runs that are trained, in the batches of the experiment."""
    first = networks(width, depth, range(1), task)
    step = 0.1 / torch.linalg.eigvalsh(first.kernel())[:, -1]
    alone, wanted = timed(lambda: descend_alone(first, float(step), steps))
    seconds = 0.0
    for batch in batches(own["runs"], task["samples"] * width * depth):
        taken, mine = descent_of(networks(width, depth, batch, task), steps)
        seconds += taken
        if not batch.start:
            ours = [weight[0] for weight in mine]
            compare(f"descent of width {width}, depth {depth}", ours, wanted)
    share = own["steps"] / steps
    return Times(share * own["runs"] * alone, share * seconds)


def descent_of(found: Networks, steps: int) -> tuple[float, list[Tensor]]:
    """Return the CPU seconds and the final weights of one batch of runs."""
    step = 0.1 / torch.linalg.eigvalsh(found.kernel())[:, -1]
    return timed(lambda: descend_stacked(found, step, steps))


def compare(what: str, mine: Sequence[Tensor], wanted: Sequence[Tensor]) -> None:
    gap = max(float((a - b).abs().max() / b.abs().max()) for a, b in zip(mine, wanted, strict=True))
    if not gap <= TOLERANCE:
        raise SystemExit(f"{what}: the two differ by {gap:.1e}")


def line(label: str, times: Times) -> None:
    ratio = times.alone / times.stacked
    print(f"{label:34s} {times.alone:9.2f} {times.stacked:9.3f} {ratio:6.1f}x", flush=True)


def output(weights: Sequence[Tensor], gates: Sequence[Tensor]) -> Tensor:
    """Return the outputs of one network, for the gates of all inputs or of one input."""
    z = torch.ones(*gates[0].shape[:-1], 1, dtype=torch.float64)
    for weight, gate in zip(weights, gates, strict=False):
        z = (z @ weight) * gate
    return (z @ weights[-1])[..., 0]


def first_run(found: Networks) -> tuple[list[Tensor], list[Tensor]]:
    return [weight[0].clone() for weight in found.weights], [gate[0] for gate in found.gates]


def kernel_alone(found: Networks) -> Tensor:
    """Compute the kernel of the first network from per-sample gradients."""
    weights, gates = first_run(found)
    samples = found.y.shape[1]
    gradient = torch.func.vmap(torch.func.grad(output), in_dims=(None, 0))
    kernel = torch.zeros(samples, samples, dtype=torch.float64)
    for part in gradient(weights, gates):
        flat = part.flatten(1)
        kernel += flat @ flat.T
    return kernel


def descend_alone(found: Networks, step: float, steps: int) -> list[Tensor]:
    """Train the first network with autograd and SGD; return its weights."""
    weights, gates = first_run(found)
    for weight in weights:
        weight.requires_grad_()
    optimiser = torch.optim.SGD(weights, lr=step)
    for _ in range(steps):
        optimiser.zero_grad()
        (0.5 * ((output(weights, gates) - found.y[0]) ** 2).sum()).backward()
        optimiser.step()
    return [weight.detach() for weight in weights]


def descend_stacked(found: Networks, step: Tensor, steps: int) -> list[Tensor]:
    *_, last = gradient_descent(found.x, found.y, found.weights, found.gates, step=step,
                                times=[0, steps])  # fmt: skip
    return last.weights


def timed(function: Callable[[], Any]) -> tuple[float, Any]:
    """Call a function; return the CPU seconds and the result."""
    start = time.process_time()
    result = function()
    return time.process_time() - start, result


if __name__ == "__main__":
    main()
