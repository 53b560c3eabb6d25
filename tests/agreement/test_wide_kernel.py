"""Kernels in the limit of infinite width, against other recursions and wide finite networks."""

from functools import partial

import pytest
import torch
from tests.helpers.random_architectures import least_budget
from torch import nn
from torch.nn import functional

import finitewidth as fw
from finitewidth.common.errors import ConfigError

VARIANCES = {"sigma_w2": 1.7, "sigma_b2": 0.3}
DRAWS = 30


def normal(*shape, seed=0):
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def dense(module, width=9):
    return nn.Sequential(
        nn.Linear(5, width), module(), nn.Linear(width, width), module(), nn.Linear(width, 1)
    )


@pytest.mark.parametrize("parametrisation", ["ntk", "standard"])
@pytest.mark.parametrize(("name", "module"), [("relu", nn.ReLU), ("tanh", nn.Tanh)])
def test_dense_networks_have_the_mean_field_recursion(name, module, parametrisation):
    x = normal(6, 5)
    init = fw.network([5, 9, 9, 1], parametrisation=parametrisation, **VARIANCES)
    field = fw.infinite_width(init, x.numpy(), activation=name)
    network = dense(module)
    options = {"parametrisation": parametrisation, **VARIANCES}
    theta = fw.wide_kernel(network, x, **options)
    torch.testing.assert_close(theta, torch.from_numpy(field.ntk), rtol=1e-13, atol=1e-13)
    nngp = fw.wide_kernel(network, x, kind="nngp", **options)
    torch.testing.assert_close(nngp, torch.from_numpy(field.nngp), rtol=1e-13, atol=1e-13)
    block = fw.wide_kernel(network, x, x[:2].numpy(), **options)
    torch.testing.assert_close(block, theta[:, :2], rtol=1e-13, atol=1e-13)
    tiled = fw.wide_kernel(network, x, budget=least_budget(network, x, **options), **options)
    torch.testing.assert_close(tiled, theta, rtol=1e-13, atol=1e-13)


class Convolutions(nn.Module):
    def __init__(self, average):
        super().__init__()
        self.average = average
        self.first = nn.Conv2d(3, 8, 3, padding=1)
        self.second = nn.Conv2d(8, 8, 3, padding=1)
        self.dense = nn.Linear(8 if average else 8 * 25, 16)
        self.head = nn.Linear(16, 1)

    def forward(self, x):
        h = torch.relu(self.second(self.first(x).relu()))
        h = h.mean((2, 3)) if self.average else h.flatten(1)
        return self.head(torch.relu(self.dense(h)))


@pytest.mark.parametrize("parametrisation", ["ntk", "standard"])
@pytest.mark.parametrize("average", [True, False])
def test_convolutions_have_the_recursion_of_the_cntk(average, parametrisation):
    x = normal(3, 3, 5, 5)
    architecture = fw.Architecture(channels=(8, 8), dense=(16,), global_average_pooling=average)
    options = {"parametrisation": parametrisation, **VARIANCES}
    expected = fw.cntk(x, architecture=architecture, **options)
    found = fw.wide_kernel(Convolutions(average), x, **options)
    torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-12)
    block = fw.wide_kernel(Convolutions(average), x[:1], x, **options)
    torch.testing.assert_close(block, expected[:1], rtol=1e-12, atol=1e-12)


class Residual(nn.Module):
    """A residual network with a concatenation, for images."""

    def __init__(self, width):
        super().__init__()
        self.first = nn.Conv2d(2, width, 3, stride=2, padding=1, padding_mode="circular")
        self.inner = nn.Conv2d(width, width, 3, padding="same", dilation=2)
        self.side = nn.Conv2d(width, width, 1, groups=2)
        self.pool = nn.AvgPool2d(2)
        self.head = nn.Linear(2 * width, 1)

    def forward(self, x):
        h = self.first(x)
        h = h + 0.5 * self.inner(functional.gelu(h))
        h = torch.cat([functional.leaky_relu(h, 0.1), self.side(torch.relu(h))], dim=1)
        return self.head(torch.flatten(self.pool(h), 1).view(x.shape[0], -1))


class Sequences(nn.Module):
    """A residual network of tokens (N, T, D), with layer norm and the mean over time."""

    def __init__(self, width):
        super().__init__()
        self.first = nn.Linear(3, width)
        self.inner = nn.Linear(width, width)
        self.over_time = nn.Conv1d(width, width, 2)
        self.norm = nn.LayerNorm(width)
        self.drop = nn.Dropout()
        self.head = nn.Linear(width, 1)

    def forward(self, x):
        h = self.first(x)
        h = h + self.drop(self.inner(torch.erf(self.norm(h))))
        h = self.over_time(torch.relu(h).transpose(1, 2)).permute(0, 2, 1)
        return self.head(h.sin().mean(dim=1))


FINITE = {
    "dense": (partial(dense, nn.ReLU), (5,)),
    "residual": (Residual, (2, 4, 4)),
    "sequences": (Sequences, (4, 3)),
}


def gain_of(name, parameter):
    """The variance of a parameter, by which its part of the NTK is multiplied."""
    if name.endswith("bias"):
        return VARIANCES["sigma_b2"]
    return VARIANCES["sigma_w2"] / parameter[0].numel()


def finite_kernels(make, width, x):
    """The NTKs of random networks, with weights of the given variances."""
    kernels = []
    for draw in range(DRAWS):
        torch.manual_seed(draw)
        network = make(width).double().eval()
        gains = {
            name: gain_of(name, p)
            for name, p in network.named_parameters()
            if not name.startswith("norm")
        }
        for name, gain in gains.items():
            nn.init.normal_(network.get_parameter(name), std=gain**0.5)
        theta = torch.zeros(len(x), len(x), dtype=torch.float64)
        for name, _ in network.named_parameters():
            part = fw.traced_kernel(network, x, parameters=name, check=False)
            theta += gains.get(name, 1.0) * part  # scale and shift of a norm stay as they are
        kernels.append(theta)
    return torch.stack(kernels)


@pytest.mark.parametrize("name", FINITE)
def test_wide_networks_come_near(name):
    """At width 96, the mean over draws lies within 4 standard errors and a bias of order 1/width.

    With 3 entries, each of which exceeds 4 errors with probability 6e-5, a right kernel fails by
    chance once in 5,000 seeds; the seeds are fixed.
    """
    make, shape = FINITE[name]
    x = normal(2, *shape)
    expected = fw.wide_kernel(make(8).eval(), x, **VARIANCES)
    width = 96
    kernels = finite_kernels(make, width, x)
    error = kernels.std(0) / DRAWS**0.5
    assert ((kernels.mean(0) - expected).abs() < 4 * error + 2 * expected.abs() / width).all()


def test_a_single_layer_is_a_network():
    x = normal(3, 5)
    theta = fw.wide_kernel(nn.Linear(5, 1), x, **VARIANCES)
    torch.testing.assert_close(theta, 1.7 / 5 * x @ x.mT + 0.3)


def test_a_kernel_is_symmetric_and_positive_semi_definite():
    x = normal(9, 2, 4, 4)
    for kind in ("ntk", "nngp"):
        theta = fw.wide_kernel(Residual(8), x, kind=kind, **VARIANCES)
        assert torch.equal(theta, theta.mT)
        values = torch.linalg.eigvalsh(theta)
        assert values[0] > -1e-12 * values[-1]


def test_variances_are_given_by_layer_or_are_those_of_torch():
    x = normal(4, 5)
    network = dense(nn.ReLU)
    by_name = {"0": 1.0, "2": 2.0, "4": 3.0}
    theta = fw.wide_kernel(network, x, sigma_w2=by_name)
    # without biases, variances are factors of a kernel of ReLU layers
    unit = fw.wide_kernel(network, x, sigma_w2=1.0)
    torch.testing.assert_close(theta, 6 * unit)
    of_torch = fw.wide_kernel(network, x, sigma_w2="torch", sigma_b2="torch")
    biases = {"0": 1 / 15, "2": 1 / 27, "4": 1 / 27}
    torch.testing.assert_close(
        of_torch, fw.wide_kernel(network, x, sigma_w2=1 / 3, sigma_b2=biases)
    )
    with pytest.raises(
        ConfigError, match="sigma_w2: 'head' is no layer with weights; they are 0, 2"
    ):
        fw.wide_kernel(network, x, sigma_w2={"head": 1.0})
    with pytest.raises(ConfigError, match="sigma_w2: it has no number for the layer '2'"):
        fw.wide_kernel(network, x, sigma_w2={"0": 1.0})
    with pytest.raises(ConfigError, match="sigma_w2"):
        fw.wide_kernel(network, x, sigma_w2=-1.0)


@pytest.mark.parametrize("frozen", ["0.weight", "2.bias", "4.weight"])
def test_frozen_parameters_do_not_count(frozen):
    """In the standard parametrisation, parts are those of the finite kernel of each parameter."""
    x = normal(4, 5)
    options = {"parametrisation": "standard", **VARIANCES}
    network = dense(nn.ReLU)
    whole = fw.wide_kernel(network, x, **options)
    network.get_parameter(frozen).requires_grad_(False)
    without = fw.wide_kernel(network, x, **options)
    network.requires_grad_(False).get_parameter(frozen).requires_grad_(True)
    alone = fw.wide_kernel(network, x, **options)
    assert alone.diagonal().min() > 0
    torch.testing.assert_close(without + alone, whole)
    nngp = fw.wide_kernel(network, x, kind="nngp", **options)
    torch.testing.assert_close(nngp, fw.wide_kernel(dense(nn.ReLU), x, kind="nngp", **options))


def swish(h):
    return h * torch.sigmoid(h)


def by_exponentials(h):
    return h * (1 / (1 + torch.exp(-h)))


def gelu(h):
    return 0.5 * h * (1 + torch.erf(h / 2**0.5))


def product_of_sine_and_cosine(h):
    return 2 * h.sin() * h.cos()


def sine_of_double_angle(h):
    return torch.sin(2 * h)


def turned_twice(h):
    return torch.tanh(h).neg().neg()


def kinked(h):
    return torch.clamp(h, min=0.0).relu()


def branches(h):
    return torch.where(h > 0, h, 0.2 * h)


def by_absolute_value(h):
    return 0.6 * h + 0.4 * h.abs()


# an activation as networks write it out, the same by a known rule, and the tolerance
WRITTEN_OUT = {
    "swish": (swish, functional.silu, 1e-12),
    "by exponentials": (by_exponentials, functional.silu, 1e-12),
    "gelu": (gelu, functional.gelu, 1e-10),
    "double angle": (product_of_sine_and_cosine, sine_of_double_angle, 1e-10),
    "of an activation": (turned_twice, torch.tanh, 1e-12),
    "kinked": (kinked, torch.relu, 0.01),
    "branches": (branches, by_absolute_value, 1e-12),
}


def with_activation(function):
    """A network of two layers and an activation."""
    return Function(lambda self, h: function(h))


@pytest.mark.parametrize("name", WRITTEN_OUT)
def test_activations_may_be_written_out(name):
    """The composed function has a series; a kink makes the error of the NTK half a percent."""
    written, known, tolerance = WRITTEN_OUT[name]
    x = normal(3, 5)
    for kind in ("ntk", "nngp"):
        kernel = fw.wide_kernel(with_activation(written), x, kind=kind, **VARIANCES)
        expected = fw.wide_kernel(with_activation(known), x, kind=kind, **VARIANCES)
        assert (kernel - expected).abs().max() < tolerance * expected.abs().max()


def test_an_activation_that_grows_too_fast_has_no_kernel():
    network = with_activation(lambda h: (h * h).exp())
    with pytest.raises(ConfigError, match="an activation grows too fast"):
        fw.wide_kernel(network, normal(3, 5), sigma_w2=400.0)


class Viewed(nn.Module):
    """Inputs are arranged before the first weights, by sizes that are read from them."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(6, 8)
        self.head = nn.Linear(8, 1)

    def forward(self, x):
        flat = torch.cat([x.view(x.shape[0], -1)[:, :4], x.reshape(x.size(0), 6)[:, 4:] / 2], 1)
        return self.head(torch.tanh(self.first(2 * flat)))


@pytest.mark.parametrize("count", [1, 2, 3, 6])
def test_inputs_are_arranged_as_the_network_does(count):
    x = normal(count, 2, 3)
    flat = torch.cat([x.flatten(1)[:, :4], x.flatten(1)[:, 4:] / 2], 1)
    plain = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 1))
    expected = fw.wide_kernel(plain, 2 * flat, **VARIANCES)
    torch.testing.assert_close(fw.wide_kernel(Viewed(), x, **VARIANCES), expected)


class Function(nn.Module):
    def __init__(self, function, **modules):
        super().__init__()
        self.first = nn.Linear(5, 6)
        self.head = nn.Linear(6, 1)
        self.function = function
        for name, module in modules.items():
            self.add_module(name, module)

    def forward(self, x):
        return self.head(self.function(self, self.first(x)))


class Plain(nn.Module):
    """A product with a parameter, which is no layer; also the inputs themselves."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(5, 6))
        self.head = nn.Linear(6, 1)

    def forward(self, x):
        return self.head(x @ self.weight)


class Two(nn.Module):
    """Two uses of inputs before the first weights."""

    def __init__(self, function, first):
        super().__init__()
        self.function = function
        self.first = first
        self.head = nn.Linear(first.out_features, 1)

    def forward(self, x):
        return self.head(self.function(self.first, x))


REFUSED = {
    "operation 'mean' mixes inputs": Two(lambda first, x: first(x - x.mean(0)), nn.Linear(5, 6)),
    "module 'first' is used twice, or shares weights": Two(
        lambda first, x: torch.sin(first(x)).add(torch.cos(first(-x))), nn.Linear(5, 6)
    ),
    "module 'norm' .BatchNorm1d. normalises": Function(
        lambda self, h: self.norm(h), norm=nn.BatchNorm1d(6)
    ),
    "module 'inner' is used twice": Function(
        lambda self, h: self.inner(torch.relu(self.inner(h))), inner=nn.Linear(6, 6)
    ),
    "operation 'softmax' has no rule": Function(lambda self, h: h.softmax(1)),
    "operation 'relu' acts on a tensor that is not": Function(
        lambda self, h: (h.sin() + self.inner(h)).relu(),
        inner=nn.Linear(6, 6),
    ),
    "operation 'add' adds tensors that are not independent": Function(
        lambda self, h: h.sin() + self.inner(h).relu(), inner=nn.Linear(6, 6)
    ),
    "operation 'mul' combines a tensor with something else": Function(
        lambda self, h: h * torch.ones(6)
    ),
    "operation 'mean' averages over channels": Function(
        lambda self, h: h.mean(1, keepdim=True).expand(-1, 6)
    ),
    "module '2' .MaxPool1d. takes a maximum": nn.Sequential(
        nn.Unflatten(1, (1, 5)), nn.Conv1d(1, 6, 2), nn.MaxPool1d(2), nn.Flatten(), nn.Linear(12, 1)
    ),
    "parameter 'weight' is used outside": Plain(),
    "module 'drop' .Dropout. is in train mode": Function(
        lambda self, h: self.drop(h), drop=nn.Dropout()
    ),
    "operation 'dropout' draws random numbers": Function(lambda self, h: functional.dropout(h)),
    "operation 'div' combines|operation 'div' has no rule": Function(
        lambda self, h: torch.div(h, 2, rounding_mode="floor")
    ),
    "operation 'relu_' changes a tensor in place that is used later": Function(
        lambda self, h: self.inner(h.relu_()) + h, inner=nn.Linear(6, 6)
    ),
    "module 'inner' .Linear. has hooks": Function(
        lambda self, h: self.inner(h.sin()), inner=nn.utils.spectral_norm(nn.Linear(6, 6))
    ),
    "module 'inner' .ParametrizedLinear. has no rule": Function(
        lambda self, h: self.inner(h.sin()),
        inner=nn.utils.parametrizations.weight_norm(nn.Linear(6, 6)),
    ),
    "module 'pool' .AvgPool1d. averages over channels": Function(
        lambda self, h: self.pool(h), pool=nn.AvgPool1d(1)
    ),
    "operation 'mean' averages over channels or inputs": Function(
        lambda self, h: h - h.mean(0, keepdim=True)
    ),
    "torch.fx cannot read its forward pass": Function(lambda self, h: h if h.sum() > 0 else -h),
}


@pytest.mark.parametrize(
    ("network", "x", "words"),
    [
        (dense(nn.ReLU), normal(3, 4), r"it fails with inputs of shape \(4,\)"),
        (
            nn.Bilinear(5, 5, 1),
            normal(3, 5),
            r"x: it is 1 tensor\(s\), but the network takes input1, input2",
        ),
        (lambda x: x, normal(3, 5), "must be a torch module"),
        (nn.Conv2d(3, 4, 3), normal(3, 3, 5, 5), r"its outputs \(2, 4, 3, 3\) must be"),
        (nn.Sequential(nn.Flatten()), normal(3, 5), "depends on weights"),
        (
            nn.Sequential(nn.Conv2d(2, 4, 3, groups=2), nn.Flatten()),
            normal(3, 2, 5, 5),
            "has groups whose channels do not become many",
        ),
    ],
)
def test_networks_and_inputs_that_do_not_fit_are_refused(network, x, words):
    with pytest.raises(ConfigError, match=words):
        fw.wide_kernel(network, x, sigma_w2=2.0)


class Grouped(nn.Module):
    """Two convolutions of each part of joined channels."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv1d(1, 4, 1)
        self.inner = nn.Conv1d(8, 8, 1, groups=2)
        self.head = nn.Linear(8, 1)

    def forward(self, x):
        h = self.first(x)
        return self.head(self.inner(torch.cat([h, h.relu()], dim=1)).mean(2))


def test_groups_of_different_laws_are_refused():
    with pytest.raises(ConfigError, match=r"'inner' has groups whose channels .* different laws"):
        fw.wide_kernel(Grouped(), normal(3, 1, 5), sigma_w2=2.0)


@pytest.mark.parametrize("words", REFUSED)
def test_what_has_no_limit_is_refused_by_name(words):
    with pytest.raises(ConfigError, match=words) as refused:
        fw.wide_kernel(REFUSED[words], normal(3, 5), sigma_w2=2.0)
    assert "\n" not in str(refused.value)
