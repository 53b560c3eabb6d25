"""Kernels of given networks by `finitewidth.kernels.trained` beside Jacobians of torch.func.

Run ``OMP_NUM_THREADS=1 python benchmarks/trained_kernels.py``. Each line times both in turn, in CPU
seconds of one thread, checks that they agree, and prints medians and their ratio. The Jacobian of
torch.func is formed for each input alone (``vmap`` of ``jacrev``); its Gram matrix is the kernel.
For the dense network ``jacrev`` of all inputs at once is also timed. Times are those of calls after
a first one, which also loads parts of torch; first calls are timed in processes of their own.

Beside each ratio stands that of the multiplications, which is what the ratio would be if both
multiplied equally fast and did nothing else.

If nngeometry 0.4 can be imported, its Gram matrix of all outputs is timed, too. It is no dependency
of the project; ``pip install nngeometry==0.4 --no-deps --target DIR`` and ``PYTHONPATH=DIR`` do.
"""

import argparse
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.func import functional_call, jacrev, vmap
from torch.nn import functional

from finitewidth.common.provenance import environment
from finitewidth.kernels.trained import (
    FullyConnected,
    full_kernel,
    largest_eigenvalue,
    output_norms,
    traced_kernel,
)
from finitewidth.kernels.trained.hooked import Request, units_of

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


class DenseLayer(nn.Module):
    """Two norms and convolutions, whose output is appended to the input."""

    def __init__(self, inputs: int, growth: int) -> None:
        super().__init__()
        self.norm1, self.conv1 = nn.BatchNorm2d(inputs), nn.Conv2d(inputs, 2 * growth, 1)
        self.norm2 = nn.BatchNorm2d(2 * growth)
        self.conv2 = nn.Conv2d(2 * growth, growth, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        """Return the input with ``growth`` more channels."""
        inner = self.conv1(functional.relu(self.norm1(x)))
        return torch.cat([x, self.conv2(functional.relu(self.norm2(inner)))], 1)


def densenet() -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1), nn.AvgPool2d(2), DenseLayer(16, 8), DenseLayer(24, 8),
        nn.BatchNorm2d(32), nn.ReLU(), nn.Conv2d(32, 16, 1), nn.AvgPool2d(2), DenseLayer(16, 8),
        DenseLayer(24, 8), nn.BatchNorm2d(32), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
        nn.Linear(32, 10),
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--large", action="store_true", help="also ResNet20 (minutes, 2 GB)")
    parser.add_argument("--first", choices=FIRST, help="time one first call and nothing else")
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    if options.first:
        time_first_call(options.first)
        return
    machine = environment()["machine"]
    print(f"{machine['processor']}, one thread, torch {torch.__version__}")
    dense_networks(options.repetitions)
    convolutional_networks(options.repetitions)
    small_networks()
    if options.large:
        resnet20()


def dense_networks(repetitions: int) -> None:
    network, x = dense(128, 10).double(), torch.randn(16, 784).double()
    name = "traced, 784-128x9-10, 16 inputs"
    compare(name, network, x, ("torch.func, input by input", traced_by_input), repetitions)
    compare(name, network, x, ("torch.func, all inputs", traced_at_once), repetitions)
    compare_first_calls(name, "dense")
    seconds, _ = cpu_time(lambda: products_of_the_closed_form(16, 128, 10, 10, 784), 50)
    one, _ = cpu_time(lambda: traced_kernel(network, x), 50)
    stack = FullyConnected(
        [torch.randn(8, *layer.weight.shape[::-1]).double() * 0.1 for layer in network[::2]],
        [torch.randn(8, len(layer.bias)).double() for layer in network[::2]], "tanh",
    )  # fmt: skip
    eight, _ = cpu_time(lambda: traced_kernel(stack, x), 20)
    print(f"its matrix products alone: {seconds * 1e3:.3g} ms, {seconds / one:.2g} of the time of "
          f"the kernel; in a stack of 8 networks {eight / 8 * 1e3:.3g} ms a network")  # fmt: skip
    eigenvalue(network, x)


def products_of_the_closed_form(S: int, M: int, L: int, K: int, n0: int) -> Tensor:
    """Form the products that the closed form cannot do without, of numbers that do not matter."""
    first, weight = torch.ones(n0, M).double(), torch.ones(M, M).double()
    x, h, g = (torch.ones(size).double() for size in ((S, n0), (S, M), (S * K, M)))
    _ = x @ first, x @ x.mT
    for _ in range(L - 2):
        _ = h @ weight, g @ weight
    for _ in range(L - 1):
        side_by_side = g.view(S, K * M)
        _ = h @ h.mT, side_by_side @ side_by_side.mT
    return h


def convolutional_networks(repetitions: int) -> None:
    by_input = ("torch.func, input by input", traced_by_input)
    for outputs in (10, 32):
        images = torch.randn(40, 1, 16, 16)
        network = resnet((8, 16, 32), 1, outputs).eval()
        name = f"ResNet 8-16-32, 40 images 16x16, {outputs} outputs"
        compare(f"traced, {name}", network, images, by_input, repetitions)
        full = ("torch.func, input by input", full_by_input)
        compare(f"full, {name}", network, images, full, repetitions, full_kernel)
        compare_nngeometry(f"full, {name}", network, images)
    compare_first_calls(f"full, {name}", "resnet")
    network, images = vgg((32, 64, 128, 128), 10).eval(), torch.randn(40, 1, 16, 16)
    compare("traced, VGG 32-64-128-128, 40 images 16x16", network, images, by_input, repetitions)


def small_networks() -> None:
    images = torch.randn(40, 1, 8, 8)
    head = [nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10)]
    networks = {
        "VGG 8-16-32, dense 64-32": nn.Sequential(*vgg((8, 16, 32), 10)[:-1], *head),
        "ResNet 8-16-32, 1-1-1 blocks": resnet((8, 16, 32), 1, 10),
        "DenseNet of growth 8, 2-2": densenet(),
    }
    for name, network in networks.items():
        network.eval()
        seconds, _ = cpu_time(
            lambda f=network: (traced_kernel(f, images), traced_kernel(f[:-1], images)), 5
        )
        print(f"traced kernels of outputs and features, {name}, 40 images 8x8: {seconds:.3f} s")


def resnet20() -> None:
    network, images = resnet((16, 32, 64), 3, 10).eval(), torch.randn(40, 1, 28, 28)
    for function in (traced_kernel, output_norms, full_kernel):
        start = time.process_time()
        function(network[:-1], images, budget=2**31)
        seconds = time.process_time() - start
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        print(f"{function.__name__}, ResNet20, 40 images 28x28, 64 features: {seconds:.1f} s; "
              f"largest memory of the process so far {peak:.1f} GB", flush=True)  # fmt: skip
    by_input = ("torch.func, input by input", traced_by_input)
    compare("traced, ResNet20, 40 images 28x28, 10 outputs", network, images, by_input, 1)


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


FIRST = {
    "dense ours": traced_kernel,
    "dense torch.func": traced_at_once,
    "resnet ours": full_kernel,
    "resnet torch.func": full_by_input,
}


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
    ratio, bound = slow_time / fast_time, multiplications(network, x, ours is full_kernel)
    print(f"{name}: {fast_time * 1e3:.4g} ms; {other[0]} {slow_time * 1e3:.4g} ms; "
          f"ratio {ratio:.3g}; of multiplications {bound:.3g}; difference {difference:.1e}",
          flush=True)  # fmt: skip


def multiplications(network: nn.Module, x: Tensor, full: bool) -> float:
    """Multiplications with Jacobians over those with the cheaper order of each layer.

    Both need the signals, which cost about as much as the gradients by the weights. A product
    matrix is counted once with Jacobians, and half with our orders, because it is symmetric.
    """
    theirs = ours = 0
    counted = dict(network.named_parameters())
    K = network[-1].out_features
    for unit in units_of(network, Request(network, x, False, "refuse", 2**30), counted):
        N, G, c, D, P = unit.shape
        gradients, size = K * N * G * c * D * P, G * c * D
        gram = (N * K) ** 2 * size if full else N**2 * K * size
        pairs = N**2 * P**2 * G * (D + K * c) / 2
        if full:
            pairs += N**2 * P * G * c * K**2 / 2
        theirs += 2 * gradients + gram
        ours += gradients + min(gradients + gram / 2, pairs)
    return theirs / ours


def compare_first_calls(name: str, case: str) -> None:
    """Time first calls in processes of their own, without the imports of the script."""
    seconds = []
    for what in ("ours", "torch.func"):
        command = [sys.executable, __file__, "--first", f"{case} {what}"]
        ran = subprocess.run(command, capture_output=True, text=True, check=True)
        seconds.append(float(ran.stdout))
    print(f"{name}, first call of a process: {seconds[0] * 1e3:.3g} ms; torch.func "
          f"{seconds[1]:.3g} s; ratio {seconds[1] / seconds[0]:.3g}", flush=True)  # fmt: skip


def time_first_call(what: str) -> None:
    """Print the CPU seconds of a first call."""
    if what.startswith("dense"):
        network, x = dense(128, 10).double(), torch.randn(16, 784).double()
    else:
        network, x = resnet((8, 16, 32), 1, 32).eval(), torch.randn(40, 1, 16, 16)
    start = time.process_time()
    FIRST[what](network, x)
    print(time.process_time() - start)


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
        print(f"{name}: nngeometry cannot be imported and is left out")
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
