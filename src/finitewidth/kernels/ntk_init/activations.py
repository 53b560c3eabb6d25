"""Activations with their derivatives, by name or by callable."""

from collections.abc import Callable
from dataclasses import dataclass

import torch

from finitewidth.kernels.ntk_init.initialisation import refuse

TensorMap = Callable[[torch.Tensor], torch.Tensor]


@dataclass(frozen=True)
class Activation:
    """An elementwise activation phi and its derivative, both float64 tensor -> tensor.

    ``name`` is "relu", "erf" or "tanh" for the built-in ones; closed forms are looked up by it.
    """

    name: str
    value: TensorMap
    slope: TensorMap


def _erf_slope(h: torch.Tensor) -> torch.Tensor:
    return torch.exp(-h * h).mul_(2 / torch.pi**0.5)


def _tanh_slope(h: torch.Tensor) -> torch.Tensor:
    t = torch.tanh(h)
    return 1 - t * t


RELU = Activation("relu", torch.relu, lambda h: (h > 0).to(h.dtype))
ERF = Activation("erf", torch.erf, _erf_slope)
TANH = Activation("tanh", torch.tanh, _tanh_slope)
NAMED = {activation.name: activation for activation in (RELU, ERF, TANH)}


def slope_by_autograd(function: TensorMap) -> TensorMap:
    """The derivative of an elementwise function by automatic differentiation.

    It stores each derivative; relu'(0) = 0 as in torch.
    """

    def slope(h: torch.Tensor) -> torch.Tensor:
        with torch.enable_grad():
            leaf = h.detach().requires_grad_(True)
            (gradient,) = torch.autograd.grad(function(leaf).sum(), leaf)
        return gradient

    return slope


def activation_of(activation: "str | Activation | TensorMap") -> Activation:
    """The activation of a name ("relu", "erf", "tanh"), an `Activation`, or a torch callable.

    A callable must act elementwise; its derivative is taken by autograd.

    Raises:
        ConfigError: an unknown name or not a callable.
    """
    if isinstance(activation, Activation):
        return activation
    if isinstance(activation, str) and activation in NAMED:
        return NAMED[activation]
    if isinstance(activation, str) or not callable(activation):
        raise refuse(
            "activation", activation, f"one of {', '.join(NAMED)} or an elementwise callable"
        )
    name = getattr(activation, "__name__", "callable")
    return Activation(f"{name} (callable)", activation, slope_by_autograd(activation))
