"""Kernels of torch modules as users have them, each in a process of its own.

benchmarks/side_by_side.py writes a task, starts this file with it, and reads the result.
"""

import json
import statistics
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402
import torch  # noqa: E402
from benchmarks.machine import matmul_flops  # noqa: E402
from benchmarks.timing import Timer  # noqa: E402
from benchmarks.trained import NORMALISED  # noqa: E402
from benchmarks.usage import usage_of  # noqa: E402
from benchmarks.work import counted_flops  # noqa: E402
from torch import Tensor, nn  # noqa: E402
from torch.func import functional_call, jacrev, vmap  # noqa: E402
from torch.nn.attention import SDPBackend, sdpa_kernel  # noqa: E402

from finitewidth.common.torch_setup import prepare_torch  # noqa: E402
from finitewidth.kernels.trained import (  # noqa: E402
    DEFAULT_BUDGET,
    as_fully_connected,
    full_kernel,
    traced_kernel,
)
from finitewidth.kernels.trained.batches import Batch  # noqa: E402
from finitewidth.kernels.trained.contractions import (  # noqa: E402
    CACHED,
    full_plans,
    traced_costs,
)
from finitewidth.kernels.trained.graph import backward  # noqa: E402
from finitewidth.kernels.trained.recording import Recording, Request, record  # noqa: E402
from finitewidth.kernels.trained.units import ProductUnit  # noqa: E402
from finitewidth.networks.normalised.plain import build  # noqa: E402

OUTPUTS, SIDE = 10, 8  # SIDE: of the images of the small networks
STORED = 16e9  # bytes of a Jacobian; a larger one is computed for some parameters after another
CHECKED, LEAST = 3, 5  # seconds and times that kernels with and without the check are compared
OURS = "finitewidth"
JACOBIAN = "vmap(jacrev)"
NNGEOMETRY = "nngeometry"
NEURAL_TANGENTS = "neural-tangents"
TRACED = "traced"
FULL = "full"
KERNELS = {TRACED: traced_kernel, FULL: full_kernel}
Asked = dict[tuple[str, str], float]  # kernel, way -> least ratio


@dataclass(frozen=True)
class Case:
    """A network and the inputs of its kernel.

    Attributes:
        title: of the network, in tables.
        make: returns the network.
        shape: of an input.
        inputs: number of inputs.
        chunk: inputs at a time of `vmap(jacrev)`; the fastest of some that were tried.
        products: type in which our products are computed.
        asked: how many times as long as ours another way is to take at least.
        asked_memory: which part of its memory ours is to need at most.
        jax: name of the same network in neural_tangents_times.py.
    """

    title: str
    make: Callable[[], nn.Module]
    shape: tuple[int, ...]
    inputs: int
    chunk: int
    products: torch.dtype = torch.float32
    asked: Asked = field(default_factory=dict)
    asked_memory: Asked = field(default_factory=dict)
    jax: str = ""


def resnet18() -> nn.Module:
    from torchvision import models

    return models.resnet18(num_classes=OUTPUTS)


def transformer() -> nn.Module:
    from torchvision import models

    network = models.VisionTransformer(
        image_size=32,
        patch_size=8,
        num_layers=4,
        num_heads=4,
        hidden_dim=64,
        mlp_dim=128,
        num_classes=OUTPUTS,
    )
    nn.init.normal_(network.heads.head.weight, std=0.1)  # zero by default, and most of the kernel
    return network


def cnn(channels: int, convolutions: int, outputs: int = OUTPUTS) -> nn.Module:
    layers: list[nn.Module] = []
    for n, m in pairwise([3, *[channels] * convolutions]):
        layers += [nn.Conv2d(n, m, 3, padding=1), nn.ReLU()]
    return nn.Sequential(
        *layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, outputs)
    )


def mlp(*widths: int) -> nn.Module:
    layers: list[nn.Module] = []
    for n, m in pairwise(widths):
        layers += [nn.Linear(n, m), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(widths[-1], OUTPUTS))


def small(name: str) -> nn.Module:
    return build(NORMALISED[name], (1, SIDE, SIDE), OUTPUTS)


def both(way: str, ratio: float) -> Asked:
    return {(TRACED, way): ratio, (FULL, way): ratio}


CASES = {
    "resnet18": Case(
        "ResNet18 of torchvision, 32×32",
        resnet18,
        (3, 32, 32),
        20,
        1,
        asked=both(JACOBIAN, 40),
        asked_memory=both(JACOBIAN, 1 / 20),
    ),
    "resnet18_100": Case("ResNet18 of torchvision, 32×32", resnet18, (3, 32, 32), 100, 1),
    "transformer": Case(
        "VisionTransformer of torchvision, 4 layers, 32×32",
        transformer,
        (3, 32, 32),
        20,
        5,
        asked={(TRACED, JACOBIAN): 3, (FULL, JACOBIAN): 2},
    ),
    "cnn": Case(
        "5 convolutions of 64 channels, 32×32",
        lambda: cnn(64, 5),
        (3, 32, 32),
        20,
        4,
        asked=both(JACOBIAN, 2),
        jax="cnn",
    ),
    "mlp": Case(
        "784-512×3-10",
        lambda: mlp(784, 512, 512, 512),
        (784,),
        100,
        20,
        asked=both(JACOBIAN, 60) | both(NEURAL_TANGENTS, 20),
        jax="mlp",
    ),
    "resnet_small": Case(
        "small ResNet, 8×8",
        lambda: small("ResNet"),
        (1, SIDE, SIDE),
        40,
        40,
        asked=both(JACOBIAN, 1.5),
    ),
    "densenet_small": Case(
        "small DenseNet, 8×8",
        lambda: small("DenseNet"),
        (1, SIDE, SIDE),
        40,
        40,
        asked=both(JACOBIAN, 1.5),
    ),
}
QUICK = {
    "mlp": Case(
        "12-8-10",
        lambda: mlp(12, 8),
        (12,),
        3,
        2,
        asked=both(JACOBIAN, 2),
        asked_memory=both(JACOBIAN, 1 / 3),
        jax="mlp",
    )
}


def drawn(case: Case) -> tuple[nn.Module, Tensor]:
    """Return a network in evaluation mode and its inputs, the same ones each time."""
    torch.manual_seed(0)
    return case.make().eval(), torch.randn(case.inputs, *case.shape)


def by_jacobian(
    network: nn.Module, x: Tensor, full: bool, chunk: int, outputs: int = OUTPUTS
) -> Tensor:
    """Return the kernel from the Jacobian of all outputs, in chunks of inputs.

    Products are float32 for each parameter, and are added up in float64.
    """
    N = len(x)
    K = outputs
    parts = groups(network, N * K)
    gram = sum(gram_of(network, x, K, names, full, chunk) for names in parts)
    return gram.view(N, K, N, K).permute(1, 0, 3, 2) if full else gram


def gram_of(
    network: nn.Module, x: Tensor, outputs: int, names: list[str], full: bool, chunk: int
) -> Tensor:
    """Return the part of the kernel, (N K, N K) or (N, N), that belongs to some parameters."""
    total = 0.0
    for jacobian in jacobians(network, x, outputs, names, chunk):  # (N, K, size)
        rows = jacobian.flatten(0, 1) if full else jacobian.flatten(1)
        total = total + (rows @ rows.mT).double()
    return total


def groups(network: nn.Module, rows: int) -> list[list[str]]:
    """Return names of parameters whose Jacobians of so many rows take at most `STORED` bytes."""
    parts: list[list[str]] = []
    free = 0.0
    for name, parameter in network.named_parameters():
        size = rows * parameter.numel() * parameter.element_size()
        if size > free:
            parts.append([])
            free = STORED
        parts[-1].append(name)
        free -= size
    return parts


def jacobians(
    network: nn.Module, x: Tensor, outputs: int, names: list[str], chunk: int
) -> list[Tensor]:
    """Return the Jacobians (N, K, size) by some parameters, by `torch.func`."""
    parameters = {name: parameter.detach() for name, parameter in network.named_parameters()}
    chosen = {name: parameters[name] for name in names}
    rest = parameters | dict(network.named_buffers())

    def outputs_of(theta: dict[str, Tensor], sample: Tensor) -> Tensor:
        return functional_call(network, rest | theta, (sample[None],))[0]

    derivative = vmap(jacrev(outputs_of), in_dims=(None, 0))
    found = [x.new_empty(len(x), outputs, parameter.numel()) for parameter in chosen.values()]
    with sdpa_kernel(SDPBackend.MATH):  # torch.func has no rule for the default attention
        for start in range(0, len(x), chunk):
            parts = derivative(chosen, x[start : start + chunk])
            for whole, part in zip(found, parts.values(), strict=True):
                whole[start : start + chunk] = part.flatten(2)
    return found


def by_nngeometry(network: nn.Module, x: Tensor) -> Tensor:
    from nngeometry import GramMatrix
    from torch.utils.data import DataLoader, TensorDataset

    data = TensorDataset(x, torch.zeros(len(x), dtype=torch.long))
    loader = DataLoader(data, batch_size=len(x))
    return GramMatrix(model=network, loader=loader).to_torch().detach()


def passes(network: nn.Module, x: Tensor, at_once: bool) -> Callable[[], None]:
    """Return the function that does the passes that our kernels cannot do without.

    These are a forward pass of all inputs, and a backward sweep for each output to the outputs of
    all layers, all at once or one after another. Where there is no closed form, the comparison with
    autograd is a further sweep, and `record` does the forward passes that show whether a network
    mixes inputs, reads the graph and takes the gradient of two inputs.
    """
    closed = bool(as_fully_connected(network))
    layers = [module for module in network.modules() if module._parameters]
    layer_outputs: list[Tensor] = []

    def keep(module: nn.Module, arguments: Any, output: Any) -> None:
        layer_outputs.append(output[0] if isinstance(output, tuple) else output)

    def run() -> None:
        # each pass starts anew, so that the outputs of the last one remain, the one of all inputs
        hooks = [network.register_forward_pre_hook(lambda *_: layer_outputs.clear())]
        hooks += [layer.register_forward_hook(keep) for layer in layers]
        outputs = network(x) if closed else recorded(network, x, True).outputs  # (N, K)
        for hook in hooks:
            hook.remove()
        edges = [tensor for tensor in layer_outputs if tensor is not outputs]
        layer_outputs.clear()
        if not edges:
            return
        one_each = torch.eye(OUTPUTS)[:, None].expand(OUTPUTS, *outputs.shape)  # (K, N, K)
        random = torch.randn(0 if closed else 1, *outputs.shape)
        cotangents = torch.cat([one_each, random])
        for part in [cotangents] if at_once else cotangents.split(1):
            backward(outputs, edges, part)

    return run


def recorded(network: nn.Module, x: Tensor, check: bool) -> Recording:
    """Run a network and read its graph as our kernels do."""
    counted = dict(network.named_parameters())
    return record(Request(network, network, Batch((x,)), counted, False, DEFAULT_BUDGET, check))


def product_seconds(
    network: nn.Module, x: Tensor, full: bool, dtype: torch.dtype, timer: Timer
) -> float:
    """Return the seconds of the products of gradients that our kernels cannot do without.

    They are bare products of the sizes that our contractions have, of arrays that are there
    already, in the faster of two orders in memory. A symmetric product is counted half. Gradients
    of convolutions that oneDNN computes without patches are computed by it, since a product with
    patches takes longer.
    """
    recording = recorded(network, x, False)
    N, K = recording.outputs.shape
    seconds = 0.0
    numbers = 0  # of the parameters whose gradients are formed
    products = []
    for unit in recording.units:
        if not isinstance(unit, ProductUnit):
            numbers += sum(unit.sizes.values())
            continue
        G, c, D, P = unit.shape
        direct, structured = full_plans(unit, N, K) if full else traced_costs(unit, N, K)
        if structured < direct:
            products += structured_products(unit.shape, N, K, full)
            continue
        products.append(gram(N, K, G * c * D, full))
        if unit.patch_size:
            products.append((N * G, K * c, P, D))
        else:
            convolved = unit.operations[0].convolved
            signals = x.new_ones(K * c, P)
            seconds += N * fastest(timer, partial(convolved, 0, signals))
    products.append(gram(N, K, numbers, full))
    return seconds + sum(seconds_of_product(sizes, dtype, timer) for sizes in products)


def seconds_of_product(sizes: tuple[int, int, int, int], dtype: torch.dtype, timer: Timer) -> float:
    """Return the seconds of a product of arrays (batch, n, inner) and (batch, inner, m)."""
    batch, n, inner, m = sizes
    # sums and rows of long ones are taken in parts that fit into the cache
    parts = max(1, batch * n * max(inner, m) // CACHED)
    if m > inner:
        n = -(-n // parts)
    else:
        inner = -(-inner // parts)
    a = torch.ones(batch, n, inner, dtype=dtype)
    b = torch.ones(batch, inner, m, dtype=dtype)
    turned = torch.ones(batch, m, inner, dtype=dtype)
    product = partial(torch.matmul, a, b)
    turned_product = partial(torch.matmul, a, turned.mT)
    return parts * fastest(timer, product, turned_product)


def fastest(timer: Timer, *ways: Callable[[], Tensor]) -> float:
    """Return the smallest of the seconds of all calls of all ways."""
    return min(timer.once(way) for way in ways for _ in range(timer.rounds + 1))


def share_of_check(kernel: Callable[..., Tensor], timer: Timer) -> float:
    """Return the share of the time of a kernel that check=False saves.

    It is the median over calls in turn, every other time in the opposite order.
    """
    seconds: dict[bool, list[float]] = {True: [], False: []}
    while len(seconds[True]) < LEAST or sum(seconds[True]) < CHECKED:
        first = len(seconds[True]) % 2 == 0
        for check in (first, not first):
            seconds[check].append(timer.once(partial(kernel, check=check)))
    pairs = zip(seconds[True], seconds[False], strict=True)
    return statistics.median(1 - unchecked / checked for checked, unchecked in pairs)


def gram(N: int, K: int, numbers: int, full: bool) -> tuple[int, int, int, int]:
    """Return the sizes of half of the products of all gradients of so many numbers."""
    n, inner = (N * K, numbers) if full else (N, K * numbers)
    return 1, n, inner, -(-n // 2)


def structured_products(
    shape: tuple[int, int, int, int], N: int, K: int, full: bool
) -> list[tuple[int, int, int, int]]:
    """Return the sizes (batch, n, inner, m) of the products without gradients, see contractions."""
    G, c, D, P = shape
    half = -(-N * P // 2)
    patches = (1, N * P, D, half)
    if not full:
        return [patches, (1, N * P, K * c, half)] * G
    if G == P == 1:
        return [patches, gram(N, K, c, full)]
    return [patches, (N, half, P, c * K), (N, K, P * c, -(-N * K // 2))] * G


def way_of(name: str, case: Case, network: nn.Module, x: Tensor, kernel: str) -> Callable:
    """Return the function without arguments that computes a kernel in one of the ways."""
    ways = {
        OURS: lambda: KERNELS[kernel](network, x),
        JACOBIAN: lambda: by_jacobian(network, x, kernel == FULL, case.chunk),
        NNGEOMETRY: lambda: by_nngeometry(network, x),
    }
    return ways[name]


def main(file: str) -> None:
    """Do one task: write a kernel, what it takes, and for ours also the inputs and parameters."""
    task = json.loads(Path(file).read_text(encoding="utf-8"))
    prepare_torch(task["threads"])
    cases = QUICK if task["quick"] else CASES
    case = cases[task["case"]]
    way = task["way"]
    network, x = drawn(case)
    run = way_of(way, case, network, x, task["kernel"])
    # a tiny network first: some modules are imported at the first call
    way_of(way, case, cnn(1, 1).eval(), torch.ones(1, 3, 2, 2), task["kernel"])()
    kernel, usage = usage_of(run)
    facts = asdict(usage) | {"values": kernel.numpy()}
    if way == JACOBIAN:
        parts = len(groups(network, len(x) * OUTPUTS))
        facts["how"] = f"{case.chunk} inputs"
        if parts > 1:
            facts["how"] += f", {parts} parts of the parameters"
    if way == OURS:
        facts |= facts_of_ours(case, network, x, task["kernel"])
        facts["flops"] = counted_flops(run)
        parameters = [parameter.detach() for parameter in network.parameters()]
        facts["parameters"] = sum(parameter.numel() for parameter in parameters)
        np.savez(task["arrays"], x, *parameters)
    np.savez(task["result"], **facts)


def facts_of_ours(case: Case, network: nn.Module, x: Tensor, kernel: str) -> dict[str, float]:
    """Return what ours cannot do without, the share of its check, and the rate of products."""
    timer = Timer(device="cpu", clock="wall", rounds=7, seconds=0.0)
    products = product_seconds(network, x, kernel == FULL, case.products, timer)
    _, at_once = usage_of(passes(network, x, True))
    _, one_by_one = usage_of(passes(network, x, False))
    return {
        "least": min(at_once.seconds, one_by_one.seconds) + products,
        "check": share_of_check(partial(KERNELS[kernel], network, x), timer),
        "matmul_flops": matmul_flops(timer, case.products),
    }


if __name__ == "__main__":
    main(sys.argv[1])
