"""Speed of the closed forms of path and tangent kernels compared with autograd Jacobians.

Run ``python benchmarks/path_kernels.py``. Each line times both on the same inputs, checks that the
results agree to 1e-10, and prints the median times. The slower implementations are:

- NPK by paths: the Gram matrix of the Jacobian of the output with respect to one parameter per
  path, for a network with 8192 paths (200 inputs, 16-8x3);
- NPK by counts: derivatives of a network whose weights are 1 and whose gates are those shared by
  two inputs, pair by pair (200 inputs, 784-100x5);
- K^v and K^f: Gram matrices of per-sample gradients of the 10 logits (torch.func.vmap of grad), one
  logit after the other (100 inputs, 784-128x5-10, with biases and soft gates).
"""

import argparse
import itertools
import platform
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.kernels_by_definition import (
    feature_kernel_by_jacobian,
    npk_by_jacobian,
    path_features_by_jacobian,
    value_kernel_by_jacobian,
)

from finitewidth.common.provenance import environment
from finitewidth.kernels.gated_networks import feature_gates, relu_gates
from finitewidth.kernels.gated_ntk import feature_kernel, value_kernel
from finitewidth.kernels.npk import npk

TOLERANCE = 1e-10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repetitions", type=int, default=3, help="of the Jacobians")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    machine = environment()["machine"]
    print(f"{machine['processor']}, {machine['cores']} cores, {platform.system()}")
    print(f"torch {torch.__version__}, {torch.get_num_threads()} threads, float64")
    print(f"{'kernel':28s} {'autograd s':>11s} {'closed s':>11s} {'ratio':>8s} {'difference':>11s}")
    for name, slow, fast in (*path_kernels(), *gated_kernels()):
        compare(name, slow, fast, options.repetitions)


def path_kernels() -> list[tuple[str, Callable[[], Tensor], Callable[[], Tensor]]]:
    small, large = network([16, 8, 8, 8, 1]), network([784, *[100] * 5, 1])
    few, many = torch.rand(200, 16).double(), torch.rand(200, 784).double()
    few_gates = relu_gates(small[0], None, few - 0.5)
    many_gates = relu_gates(large[0], None, many - 0.5)

    def from_paths() -> Tensor:
        features = path_features_by_jacobian(few, few_gates)
        return features @ features.T

    return [
        ("NPK by paths, 16-8x3", from_paths, lambda: npk(few, few_gates)),
        (
            "NPK by counts, 784-100x5",
            lambda: npk_by_jacobian(many, many_gates),
            lambda: npk(many, many_gates),
        ),
    ]


def gated_kernels() -> list[tuple[str, Callable[[], Tensor], Callable[[], Tensor]]]:
    sizes = [784, *[128] * 5, 10]
    value, feature, x = network(sizes), network(sizes[:-1]), torch.rand(100, 784).double()
    soft = {"beta": 4.0, "eps": 0.1}
    gates = feature_gates(x, *feature, **soft)
    both = (x, *feature, *value)
    options = {**soft, "with_biases": True}
    return [
        (
            "K^v, 784-128x5-10",
            lambda: value_kernel_by_jacobian(x, *value, gates, with_biases=True),
            lambda: value_kernel(x, *value, gates, with_biases=True),
        ),
        (
            "K^f, 784-128x5-10",
            lambda: feature_kernel_by_jacobian(*both, **options),
            lambda: feature_kernel(*both, **options),
        ),
    ]


def network(sizes: list[int]) -> tuple[list[Tensor], list[Tensor]]:
    pairs = list(itertools.pairwise(sizes))
    weights = [torch.randn(a, b).double() * (2 / a) ** 0.5 for a, b in pairs]
    return weights, [0.1 * torch.randn(b).double() for _, b in pairs]


def compare(
    name: str, slow: Callable[[], Tensor], fast: Callable[[], Tensor], repetitions: int
) -> None:
    wanted, found = slow(), fast()
    difference = float((found - wanted).abs().max() / wanted.abs().max())
    if difference > TOLERANCE:
        raise SystemExit(f"{name}: the two differ by {difference:.1e} of the largest entry")
    slow_time, fast_time = median_time(slow, repetitions), median_time(fast, 10 * repetitions)
    ratio = slow_time / fast_time
    print(f"{name:28s} {slow_time:11.4f} {fast_time:11.5f} {ratio:7.0f}x {difference:11.1e}")


def median_time(function: Callable[[], Tensor], repetitions: int) -> float:
    times = []
    for _ in range(repetitions):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


if __name__ == "__main__":
    main()
