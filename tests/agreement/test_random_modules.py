"""Kernels of random small modules against Jacobians in float64.

Modules are drawn from linear, convolutional, normalising, attending, recurrent and functional
pieces, and from pieces with derived weights. `make test` draws the same 500 each time, the long
version 3,000 new ones.
"""

from functools import partial

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.helpers.kernels_by_jacobian import jacobian_kernel, parameters_by_module
from torch import nn
from torch.func import functional_call
from torch.nn import functional
from torch.nn.utils import parametrizations

from finitewidth.kernels import trained

pytestmark = [
    pytest.mark.filterwarnings("ignore:There is a performance drop:UserWarning"),
    pytest.mark.filterwarnings("error:.*do not agree:UserWarning"),
]
WIDTH = 4  # features of each of T positions; all pieces map (N, T, 4) to (N, T, 4)
ACTIVATIONS = (torch.tanh, functional.silu, functional.softplus, torch.sin, torch.sigmoid)


class Piece(nn.Module):
    """A piece with a skip connection and an activation.

    Args:
        inner: (N, T, 4) -> (N, T, 4).
        activation: elementwise.
        in_place: whether the result is added in place.
    """

    def __init__(self, inner, activation, in_place):
        super().__init__()
        self.inner = inner
        self.activation = activation
        self.in_place = in_place

    def forward(self, x):
        y = self.activation(self.inner(x))
        return (2 * y).add_(x) if self.in_place else y + x


class Function(nn.Module):
    """A function with parameters of its own.

    Args:
        function: maps the module and its input to the output.
        shapes: of the parameters ``p0``, ``p1``, ..
    """

    def __init__(self, function, *shapes):
        super().__init__()
        self.function = function
        for at, shape in enumerate(shapes):
            self.register_parameter(f"p{at}", nn.Parameter(torch.randn(shape) / 2))

    def forward(self, x):
        return self.function(self, x)


class Around(nn.Module):
    """A module with something before and after it."""

    def __init__(self, inner, before, after):
        super().__init__()
        self.inner = inner
        self.before = before
        self.after = after

    def forward(self, x):
        y = self.inner(self.before(x))
        return self.after(y[0] if isinstance(y, tuple) else y)


class Attention(nn.Module):
    def __init__(self, batch_first):
        super().__init__()
        self.attention = nn.MultiheadAttention(WIDTH, 2, batch_first=batch_first)
        self.batch_first = batch_first

    def forward(self, x):
        x = x if self.batch_first else x.transpose(0, 1)
        y = self.attention(x, x, x, need_weights=False)[0]
        return y if self.batch_first else y.transpose(0, 1)


class Derived(nn.Module):
    """Weights that follow from parameters: scaled, or of a hypernetwork."""

    def __init__(self, scaled):
        super().__init__()
        self.inner = nn.Linear(WIDTH, WIDTH)
        self.scaled = scaled
        self.code = nn.Parameter(torch.randn(3))
        self.maker = nn.Linear(3, WIDTH * WIDTH)

    def forward(self, x):
        weight = self.inner.weight * 0.7
        if not self.scaled:
            weight = weight + torch.tanh(self.maker(self.code)).view(WIDTH, WIDTH)
        weights = {"weight": weight, "bias": self.inner.bias / 3}
        return functional_call(self.inner, weights, (x,))


class Gradient(nn.Module):
    """The gradient of an energy of each input, as in force fields."""

    def __init__(self):
        super().__init__()
        self.energy = nn.Sequential(nn.Linear(WIDTH, 5), nn.Tanh(), nn.Linear(5, 1))

    def forward(self, x):
        with torch.enable_grad():
            y = x if x.requires_grad else x.requires_grad_()
            return torch.autograd.grad(self.energy(y).sum(), y, create_graph=True)[0]


def turned(x):
    return x.mT


def unflattened(x):
    return x.view(-1, 3, WIDTH)


def swapped(x):
    return x.transpose(0, 1)


def same(x):
    return x


def on_channels(kind, *sizes, **options):
    """A function that makes a module whose features lie on the second axis."""

    def make():
        return Around(kind(*sizes, **options), turned, turned)

    return make


def function(forward, *shapes):
    """A function that makes a `Function`."""
    return partial(Function, forward, *shapes)


def recurrent(kind, *sizes):
    """A function that makes a recurrent module of batches."""

    def make():
        return Around(kind(*sizes, batch_first=True), same, same)

    return make


def two_layers():
    return nn.Sequential(nn.Linear(WIDTH, 6), nn.GELU(), nn.Linear(6, WIDTH))


def as_image(x):
    return x[:, None]


def sum_of_channels(y):
    return y.sum(1)


def image():
    return Around(nn.Conv2d(1, 2, (3, 1), padding=(1, 0)), as_image, sum_of_channels)


def time_first():
    return Around(nn.GRU(WIDTH, WIDTH), swapped, swapped)


def flattened(x):
    return x.flatten(1)


def flat():
    return Around(nn.Linear(3 * WIDTH, 3 * WIDTH), flattened, unflattened)


def as_rows(x):
    return x.reshape(-1, WIDTH)


def rows():
    return Around(nn.Linear(WIDTH, WIDTH), as_rows, unflattened)


def weight_norm():
    return parametrizations.weight_norm(nn.Linear(WIDTH, WIDTH))


def orthogonal():
    return parametrizations.orthogonal(nn.Linear(WIDTH, WIDTH))


def scale(self, x):
    return x * self.p0 + self.p1


def quotient(self, x):
    return (x - self.p0) / (2 + self.p0**2)


def matrix(self, x):
    return x @ self.p0 + x @ self.p0.mT


def mixer(self, x):
    return self.p0 @ x


def bilinear(self, x):
    return functional.bilinear(x, x, self.p0)


def experts(self, x):
    return torch.einsum("ntd,hdc->nthc", x, self.p0).tanh().mean(2) * self.p1


def masked(self, x):
    return torch.where(x > 0, self.p0, x * self.p1)


def sums(self, x):
    return x @ (self.p0 + self.p1) * self.p2.sum(0) + self.p3.mean()


def tokens(self, x):
    return torch.cat([self.p0.expand(len(x), 1, WIDTH), x], dim=1)[:, :-1] + self.p1


PIECES = {
    "linear": partial(nn.Linear, WIDTH, WIDTH),
    "without bias": partial(nn.Linear, WIDTH, WIDTH, bias=False),
    "two layers": two_layers,
    "convolution": on_channels(nn.Conv1d, WIDTH, WIDTH, 3, padding=1),
    "groups": on_channels(nn.Conv1d, WIDTH, WIDTH, 3, padding=2, dilation=2, groups=2),
    "circular": on_channels(nn.Conv1d, WIDTH, WIDTH, 3, padding=1, padding_mode="circular"),
    "image": image,
    "transposed": on_channels(nn.ConvTranspose1d, WIDTH, WIDTH, 3, padding=1),
    "layer norm": partial(nn.LayerNorm, WIDTH),
    "norm of two axes": on_channels(nn.LayerNorm, (WIDTH, 3)),
    "rms norm": partial(nn.RMSNorm, WIDTH),
    "batch norm": on_channels(nn.BatchNorm1d, WIDTH),
    "group norm": on_channels(nn.GroupNorm, 2, WIDTH),
    "instance norm": on_channels(nn.InstanceNorm1d, WIDTH, affine=True),
    "prelu": on_channels(nn.PReLU, WIDTH, init=0.3),
    "attention": partial(Attention, True),
    "attention, time first": partial(Attention, False),
    "transformer": partial(nn.TransformerEncoderLayer, WIDTH, 2, 6, dropout=0.0, batch_first=True),
    "lstm": recurrent(nn.LSTM, WIDTH, WIDTH),
    "gru, time first": time_first,
    "rnn of two layers": recurrent(nn.RNN, WIDTH, WIDTH, 2),
    "scale": function(scale, (WIDTH,), (3, 1)),
    "quotient": function(quotient, (1, WIDTH)),
    "matrix": function(matrix, (WIDTH, WIDTH)),
    "mixer": function(mixer, (3, 3)),
    "experts": function(experts, (2, WIDTH, WIDTH), (3, WIDTH)),
    "sums": function(sums, (WIDTH, WIDTH), (WIDTH, WIDTH), (3, WIDTH), (2,)),
    "tokens": function(tokens, (1, 1, WIDTH), (1, 3, WIDTH)),
    "where": function(masked, (WIDTH,), ()),
    "flat": flat,
    "rows": rows,
    "scaled weights": partial(Derived, True),
    "hypernetwork": partial(Derived, False),
    "weight norm": weight_norm,
    "orthogonal": orthogonal,
    "gradient": Gradient,
    "bilinear": function(bilinear, (WIDTH, WIDTH, WIDTH)),
}


class Network(nn.Module):
    """Pieces one after another, some of them twice, and an output.

    Args:
        pieces: the pieces.
        outputs: number of outputs.
    """

    def __init__(self, pieces, outputs):
        super().__init__()
        self.pieces = nn.ModuleList(pieces)
        self.head = nn.Linear(WIDTH, outputs)

    def forward(self, x):
        for piece in self.pieces:
            x = piece(x)
        return self.head(x.mean(1))


@st.composite
def networks(draw):
    """A random network in float64, and inputs for it."""
    names = draw(st.lists(st.sampled_from(sorted(PIECES)), min_size=1, max_size=3))
    torch.manual_seed(draw(st.integers(0, 999)))
    pieces = []
    for name in names:
        activation = draw(st.sampled_from(ACTIVATIONS))
        pieces.append(Piece(PIECES[name](), activation, draw(st.booleans())))
    if draw(st.booleans()):
        pieces.append(draw(st.sampled_from(pieces)))
    network = Network(pieces, draw(st.integers(1, 2))).double().eval()
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    x = torch.randn(draw(st.integers(1, 3)), 3, WIDTH, dtype=torch.float64)
    return network, x, names


def trace_of(full):
    return torch.einsum("kikj->ij", full)


def diagonal_of(full):
    return torch.einsum("kiki->ki", full)


def norms_of(full):
    return full.square().sum((1, 3)).sqrt()


KINDS = {  # function, and what it returns for a full kernel
    "full": (trained.full_kernel, same),
    "traced": (trained.traced_kernel, trace_of),
    "diagonal": (trained.kernel_diagonal, diagonal_of),
    "norms": (trained.output_norms, norms_of),
}


@given(drawn=networks(), kind=st.sampled_from(sorted(KINDS)))
def property_of_all(drawn, kind):
    network, x, _ = drawn
    function, of_full = KINDS[kind]
    wanted = of_full(jacobian_kernel(network, x))
    held = parameters_by_module(network)
    found = function(network, x)
    assert parameters_by_module(network) == held
    assert (found - wanted).abs().max() <= 1e-10 * wanted.abs().max()


def test_random_modules(request):
    full = request.config.getoption("--full")
    settings(
        max_examples=3000 if full else 500,
        derandomize=not full,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )(property_of_all)()
