"""Kernels of random networks: our samplers, `torch.func`, and matrix products.

All networks are fully connected, with one output and inputs as wide as the hidden layers. The
references draw or hold float32 matrices, which is faster for them; the samplers use float64.
"""

import itertools
from collections.abc import Callable, Iterator

import torch
from benchmarks.timing import Comparison, Way
from benchmarks.work import Work, counted_flops
from torch import Tensor, nn
from torch.func import functional_call, jacrev, vmap

from finitewidth.kernels.ntk_init.brute_force import tangent_kernel
from finitewidth.kernels.ntk_init.initialisation import Initialisation, constant_width
from finitewidth.kernels.ntk_init.samplers import sample_kernels, sample_vectors
from finitewidth.kernels.ntk_init.scalar_chain import BLOCK, sample_scalar_chain
from finitewidth.kernels.ntk_init.streams import block_size

NAME = "draws"
UNIT = "draw"
CHAIN = "scalar chain, ReLU"
VECTORS = "vector sampler, tanh"
MATRICES = "matrix sampler, ReLU"
JACOBIAN = "torch.func"
CLOSED = "drawn matrices"
PRODUCTS = "products alone"
# sizes (width, depth, inputs) for each parameter that is varied
SIZES = {
    "width": [(width, 50, 1) for width in (50, 100, 200, 400, 800)],
    "depth": [(200, depth, 1) for depth in (10, 25, 50, 100, 200)],
    "inputs": [(200, 50, inputs) for inputs in (1, 2, 4, 8, 16, 32)],
}
QUICK = {
    "width": [(8, 3, 1), (16, 3, 1)],
    "depth": [(8, 3, 1), (8, 6, 1)],
    "inputs": [(8, 3, 1), (8, 3, 4)],
}
DRAWS = {VECTORS: 64, MATRICES: 16}  # of one call at least; the samplers divide them into blocks
AT_ONCE = 2**21  # numbers of a Jacobian that torch.func forms at once, if one network has fewer


def comparisons(device: str, quick: bool) -> Iterator[Comparison]:
    """Yield the comparisons of all sizes; each holds its networks until the next."""
    for sweep, sizes in (QUICK if quick else SIZES).items():
        for width, depth, inputs in sizes:
            parameters = {"width": width, "depth": depth, "inputs": inputs}
            init = constant_width(depth, width, sigma_w2=2.0)
            x = nn.functional.normalize(torch.randn(inputs, width)).to(device)
            ours = (matrices(init, x),) if sweep == "inputs" else (chain(init), vectors(init, x))
            references = (jacobian(init, x), drawn(init, x), products(init, x))
            yield Comparison(NAME, sweep, parameters, UNIT, "float64", ours, references)


def chain(init: Initialisation) -> Way:
    """Draw blocks of the scalar chain: one binomial, two gammas in each hidden layer."""
    hidden = init.depth - 1
    seeds = itertools.count()
    work = Work(bytes=24, uniforms=hidden, gammas=2 * hidden, normals=1)
    return Way(CHAIN, lambda: sample_scalar_chain(init, BLOCK, next(seeds)), BLOCK, work)


def vectors(init: Initialisation, x: Tensor) -> Way:
    """Draw by the vector sampler: two normal numbers for each hidden unit."""
    units = sum(init.widths[1:])
    seeds = itertools.count()
    count = whole_blocks(DRAWS[VECTORS], 3 * sum(init.widths))
    work = Work(bytes=24, normals=2 * units + 3)

    def draw() -> object:
        return sample_vectors(init, count, next(seeds), activation="tanh", device=x.device)

    return Way(VECTORS, draw, count, work)


def matrices(init: Initialisation, x: Tensor) -> Way:
    """Draw by the matrix sampler, whose FLOP are counted as it runs."""
    S = len(x)
    seeds = itertools.count()
    count = whole_blocks(DRAWS[MATRICES], sum(init.layer_widths) * (2 * S + 1))
    inputs = x.double().cpu().numpy()

    def draw() -> object:
        return sample_kernels(init, inputs, count, next(seeds), activation="relu", device=x.device)

    work = Work(
        flops=counted_flops(draw) / count,
        bytes=8 * (2 * S**2 + S),
        normals=normals_of_matrices(init, S),
    )
    return Way(MATRICES, draw, count, work)


def whole_blocks(least: int, numbers_per_draw: int) -> int:
    """Return a number of draws that fills blocks of the samplers, which draw no fewer."""
    block = block_size(numbers_per_draw)
    return -(-least // block) * block


def normals_of_matrices(init: Initialisation, inputs: int) -> int:
    """Count the normal numbers of one draw of the matrix sampler without biases."""
    widths = init.layer_widths
    forward = sum(n * min(m, inputs) for m, n in itertools.pairwise(widths))
    return forward + sum(m * min(n, inputs) for m, n in itertools.pairwise(widths[1:]))


def jacobian(init: Initialisation, x: Tensor) -> Way:
    """Draw networks and form their kernels from Jacobians, with vmap over networks and inputs."""
    draw, networks, size = jacobian_draws(init, x)
    work = Work(flops=counted_flops(draw) / networks, bytes=4 * size * (2 + 2 * len(x)))
    return Way(JACOBIAN, draw, networks, work)


def jacobian_draws(init: Initialisation, x: Tensor) -> tuple[Callable[[], Tensor], int, int]:
    """Return the draw of a batch of kernels (networks, S, S), its size, and the parameters."""
    network = module(init)
    size = sum(parameter.numel() for parameter in network.parameters())
    networks = max(1, min(32, AT_ONCE // (size * len(x))))
    shapes = {name: parameter.shape for name, parameter in network.named_parameters()}

    def outputs(theta: dict[str, Tensor], sample: Tensor) -> Tensor:
        return functional_call(network, theta, (sample[None],))[0]

    rows = vmap(vmap(jacrev(outputs), in_dims=(None, 0)), in_dims=(0, None))

    def draw() -> Tensor:
        theta = {
            name: torch.randn(networks, *shape, device=x.device).mul_(
                (init.sigma_w2 / shape[-1]) ** 0.5 if len(shape) == 2 else 0.0
            )
            for name, shape in shapes.items()
        }
        flat = (part.flatten(2) for part in rows(theta, x).values())
        return sum(part @ part.mT for part in flat)

    return draw, networks, size


def module(init: Initialisation) -> nn.Sequential:
    """Return a torch network of these widths with ReLU; its weights are not used."""
    layers: list[nn.Module] = []
    for m, n in itertools.pairwise(init.layer_widths):
        layers += [nn.Linear(m, n, device="meta"), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def drawn(init: Initialisation, x: Tensor) -> Way:
    """Draw the matrices of a network and compute its kernel in closed form, without autograd."""
    pairs = list(itertools.pairwise(init.layer_widths))

    def draw() -> Tensor:
        weights = [
            torch.randn(n, m, device=x.device).mul_((init.sigma_w2 / m) ** 0.5) for m, n in pairs
        ]
        biases = [x.new_zeros(n) for _, n in pairs]
        return tangent_kernel(weights, biases, x, activation="relu")[0]

    size = sum(m * n for m, n in pairs)
    return Way(CLOSED, draw, 1, Work(flops=counted_flops(draw), bytes=4 * 3 * size, normals=size))


def products(init: Initialisation, x: Tensor) -> Way:
    """Multiply by given matrices, forward and backward, and do nothing else.

    No method that holds the matrices of a network can be faster.
    """
    pairs = list(itertools.pairwise(init.layer_widths))
    weights = [torch.randn(m, n, device=x.device).mul_(m**-0.5) for m, n in pairs]
    last = torch.ones(len(x), 1, device=x.device)

    def multiply() -> None:
        h = x
        g = last
        for weight in weights:
            h = h @ weight
        for weight in reversed(weights[1:]):
            g = g @ weight.mT

    size = sum(weight.numel() for weight in weights)
    return Way(PRODUCTS, multiply, 1, Work(flops=counted_flops(multiply), bytes=4 * 2 * size))
