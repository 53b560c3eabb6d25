"""`budget` bounds temporary arrays for weights that are derived, tied, or without a rule."""

import pytest
import torch
from tests.helpers.peak_memory import PeakMemory
from torch import nn
from torch.nn import functional
from torch.nn.utils import parametrizations

from finitewidth.kernels import trained
from finitewidth.kernels.trained import sweeps
from finitewidth.kernels.trained.budget import BudgetError

INPUTS, WIDTH = 12, 100
FUNCTIONS = [
    trained.traced_kernel,
    trained.full_kernel,
    trained.kernel_diagonal,
    trained.output_norms,
]


def layers(change):
    """Return a network of two changed hidden layers."""
    inner = [change(nn.Linear(20, WIDTH)), nn.Tanh(), change(nn.Linear(WIDTH, WIDTH)), nn.Tanh()]
    return nn.Sequential(*inner, nn.Linear(WIDTH, 3))


class Merged(nn.Module):
    """An adapter of low rank, merged into the weight."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(WIDTH, WIDTH) / 10)
        self.left = nn.Parameter(torch.randn(WIDTH, 4))
        self.right = nn.Parameter(torch.randn(4, WIDTH) / 10)
        self.stem = nn.Linear(20, WIDTH)
        self.head = nn.Linear(WIDTH, 3)

    def forward(self, x):
        weight = self.weight + self.left @ self.right
        return self.head(torch.tanh(functional.linear(torch.tanh(self.stem(x)), weight)))


class Product(nn.Module):
    """A weight that is a product of two parameters, and used twice."""

    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.rand(WIDTH, WIDTH))
        self.weight = nn.Parameter(torch.randn(WIDTH, WIDTH) / 10)
        self.stem = nn.Linear(20, WIDTH)
        self.head = nn.Linear(WIDTH, 3)

    def forward(self, x):
        weight = self.scale * self.weight
        x = torch.tanh(torch.tanh(self.stem(x)) @ weight)
        return self.head(torch.tanh(x @ weight))


class TiedWords(nn.Module):
    """An embedding whose weight is that of the decoder."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(300, 30)
        self.inner = nn.Linear(30, 30)

    def forward(self, x):
        words = (x * 50).long().remainder(300)
        hidden = torch.tanh(self.inner(self.embed(words))).mean(1)
        return functional.linear(hidden, self.embed.weight)[:, :3]


class Transposed(nn.Module):
    """One matrix as it is, and transposed."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Linear(20, WIDTH)
        self.inner = nn.Linear(WIDTH, WIDTH)
        self.head = nn.Linear(WIDTH, 3)

    def forward(self, x):
        x = torch.tanh(self.inner(torch.tanh(self.stem(x))))
        return self.head(torch.tanh(x @ self.inner.weight))


class Bilinear(nn.Module):
    """No rule for its parameter."""

    def __init__(self):
        super().__init__()
        self.inner = nn.Bilinear(20, 20, 20)
        self.head = nn.Linear(20, 3)

    def forward(self, x):
        return self.head(torch.tanh(self.inner(x, x.tanh())))


KINDS = {
    "weight norm": lambda: layers(parametrizations.weight_norm),
    "spectral norm": lambda: layers(parametrizations.spectral_norm),
    "orthogonal": lambda: layers(parametrizations.orthogonal),
    "merged adapter": Merged,
    "product of parameters": Product,
    "embedding and decoder": TiedWords,
    "transposed": Transposed,
    "without a rule": Bilinear,
}


def peak(function, network, x, budget, monkeypatch):
    """Return a kernel, and the bytes beside the network, its graph and the kernel."""
    memory = PeakMemory()
    recorded = sweeps.record

    def record(*arguments, **options):
        found = recorded(*arguments, **options)
        memory.reset()
        return found

    with monkeypatch.context() as patch:
        patch.setattr(sweeps, "record", record)
        with memory:
            found = function(network, x, budget=budget)
    return found, memory.extra - 8 * found.numel()


FEW = ("weight norm", "embedding and decoder", "without a rule")  # the others take a full run


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=[] if kind in FEW else pytest.mark.full) for kind in KINDS]
)
def test_derived_and_tied_weights_stay_within_the_budget(kind, function, monkeypatch):
    """At the budget that a refusal names, at one between, and where all fits at once."""
    torch.manual_seed(0)
    network = KINDS[kind]().eval()
    x = torch.rand(INPUTS, 20)
    expected = function(network, x)
    with pytest.raises(BudgetError) as refused:
        function(network, x, budget=10)
    needed = refused.value.needed
    for budget in (needed, 3 * needed, 2**27):
        found, extra = peak(function, network, x, budget, monkeypatch)
        torch.testing.assert_close(
            found, expected, rtol=1e-4, atol=1e-5 * float(expected.abs().max())
        )
        assert extra <= budget, (budget, extra)
