"""The activations of torch, as modules, functions and methods, and their means.

Those without a closed form are computed by a series.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

from torch import nn
from torch.nn import functional

from finitewidth.kernels.wide import duals, hermite
from finitewidth.kernels.wide.duals import Dual


def _relu(inplace: bool = False) -> Dual:
    return duals.RELU


def _leaky_relu(negative_slope: float = 0.01, inplace: bool = False) -> Dual:
    return duals.piecewise_linear(negative_slope, 1.0)


def _gelu(approximate: str = "none") -> Dual:
    if approximate == "none":
        return duals.GELU
    return hermite.by_series(partial(functional.gelu, approximate=approximate))


# modules, which are the argument, and functions, whose further arguments are those of the dual
ACTIVATIONS: dict[Any, Callable[..., Dual]] = {
    nn.ReLU: lambda module: duals.RELU,
    nn.LeakyReLU: lambda module: _leaky_relu(module.negative_slope),
    nn.GELU: lambda module: _gelu(module.approximate),
    functional.relu: _relu,
    functional.leaky_relu: _leaky_relu,
    functional.gelu: _gelu,
}
# by the name of the function or method
NAMED = {
    "relu": duals.RELU,
    "abs": duals.ABSOLUTE,
    "erf": duals.ERF,
    "sin": duals.SIN,
    "cos": duals.COS,
}
SMOOTH = {"tanh", "sigmoid", "silu", "softplus", "elu", "selu", "celu", "mish"}  # by a series
ELEMENTWISE = (
    nn.Tanh,
    nn.Sigmoid,
    nn.SiLU,
    nn.Softplus,
    nn.ELU,
    nn.SELU,
    nn.CELU,
    nn.Mish,
    nn.Softsign,
    nn.LogSigmoid,
    nn.Hardtanh,
    nn.ReLU6,
    nn.Hardswish,
    nn.Hardsigmoid,
)  # modules, by a series
