"""Unusual torch modules."""

from functools import partial

import torch
from torch import nn
from torch.func import functional_call
from torch.nn import functional
from torch.utils.checkpoint import checkpoint


class Physics(nn.Module):
    """A physics-informed network: a solution u and the residual u_xx + u."""

    def __init__(self):
        super().__init__()
        self.u = nn.Sequential(
            nn.Linear(2, 6), nn.Tanh(), nn.Linear(6, 6), nn.Tanh(), nn.Linear(6, 1)
        )

    def forward(self, x):
        with torch.enable_grad():
            x = x.requires_grad_(True) if x.is_leaf else x
            u = self.u(x)
            (first,) = torch.autograd.grad(u.sum(), x, create_graph=True)
            (second,) = torch.autograd.grad(first[:, 0].sum(), x, create_graph=True)
        return torch.cat([u, second[:, :1] + u], dim=1)


class Forces(nn.Module):
    """A force field: the negative gradient of an energy."""

    def __init__(self):
        super().__init__()
        self.energy = nn.Sequential(nn.Linear(3, 5), nn.Softplus(), nn.Linear(5, 1))

    def forward(self, x):
        x = x.detach().requires_grad_(True)
        return -torch.autograd.grad(self.energy(x).sum(), x, create_graph=True)[0]


class TransposedVector(nn.Module):
    """A scale that is transposed, which leaves a vector as it is."""

    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(4, 3)
        self.scale = nn.Parameter(torch.randn(3))

    def forward(self, x):
        return torch.tanh(self.inner(x)) * self.scale.t()


class Scaled(nn.Module):
    """The NTK parametrisation by functional_call with derived weights."""

    def __init__(self):
        super().__init__()
        self.inner = nn.Sequential(
            nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 2)
        )

    def forward(self, x):
        weights = {
            name: p * (1.5 / p.shape[-1] ** 0.5 if p.dim() == 2 else 0.1)
            for name, p in self.inner.named_parameters()
        }
        return functional_call(self.inner, weights, (x,))


def replaced_forward():
    network = nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 2))
    layer = network[0]
    layer.forward = lambda x: functional.linear(x * 2, layer.weight, layer.bias)
    return network


def replaced_sequential():
    network = nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 2))
    network.forward = lambda x: network[2](torch.sin(network[0](x)))
    return network


def replaced_convolution():
    network = nn.Sequential(nn.Conv1d(1, 3, 2), nn.Tanh(), nn.Flatten(), nn.LazyLinear(2))
    layer = network[0]
    layer._conv_forward = lambda x, weight, bias: functional.conv1d(x, weight.flip(-1), bias)
    return nn.Sequential(nn.Unflatten(1, (1, 4)), network)


class Tied(nn.Module):
    """A layer norm whose bias is its weight."""

    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(4)
        self.head = nn.Linear(4, 2)
        self.norm.bias = self.norm.weight

    def forward(self, x):
        return self.head(torch.tanh(self.norm(x)))


class InPlace(nn.Module):
    """The first layer works in place."""

    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.LeakyReLU(inplace=True), nn.Linear(4, 5), nn.ReLU(), nn.Linear(5, 2)
        )

    def forward(self, x):
        return self.net(x)


class Sorted(nn.Module):
    """Inputs are sorted inside, and outputs brought back into their order."""

    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(4, 6)
        self.head = nn.Linear(6, 2)

    def forward(self, x):
        order = x[:, 0].argsort()
        return self.head(torch.tanh(self.inner(x[order])))[order.argsort()]


class Names(nn.Module):
    """Layers called by the name of their argument."""

    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(4, 3)
        self.head = nn.Linear(3, 2)

    def forward(self, x):
        return self.head(input=torch.tanh(self.inner(input=x)))


class Words(nn.Module):
    def __init__(self, **options):
        super().__init__()
        self.table = nn.Embedding(9, 4, **options)
        self.head = nn.Linear(4, 2)

    def forward(self, x):
        return self.head(torch.tanh(self.table(x)).mean(1))


class Bag(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.EmbeddingBag(9, 4)
        self.head = nn.Linear(4, 2)

    def forward(self, x):
        return self.head(torch.tanh(self.table(x)))


class TwoTexts(nn.Module):
    """A table for two texts, of as many different words each."""

    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(9, 4)
        self.head = nn.Linear(4, 2)

    def forward(self, x):
        return self.head(torch.tanh(self.table(x)).mean(1) * self.table(8 - x).mean(1))


class Recurrent(nn.Module):
    def __init__(self, kind, **options):
        super().__init__()
        self.inner = kind(4, 3, batch_first=True, **options)
        self.head = nn.LazyLinear(2)

    def forward(self, x):
        return self.head(self.inner(x)[0][:, -1])


class TimeFirst(nn.Module):
    """Time is the first axis inside, as in many recurrent networks."""

    def __init__(self):
        super().__init__()
        self.inner = nn.LSTM(4, 3)
        self.head = nn.Linear(3, 2)

    def forward(self, x):
        return self.head(self.inner(x.transpose(0, 1))[0][-1])


class Loop(nn.Module):
    """Inputs one by one, so that the graph grows with them."""

    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(4, 3)
        self.head = nn.Linear(3, 2)

    def forward(self, x):
        return torch.stack([self.head(torch.tanh(self.inner(one))) for one in x])


class Steered(nn.Module):
    """A value decides which layer runs, input by input."""

    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 2)
        self.b = nn.Linear(4, 2)

    def forward(self, x):
        return torch.stack([self.a(one) if float(one[0]) > 0 else self.b(one) for one in x])


class Shared(nn.Module):
    """A weight that a linear layer, its transpose and a convolution use."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(4, 4))
        self.scale = nn.Parameter(torch.randn(4))

    def forward(self, x):
        h = torch.tanh(functional.linear(x, self.weight) * self.scale)
        h = torch.tanh(h @ self.weight + self.scale / 3)
        h = functional.conv1d(h[:, None], self.weight[:, None, :2], padding=1)
        return (h.mean(1) - self.scale.sum()) / (1 + self.scale[:1] ** 2)


class BothSides(nn.Module):
    """A square weight on the right and on the left of its inputs, and a product of two such."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(4, 4))
        self.head = nn.Linear(4, 2)

    def forward(self, x):
        left = torch.tanh(self.weight @ x.mT).mT
        return self.head(torch.tanh(x @ self.weight) + left)


class Masked(nn.Module):
    """Tokens, positions, a mask token, and attention with separate queries and keys."""

    def __init__(self):
        super().__init__()
        self.cls = nn.Parameter(torch.randn(1, 1, 4))
        self.mask = nn.Parameter(torch.randn(4))
        self.position = nn.Parameter(torch.randn(1, 4, 4))
        self.attention = nn.MultiheadAttention(4, 2, batch_first=True)
        self.head = nn.Linear(4, 2)

    def forward(self, x):
        x = torch.where(x[..., :1] > 0.5, self.mask, x)
        x = torch.cat([self.cls.expand(len(x), -1, -1), x], dim=1) + self.position
        return self.head(self.attention(x[:, :1], x, x)[0][:, 0])


class Checkpointed(nn.Module):
    def __init__(self, reentrant=False):
        super().__init__()
        self.reentrant = reentrant
        self.inner = nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 4))
        self.head = nn.Linear(4, 2)

    def forward(self, x):
        return self.head(checkpoint(self.inner, x, use_reentrant=self.reentrant))


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight):
        ctx.save_for_backward(x, weight)
        return x @ (weight * weight)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, g):
        x, weight = ctx.saved_tensors
        return g @ (weight * weight).mT, 2 * weight * (x.mT @ g)


class Sums(nn.Module):
    """Sums of parameters, and of the entries of one."""

    def __init__(self):
        super().__init__()
        self.first, self.second = (nn.Parameter(torch.randn(4, 2)) for _ in range(2))
        self.rows = nn.Parameter(torch.randn(3, 2))

    def forward(self, x):
        return x @ (self.first + self.second) * self.rows.sum(0) + self.rows.mean()


class Custom(nn.Module):
    """An operation with a backward pass of its own, for which there is no rule."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(4, 3))
        self.head = nn.Linear(3, 2)

    def forward(self, x):
        return self.head(torch.tanh(Square.apply(x, self.weight)))


class ComplexInside(nn.Module):
    """A filter of real weights on the Fourier transform of an input."""

    def __init__(self):
        super().__init__()
        self.filter = nn.Parameter(torch.randn(3))
        self.head = nn.Linear(4, 2)

    def forward(self, x):
        return self.head(torch.fft.irfft(torch.fft.rfft(x) * self.filter, n=4))


def normed(make):
    return lambda: nn.Sequential(make(nn.Linear(4, 5)), nn.Tanh(), make(nn.Linear(5, 2)))


class Frames(nn.Module):
    """A convolution over the frames of a film, which lie on the axis of inputs."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(1, 3, 2)
        self.norm = nn.GroupNorm(1, 3)
        self.head = nn.Linear(3, 2)
        self.up = nn.ConvTranspose1d(3, 3, 2, stride=2)

    def forward(self, x):  # (N, T, 4)
        h = torch.tanh(self.norm(self.conv(x.reshape(-1, 1, 4))))
        h = torch.tanh(self.up(h)).mean(-1).view(len(x), -1, 3)
        return self.head(h.mean(1))


class Transposed(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.ConvTranspose2d(2, 4, (3, 2), stride=2, padding=(1, 0), groups=2)
        self.act = nn.PReLU(4)
        self.head = nn.LazyLinear(2)

    def forward(self, x):
        return self.head(self.act(self.up(x)).flatten(1))


def hard():
    return nn.Sequential(nn.Linear(4, 5), nn.Hardsigmoid(), nn.LayerNorm(5))


def without_padding():
    """Settings of a convolution that autograd keeps as one number for all axes."""
    return nn.Sequential(
        nn.Conv2d(2, 3, 2, padding="valid"), nn.Tanh(), nn.Flatten(), nn.LazyLinear(2)
    )


def compiled_by_tracing():
    network = nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 2)).double()
    return torch.jit.trace(network, torch.randn(3, 4, dtype=torch.float64))


class BilinearTwice(nn.Module):
    """A module without a rule that is held and used twice."""

    def __init__(self):
        super().__init__()
        product = nn.Bilinear(4, 4, 4)
        self.products = nn.ModuleList([product, product])
        self.head = nn.Linear(4, 2)

    def forward(self, x):
        for product in self.products:
            x = torch.tanh(product(x, x))
        return self.head(x)


class OtherType(nn.Module):
    """A layer that computes in another type than the others, as in state-space models."""

    def __init__(self, dtype):
        super().__init__()
        self.dtype = dtype
        self.first = nn.Linear(4, 60)
        self.inner = nn.Linear(60, 60, bias=False)
        self.head = nn.Linear(60, 2)

    def forward(self, x):
        h = torch.tanh(self.first(x)).to(self.dtype)
        h = functional.linear(h, self.inner.weight.to(self.dtype))
        return self.head(torch.tanh(h).mean(1).to(x.dtype))


class Remembering(nn.Module):
    """What follows from a parameter is kept in eval mode until `train` is called, as in LeViT."""

    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(4, 5)
        self.head = nn.Linear(5, 2)
        self.scale = nn.Parameter(torch.randn(5))
        self.kept = None

    def train(self, mode=True):
        super().train(mode)
        self.kept = None if mode else self.kept
        return self

    def forward(self, x):
        scale = self.scale.exp() if self.kept is None else self.kept
        self.kept = None if self.training else scale
        return self.head(torch.tanh(self.inner(x)) * scale)


class Completing(nn.Module):
    """A buffer gets its values and its shape at the first input, as in ConViT."""

    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(4, 5)
        self.head = nn.Linear(5, 2)
        self.register_buffer("places", torch.zeros(1), persistent=False)

    def forward(self, x):
        if len(self.places) != 5:
            self.places = torch.linspace(1, 2, 5, dtype=x.dtype)
        return self.head(torch.tanh(self.inner(x)) * self.places)


VECTOR = (4,)
SEQUENCE = (3, 4)
IMAGE = (2, 3, 3)
RIGHT = {
    "physics-informed (F1)": (Physics, (2,)),
    "force field (F1)": (Forces, (3,)),
    "functional_call, NTK parametrisation (F2)": (Scaled, VECTOR),
    "forward of a layer replaced (F3)": (replaced_forward, VECTOR),
    "forward of a Sequential replaced (F3)": (replaced_sequential, VECTOR),
    "_conv_forward replaced (F3)": (replaced_convolution, VECTOR),
    "inputs sorted inside (F8)": (Sorted, VECTOR),
    "first layer in place (F8)": (InPlace, VECTOR),
    "bias is weight (F8)": (Tied, VECTOR),
    "scale transposed": (TransposedVector, VECTOR),
    "arguments by name": (Names, VECTOR),
    "GRU": (partial(Recurrent, nn.GRU, num_layers=2), SEQUENCE),
    "LSTM": (partial(Recurrent, nn.LSTM, bidirectional=True), SEQUENCE),
    "RNN": (partial(Recurrent, nn.RNN), SEQUENCE),
    "LSTM, time first": (TimeFirst, SEQUENCE),
    "a loop over inputs": (Loop, VECTOR),
    "steered by values": (Steered, VECTOR),
    "shared by unlike operations": (Shared, VECTOR),
    "on both sides": (BothSides, VECTOR),
    "bilinear, twice": (BilinearTwice, VECTOR),
    "tokens and attention": (Masked, SEQUENCE),
    "checkpoint": (Checkpointed, VECTOR),
    "sums of parameters": (Sums, VECTOR),
    "operation without a rule": (Custom, VECTOR),
    "complex inside": (ComplexInside, VECTOR),
    "weight norm": (normed(nn.utils.parametrizations.weight_norm), VECTOR),
    "spectral norm": (normed(nn.utils.parametrizations.spectral_norm), VECTOR),
    "orthogonal": (normed(nn.utils.parametrizations.orthogonal), VECTOR),
    "frames on the axis of inputs": (Frames, SEQUENCE),
    "transposed convolution": (Transposed, IMAGE),
    "traced by jit": (compiled_by_tracing, VECTOR),
    "Hardsigmoid": (hard, VECTOR),
    "convolution, padding by name": (without_padding, IMAGE),
}


WORDS = {
    "embedding": Words,
    "sparse embedding": partial(Words, sparse=True),
    "padding": partial(Words, padding_idx=2),
    "bag": Bag,
    "two texts": TwoTexts,
}
