"""Kernels of given networks by `finitewidth.kernels.trained` beside Jacobians of torch.func.

Run ``OMP_NUM_THREADS=1 python benchmarks/trained_kernels.py``. Each line times both in turn, in CPU
seconds of one thread, checks that they agree, and prints medians and their ratio. The Jacobian of
torch.func is formed for each input alone (``vmap`` of ``jacrev``); its Gram matrix is the kernel.
For the dense network ``jacrev`` of all inputs at once is also timed. If nngeometry can be imported,
its Gram matrix of all outputs is timed, too; it is no dependency of the project.
"""

import argparse
import statistics
import time
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.func import functional_call, jacrev, vmap
from torch.nn import functional

from finitewidth.common.provenance import environment
from finitewidth.kernels.trained import full_kernel, largest_eigenvalue, traced_kernel

TOLERANCE = {torch.float64: 1e-12, torch.float32: 1e-4}


class Block(nn.Module):
    """Two convolutions with batch norms, and a shortcut."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.norm1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.norm2 = nn.BatchNorm2d(outputs)
        self.shortcut = nn.Identity()
        if stride > 1 or inputs != outputs:
            self.shortcut = nn.Conv2d(inputs, outputs, 1, stride, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """Return the outputs for images (N, C, H, W)."""
        inner = functional.relu(self.norm1(self.conv1(x)))
        return functional.relu(self.norm2(self.conv2(inner)) + self.shortcut(x))


def resnet(channels: tuple[int, ...], blocks: int, outputs: int) -> nn.Sequential:
    layers: list[nn.Module] = [nn.Conv2d(1, channels[0], 3, padding=1), nn.ReLU()]
    last = channels[0]
    for stage, width in enumerate(channels):
        for block in range(blocks):
            layers.append(Block(last, width, 2 if stage and not block else 1))
            last = width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(last, outputs))


def vgg(channels: tuple[int, ...], outputs: int) -> nn.Sequential:
    layers: list[nn.Module] = []
    last = 1
    for width in channels:
        layers += [nn.Conv2d(last, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU(),
                   nn.MaxPool2d(2)]  # fmt: skip
        last = width
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(last, 64), nn.ReLU(),
                         nn.Linear(64, outputs))  # fmt: skip


def dense(width: int, depth: int) -> nn.Sequential:
    layers: list[nn.Module] = [nn.Linear(784, width), nn.Tanh()]
    for _ in range(depth - 2):
        layers += [nn.Linear(width, width), nn.Tanh()]
    return nn.Sequential(*layers, nn.Linear(width, 10))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--large", action="store_true", help="also ResNet20 (a minute, 3 GB)")
    repetitions, large = vars(parser.parse_args()).values()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    machine = environment()["machine"]
    print(f"{machine['processor']}, one thread, torch {torch.__version__}")
    network, x = dense(128, 10).double(), torch.randn(16, 784).double()
    name = "traced, 784-128x9-10, 16 inputs"
    compare(name, network, x, ("torch.func, input by input", traced_by_input), repetitions)
    compare(name, network, x, ("torch.func, all inputs", traced_at_once), 1)
    eigenvalue(network, x)
    for outputs in (10, 32):
        images = torch.randn(40, 1, 16, 16)
        network = resnet((8, 16, 32), 1, outputs).eval()
        name = f"ResNet 8-16-32, 40 images 16x16, {outputs} outputs"
        by_input = ("torch.func, input by input", traced_by_input)
        compare(f"traced, {name}", network, images, by_input, repetitions)
        by_input = ("torch.func, input by input", full_by_input)
        compare(f"full, {name}", network, images, by_input, repetitions, full_kernel)
        compare_nngeometry(f"full, {name}", network, images)
    network, images = vgg((32, 64, 128, 128), 10).eval(), torch.randn(40, 1, 16, 16)
    by_input = ("torch.func, input by input", traced_by_input)
    compare("traced, VGG 32-64-128-128, 40 images 16x16", network, images, by_input, repetitions)
    if large:
        network, images = resnet((16, 32, 64), 3, 10).eval(), torch.randn(40, 1, 28, 28)
        compare("traced, ResNet20, 40 images 28x28", network, images, by_input, 1)
        for function, what in ((traced_kernel, "traced"), (full_kernel, "full")):
            seconds, _ = cpu_time(lambda f=function: f(network[:-1], images, budget=2**31), 1)
            print(f"{what}, ResNet20, 40 images 28x28, 64 features: {seconds:.1f} s")


def rows(network: nn.Module, x: Tensor) -> Tensor:
    """Jacobians (N, K, parameters), input by input."""
    parameters = {name: parameter.detach() for name, parameter in network.named_parameters()}

    def outputs(theta: dict[str, Tensor], sample: Tensor) -> Tensor:
        return functional_call(network, theta, (sample[None],))[0]

    jacobians = vmap(jacrev(outputs), in_dims=(None, 0))(parameters, x)
    return torch.cat([jacobian.flatten(2) for jacobian in jacobians.values()], dim=2)


def traced_by_input(network: nn.Module, x: Tensor) -> Tensor:
    flat = rows(network, x).flatten(1)
    return flat @ flat.mT


def full_by_input(network: nn.Module, x: Tensor) -> Tensor:
    found = rows(network, x)
    N, K, _ = found.shape
    flat = found.transpose(0, 1).flatten(0, 1)
    return (flat @ flat.mT).view(K, N, K, N)


def traced_at_once(network: nn.Module, x: Tensor) -> Tensor:
    parameters = {name: parameter.detach() for name, parameter in network.named_parameters()}
    jacobians = jacrev(lambda theta: functional_call(network, theta, (x,)))(parameters)
    flat = torch.cat([jacobian.flatten(2) for jacobian in jacobians.values()], dim=2).flatten(1)
    return flat @ flat.mT


def compare(
    name: str,
    network: nn.Module,
    x: Tensor,
    other: tuple[str, Callable[[nn.Module, Tensor], Tensor]],
    repetitions: int,
    ours: Callable[[nn.Module, Tensor], Tensor] = traced_kernel,
) -> None:
    slow_time, wanted = cpu_time(lambda: other[1](network, x), repetitions)
    fast_time, found = cpu_time(lambda: ours(network, x), 5 * repetitions)
    difference = float((found - wanted).abs().max() / wanted.abs().max())
    if difference > TOLERANCE[x.dtype]:
        raise SystemExit(f"{name}: the two differ by {difference:.1e} of the largest entry")
    ratio = slow_time / fast_time
    print(f"{name}: {fast_time * 1e3:.4g} ms; {other[0]} {slow_time * 1e3:.4g} ms; "
          f"ratio {ratio:.3g}; difference {difference:.1e}", flush=True)  # fmt: skip


def eigenvalue(network: nn.Module, x: Tensor) -> None:
    kernel, found = cpu_time(lambda: full_kernel(network, x), 3)
    exact = torch.linalg.eigvalsh(found.flatten(2).flatten(0, 1))[-1]
    cold, found = cpu_time(lambda: largest_eigenvalue(network, x), 3)
    warm, again = cpu_time(lambda: largest_eigenvalue(network, x, start=found.vector,
                                                      products=2), 3)  # fmt: skip
    print(f"largest eigenvalue, same network: {cold * 1e3:.3g} ms in {found.products} products, "
          f"error {abs(float(found.value / exact) - 1):.0e}; {warm * 1e3:.3g} ms from a start in "
          f"{again.products}; the full kernel alone {kernel * 1e3:.3g} ms", flush=True)  # fmt: skip


def compare_nngeometry(name: str, network: nn.Module, x: Tensor) -> None:
    try:
        from nngeometry import GramMatrix
    except ImportError:
        return
    from torch.utils.data import DataLoader, TensorDataset

    labels = torch.zeros(len(x), dtype=torch.long)
    loader = DataLoader(TensorDataset(x, labels), batch_size=len(x))

    def gram() -> Tensor:
        return GramMatrix(model=network, loader=loader).to_torch().detach()

    seconds, wanted = cpu_time(gram, 1)
    ours, found = cpu_time(lambda: full_kernel(network, x), 3)
    difference = float((found - wanted).abs().max() / wanted.abs().max())
    print(f"{name}: nngeometry {seconds:.3g} s; ratio {seconds / ours:.3g}; "
          f"difference {difference:.0e}", flush=True)  # fmt: skip


def cpu_time(function: Callable, repetitions: int) -> tuple[float, Tensor]:
    """Median CPU seconds of calls after a first one, and the result."""
    found, times = function(), []
    for _ in range(repetitions):
        start = time.process_time()
        function()
        times.append(time.process_time() - start)
    return statistics.median(times), found


if __name__ == "__main__":
    main()
