"""Kernels of fully connected networks in closed form against Jacobians and against hooks."""

import itertools

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.helpers.kernels_by_jacobian import jacobian_kernel
from tests.helpers.peak_memory import PeakMemory
from torch import nn

from finitewidth.common.errors import ConfigError
from finitewidth.kernels import trained
from finitewidth.kernels.trained import FullyConnected, as_fully_connected, dense

TOLERANCE = 1e-12
SIZES = [(3, 2), (5, 7, 1), (4, 6, 5, 3), (6, 8, 3, 5, 4, 7)]
SAMPLES = 5
MODULES = {"relu": nn.ReLU, "tanh": nn.Tanh}


def stack(sizes, activation="tanh", replicas=(3,), biased=True, seed=0, **options):
    normal = {"generator": torch.Generator().manual_seed(seed), "dtype": torch.float64}
    pairs = list(itertools.pairwise(sizes))
    weights = [torch.randn(*replicas, a, b, **normal) * (2 / a) ** 0.5 for a, b in pairs]
    biases = [torch.randn(*replicas, b, **normal) for _, b in pairs] if biased else None
    return FullyConnected(weights, biases, activation, **options)


def inputs(sizes, leading=(), seed=99):
    stream = torch.Generator().manual_seed(seed)
    return torch.randn(*leading, SAMPLES, sizes[0], generator=stream, dtype=torch.float64)


class Elementwise(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


def module_of(network, replica):
    """One network of a stack as a torch module."""
    layers = []
    name = network.activation.name
    phi = MODULES[name]() if name in MODULES else Elementwise(network.activation.value)
    for layer, weight in enumerate(network.weights):
        linear = nn.Linear(*weight.shape[-2:], bias=network.biases is not None).double()
        with torch.no_grad():
            linear.weight.copy_(weight[replica].mT)
            if network.biases is not None:
                linear.bias.copy_(network.biases[layer][replica])
        layers += [linear, phi]
    return nn.Sequential(*(layers if network.activated_output else layers[:-1]))


def agree(found, wanted, tolerance=TOLERANCE):
    assert found.dtype == torch.float64
    assert found.shape == wanted.shape
    assert (found - wanted).abs().max() <= tolerance * wanted.abs().max()


def traced(full):
    return torch.einsum("...kikj->...ij", full)


def diagonal(full):
    K, S = full.shape[-2:]
    flat = full.reshape(*full.shape[:-4], K * S, K * S)
    return flat.diagonal(dim1=-2, dim2=-1).reshape(*full.shape[:-4], K, S)


@pytest.mark.parametrize("activated", [False, True])
@pytest.mark.parametrize("biased", [False, True])
@pytest.mark.parametrize("activation", ["relu", "tanh"])
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_equals_the_jacobian(sizes, activation, biased, activated):
    network = stack(sizes, activation, biased=biased, activated_output=activated)
    x = inputs(sizes)
    modules = [module_of(network, replica) for replica in range(3)]
    expected = torch.stack([jacobian_kernel(module, x) for module in modules])
    agree(trained.full_kernel(network, x), expected)
    agree(trained.traced_kernel(network, x), traced(expected))
    agree(trained.kernel_diagonal(network, x), diagonal(expected))
    agree(trained.output_norms(network, x), expected.square().sum((-3, -1)).sqrt())
    for replica, module in enumerate(modules):
        agree(trained.full_kernel(module, x), expected[replica])
    by_hooks = trained.kernel_terms(modules[0], x, of=modules[0].forward)
    closed = trained.kernel_terms(modules[0], x)
    assert list(by_hooks) == list(closed)
    for name, part in closed.items():
        agree(part, by_hooks[name])


@settings(max_examples=30, deadline=None)
@given(
    sizes=st.lists(st.integers(1, 9), min_size=2, max_size=6),
    activation=st.sampled_from(["relu", "tanh", "erf", torch.sin, nn.functional.gelu]),
    replicas=st.sampled_from([(), (1,), (4,), (2, 2)]),
    own_inputs=st.booleans(),
    budget=st.sampled_from([2**29, 2**14]),
    seed=st.integers(0, 99),
)
def test_random_stacks(sizes, activation, replicas, own_inputs, budget, seed):
    """Whatever the axes and the budget, a stack gives the kernels of its networks."""
    network = stack(sizes, activation, replicas, seed=seed)
    x = inputs(sizes, replicas if own_inputs else ())
    found = trained.traced_kernel(network, x, budget=budget)
    assert found.shape == (*replicas, SAMPLES, SAMPLES)
    agree(found, traced(trained.full_kernel(network, x)))
    for index in itertools.product(*(range(size) for size in replicas)):
        jacobians = jacobian_kernel(module_of(network, index), x[index] if own_inputs else x)
        agree(found[index], traced(jacobians))


def test_features():
    sizes = (4, 6, 5, 3)
    network = stack(sizes)
    x = inputs(sizes)
    theta_h = trained.full_kernel(network.without_output(), x)
    for replica in range(3):
        module = module_of(network, replica)
        agree(theta_h[replica], jacobian_kernel(module[:-1], x))
        agree(trained.full_kernel(module[:-1], x), theta_h[replica])
    with pytest.raises(ConfigError, match="at least one hidden layer"):
        stack((3, 2)).without_output()


def test_float32_weights_are_computed_in_float64():
    network = stack((6, 8, 8, 3))
    x = inputs((6, 8, 8, 3))
    rounded = FullyConnected(
        [w.float() for w in network.weights], [b.float() for b in network.biases], "tanh"
    )
    exact = FullyConnected(
        [w.double() for w in rounded.weights], [b.double() for b in rounded.biases], "tanh"
    )
    found = trained.traced_kernel(rounded, x.float())
    agree(found, trained.traced_kernel(exact, x.float().double()), 1e-15)


def scaled_module(scales):
    """Return a float32 module whose weights are multiplied layer by layer."""
    torch.manual_seed(0)
    network = nn.Sequential()
    for fan_in, scale in zip((6, 40, 40), scales, strict=True):
        linear = nn.Linear(fan_in, 40)
        nn.init.normal_(linear.weight, std=scale * (2 / fan_in) ** 0.5)
        network.extend([linear, nn.ReLU()])
    return network.append(nn.Linear(40, 3))


@pytest.mark.parametrize("kernel", ["traced", "full", "diagonal"])
@pytest.mark.parametrize(
    ("scales", "closest"),
    [((1, 1, 1), 1e-9), ((1e12, 1e-12, 1), 0), ((1e-12, 1e12, 1), 0), ((1e15, 1e15, 1e-25), 0)],
)
def test_float32_modules(scales, closest, kernel):
    network = scaled_module(scales)
    x = torch.randn(9, 6)
    found = trained.kernel_terms(network, x, kernel=kernel)
    expected = trained.kernel_terms(network.double(), x.double(), kernel=kernel)
    for name, term in found.items():
        assert term.dtype == torch.float64
        error = float((term - expected[name]).norm() / expected[name].norm())
        # float32 where its range suffices, and float64 else
        assert closest <= error < 1e-6, name


def test_a_replica_does_not_depend_on_the_others():
    sizes = (6, 8, 8, 3)
    network = stack(sizes, replicas=(5,))
    x = inputs(sizes)
    broken = [w.clone() for w in network.weights]
    broken[1][4] = torch.nan
    without = FullyConnected(
        [w[:4] for w in network.weights], [b[:4] for b in network.biases], "tanh"
    )
    with_nan = FullyConnected(broken, network.biases, "tanh")
    assert trained.traced_kernel(with_nan, x)[4].isnan().all()
    agree(trained.traced_kernel(with_nan, x)[:4], trained.traced_kernel(without, x), 1e-14)
    found = trained.largest_eigenvalue(with_nan, x, tolerance=1e-4)
    alone = trained.largest_eigenvalue(without, x, tolerance=1e-4)
    assert found.value[4].isnan()
    assert found.residual[4].isnan()
    torch.testing.assert_close(found.value[:4], alone.value, rtol=1e-13, atol=0)


@pytest.mark.parametrize("biased", [False, True])
@pytest.mark.parametrize("sizes", [(3, 2), (4, 6, 5, 3), (40, 6, 30, 7)], ids=str)
def test_largest_eigenvalue(sizes, biased):
    network = stack(sizes, biased=biased)
    x = inputs(sizes)
    full = trained.full_kernel(network, x).permute(0, 2, 1, 4, 3)
    full = full.reshape(3, SAMPLES * sizes[-1], -1)
    largest = torch.linalg.eigvalsh(full)[:, -1]
    found = trained.largest_eigenvalue(network, x, tolerance=1e-9, products=200)
    torch.testing.assert_close(found.value, largest, rtol=1e-12, atol=0)
    vectors = found.vector.flatten(1)
    torch.testing.assert_close(vectors.norm(dim=1), torch.ones(3).double())
    residual = ((full @ vectors[:, :, None])[..., 0] - largest[:, None] * vectors).norm(dim=1)
    assert (residual <= 2e-9 * largest).all()
    # products with the kernel are those with the matrix
    run = dense.forward(*dense.stacked(network, x)[:2])
    v = torch.randn(3, SAMPLES, sizes[-1], dtype=torch.float64)
    agree(dense.times(run, v).flatten(1), (full @ v.flatten(1)[:, :, None])[..., 0])


@pytest.mark.parametrize(
    "function",
    [trained.traced_kernel, trained.full_kernel, trained.kernel_diagonal, trained.output_norms],
)
def test_stays_within_the_budget(function):
    sizes = (10, 20, 20, 12)
    network = stack(sizes, replicas=(6,))
    x = inputs(sizes)
    expected = function(network, x)
    peaks = {}
    for budget in (2**k for k in range(12, 26)):
        memory = PeakMemory()
        memory.reset()
        try:
            with memory:
                found = function(network, x, budget=budget)
        except ConfigError as error:
            assert "budget: the kernel of one network" in str(error)  # noqa: PT017
            assert not peaks
            continue
        agree(found, expected, 1e-14)
        reordered = function in (trained.full_kernel, trained.kernel_diagonal)  # at the end, a copy
        copies = 2 if reordered else 1
        peaks[budget] = memory.extra - copies * 8 * found.numel()
    assert all(peak <= budget for budget, peak in peaks.items()), peaks
    assert peaks[min(peaks)] < 0.5 * peaks[max(peaks)], peaks


SEQUENTIALS = {
    "flattened": (nn.Sequential(nn.Flatten(), nn.Linear(6, 4), nn.Tanh(), nn.Linear(4, 2)), True),
    "nested": (
        nn.Sequential(nn.Sequential(nn.Linear(6, 4), nn.ReLU(inplace=True)), nn.Linear(4, 2)),
        True,
    ),
    "in place": (
        nn.Sequential(nn.Linear(6, 4), nn.ELU(inplace=True), nn.Linear(4, 3), nn.ELU(inplace=True)),
        True,
    ),
    "deep linear": (nn.Sequential(nn.Linear(6, 4), nn.Linear(4, 4), nn.Linear(4, 2)), True),
    "no biases": (
        nn.Sequential(nn.Linear(6, 4, bias=False), nn.GELU(), nn.Linear(4, 2, bias=False)),
        True,
    ),
    "some biases": (nn.Sequential(nn.Linear(6, 4), nn.ReLU(), nn.Linear(4, 2, bias=False)), False),
    "two activations": (
        nn.Sequential(nn.Linear(6, 4), nn.ReLU(), nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 2)),
        False,
    ),
    "a last activation of its own": (
        nn.Sequential(nn.Linear(6, 4), nn.ReLU(), nn.Linear(4, 2), nn.Tanh()),
        False,
    ),
    "a normalisation": (nn.Sequential(nn.Linear(6, 4), nn.LayerNorm(4), nn.Linear(4, 2)), False),
    "an activation first": (nn.Sequential(nn.Tanh(), nn.Linear(6, 4)), False),
}


@pytest.mark.parametrize("name", SEQUENTIALS)
def test_sequentials(name):
    """Closed form or general form: the same kernel."""
    network, closed = SEQUENTIALS[name]
    network = network.double().eval()
    x = inputs((6,)).view(SAMPLES, 2, 3) if name == "flattened" else inputs((6,))
    assert (as_fully_connected(network) is not None) == closed
    agree(trained.full_kernel(network, x), jacobian_kernel(network, x))


def test_refusals():
    network = stack((4, 6, 3))
    x = inputs((4, 6, 3))
    with pytest.raises(ConfigError, match="without_output"):
        trained.traced_kernel(network, x, of=lambda images: images)
    with pytest.raises(ConfigError, match=r"weights\[0\]: shape"):
        trained.traced_kernel(network, x[:, :3])
    with pytest.raises(ConfigError, match="activation"):
        FullyConnected(network.weights, network.biases, "step")
    with pytest.raises(ConfigError, match="biases: 1 layers"):
        FullyConnected(network.weights, network.biases[:1], "relu")
    with pytest.raises(ConfigError, match="the list is empty"):
        FullyConnected([], None, "relu")
    with pytest.raises(ConfigError, match="start: shape"):
        trained.largest_eigenvalue(network, x, start=torch.ones(SAMPLES, 3))
