"""The gates of a torch module: which units are on for which inputs."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.overrides import TorchFunctionMode

from finitewidth.common.errors import ConfigError

NAMES = (
    "relu", "relu_", "relu6", "leaky_relu", "leaky_relu_", "prelu", "elu", "elu_", "selu", "celu",
    "gelu", "silu", "mish", "softplus", "hardswish", "tanh", "tanh_", "sigmoid", "sigmoid_",
)  # fmt: skip
ACTIVATIONS = {
    getattr(place, name): name.strip("_")
    for name in NAMES
    for place in (functional, torch, Tensor)
    if hasattr(place, name)
}
CLAMPS = (torch.clamp, torch.clamp_min, Tensor.clamp, Tensor.clamp_, Tensor.clamp_min)


@dataclass(frozen=True)
class Gates:
    """The gates of one layer.

    Attributes:
        activation: name of the activation, such as ``relu``.
        on: (N, units), bool: whether the input of the activation is positive. For ``relu`` these
            are the gates; for smooth activations the sign decides on which side a unit works.
    """

    activation: str
    on: Tensor


class _Recorder(TorchFunctionMode):
    """Keep the signs of what is given to activations, as modules or as functions."""

    def __init__(self):
        super().__init__()
        self.found: list[Gates] = []

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None):
        kwargs = kwargs or {}
        name = ACTIVATIONS.get(function, "")
        if function in CLAMPS:
            low = kwargs.get("min", args[1] if len(args) > 1 else None)
            name = "relu" if isinstance(low, int | float) and low == 0 else ""
        if name:
            before = args[0] if args else kwargs["input"]
            rows = before.shape[0] if before.dim() else 1
            on = (before.detach() > 0).reshape(rows, -1)  # now: the activation may work in place
            self.found.append(Gates(name, on))
        return function(*args, **kwargs)


def gates_of(network: nn.Module, x: Tensor) -> list[Gates]:
    """Return the gates of all layers in the order of the forward pass.

    Args:
        network: a module in eval mode.
        x: inputs (N, ...).

    Raises:
        ConfigError: the network calls no known activation, or one whose first axis is not that of
            the inputs.
    """
    with torch.no_grad(), _Recorder() as recorder:
        network(x)
    if not recorder.found:
        raise ConfigError("network: it calls no activation that has gates, such as torch.nn.ReLU")
    for place, layer in enumerate(recorder.found, start=1):
        if len(layer.on) != len(x):
            raise ConfigError(f"network: activation {place} ({layer.activation}) is given "
                              f"{len(layer.on)} rows for {len(x)} inputs; its first axis must be "
                              "that of the inputs")  # fmt: skip
    return recorder.found
