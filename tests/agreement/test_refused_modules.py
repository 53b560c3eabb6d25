"""Torch modules whose kernel would be wrong are refused with a reason."""

import copy
from functools import partial

import pytest
import torch
from tests.helpers.kernels_by_jacobian import jacobian_kernel, made
from torch import nn

from finitewidth.common.errors import ConfigError
from finitewidth.kernels import trained

pytestmark = [
    pytest.mark.filterwarnings("ignore:None of the inputs have requires_grad:UserWarning"),
]


class Mixing(nn.Module):
    """A linear layer of something that mixes inputs."""

    def __init__(self, mix):
        super().__init__()
        self.inner = nn.Linear(4, 4)
        self.head = nn.Linear(4, 2)
        self.mix = mix

    def forward(self, x):
        return self.head(torch.tanh(self.mix(self.inner(x))))


class Causal(nn.Module):
    """Attention over the axis of inputs, in which each input sees those before it."""

    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(4, 2)
        self.head = nn.Linear(4, 2)

    def forward(self, x):
        hidden = torch.ones(len(x), len(x), dtype=torch.bool).triu(1)
        seen = self.attention(x[:, None], x[:, None], x[:, None], attn_mask=hidden)[0]
        return self.head(seen[:, 0])


class OverInputs(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.inner = kind(4, 3)
        self.head = nn.Linear(3, 2)

    def forward(self, x):
        return self.head(self.inner(x)[0])


def without_mean(h):
    return h - h.mean(0)


def without_first(h):
    return h - h[:1] / 2


def without_last(h):
    return h - h[-1:] / 2


def cumulative_sum(h):
    return h.cumsum(0)


def triangular(h):
    return torch.ones(len(h), len(h), dtype=h.dtype).tril() @ h / len(h)


def with_neighbour(h):
    return h + h.roll(1, 0)


def with_a_little(h):
    return h + 1e-3 * h.flip(0)


def in_gradients_only(h):
    return h + h[:1] - h[:1].detach()


MIXING = {
    "mean": partial(Mixing, without_mean),
    "first input": partial(Mixing, without_first),
    "last input": partial(Mixing, without_last),
    "cumulative sum": partial(Mixing, cumulative_sum),
    "graph": partial(Mixing, triangular),
    "neighbour": partial(Mixing, with_neighbour),
    "a little": partial(Mixing, with_a_little),
    "causal attention over inputs": Causal,
    "LSTM, 2-d inputs": partial(OverInputs, nn.LSTM),
    "GRU, 2-d inputs": partial(OverInputs, nn.GRU),
}


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("name", MIXING)
def test_mixed_inputs_are_refused(name, dtype):
    """(F4) whichever input is first, and with little mixing."""
    network = made(MIXING[name], dtype)
    x = torch.randn(5, 4, dtype=dtype)
    for function in (trained.traced_kernel, trained.kernel_diagonal, trained.largest_eigenvalue):
        with pytest.raises(ConfigError, match="mixes inputs"):
            function(network, x)


@pytest.mark.filterwarnings("ignore:.*do not agree:UserWarning")
@pytest.mark.parametrize("samples", [2, 5])
def test_gradients_that_mix_inputs_are_refused(samples):
    """Outputs do not tell."""
    network = made(partial(Mixing, in_gradients_only))
    x = torch.randn(samples, 4, dtype=torch.float64)
    for function in (trained.traced_kernel, trained.largest_eigenvalue):
        with pytest.raises(ConfigError, match="mixes inputs"):
            function(network, x)


def without(context):
    class Without(nn.Module):
        def __init__(self):
            super().__init__()
            self.table = nn.Embedding(9, 4)
            self.inner = nn.GRU(4, 4, batch_first=True)
            self.free = nn.Parameter(torch.randn(4))
            self.head = nn.Linear(4, 2)

        def forward(self, x):
            with context():
                h = self.inner(self.table(x))[0][:, -1] * self.free
            return self.head(h.clone())

    return Without


@pytest.mark.parametrize("context", [torch.no_grad, torch.inference_mode])
def test_gradients_that_do_not_arrive_are_refused(context):
    """(F5) a part of the network without gradients, or all of it."""
    network = made(without(context))
    x = torch.randint(9, (5, 3))
    for function in (trained.traced_kernel, trained.largest_eigenvalue):
        with pytest.raises(ConfigError, match="no gradient arrives"):
            function(network, x)

    def in_head(name):
        return name.startswith("head")

    kernel = trained.full_kernel(network, x, parameters=in_head)
    expected = jacobian_kernel(network, x, parameters=in_head)
    assert (kernel - expected).abs().max() < 1e-12 * expected.abs().max()

    def all_of_it(x):
        with context():
            return network(x)

    def detached(x):
        return network(x).detach()

    with pytest.raises(ConfigError, match="no gradient"):
        trained.traced_kernel(network, x, of=all_of_it)
    with pytest.raises(ConfigError, match="no gradient"):
        trained.traced_kernel(network, x, of=detached)


def test_a_plain_network_without_gradients_is_refused():
    plain = made(lambda: nn.Sequential(nn.Linear(4, 2)))
    x = torch.randn(5, 4, dtype=torch.float64)
    with pytest.raises(ConfigError, match="no gradient"):
        trained.traced_kernel(plain, x, of=lambda x: plain(x).detach())


@pytest.mark.parametrize("make", [nn.utils.spectral_norm, nn.utils.parametrizations.spectral_norm])
def test_networks_that_change_their_buffers_are_refused(make):
    network = nn.Sequential(make(nn.Linear(4, 5)), nn.Tanh(), nn.Linear(5, 2)).double().train()
    before = copy.deepcopy(network.state_dict())
    with pytest.raises(ConfigError, match="buffer"):
        trained.traced_kernel(network, torch.randn(5, 4, dtype=torch.float64))
    after = network.state_dict()
    assert all(torch.equal(before[name], after[name]) for name in before)


def test_inputs_that_are_none():
    network = nn.Sequential(nn.Linear(4, 2))
    for function in (trained.traced_kernel, trained.largest_eigenvalue):
        with pytest.raises(ConfigError, match="holds no inputs"):
            function(network, torch.zeros(0, 4))
        with pytest.raises(ConfigError, match="must be a tensor or an array"):
            function(network, "inputs")
        with pytest.raises(ConfigError, match="x: holds infinite numbers, first in input 0"):
            function(network, torch.full((3, 4), torch.inf))
