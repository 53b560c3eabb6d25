"""Speed of `finitewidth.kernels.cntk` compared with two slower implementations of the CNTK.

Run ``python benchmarks/cntk.py``. The network is GCONV with four convolutions and a dense layer, on
images of 16×16×3. The slower implementations compute only a few pairs of images:

- definition: all pairs of positions, one after the other, in Python;
- arrays: NumPy arrays of shape (H, W, H, W) with nine shifted slices.

For each pair they also compute the kernel of each image with itself, which they need. The script
prints times per pair of images, ratios of times, differences of the results, and the error of
float32.
"""

import argparse
import platform
import sys
import time
from itertools import product
from pathlib import Path

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.cntk_by_definition import cntk_by_definition

from finitewidth.common.provenance import environment
from finitewidth.common.torch_setup import prepare_torch
from finitewidth.kernels.cntk import cntk
from finitewidth.kernels.ntk_init.gaussian_means import relu_means
from finitewidth.networks.architecture import Architecture

GCONV = Architecture(channels=(64, 64, 128, 128), dense=(256,), global_average_pooling=True)
TOLERANCE = 1e-10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--images", type=int, default=200)
    parser.add_argument("--size", type=int, default=16)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    prepare_torch(options.threads)
    machine = environment()["machine"]
    print(f"{machine['processor']}, {machine['cores']} cores, {platform.system()}")
    generator = np.random.default_rng(0)
    x = torch.from_numpy(generator.uniform(size=(options.images, 3, options.size, options.size)))
    single, fast = per_pair(x, torch.float32), per_pair(x, torch.float64)
    line(f"{options.size}×{options.size}, by offsets", *fast)
    line("the same in float32", *single)
    error = (single[1] - fast[1]).abs().max() / fast[1].abs().max()
    print(f"float32: {fast[0] / single[0]:.1f}x, differs by {error:.1e} of the largest entry")
    report("definition", x, cntk_by_definition, pairs=1, fast=fast)
    report("arrays", x, cntk_by_arrays, pairs=20, fast=fast)


def per_pair(x: torch.Tensor, dtype: torch.dtype) -> tuple[float, torch.Tensor]:
    start = time.process_time()
    kernel = cntk(x, architecture=GCONV, dtype=dtype)
    return (time.process_time() - start) / (len(x) * (len(x) + 1) / 2), kernel


def line(name: str, seconds: float, kernel: torch.Tensor) -> None:
    print(f"{name:28s} {1e3 * seconds:10.3f} ms a pair, {len(kernel)} images")


def report(name, x, slow, pairs, fast) -> None:
    seconds, kernel = fast
    start = time.process_time()
    found = [slow(x[0].numpy(), x[j].numpy(), architecture=GCONV) for j in range(1, pairs + 1)]
    taken = (time.process_time() - start) / pairs
    wanted = kernel[0, 1 : pairs + 1].numpy()
    difference = float(np.abs(np.array(found) / wanted - 1).max())
    if difference > TOLERANCE:
        raise SystemExit(f"{name}: the two differ by {difference:.1e}")
    ratio = taken / seconds
    print(
        f"{name:28s} {1e3 * taken:10.1f} ms a pair, ratio {ratio:.0f}, differs by {difference:.1e}"
    )


def cntk_by_arrays(x: np.ndarray, other: np.ndarray, architecture: Architecture) -> float:
    """Compute the kernel of two images, with pooling, NTK parametrisation and sigma_w2 = 2."""
    pairs = {"xx": (x, x), "xy": (x, other), "yy": (other, other)}
    k = {name: np.einsum("chw,cij->hwij", a, b) / len(x) for name, (a, b) in pairs.items()}
    theta = np.zeros_like(k["xy"])
    for _ in architecture.channels:
        q = {name: 2 * patch_mean(part) for name, part in k.items()}
        theta = q["xy"] + 2 * patch_mean(theta)
        deviations = {s: np.sqrt(np.einsum("hwhw->hw", q[s + s])) for s in "xy"}
        for name in k:
            scale = deviations[name[0]][..., None, None] * deviations[name[1]]
            k[name], slopes = relu_means(q[name], scale)
            if name == "xy":
                theta = theta * slopes
    pooled, t = {name: part.mean() for name, part in k.items()}, theta.mean()
    for _ in architecture.dense:
        t = 2 * pooled["xy"] + 2 * t
        q = {name: np.array(2 * part) for name, part in pooled.items()}
        pooled = {name: relu_means(q[name], np.sqrt(q[name[0] * 2] * q[name[1] * 2]))
                  for name in q}  # fmt: skip
        t, pooled = t * pooled["xy"][1], {name: part[0] for name, part in pooled.items()}
    return float(2 * pooled["xy"] + 2 * t)


def patch_mean(k: np.ndarray) -> np.ndarray:
    """Average over the nine common shifts of both positions, with zeros around the images."""
    height, width = k.shape[:2]
    padded = np.pad(k, 1)
    shifts = product(range(3), range(3))
    return sum(padded[a : a + height, b : b + width, a : a + height, b : b + width]
               for a, b in shifts) / 9  # fmt: skip


if __name__ == "__main__":
    main()
