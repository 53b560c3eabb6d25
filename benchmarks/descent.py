"""Gradients and CPU time of graded steps and of gradient flow, over those of single steps.

Run ``OMP_NUM_THREADS=1 python benchmarks/descent.py [--size paper]``. The networks are those of
trust Figures 3 and 4: fully connected, 10 outputs, sigma_b2 = 1. The script descends the same
networks in each mode and prints, for each cell (activation, depth, sigma_w2), the gradients of the
mode over the steps, the CPU time over that of single steps, and the largest relative difference of
the change of the kernel from that of single steps. Single steps take long at the paper's size; with
``--steps-timed n`` only n of them are timed, and nothing is compared.

Inputs are the bundled 8x8 digits. At the paper's size they are repeated to 784 pixels, which gives
steps of the same cost, though not the paper's numbers.
"""

import argparse
import platform
import time

import numpy as np
import torch
from sklearn.datasets import load_digits

from finitewidth.common.provenance import environment
from finitewidth.common.torch_setup import prepare_torch
from finitewidth.kernels.trained import FullyConnected
from finitewidth.training.descent import Descent, descend
from finitewidth.training.descent_run import DescentPlan
from finitewidth.training.fully_connected import Draw, in_span_of_inputs, initial_stack

SIZES = {  # inputs, samples, width, depths, steps, rate
    "quick": (64, 50, 48, (5, 10, 15), 2000, 6e-5),
    "paper": (784, 128, 256, (10, 20), 100_000, 1e-5),
}
SIGMA_W2 = {"tanh": (1.0, 2.0, 3.44, 5.0), "relu": (1.0, 1.5, 2.0, 2.5)}
ACCURATE = {"tanh": {"cap": 0.5, "share": 32}, "relu": {}}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", choices=SIZES, default="quick")
    parser.add_argument("--steps-timed", type=int, help="single steps that are timed; all if unset")
    parser.add_argument("--activation", choices=SIGMA_W2, nargs="+", default=list(SIGMA_W2))
    parser.add_argument("--depth", type=int, nargs="+", help="instead of those of the size")
    parser.add_argument("--mode", choices=("graded", "flow"), nargs="+", default=["graded", "flow"])
    options = parser.parse_args()
    prepare_torch(1)
    print(
        f"{environment()['machine']['processor']}, {platform.system()}, torch {torch.__version__}"
    )
    print(f"{'cell':28}{'eta lambda':>11}{'mode':>20}{'gradients':>11}{'time':>9}{'change':>10}")
    for activation in options.activation:
        for depth in options.depth or SIZES[options.size][3]:
            for sigma_w2 in SIGMA_W2[activation]:
                measure(options, activation, depth, sigma_w2)


def measure(options: argparse.Namespace, activation: str, depth: int, sigma_w2: float) -> None:
    inputs, samples, width, _, steps, rate = SIZES[options.size]
    x, y = images(inputs, samples)
    widths = [inputs, *[width] * (depth - 1), 10]
    drawn = initial_stack(("benchmark",), [Draw(sigma_w2, 1.0, 0)], widths, activation)
    stack, x = in_span_of_inputs(drawn, x)
    timed = options.steps_timed or steps
    times = tuple(time for time in (10, 100, 1000, 10_000) if time <= timed)
    single, seconds = timing(stack, x, y, DescentPlan(
        steps=timed, rates=(rate,), times=times, mode="steps", stop=None))  # fmt: skip
    seconds *= steps / timed
    name = f"{activation}, L = {depth}, {sigma_w2:g}"
    print(f"{name:28}{single.ends[0]['eta_lambda_start']:11.4f}{'steps':>20}{'1':>11}"
          f"{seconds:8.1f}s")  # fmt: skip
    for mode in options.mode:
        if mode == "flow" and activation != "tanh":
            continue
        plan = DescentPlan(
            steps=steps, rates=(rate,), times=times, mode=mode, stop=None, **ACCURATE[activation]
        )
        found, taken = timing(stack, x, y, plan)
        end = found.ends[0]
        apart = f"{100 * difference(single, found):9.3f}%" if timed == steps else f"{'-':>10}"
        print(f"{'':39}{end['method']:>20}{end['gradients'] / steps:11.4f}"
              f"{taken / seconds:9.3f}{apart}")  # fmt: skip


def timing(
    stack: FullyConnected, x: torch.Tensor, y: torch.Tensor, plan: DescentPlan
) -> tuple[Descent, float]:
    """Descend and return the result and the CPU seconds."""
    started = time.process_time()
    result = descend(stack, x, y, plan)
    return result, time.process_time() - started


def difference(one: Descent, two: Descent) -> float:
    """Largest relative difference of the changes of the kernel after time 0."""
    changes = [
        {row["time"]: row["change"] for row in result.snapshots if row["time"]}
        for result in (one, two)
    ]
    return max(abs(changes[1][time] / value - 1) for time, value in changes[0].items())


def images(inputs: int, samples: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Digits of all classes, repeated to the number of inputs, and one-hot targets."""
    digits = load_digits()
    chosen = np.argsort(digits.target, kind="stable").reshape(-1)
    chosen = chosen[np.linspace(0, len(chosen) - 1, samples).astype(int)]
    pixels = digits.data[chosen] / 16
    repeated = np.tile(pixels, (1, -(-inputs // pixels.shape[1])))[:, :inputs]
    targets = torch.nn.functional.one_hot(torch.from_numpy(digits.target[chosen]), 10)
    return torch.from_numpy(repeated).float(), targets.float()


if __name__ == "__main__":
    main()
