"""Gates of a network on some inputs: shares of gates that are on, and kernels of the gates."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.overrides import TorchFunctionMode

from finitewidth.common.errors import ConfigError
from finitewidth.kernels.npk import SingularKernelError, npk
from finitewidth.kernels.trained import as_fully_connected
from finitewidth.kernels.trained.batches import Batch
from finitewidth.measures.blocks import block_means

PATHS = "neural path kernel"
OVERLAP = "overlap of gates"
NAMES = (
    "relu",
    "relu_",
    "relu6",
    "leaky_relu",
    "leaky_relu_",
    "prelu",
    "elu",
    "elu_",
    "selu",
    "celu",
    "gelu",
    "silu",
    "mish",
    "softplus",
    "hardswish",
    "tanh",
    "tanh_",
    "sigmoid",
    "sigmoid_",
)
CLAMPS = (torch.clamp, torch.clamp_min, Tensor.clamp, Tensor.clamp_, Tensor.clamp_min)


def _functions() -> dict[Callable[..., Any], str]:
    """Return the functions and methods of torch that are activations, with their names."""
    functions = {}
    for name in NAMES:
        for namespace in (functional, torch, Tensor):
            if hasattr(namespace, name):
                functions[getattr(namespace, name)] = name.strip("_")
    return functions


ACTIVATIONS = _functions()


@dataclass(frozen=True)
class Gates:
    """The gates of one layer, which has an activation such as ``relu``.

    ``on`` (N, units), bool, tells whether the input of the activation is positive. For ``relu``
    these are the gates; for smooth activations the sign decides on which side a unit works.
    """

    activation: str
    on: Tensor


class _Recorder(TorchFunctionMode):
    """Records the signs of the inputs of activations, which are modules or functions."""

    def __init__(self) -> None:
        super().__init__()
        self.layers: list[Gates] = []

    def __torch_function__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        name = _activation_name(function, args, kwargs)
        if name:
            before = args[0] if args else kwargs["input"]
            rows = before.shape[0] if before.dim() else 1
            on = (before.detach() > 0).reshape(rows, -1)  # now: the activation may work in place
            self.layers.append(Gates(name, on))
        return function(*args, **kwargs)


def _activation_name(function: Any, args: Any, kwargs: Any) -> str:
    """Return the name of the activation that a call computes; empty if it computes none."""
    if function not in CLAMPS:
        return ACTIVATIONS.get(function, "")
    least = kwargs.get("min", args[1] if len(args) > 1 else None)
    is_relu = isinstance(least, int | float) and least == 0
    return "relu" if is_relu else ""


def gates_of(network: nn.Module, x: Batch) -> list[Gates]:
    """Return the gates of all layers on inputs (N, ...), in the order of the forward pass.

    The network is a module in eval mode.

    Raises:
        ConfigError: the network calls no known activation, or one whose first axis is not that of
            the inputs.
    """
    with torch.no_grad(), _Recorder() as recorder:
        x.passed_to(network)
    if not recorder.layers:
        raise ConfigError("network: it calls no activation that has gates, such as torch.nn.ReLU")
    for number, layer in enumerate(recorder.layers, start=1):
        if len(layer.on) != len(x):
            raise ConfigError(
                f"network: activation {number} ({layer.activation}) is given "
                f"{len(layer.on)} rows for {len(x)} inputs; its first axis must be "
                "that of the inputs"
            )
    return recorder.layers


def gate_kernel(network: nn.Module, gates: Sequence[Gates], x: Batch) -> tuple[str, np.ndarray]:
    """Return the name and the kernel (S, S) of the gates of a network.

    It is the neural path kernel H = Sigma ⊙ Lambda (NPF Lemma 2.1) over its trace for fully
    connected ReLU networks, where Lambda counts the paths that are on for both inputs. Paths that
    begin at a bias are not counted, and without any path the kernel is nan. For other networks it
    is the mean over layers of the share of units that are on for both inputs. ``gates`` are those
    of the inputs x (S, ...), from `gates_of`.
    """
    dense = as_fully_connected(network)
    all_relu = all(layer.activation == "relu" for layer in gates)
    if not dense or dense.activated_output or not all_relu:
        return OVERLAP, np.mean([_shared(layer) for layer in gates], axis=0)
    inputs = x.tensors[0].flatten(1)
    try:
        kernel = npk(inputs, [layer.on.double() for layer in gates], normalise="trace")
    except SingularKernelError:  # in some layer no gate is on
        return PATHS, np.full((len(x), len(x)), np.nan)
    return PATHS, kernel.cpu().numpy()


def gate_shares(
    gates: Sequence[Gates], first: Sequence[Gates], labels: np.ndarray
) -> list[dict[str, Any]]:
    """Return for each layer which share of its gates is on, and which has changed.

    Returns:
        For each layer: ``layer`` (from 1), ``activation``, ``units``, ``active`` (share of gates
        that are on), ``changed`` (share of gates that differ from ``first``, those of an earlier
        time on the same inputs), ``same_class`` and ``other_class`` (share of units that are on for
        both inputs, mean over pairs by their labels (S,)).
    """
    rows = []
    for number, (now, before) in enumerate(zip(gates, first, strict=True), start=1):
        means = block_means(_shared(now), labels)
        rows.append(
            {
                "layer": number,
                "activation": now.activation,
                "units": now.on.shape[1],
                "active": float(means.diagonal),
                "changed": float((now.on != before.on).double().mean()),
                "same_class": float(means.same_class),
                "other_class": float(means.other_class),
            }
        )
    return rows


def _shared(layer: Gates) -> np.ndarray:
    """Return the share of units that are on for both inputs, (S, S)."""
    on = layer.on.double()
    return (on @ on.mT / on.shape[1]).cpu().numpy()
