"""The activations of torch, as modules, functions and methods, and their means.

Those without a closed form are computed by a series.
"""

from collections.abc import Callable
from typing import Any

from torch import nn
from torch.nn import functional

from finitewidth.kernels.wide import duals, hermite
from finitewidth.kernels.wide.duals import Dual

ACTIVATIONS: dict[Any, Callable[..., Dual]] = {
    nn.ReLU: lambda module: duals.RELU,
    nn.LeakyReLU: lambda module: duals.piecewise_linear(module.negative_slope, 1.0),
    nn.GELU: lambda module: (
        duals.GELU if module.approximate == "none" else hermite.by_series(module)
    ),
    functional.relu: lambda inplace=False: duals.RELU,
    functional.leaky_relu: lambda negative_slope=0.01, inplace=False: duals.piecewise_linear(
        negative_slope, 1.0
    ),
    functional.gelu: lambda approximate="none": (
        duals.GELU
        if approximate == "none"
        else hermite.by_series(lambda h: functional.gelu(h, approximate=approximate))
    ),
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
