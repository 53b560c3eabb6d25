"""Products of the tangent kernel with vectors beside those of curvlinops.

    python3 -m venv build/curvlinops
    build/curvlinops/bin/pip install curvlinops-for-pytorch==3.0.1
    PYTHONPATH=src:. build/curvlinops/bin/python benchmarks/operator_times.py

The environment needs the packages of the project as well. Both run in turn with one thread, in
float32; the least CPU time of several rounds counts. curvlinops gives J and its transpose, whose
product is the kernel. Columns: milliseconds of ours and of curvlinops, the ratio of theirs to ours,
and the largest difference of the products over the largest entry.
"""

import time
import warnings
from collections.abc import Callable

import curvlinops
import torch
from torch import Tensor, nn

import finitewidth as fw

ROUNDS = 3
CASES = {
    "dense 784-500-500-10, 2,000 inputs": (
        lambda: nn.Sequential(
            nn.Linear(784, 500), nn.ReLU(), nn.Linear(500, 500), nn.ReLU(), nn.Linear(500, 10)
        ),
        (2000, 784),
        500,
    ),
    "convolutions of 32 channels, 200 images": (
        lambda: nn.Sequential(
            nn.Conv2d(3, 32, 3, padding=1),
            nn.ReLU(),
            nn.Conv2d(32, 32, 3, stride=2, padding=1),
            nn.BatchNorm2d(32),
            nn.ReLU(),
            nn.Conv2d(32, 32, 3, stride=2, padding=1),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(2048, 10),
        ),
        (200, 3, 32, 32),
        50,
    ),
    "attention of 32 channels, 500 texts": (
        lambda: nn.Sequential(
            nn.TransformerEncoderLayer(32, 4, 64, batch_first=True),
            nn.Flatten(),
            nn.Linear(320, 10),
        ),
        (500, 10, 32),
        100,
    ),
}


def cpu_seconds(action: Callable[[], Tensor]) -> tuple[float, Tensor]:
    """Return the CPU time of a call and what it returns."""
    start = time.process_time()
    found = action()
    return time.process_time() - start, found


def compare(network: nn.Module, x: Tensor, batch: int, vectors: int) -> str:
    """Return a line of the table for products with some vectors."""
    outputs, parameters = network(x[:1]).shape[1], list(network.parameters())
    v = torch.randn(len(x) * outputs, vectors)
    theta = fw.tangent_operator(network, x, batch=batch)
    data = [(some, torch.zeros(len(some), outputs)) for some in x.split(batch)]
    forward = curvlinops.JacobianLinearOperator(
        network, parameters, data, check_deterministic=False
    )
    backward = forward.adjoint()
    # rows of curvlinops are those of the flattened outputs (N, K)
    theirs = v.view(outputs, len(x), -1).transpose(0, 1).flatten(0, 1)

    def ours() -> Tensor:
        return theta @ v

    def peer() -> Tensor:
        product = forward @ (backward @ theirs)
        return product.view(len(x), outputs, -1).transpose(0, 1).flatten(0, 1)

    times: dict[str, list[float]] = {"ours": [], "peer": []}
    for _ in range(ROUNDS):
        seconds, first = cpu_seconds(ours)
        times["ours"].append(seconds)
        seconds, second = cpu_seconds(peer)
        times["peer"].append(seconds)
    apart = float((first - second).abs().max() / second.abs().max())
    mine, other = min(times["ours"]), min(times["peer"])
    return f"{1e3 * mine:9.1f} {1e3 * other:9.1f} {other / mine:6.2f} {apart:9.1e}"


def main() -> None:
    """Print the table."""
    torch.set_num_threads(1)
    warnings.filterwarnings("ignore")
    for name, (make, shape, batch) in CASES.items():
        torch.manual_seed(0)
        network, x = make().eval(), torch.randn(*shape)
        for vectors in (1, 8):
            try:
                line = compare(network, x, batch, vectors)
            except NotImplementedError as error:  # such as a fused layer without a forward mode
                line = f"does not run in curvlinops: {error}"
            print(f"{name:42s} {vectors} vectors {line}", flush=True)


if __name__ == "__main__":
    main()
