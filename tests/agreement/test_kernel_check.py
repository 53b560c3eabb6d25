"""The check of every kernel: a wrong rule or closed form is seen, and the kernel is right."""

from functools import partial
from itertools import product

import pytest
import torch
from tests.helpers.kernels_by_jacobian import jacobian_kernel, made
from tests.helpers.unusual_modules import RIGHT, Scaled
from torch import nn

from finitewidth.kernels import trained
from finitewidth.kernels.trained import (
    by_autograd,
    fully_connected,
    interface,
    operations,
    sweeps,
    units,
)

pytestmark = [
    pytest.mark.filterwarnings("ignore:There is a performance drop:UserWarning"),
]


def wrong_by_a_rule(monkeypatch):
    """Make the rule of linear layers wrong, as it would be in a torch that changes it."""
    right = operations.RULES["AddmmBackward0"]

    def wrong(seen):
        found = right(seen)
        if isinstance(found, operations.Product):
            patches = found.patches
            object.__setattr__(found, "patches", lambda samples: 1.01 * patches(samples))
        return found

    monkeypatch.setitem(operations.RULES, "AddmmBackward0", wrong)


@pytest.mark.parametrize("name", ["tokens and attention", "LSTM, time first", "weight norm"])
def test_a_wrong_rule_is_seen_and_the_kernel_right(name, monkeypatch):
    wrong_by_a_rule(monkeypatch)
    make, shape = RIGHT[name]
    network = made(make)
    x = torch.randn(5, *shape, dtype=torch.float64)
    expected = torch.einsum("kikj->ij", jacobian_kernel(network, x))
    with pytest.warns(UserWarning, match="do not agree with those of autograd"):
        found = trained.traced_kernel(network, x)
    assert (found - expected).abs().max() < 1e-11 * expected.abs().max()
    found = trained.traced_kernel(network, x, check=False)
    assert (found - expected).abs().max() > 1e-4 * expected.abs().max()


@pytest.mark.parametrize("bias", [True, False])
def test_a_wrong_closed_form_is_seen(bias, monkeypatch):
    layers = (nn.Linear(4, 5, bias=bias), nn.Tanh(), nn.Linear(5, 2, bias=bias))
    network = made(lambda: nn.Sequential(*layers))
    x = torch.randn(5, 4, dtype=torch.float64)
    expected = jacobian_kernel(network, x)
    wrong = fully_connected.as_fully_connected(nn.Sequential(network[0], nn.Sigmoid(), network[2]))
    monkeypatch.setattr(interface, "as_fully_connected", lambda network: wrong)
    found = trained.full_kernel(network, x)
    assert (found - expected).abs().max() < 1e-12 * expected.abs().max()
    found = trained.full_kernel(network, x, check=False)
    assert (found - expected).abs().max() > 1e-3 * expected.abs().max()


def test_a_wrong_factor_is_seen(monkeypatch):
    right = units._way
    monkeypatch.setattr(units, "_way", lambda weight: (right(weight)[0], 1.1 * right(weight)[1]))
    network = made(Scaled)
    x = torch.randn(5, 4, dtype=torch.float64)
    expected = jacobian_kernel(network, x)
    with pytest.warns(UserWarning, match="do not agree with those of autograd"):
        found = trained.full_kernel(network, x)
    assert (found - expected).abs().max() < 1e-11 * expected.abs().max()


class Swapped(nn.Module):
    """A network that computes two inputs in each other's place."""

    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(4, 4)
        self.head = nn.Linear(4, 2)

    def forward(self, x):
        order = [1, 0, *range(2, len(x))] if len(x) > 2 else list(range(len(x)))
        return self.head(torch.tanh(self.inner(x[order]))[order])


@pytest.mark.parametrize("function", [trained.full_kernel, trained.traced_kernel])
def test_two_inputs_in_each_others_place_are_seen(function):
    network = made(Swapped)
    x = torch.randn(7, 4, dtype=torch.float64)
    expected = jacobian_kernel(network, x)
    if function is trained.traced_kernel:
        expected = torch.einsum("kikj->ij", expected)
    with pytest.warns(UserWarning, match="inner.weight.* do not agree with those of autograd"):
        found = function(network, x)
    assert (found - expected).abs().max() < 1e-11 * expected.abs().max()
    found = function(network, x, check=False)
    assert (found - expected).abs().max() > 1e-3 * expected.abs().max()


class Large(nn.Module):
    """A network with few and with many weights: more than `check.JOINED`."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(2, 64, 3, padding=1)
        self.norm = nn.GroupNorm(2, 64)
        self.many = nn.Conv2d(64, 64, 3, bias=False)
        self.scale = nn.Parameter(torch.ones(64, 1, 1))
        self.dense = nn.Linear(64, 640, bias=False)
        self.head = nn.Linear(640, 3)

    def forward(self, x):
        x = self.many(torch.tanh(self.norm(self.first(x))))
        x = torch.tanh(self.dense((torch.tanh(x) * self.scale).mean((2, 3))))
        return self.head(x)


def of_one_input(signals):
    wrong = signals.clone()
    wrong[:, 1] *= 1.01
    return wrong


def of_one_channel(signals):
    wrong = signals.clone()
    wrong[:, :, 1] *= 1.01
    return wrong


def with_wrong_signals(operation, wrong):
    right = operation.signals

    def signals(g):
        found = right(g)
        return wrong(found) if isinstance(found, torch.Tensor) else (wrong(found[0]), found[1])

    object.__setattr__(operation, "signals", signals)


def with_a_wrong_tap(operation):
    right = operation.patches

    def patches(samples):
        a = right(samples).clone()
        a[:, :, -1] *= 1.01
        return a

    object.__setattr__(operation, "patches", patches)


PRODUCTS = ["first.weight", "many.weight", "dense.weight", "head.weight"]
WRONG = [
    *product(PRODUCTS, [with_a_wrong_tap]),
    *product(
        [*PRODUCTS, "first.bias", "norm.weight", "scale"],
        [partial(with_wrong_signals, wrong=wrong) for wrong in (of_one_input, of_one_channel)],
    ),
]


@pytest.mark.parametrize(("parameter", "change"), WRONG)
@pytest.mark.parametrize("at_once", [sweeps.AT_ONCE, 0])  # or one output after another
def test_one_wrong_operation_is_seen(parameter, change, at_once, monkeypatch):
    network = made(Large)
    x = torch.randn(4, 2, 5, 5, dtype=torch.float64)
    weight = network.get_parameter(parameter)
    right = units.operation
    changed = []

    def operation(graph, node, at):
        found = right(graph, node, at)
        leaf = node.next_functions[at][0]
        leaf = leaf if hasattr(leaf, "variable") else leaf.next_functions[0][0]  # transposed
        if leaf.variable is weight:
            change(found)
            changed.append(found)
        return found

    expected = torch.einsum("kikj->ij", jacobian_kernel(network, x))
    monkeypatch.setattr(units, "operation", operation)
    monkeypatch.setattr(sweeps, "AT_ONCE", at_once)
    with pytest.warns(UserWarning, match=f"gradients by .*{parameter}.* do not agree") as warned:
        found = trained.traced_kernel(network, x)
    assert len(warned) == 1
    others = {"first.weight", "norm.bias", "many.weight", "dense.weight"} - {parameter}
    assert not any(other in str(warned[0].message) for other in others)
    assert changed
    assert (found - expected).abs().max() < 1e-11 * expected.abs().max()


@pytest.mark.parametrize("at_once", [sweeps.AT_ONCE, 0])
@pytest.mark.parametrize("at", range(6))
def test_a_wrong_signal_of_one_input_and_output_is_seen(at, at_once, monkeypatch):
    """The input is none of the two whose gradients are compared."""
    network = made(Large)
    x = torch.randn(4, 2, 5, 5, dtype=torch.float64)
    right = sweeps.backward

    def backward(outputs, edges, cotangents):
        found = list(right(outputs, edges, cotangents))
        for k, cotangent in enumerate(cotangents):
            if len(edges) == 6 and cotangent[:, 1].all() and not cotangent[:, 0].any():
                found[at] = found[at].clone()
                found[at][k, 0] *= 1.01
        return found

    expected = torch.einsum("kikj->ij", jacobian_kernel(network, x))
    monkeypatch.setattr(sweeps, "backward", backward)
    monkeypatch.setattr(sweeps, "AT_ONCE", at_once)
    with pytest.warns(UserWarning, match="do not agree with those of autograd") as warned:
        found = trained.traced_kernel(network, x)
    assert len(warned) == 1
    assert (found - expected).abs().max() < 1e-11 * expected.abs().max()


class OfOneToken(nn.Module):
    """A network whose outputs follow from one token alone."""

    def __init__(self, at):
        super().__init__()
        self.at = at
        self.first = nn.Linear(4, 8, bias=False)
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        return self.head(torch.tanh(self.first(x))[:, self.at])


class Normalised(nn.Module):
    """A network in which the signals of a bias add up to zero, since a norm follows."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(2, 8, 3)
        self.norm = nn.InstanceNorm2d(8)
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        return self.head(torch.tanh(self.norm(self.first(x))).mean((2, 3)))


HIDDEN = [
    *((partial(OfOneToken, at), (tokens, 4)) for at in (0, -1) for tokens in (2, 5, 8, 18)),
    (Normalised, (2, 5, 5)),
]


@pytest.mark.parametrize(("make", "shape"), HIDDEN)
def test_a_wrong_signal_that_few_positions_or_sums_show_is_seen(make, shape, monkeypatch):
    network = made(make)
    x = torch.randn(5, *shape, dtype=torch.float64)
    right = sweeps.backward

    def backward(outputs, edges, cotangents):
        found = list(right(outputs, edges, cotangents))
        if len(edges) == 2:
            found[0] = found[0].clone(memory_format=torch.contiguous_format)
            found[0].view(len(found[0]), len(x), -1)[1, 0] *= 1.01
        return found

    expected = torch.einsum("kikj->ij", jacobian_kernel(network, x))
    monkeypatch.setattr(sweeps, "backward", backward)
    with pytest.warns(UserWarning, match=r"first.weight.* do not agree with those of autograd"):
        found = trained.traced_kernel(network, x)
    assert (found - expected).abs().max() < 1e-11 * expected.abs().max()


class Bilinear(nn.Module):
    """A network with a layer without a rule."""

    def __init__(self):
        super().__init__()
        self.inner = nn.Bilinear(4, 4, 5)
        self.head = nn.Linear(5, 3)

    def forward(self, x):
        return self.head(torch.tanh(self.inner(x, x)))


def test_a_wrong_jacobian_of_a_layer_without_a_rule_is_seen(monkeypatch):
    network = made(Bilinear)
    x = torch.randn(5, 4, dtype=torch.float64)
    right = by_autograd.rows

    def rows(request, names, part, at_once):
        found = right(request, names, part, at_once)
        return [1.01 * each for each in found] if at_once else found  # wrong by torch.func.vmap

    expected = torch.einsum("kikj->ij", jacobian_kernel(network, x))
    monkeypatch.setattr(by_autograd, "rows", rows)
    with pytest.warns(UserWarning, match="inner.weight, .* do not agree"):
        found = trained.traced_kernel(network, x)
    assert (found - expected).abs().max() < 1e-11 * expected.abs().max()


class Halved(nn.Module):
    """A network with large convolutions; their weights are parameters, or halves of these."""

    def __init__(self, factor):
        super().__init__()
        self.factor = factor
        self.first = nn.Conv2d(2, 64, 3, padding=1)
        self.many = nn.Conv2d(64, 64, 3, padding=1)
        self.head = nn.Linear(64, 3)

    def forward(self, x):
        weight = self.many.weight if self.factor == 1 else self.many.weight * self.factor
        x = nn.functional.conv2d(torch.tanh(self.first(x)), weight, self.many.bias, padding=1)
        return self.head(torch.tanh(x).mean((2, 3)))


@pytest.mark.parametrize("factor", [1, 0.5])
@pytest.mark.parametrize("size", [5, 18])  # with patches, or by a convolution
def test_large_convolutions_agree_without_a_warning(size, factor, recwarn):
    torch.manual_seed(0)
    network = Halved(factor)
    x = torch.randn(6, 2, size, size)
    found = trained.traced_kernel(network, x)
    assert not recwarn.list
    expected = torch.einsum("kikj->ij", jacobian_kernel(network.double(), x.double()))
    assert (found - expected).abs().max() < 1e-5 * expected.abs().max()


def test_channels_may_come_last_in_memory(recwarn):
    network = made(Large).to(memory_format=torch.channels_last)
    x = torch.randn(4, 2, 5, 5, dtype=torch.float64).to(memory_format=torch.channels_last)
    expected = jacobian_kernel(network, x)
    found = trained.full_kernel(network, x)
    assert (found - expected).abs().max() < 1e-11 * expected.abs().max()
    assert not recwarn.list
