"""What a refusal tells the user to do is done, and the kernel is then computed."""

from functools import partial

import pytest
import torch
from tests.helpers.kernels_by_jacobian import jacobian_kernel
from torch import nn
from torch.nn import functional

import finitewidth as fw
from finitewidth.common.errors import ConfigError
from finitewidth.kernels.trained import budget

N = 5


def network_of(*modules):
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 6), *modules, nn.Linear(6, 2)).double()


class Function(nn.Module):
    """A network whose forward pass is a function of itself and its input."""

    def __init__(self, function):
        super().__init__()
        self.inner = nn.Linear(4, 6)
        self.head = nn.Linear(6, 2)
        self.function = function
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x):
        return self.function(self, x)


def function_of(function):
    torch.manual_seed(0)
    return Function(function).double()


class DropPath(nn.Module):
    """A module of another library that is known by its name."""

    def forward(self, x):
        keep = torch.rand(len(x), 1, dtype=x.dtype) > 0.5
        return x * keep if self.training else x


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.LSTM(4, 6, num_layers=2, dropout=0.5, batch_first=True)
        self.head = nn.Linear(6, 2)

    def forward(self, x):
        return self.head(self.inner(x[:, None])[0][:, -1])


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.MultiheadAttention(4, 2, dropout=0.5, batch_first=True)
        self.head = nn.Linear(4, 2)

    def forward(self, x):
        tokens = torch.stack([x, -x], dim=1)
        return self.head(self.inner(tokens, tokens, tokens)[0].mean(1))


def batch_norm():
    return network_of(nn.BatchNorm1d(6))


def instance_norm():
    norm = nn.InstanceNorm1d(2, track_running_stats=True)
    return network_of(nn.Unflatten(1, (2, 3)), norm, nn.Flatten())


def around(kind):
    """A function that makes a network around a module without arguments."""
    return lambda: network_of(kind())


def spectral_norm():
    return network_of(nn.utils.spectral_norm(nn.Linear(6, 6)))


def spectral_parametrisation():
    return network_of(nn.utils.parametrizations.spectral_norm(nn.Linear(6, 6)))


def functional_dropout(self, x):
    return self.head(functional.dropout(self.inner(x), training=self.training))


def changed_buffer(self, x):
    return self.head(self.inner(x)) + self.calls.add_(float(self.training))


IN_TRAIN_MODE = {
    "batch norm": batch_norm,
    "instance norm": instance_norm,
    "dropout": around(nn.Dropout),
    "alpha dropout": around(nn.AlphaDropout),
    "random slopes": around(nn.RReLU),
    "dropped paths": around(DropPath),
    "recurrent": Recurrent,
    "attention": Attention,
    "spectral norm": spectral_norm,
    "spectral parametrisation": spectral_parametrisation,
    "functional dropout": partial(function_of, functional_dropout),
    "buffer": partial(function_of, changed_buffer),
}


def agrees(network, x, **options):
    kernel = fw.full_kernel(network, x, **options)
    expected = jacobian_kernel(network, x, **options)
    return bool((kernel - expected).abs().max() < 1e-10 * expected.abs().max())


@pytest.mark.parametrize("name", IN_TRAIN_MODE)
def test_eval_mode_is_the_remedy(name):
    network = IN_TRAIN_MODE[name]().double().train()
    x = torch.randn(N, 4, dtype=torch.float64)
    with pytest.raises(ConfigError, match=r"call network.eval\(\)"):
        fw.traced_kernel(network, x)
    assert agrees(network.eval(), x)


def test_eval_mode_is_not_proposed_where_it_does_not_help():
    def counting(self, x):
        return self.head(self.inner(x)) + self.calls.add_(1.0)

    network = function_of(counting).eval()
    with pytest.raises(ConfigError, match="leave it as it is in eval mode") as refused:
        fw.traced_kernel(network, torch.randn(N, 4, dtype=torch.float64))
    assert "network.eval()" not in str(refused.value)


def test_running_statistics_are_the_remedy_where_there_are_none():
    x = torch.randn(N, 4, dtype=torch.float64)
    without = network_of(nn.BatchNorm1d(6, track_running_stats=False)).eval()
    with pytest.raises(ConfigError, match="use running statistics and call"):
        fw.traced_kernel(without, x)
    assert agrees(network_of(nn.BatchNorm1d(6)).eval(), x)


def test_a_run_gives_parameters_their_shapes():
    network = nn.Sequential(nn.LazyLinear(6), nn.ELU(), nn.LazyLinear(2))
    x = torch.randn(N, 4)
    with pytest.raises(ConfigError, match="run the network once on an input"):
        fw.traced_kernel(network, x)
    network(x)
    assert fw.traced_kernel(network, x).shape == (N, N)


def test_a_copy_is_changed_in_place():
    def changed(copy):
        def function(self, x):
            h = self.inner(x)
            powers = h.exp()
            changed = powers.clone() if copy else powers
            changed.add_(1.0)
            return self.head(changed)

        return function_of(function)

    x = torch.randn(N, 4, dtype=torch.float64)
    with pytest.raises(ConfigError, match="change a copy instead"):
        fw.traced_kernel(changed(copy=False), x)
    assert agrees(changed(copy=True), x)


class WithoutBackward(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        raise RuntimeError("this layer has no backward pass")


def test_a_missing_backward_pass_is_not_called_a_change_in_place():
    def function(self, x):
        return self.head(WithoutBackward.apply(self.inner(x)))

    network = function_of(function)
    with pytest.raises(ConfigError, match="this layer has no backward pass") as refused:
        fw.traced_kernel(network, torch.randn(N, 4, dtype=torch.float64))
    assert "copy" not in str(refused.value)


class Complex(nn.Module):
    """A real layer, and a complex factor."""

    def __init__(self, in_parts):
        super().__init__()
        self.inner = nn.Linear(4, 2, dtype=torch.float64)
        factor = torch.tensor([1.0 + 2.0j, 0.5 - 1.0j], dtype=torch.complex128)
        self.factor = nn.Parameter(torch.view_as_real(factor) if in_parts else factor)

    def forward(self, x):
        factor = self.factor if self.factor.is_complex() else torch.view_as_complex(self.factor)
        return (self.inner(x) * factor).abs()


def test_complex_parameters_are_held_in_parts_or_left_out():
    x = torch.randn(N, 4, dtype=torch.float64)
    network = Complex(in_parts=False)
    with pytest.raises(ConfigError, match="Hold real and imaginary parts, or leave it out"):
        fw.traced_kernel(network, x)
    assert fw.traced_kernel(network, x, parameters="inner").shape == (N, N)
    assert agrees(Complex(in_parts=True), x)


def test_gradients_that_do_not_arrive_are_left_out():
    def function(self, x):
        with torch.no_grad():
            h = self.inner(x)
        return self.head(h)

    network = function_of(function)
    x = torch.randn(N, 4, dtype=torch.float64)
    with pytest.raises(ConfigError, match="leave these parameters out with parameters="):
        fw.traced_kernel(network, x)
    assert fw.traced_kernel(network, x, parameters=["head"]).shape == (N, N)


def test_frozen_parameters_are_counted_once_they_require_gradients():
    network = network_of(nn.Tanh()).requires_grad_(False)
    x = torch.randn(N, 4, dtype=torch.float64)
    with pytest.raises(ConfigError, match="they need requires_grad=True"):
        fw.traced_kernel(network, x)
    assert agrees(network.requires_grad_(True), x)


def test_a_row_for_each_input_and_the_type_of_the_network_are_the_remedies():
    torch.manual_seed(0)
    network = nn.Sequential(nn.Conv2d(3, 4, 3), nn.Flatten(), nn.Linear(4 * 36, 2))
    image = torch.randn(3, 8, 8)
    with pytest.raises(ConfigError, match=r"Pass x of shape \(N, ...\)"):
        fw.traced_kernel(network, image)
    assert fw.traced_kernel(network, image[None]).shape == (1, 1)
    with pytest.raises(ConfigError, match="and of the type that it takes"):
        fw.traced_kernel(network, image[None].double())
    assert fw.traced_kernel(network, image[None].double().float()).shape == (1, 1)


def test_a_result_larger_than_the_memory_is_refused_before_it_is_made(monkeypatch):
    def function(self, x):
        return self.head(self.inner(x).tanh())

    network = function_of(function)
    x = torch.randn(N, 4).double()
    monkeypatch.setattr(budget, "SMALL_RESULT", 0)
    monkeypatch.setattr(budget, "free_memory", lambda: 8 * (2 * N) ** 2 - 1)
    plain = network_of(nn.Tanh())
    for module in (network, plain):
        with pytest.raises(ConfigError, match="use fewer inputs, or traced_kernel or output_norms"):
            fw.full_kernel(module, x)
        assert fw.full_kernel(module, x[:-1]).shape == (2, N - 1, 2, N - 1)
        assert fw.traced_kernel(module, x).shape == (N, N)
        assert fw.output_norms(module, x).shape == (2, 2)
