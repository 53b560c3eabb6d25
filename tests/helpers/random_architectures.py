"""Random architectures with a limit of infinite width, at any width, and kernels of drawn networks.

A plan is a list of steps. `made` builds its module for a width, layer after layer.
"""

from random import Random

import pytest
import torch
from torch import Tensor, nn

import finitewidth as fw
from finitewidth.kernels.trained.budget import BudgetError

SIDE, CHANNELS, FEATURES = 5, 2, 4
SIGMA_W2, SIGMA_B2 = 1.6, 0.3
KINKED = ("relu", "leaky", "abs")
ACTIVATIONS = (*KINKED, "gelu", "erf", "sin", "cos")
BLOCKS = {
    "images": ("conv", "residual", "joined", "pool"),
    "vectors": ("dense", "residual", "norm"),
}


class Mapped(nn.Module):
    """An activation by its name."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    def forward(self, h: Tensor) -> Tensor:
        if self.name == "gelu":
            return nn.functional.gelu(h)
        if self.name == "leaky":
            return nn.functional.leaky_relu(h, 0.2)
        return getattr(torch, self.name)(h)


class Residual(nn.Module):
    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, h: Tensor) -> Tensor:
        return h + 0.7 * self.inner(h)


class Joined(nn.Module):
    def __init__(self, one: nn.Module, two: nn.Module) -> None:
        super().__init__()
        self.one = one
        self.two = two

    def forward(self, h: Tensor) -> Tensor:
        return torch.cat([self.one(h), self.two(h)], dim=1)


class Mean(nn.Module):
    def forward(self, h: Tensor) -> Tensor:
        return h.mean((2, 3))


def plan(stream: Random) -> list[tuple]:
    """Draw an architecture: its inputs, blocks that each begin with an activation, and a readout.

    A block leaves the output of a layer with weights, so that any activation may follow.
    """
    inputs = stream.choice(["images", "vectors"])
    steps: list[tuple] = [(inputs, _window(stream))]
    for _ in range(stream.randint(0, 2)):
        kind = stream.choice(BLOCKS[inputs])
        chosen = stream.choice(ACTIVATIONS), stream.choice(ACTIVATIONS)
        steps.append((kind, *chosen, _window(stream)))
    readout = stream.choice(["flatten", "mean"]) if inputs == "images" else "none"
    steps.append((readout, stream.choice(ACTIVATIONS)))
    return steps


def _window(stream: Random) -> tuple[int, int, int, str]:
    """Draw size, stride, dilation and padding of a convolution."""
    padding = stream.choice(["same", "valid", "circular"])
    return stream.randint(1, 3), stream.randint(1, 2), stream.randint(1, 2), padding


def _conv(channels: int, width: int, window: tuple, side: int) -> nn.Conv2d:
    taps, stride, dilation, padding = window
    reach = dilation * (taps - 1)
    around = 0 if padding == "valid" and reach < side - 1 else (reach + 1) // 2
    mode = "circular" if padding == "circular" and around <= side else "zeros"
    return nn.Conv2d(channels, width, taps, stride, around, dilation, padding_mode=mode)


def _block(step: tuple, shape: torch.Size, width: int) -> nn.Module:
    """Return the module of a step for tensors of a shape (1, channels, ...)."""
    kind, one, two, window = step
    channels = shape[1]
    side = shape[-1]
    taps, _, _, padding = window
    if kind == "conv":
        return nn.Sequential(Mapped(one), _conv(channels, width, window, side))
    if kind == "pool":
        pool = nn.AvgPool2d(2) if side >= 2 else nn.Identity()
        return nn.Sequential(Mapped(one), pool, _conv(channels, width, (1, 1, 1, "valid"), side))
    if kind == "norm":
        return nn.Sequential(nn.LayerNorm(channels), Mapped(one), nn.Linear(channels, width))
    if kind == "dense":
        return nn.Sequential(Mapped(one), nn.Linear(channels, width))
    images = len(shape) > 2
    odd = taps if taps % 2 else 1  # keeps the size
    same = (odd, 1, 1, "circular" if padding == "circular" else "same")
    layer = _conv(channels, channels, same, side) if images else nn.Linear(channels, channels)
    if kind == "residual":
        return Residual(nn.Sequential(Mapped(one), layer))
    last = _conv(2 * channels, width, (1, 1, 1, "valid"), side)
    branch = nn.Sequential(Mapped(two), layer, Mapped(one))
    return nn.Sequential(Joined(Mapped(one), branch), last)


def made(steps: list[tuple], width: int) -> nn.Sequential:
    """Build the network of a plan; its last layer is linear with one output."""
    (inputs, window), *blocks, (readout, activation) = steps
    first = _conv(CHANNELS, width, window, SIDE) if inputs == "images" else None
    layers = [first or nn.Linear(FEATURES, width)]
    h = layers[0](torch.zeros(1, *shape_of(steps)))
    for step in blocks:
        layers.append(_block(step, h.shape, width))
        h = layers[-1](h)
    layers.append(Mapped(activation))
    if readout != "none":
        layers.append(nn.Flatten() if readout == "flatten" else Mean())
    h = nn.Sequential(*layers[-2:])(h) if readout != "none" else h
    return nn.Sequential(*layers, nn.Linear(h.shape[1], 1)).double()


def shape_of(steps: list[tuple]) -> tuple[int, ...]:
    """Return the shape of one input."""
    return (CHANNELS, SIDE, SIDE) if steps[0][0] == "images" else (FEATURES,)


def least_budget(*arguments: object, **options: object) -> int:
    """Return the bytes with which `wide_kernel` computes one pair of inputs after another."""
    with pytest.raises(BudgetError) as error:
        fw.wide_kernel(*arguments, **options, budget=1)
    return error.value.needed


def is_kinked(steps: list[tuple]) -> bool:
    """Tell whether an activation has a kink, whose arc cosine is less exact near 1."""
    return any(name in KINKED for step in steps for name in step)


def drawn_kernels(network: nn.Sequential, x: Tensor, ntk: bool) -> tuple[Tensor, Tensor]:
    """Draw the weights; return the tangent kernel, and the NNGP kernel given the last features.

    With ``ntk``, gradients are those of the NTK parametrisation.
    """
    gains = []
    for name, parameter in network.named_parameters():
        layer = network.get_submodule(name.rpartition(".")[0])
        if isinstance(layer, nn.LayerNorm):
            gains.append(1.0)
            continue
        bias = name.endswith("bias")
        variance = SIGMA_B2 if bias else SIGMA_W2 / parameter[0].numel()
        nn.init.normal_(parameter, std=variance**0.5)
        gains.append(variance if ntk else 1.0)
    parameters = list(network.parameters())
    rows = []
    for one in x:
        gradients = torch.autograd.grad(network(one[None]).squeeze(), parameters)
        scaled = [gain**0.5 * each.flatten() for gain, each in zip(gains, gradients, strict=True)]
        rows.append(torch.cat(scaled))
    jacobian = torch.stack(rows)  # (N, number of parameters)
    features = network[:-1](x).detach()  # (N, fan-in)
    nngp = SIGMA_W2 / features.shape[1] * features @ features.mT + SIGMA_B2
    return jacobian @ jacobian.mT, nngp
