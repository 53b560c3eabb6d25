"""The tangent kernel and the Jacobian as matrices that are not formed, by definition."""

import numpy as np
import pytest
import torch
from scipy.sparse.linalg import eigsh
from tests.helpers.kernels_by_jacobian import made
from tests.helpers.peak_memory import PeakMemory
from tests.helpers.small_networks import NETWORKS, prepared
from tests.helpers.unusual_modules import RIGHT, WORDS, Bag, Custom
from torch import nn

import finitewidth as fw

pytestmark = [
    pytest.mark.filterwarnings("ignore:Using padding='same':UserWarning"),
    pytest.mark.filterwarnings("ignore:There is a performance drop:UserWarning"),
    pytest.mark.filterwarnings("ignore:.*torch.jit.trace.* is deprecated:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:None of the inputs have requires_grad:UserWarning"),
]


def jacobian(network, x, of=None, parameters=lambda name: True):
    """J (K N, P) from one backward pass for each input and each output; inputs are doubled."""
    of = of or network
    chosen = [p for name, p in network.named_parameters() if parameters(name)]
    rows = []
    for sample in range(len(x)):
        one = x[sample : sample + 1].clone()
        outputs = of(torch.cat([one, one]))[0]
        for output in outputs:
            found = torch.autograd.grad(output, chosen, retain_graph=True, materialize_grads=True)
            rows.append(torch.cat([part.to_dense().detach().double().flatten() for part in found]))
    return torch.stack(rows).view(len(x), -1, len(rows[0])).transpose(0, 1).flatten(0, 1)


def agree(found, expected, tolerance=1e-11):
    assert found.dtype == torch.float64
    assert found.shape == expected.shape
    assert (found - expected).abs().max() <= tolerance * expected.abs().max()


def check(network, x, J, **options):
    theta = fw.tangent_operator(network, x, **options)
    rows, columns = J.shape
    assert theta.shape == (rows, rows)
    assert theta.jacobian.shape == (rows, columns)
    assert theta.jacobian.T.shape == (columns, rows)
    stream = torch.Generator().manual_seed(3)
    v = torch.randn(rows, 3, generator=stream, dtype=torch.float64)
    w = torch.randn(columns, 2, generator=stream, dtype=torch.float64)
    agree(theta @ v, J @ (J.mT @ v))
    agree(theta.jacobian @ w, J @ w)
    agree(theta.jacobian.T @ v, J.mT @ v)
    agree(theta @ v[:, 0], J @ (J.mT @ v[:, 0]))
    agree(theta.diagonal(), J.square().sum(1))
    return theta


@pytest.mark.parametrize("name", NETWORKS)
def test_products_are_those_of_the_jacobian(name):
    network, x = prepared(*NETWORKS[name], samples=5)
    theta = check(network, x, jacobian(network, x), batch=2)  # the last batch has one input
    full = fw.full_kernel(network, x)
    agree(theta @ torch.eye(theta.shape[0]).double(), full.flatten(0, 1).flatten(1))


@pytest.mark.parametrize("name", sorted(set(RIGHT) - {"operation without a rule"}))
def test_unusual_modules(name):
    make, shape = RIGHT[name]
    network = made(make)
    x = torch.randn(3, *shape, dtype=torch.float64)
    network(x.clone())  # lazy modules get their shapes
    check(network, x, jacobian(network, x))


@pytest.mark.parametrize("name", sorted(set(WORDS) - {"bag"}))
def test_words(name):
    network = made(WORDS[name])
    x = torch.tensor([[1, 2, 2], [2, 5, 8], [3, 3, 3], [0, 1, 2]])
    check(network, x, jacobian(network, x))


NEITHER = {
    "once differentiable": (Custom, torch.randn(3, 4, dtype=torch.float64)),
    "bag of words": (Bag, torch.tensor([[1, 2, 2], [2, 5, 8], [3, 3, 3]])),
}


@pytest.mark.parametrize("name", NEITHER)
def test_an_operation_that_cannot_be_differentiated_further_is_refused(name):
    make, x = NEITHER[name]
    network = made(make)
    with pytest.raises(fw.ConfigError, match=r"neither in forward mode nor twice.*use full_kernel"):
        fw.tangent_operator(network, x)
    fw.full_kernel(network, x)  # the remedy


class Doubled(torch.autograd.Function):
    """2 x, without forward mode."""

    @staticmethod
    def forward(ctx, x):
        return 2 * x

    @staticmethod
    def backward(ctx, gradient):
        return 2 * gradient


class WrongTangent(Doubled):
    """2 x, with a wrong forward mode."""

    @staticmethod
    def jvp(ctx, tangent):
        return 3 * tangent


@pytest.mark.parametrize("function", [Doubled, WrongTangent])
def test_products_where_forward_mode_is_missing_or_wrong(function):
    network = small()
    x = torch.randn(4, 3).double()

    def of(x):
        return network[2](function.apply(network[1](network[0](x))))

    check(network, x, jacobian(network, x, of), of=of)


def small(outputs=2):
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, outputs)).double()


def test_parameters_functions_and_inputs_of_other_kinds():
    network = small()
    x = torch.randn(4, 3).double()
    for given in (x.numpy(), x.tolist(), {"input": x}, (x,)):
        check(network, given, jacobian(network, x))
    J = jacobian(network, x, parameters=lambda name: name.startswith("2."))
    check(network, x, J, parameters="2")
    features = network[:2]
    check(network, x, jacobian(features, x), of=features, parameters="0")
    check(network, x[:1], jacobian(network, x[:1]))
    one = fw.FullyConnected([torch.randn(3, 4), torch.randn(4, 2)], None, "relu")
    check(one, x, full_jacobian_of(one, x))


def full_jacobian_of(stack, x):
    weights = [weight.double().requires_grad_() for weight in stack.weights]
    outputs = torch.relu(x @ weights[0]) @ weights[1]
    rows = [torch.autograd.grad(f, weights, retain_graph=True) for f in outputs.mT.flatten()]
    return torch.stack([torch.cat([part.flatten() for part in row]) for row in rows])


def test_an_array_gives_an_array_and_rows_stand_on_the_left():
    network = small()
    x = torch.randn(4, 3).double()
    theta = fw.tangent_operator(network, x)
    J = jacobian(network, x)
    v = torch.randn(8, dtype=torch.float64)
    found = theta @ v.numpy()
    assert isinstance(found, np.ndarray)
    agree(torch.from_numpy(found), J @ (J.mT @ v))
    assert abs(v.numpy() @ theta @ v.numpy() - (J.mT @ v).square().sum()) < 1e-12
    agree(v[None] @ theta.jacobian, v[None] @ J)
    for bad, message in (
        (v[:7], r"shape \(7,\) must be \(8,\) or \(8, m\)"),
        (v * torch.nan, "finite real numbers"),
    ):
        with pytest.raises(fw.ConfigError, match=message):
            theta @ bad
    with pytest.raises(TypeError):
        theta @ "v"


def test_functions_of_scipy():
    network = small()
    x = torch.randn(6, 3).double()
    theta = fw.tangent_operator(network, x)
    J = jacobian(network, x)
    values, vectors = eigsh(theta.to_scipy(), k=3)
    expected, right = torch.linalg.eigh(J @ J.mT)
    np.testing.assert_allclose(values, expected[-3:], rtol=1e-10)
    np.testing.assert_allclose(np.abs(vectors.T @ right[:, -3:].numpy()), np.eye(3), atol=1e-8)
    scipy_jacobian = theta.jacobian.to_scipy()
    w = np.ones((J.shape[1], 2))
    J = J.numpy()
    np.testing.assert_allclose(scipy_jacobian @ w, J @ w, rtol=1e-10)
    np.testing.assert_allclose(scipy_jacobian.T @ np.ones(12), J.T @ np.ones(12), rtol=1e-10)


def test_vectors_and_products_of_any_size():
    """Vectors are scaled, so that a network in float32 takes any numbers of float64."""
    network = small().float()
    x = torch.randn(4, 3)
    theta = fw.tangent_operator(network, x)
    J = jacobian(network, x)
    v = torch.randn(8, 2, dtype=torch.float64) * torch.tensor([1e-60, 1e60], dtype=torch.float64)
    v[:, 0] = v[:, 0] * (torch.arange(8) < 7)
    for found, expected in zip((theta @ v).mT, (J @ (J.mT @ v)).mT, strict=True):
        agree(found, expected, 1e-5)
    assert not (theta @ torch.zeros(8)).any()
    with torch.no_grad():
        network[0].weight *= 1e-20
        network[2].weight *= 1e30
    linear = nn.Sequential(network[0], network[2])  # gradients of 1e40 by the first weights
    with pytest.raises(
        fw.ConfigError, match="gradients overflow; convert network and inputs to float64"
    ):
        fw.tangent_operator(linear, 1e10 * x, check=False) @ v
    assert (fw.tangent_operator(linear.double(), 1e10 * x.double()) @ v).isfinite().all()


def test_a_network_that_has_changed_is_refused():
    network = small()
    x = torch.randn(4, 3).double()
    network.append(nn.BatchNorm1d(2).double().eval())
    for change in (
        lambda: network[0].weight.data.mul_(1.001),
        lambda: network[3].running_mean.add_(1),
        lambda: setattr(network[2], "bias", nn.Parameter(torch.ones(2).double())),
        lambda: network.train(),
    ):
        theta = fw.tangent_operator(network, x)
        theta @ torch.ones(8)
        change()
        with pytest.raises(fw.ConfigError, match=r"changed since|in train mode"):
            theta @ torch.ones(8)


def test_bad_arguments_and_networks():
    network = small()
    x = torch.randn(4, 3).double()
    for batch in (0, True, 2.5):
        with pytest.raises(fw.ConfigError, match=r"batch: .* must be a whole number"):
            fw.tangent_operator(network, x, batch=batch)
    with pytest.raises(fw.ConfigError, match="seed: unknown option"):
        fw.tangent_operator(network, x, seed=1)
    with pytest.raises(fw.ConfigError, match=r"a stack of .3,. networks"):
        fw.tangent_operator(fw.FullyConnected([torch.randn(3, 3, 2)], None, "relu"), x)
    with pytest.raises(fw.ConfigError, match="mixes inputs"):
        fw.tangent_operator(network, x, of=lambda x: network(x) - network(x).mean(0))
    infinite = torch.cat([x, 1e300 * torch.ones(1, 3).double()])
    with torch.no_grad():
        network[0].weight.abs_().mul_(1e20)
    linear = nn.Sequential(network[0], network[2])
    with pytest.raises(fw.ConfigError, match="not finite"):
        fw.tangent_operator(linear, infinite, batch=4) @ torch.ones(10)


@pytest.mark.parametrize(("vectors", "inputs"), [(1, 200), (6, 60)])
def test_stays_within_the_budget(vectors, inputs):
    """Inputs go through the network batch by batch; the sums of gradients count, too."""
    torch.manual_seed(0)
    layers = [nn.Conv2d(3, 8, 3), nn.Tanh(), nn.Conv2d(8, 8, 3), nn.Tanh(), nn.Flatten()]
    network = nn.Sequential(*layers, nn.Linear(512, 10))
    x = torch.randn(inputs, 3, 12, 12)
    expected = fw.tangent_operator(network, x) @ torch.ones(10 * inputs)
    v = torch.ones(10 * inputs, vectors, dtype=torch.float64)
    peaks = []
    for budget in (2**20, 3 * 2**20, 12 * 2**20):
        theta = fw.tangent_operator(network, x, budget=budget)
        memory = PeakMemory()
        with memory:
            found = theta @ v
        agree(found[:, -1], expected, 1e-5)
        peaks.append(memory.extra)
        assert memory.extra - 4 * v.numel() * v.element_size() <= budget
    assert peaks[0] < 0.7 * peaks[-1]  # a budget makes a difference
    with pytest.raises(fw.ConfigError, match=r"budget: a pass of one vector .* set budget=") as no:
        fw.tangent_operator(network, x, budget=2**16)
    enough = int(str(no.value).split("set budget=")[1].split()[0])
    agree(fw.tangent_operator(network, x, budget=enough) @ v[:, 0], expected, 1e-5)
