"""Kernels against the number of inputs: ours, and backward passes by input or pair.

The networks have ten outputs. Dense networks are float64, because their closed form is; networks
with convolutions and batch norms are float32.
"""

from collections.abc import Iterator, Sequence

import torch
from benchmarks.timing import Comparison, Way
from benchmarks.work import Work, counted_flops
from torch import Tensor, nn

from finitewidth.kernels.trained import traced_kernel
from finitewidth.networks.normalised.plain import build
from finitewidth.networks.normalised.specs import Network

NAME = "trained"
UNIT = "kernel"
OUTPUTS = 10
BY_INPUT = "pass by input"
BY_PAIR = "pass by pair"
TOLERANCE = {torch.float64: 1e-11, torch.float32: 1e-4}  # of the largest entry
NORMALISED = {
    "VGG": Network(kind="vgg", convolutions=(8, "M", 16, "M", 32, "M"), dense=(64, 32)),
    "ResNet": Network(kind="resnet", channels=(8, 16, 32), blocks=(1, 1, 1)),
    "DenseNet": Network(kind="densenet", growth=8, blocks=(2, 2), stem=16, pooled_stem=True),
}
SIZES = {"dense": (5, 10, 20, 40), "ResNet": (5, 10, 20, 40), "VGG": (40,)}
QUICK = {"dense": (2, 3), "ResNet": (2,)}
SIDE = 8  # of an image


def comparisons(device: str, quick: bool) -> Iterator[Comparison]:
    """Yield the comparisons of all networks and numbers of inputs."""
    for name, sizes in (QUICK if quick else SIZES).items():
        network, shape = network_of(name, quick)
        network = network.to(device)
        for count in sizes:
            x = torch.randn(count, *shape).to(device, next(network.parameters()).dtype)
            dtype = str(x.dtype).removeprefix("torch.")
            parameters = {"inputs": count, "outputs": OUTPUTS}
            references = (by_input(network, x), by_pair(network, x))
            ours = (traced(name, network, x),)
            check(ours[0], references, x.dtype)
            yield Comparison(NAME, "inputs", parameters, UNIT, dtype, ours, references)


def network_of(name: str, quick: bool = False) -> tuple[nn.Module, tuple[int, ...]]:
    """Return a network in evaluation mode, and the shape of an input."""
    torch.manual_seed(0)
    if name == "dense":
        width, depth, first = (8, 3, 12) if quick else (128, 5, 784)
        layers: list[nn.Module] = [nn.Linear(first, width), nn.Tanh()]
        for _ in range(depth - 2):
            layers += [nn.Linear(width, width), nn.Tanh()]
        return nn.Sequential(*layers, nn.Linear(width, OUTPUTS)).double().eval(), (first,)
    return build(NORMALISED[name], (1, SIDE, SIDE), OUTPUTS).eval(), (1, SIDE, SIDE)


def title(name: str, network: nn.Module) -> str:
    if name != "dense":
        return name
    widths = [layer.out_features for layer in network[:-1:2]]
    return f"{network[0].in_features}-{widths[0]}×{len(widths)}-{OUTPUTS}, tanh"


def traced(name: str, network: nn.Module, x: Tensor) -> Way:
    work = Work(
        flops=counted_flops(lambda: traced_kernel(network, x)),
        bytes=size_of(network, x) + 8 * len(x) ** 2,
    )
    return Way(f"traced, {title(name, network)}", lambda: traced_kernel(network, x), 1, work)


def by_input(network: nn.Module, x: Tensor) -> Way:
    """One backward pass for each output and input; the rows of the Jacobian are stored."""

    def kernel() -> Tensor:
        flat = torch.stack([gradients(network, sample) for sample in x]).flatten(1)
        return flat @ flat.mT

    numbers = size_of(network, x[:0]) // x.element_size()
    gram = 2 * len(x) ** 2 * OUTPUTS * numbers
    flops = len(x) * counted_flops(lambda: gradients(network, x[0])) + gram
    return Way(BY_INPUT, kernel, 1, Work(flops=flops, bytes=jacobian_bytes(network, x)))


def by_pair(network: nn.Module, x: Tensor) -> Way:
    """Two backward passes for each output and pair of inputs; no gradient is kept.

    One pair is timed. N inputs need K N^2 passes: two for a pair, one for an input and itself.
    """

    def pair() -> Tensor:
        return (gradients(network, x[0]) * gradients(network, x[1])).sum()

    share = 2 / len(x) ** 2
    size = size_of(network, x[:0])
    work = Work(flops=counted_flops(pair) / share, bytes=2 * OUTPUTS * len(x) ** 2 * size)
    return Way(BY_PAIR, pair, share, work)


def gradients(network: nn.Module, sample: Tensor) -> Tensor:
    """Gradients of all outputs for one input (K, parameters), one backward pass after another."""
    parameters = list(network.parameters())
    outputs = network(sample[None])[0]
    rows = []
    for output in outputs:
        parts = torch.autograd.grad(output, parameters, retain_graph=True)
        rows.append(torch.cat([part.flatten() for part in parts]))
    return torch.stack(rows)


def size_of(network: nn.Module, x: Tensor) -> int:
    """Bytes of the parameters and of the inputs."""
    numbers = sum(parameter.numel() for parameter in network.parameters()) + x.numel()
    return numbers * x.element_size()


def jacobian_bytes(network: nn.Module, x: Tensor) -> int:
    """The Jacobian is written once and read once."""
    return size_of(network, x) + 2 * len(x) * OUTPUTS * size_of(network, x[:0])


def check(ours: Way, references: Sequence[Way], dtype: torch.dtype) -> None:
    """Compare our kernel with those of the references; the last one gives its entry (0, 1).

    Raises:
        SystemExit: they differ.
    """
    found = ours.run()
    for way in references:
        wanted = way.run()
        own = found if wanted.dim() else found[0, 1]
        apart = float((own - wanted).abs().max() / found.abs().max())
        if not apart <= TOLERANCE[dtype]:
            raise SystemExit(f"{ours.name}, {way.name}: {apart:.1e} of the largest entry apart")
