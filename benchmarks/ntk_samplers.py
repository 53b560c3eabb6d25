"""Speed of the exact kernel samplers compared with networks whose matrices are drawn in full.

    python benchmarks/ntk_samplers.py [--draws 4]

The script prints a Markdown table for the sizes of the papers: draws per second of both, measured
in turn on one thread, their ratio, and the smallest ratio that is expected. As a check, it prints
the median kernel of the same number of draws of both. The samplers use float64. Networks that are
drawn in full use float32, which is faster for them.
"""

import argparse
import itertools
import math
import subprocess
import sys
import time
from dataclasses import dataclass

import numpy as np
import torch

from finitewidth.kernels.ntk_init.activations import activation_of
from finitewidth.kernels.ntk_init.given_network import (
    tangent_kernel,
    tangent_kernel_by_definition,
)
from finitewidth.kernels.ntk_init.initialisation import Initialisation, constant_width
from finitewidth.kernels.ntk_init.matrix_sampler import sample_kernels
from finitewidth.kernels.ntk_init.scalar_chain import BLOCK, sample_scalar_chain
from finitewidth.kernels.ntk_init.vector_sampler import sample_vectors

MEMORY_TRIAL = """
from finitewidth.kernels.ntk_init.initialisation import constant_width
from finitewidth.kernels.ntk_init.scalar_chain import scalar_chain_blocks

def peak():
    lines = open("/proc/self/status").read().splitlines()
    return next(line.split()[1] for line in lines if line.startswith("VmHWM"))

base, total = peak(), 0.0
for block in scalar_chain_blocks(constant_width(500, 500, sigma_w2=2.0), 100_000, 1):
    total += block.scaled_theta.sum()
print(base, peak())
"""


@dataclass(frozen=True)
class Row:
    """One line of the table: a sampler and the reference with which it is compared."""

    name: str
    against: str
    init: Initialisation
    activation: str
    inputs: int
    fast_draws: int
    floor: float


def rows():
    deep = constant_width(250, 500, sigma_w2=2.0)
    mid = constant_width(100, 500, sigma_w2=2.0)
    return [
        Row("scalar chain", "torch.func Jacobian", deep, "relu", 1, 4 * BLOCK, 8000),
        Row("scalar chain", "matrix products", deep, "relu", 1, 4 * BLOCK, 4000),
        Row("vector sampler, tanh", "matrix products", mid, "tanh", 1, 64, 40),
        Row("matrix sampler, S = 2", "matrix products", mid, "relu", 2, 32, 10),
        Row("matrix sampler, S = 11", "matrix products", mid, "relu", 11, 8, 2),
    ]


def inputs_of(row):
    x = np.random.default_rng(1).standard_normal((row.inputs, row.init.widths[0]))
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def fast(row, draws, seed):
    """Return diagonal kernel elements of the sampler, (draws,)."""
    if row.name == "scalar chain":
        return sample_scalar_chain(row.init, draws, seed).theta
    if row.inputs == 1:
        return sample_vectors(row.init, draws, seed, activation=row.activation).theta
    kernels = sample_kernels(row.init, inputs_of(row), draws, seed, activation=row.activation)
    return kernels.theta[:, 0, 0]


def reference(row, inputs):
    """Return one diagonal kernel element of a network that is drawn in full, in float32."""
    widths, sigma_w2 = row.init.layer_widths, row.init.sigma_w2
    weights = [torch.randn(n, m).mul_((sigma_w2 / m) ** 0.5) for m, n in itertools.pairwise(widths)]
    biases = [torch.zeros(n) for n in widths[1:]]
    if row.against == "matrix products":
        w, b, _ = tangent_kernel(weights, biases, inputs, activation=row.activation)
    else:
        function = activation_of(row.activation).value
        w, b = tangent_kernel_by_definition(weights, biases, inputs, activation=function)
    return float((w + b)[0, 0])


def seconds(function, *arguments):
    started = time.perf_counter()
    result = function(*arguments)
    return time.perf_counter() - started, result


def compared(row, draws):
    """Return the seconds per draw of sampler and reference, and the medians of their kernels.

    The time of the sampler is the best of three, that of the reference the best of all draws.
    """
    fast(row, 1, 0)
    quick = min(seconds(fast, row, row.fast_draws, seed)[0] for seed in range(3)) / row.fast_draws
    x = torch.as_tensor(inputs_of(row), dtype=torch.float32)
    reference(row, x)
    timed = [seconds(reference, row, x) for _ in range(draws)]
    slow = min(spent for spent, _ in timed)
    return quick, slow, np.median(fast(row, draws, 7)), np.median([theta for _, theta in timed])


def chain_seconds(depth, width):
    init = constant_width(depth, width, sigma_w2=2.0)
    return min(seconds(sample_scalar_chain, init, 2 * BLOCK, seed)[0] for seed in range(7))


def text(rate):
    return f"{rate:,.0f}" if rate >= 100 else f"{rate:.3g}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=4, help="networks drawn in full per row")
    draws = parser.parse_args().draws
    torch.set_num_threads(1)
    print(
        "| what | against | M, L | draws/s | reference draws/s | ratio | floor | median of each |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for row in rows():
        quick, slow, left, right = compared(row, draws)
        size = f"{row.init.widths[0]}, {row.init.depth}"
        print(
            f"| {row.name} | {row.against} | {size} | {text(1 / quick)} | {text(1 / slow)} | "
            f"{text(slow / quick)} | {row.floor:,.0f} | {left:.3g}, {right:.3g} ({draws} draws) |",
            flush=True,
        )
    width = chain_seconds(100, 1000) / chain_seconds(100, 100)
    depth = chain_seconds(400, 200) / chain_seconds(200, 200)
    print(f"\nscalar chain, time(M = 1,000) / time(M = 100) at L = 100: {width:.2f} (at most 1.2)")
    print(f"scalar chain, time(L = 400) / time(L = 200) at M = 200: {depth:.2f} (at most 2.2)")
    trial = [sys.executable, "-c", MEMORY_TRIAL]
    done = subprocess.run(trial, capture_output=True, text=True, check=True)
    base, peak = (float(number) / 1024 for number in done.stdout.split())
    print(
        f"scalar chain, 100,000 draws at L = 500, streamed: {math.ceil(peak)} MiB resident at most "
        f"({math.ceil(base)} MiB before the first draw; under 1,024 wanted)"
    )


if __name__ == "__main__":
    main()
