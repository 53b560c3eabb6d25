"""The check of every kernel: a wrong rule or closed form is seen, and the kernel is right."""

import pytest
import torch
from tests.unusual_modules import RIGHT, Scaled, jacobian_kernel, made
from torch import nn

from finitewidth.kernels import trained
from finitewidth.kernels.trained import fully_connected, interface, operations, units

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
    network, x = made(make), torch.randn(5, *shape, dtype=torch.float64)
    wanted = torch.einsum("kikj->ij", jacobian_kernel(network, x))
    with pytest.warns(UserWarning, match="do not agree with those of autograd"):
        found = trained.traced_kernel(network, x)
    assert (found - wanted).abs().max() < 1e-11 * wanted.abs().max()
    found = trained.traced_kernel(network, x, check=False)
    assert (found - wanted).abs().max() > 1e-4 * wanted.abs().max()


def test_a_wrong_closed_form_is_seen(monkeypatch):
    network = made(lambda: nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 2)))
    x = torch.randn(5, 4, dtype=torch.float64)
    wanted = jacobian_kernel(network, x)
    wrong = fully_connected.as_fully_connected(nn.Sequential(network[0], nn.Sigmoid(), network[2]))
    monkeypatch.setattr(interface, "as_fully_connected", lambda network: wrong)
    found = trained.full_kernel(network, x)
    assert (found - wanted).abs().max() < 1e-12 * wanted.abs().max()
    found = trained.full_kernel(network, x, check=False)
    assert (found - wanted).abs().max() > 1e-3 * wanted.abs().max()


def test_a_wrong_factor_is_seen(monkeypatch):
    right = units._way
    monkeypatch.setattr(units, "_way", lambda weight: (right(weight)[0], 1.1 * right(weight)[1]))
    network, x = made(Scaled), torch.randn(5, 4, dtype=torch.float64)
    wanted = jacobian_kernel(network, x)
    with pytest.warns(UserWarning, match="do not agree with those of autograd"):
        found = trained.full_kernel(network, x)
    assert (found - wanted).abs().max() < 1e-11 * wanted.abs().max()


class Swapped(nn.Module):
    """A network that computes two inputs in each other's place."""

    def __init__(self):
        super().__init__()
        self.inner, self.head = nn.Linear(4, 4), nn.Linear(4, 2)

    def forward(self, x):
        order = [1, 0, *range(2, len(x))] if len(x) > 2 else list(range(len(x)))
        return self.head(torch.tanh(self.inner(x[order]))[order])


@pytest.mark.parametrize("function", [trained.full_kernel, trained.traced_kernel])
def test_two_inputs_in_each_others_place_are_seen(function):
    network, x = made(Swapped), torch.randn(7, 4, dtype=torch.float64)
    wanted = jacobian_kernel(network, x)
    if function is trained.traced_kernel:
        wanted = torch.einsum("kikj->ij", wanted)
    with pytest.warns(UserWarning, match="inner.weight.* do not agree with those of autograd"):
        found = function(network, x)
    assert (found - wanted).abs().max() < 1e-11 * wanted.abs().max()
    found = function(network, x, check=False)
    assert (found - wanted).abs().max() > 1e-3 * wanted.abs().max()
