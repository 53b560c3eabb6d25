"""Fully connected networks, single or stacked, as the closed forms of `dense` need them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np
import torch
from torch import Tensor, nn

from finitewidth.common.errors import ConfigError
from finitewidth.kernels.ntk_init.activations import (
    RELU,
    TANH,
    Activation,
    TensorMap,
    activation_of,
)
from finitewidth.kernels.shapes import check_network

GLOBAL_HOOKS = (
    torch.nn.modules.module._global_forward_hooks,
    torch.nn.modules.module._global_forward_pre_hooks,
    torch.nn.modules.module._global_backward_hooks,
)
IDENTITY = Activation("identity", lambda h: h, torch.ones_like)
ELEMENTWISE = (
    nn.CELU,
    nn.ELU,
    nn.GELU,
    nn.Hardsigmoid,
    nn.Hardswish,
    nn.Hardtanh,
    nn.LeakyReLU,
    nn.LogSigmoid,
    nn.Mish,
    nn.ReLU6,
    nn.SELU,
    nn.SiLU,
    nn.Sigmoid,
    nn.Softplus,
    nn.Softsign,
    nn.Tanhshrink,
)


@dataclass(frozen=True)
class FullyConnected:
    """One fully connected network, or a stack of R networks of the same shape.

    h_l = x_(l-1) W_l + b_l, x_l = phi(h_l), with l = 1..L. The output is h_L, or x_L if
    ``activated_output``. The leading axes of all tensors are the replicas; they may be missing.

    Attributes:
        weights: W_1 .. W_L, (..., n_(l-1), n_l).
        biases: b_1 .. b_L, (..., n_l). None for a network without biases; they are then not counted
            as parameters.
        activation: phi: "relu", "tanh", "erf", or an elementwise torch callable.
        activated_output: True if phi is also applied to the last layer.
        names: names of the layers; their numbers from 0 by default.

    Raises:
        ConfigError: the shapes do not match or the activation is unknown.

    Examples:
        >>> import torch
        >>> import finitewidth as fw
        >>> weights = [torch.randn(3, 5), torch.randn(5, 2)]
        >>> network = fw.FullyConnected(weights, biases=None, activation="relu")
        >>> fw.traced_kernel(network, torch.randn(4, 3)).shape
        torch.Size([4, 4])
    """

    weights: Sequence[Tensor]
    biases: Sequence[Tensor] | None
    activation: str | Activation | TensorMap
    activated_output: bool = False
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not len(self.weights):
            raise ConfigError("weights: the list is empty; it needs at least the output layer")
        object.__setattr__(self, "activation", activation_of(self.activation))
        names = self.names or tuple(str(layer) for layer in range(len(self.weights)))
        object.__setattr__(self, "names", names)
        first = self.weights[0]
        check_network(first.new_empty((1, first.shape[-2])), self.weights, self.biases)

    @property
    def outputs(self) -> int:
        """Return the number of outputs, K."""
        return self.weights[-1].shape[-1]

    @property
    def replicas(self) -> tuple[int, ...]:
        """Return the leading axes, (R,) for a stack and () for one network."""
        return np.broadcast_shapes(*(weight.shape[:-2] for weight in self.weights))

    @property
    def count(self) -> int:
        """Return the number of networks, R; 1 for one network."""
        return prod(self.replicas)

    @property
    def parameters(self) -> list[Tensor]:
        """Return the weights, then the biases."""
        return [*self.weights, *(self.biases or ())]

    def with_parameters(self, parameters: Sequence[Tensor]) -> "FullyConnected":
        """Return the same networks with other tensors, in the order of ``parameters``."""
        depth = len(self.weights)
        biases = None if self.biases is None else tuple(parameters[depth:])
        return replace(self, weights=tuple(parameters[:depth]), biases=biases)

    def copy(self, dtype: torch.dtype | None = None) -> "FullyConnected":
        """Return a copy in its own memory."""
        return self.with_parameters(
            [t.to(dtype or t.dtype, copy=True).contiguous() for t in self.parameters]
        )

    def select(self, places: Sequence[int] | np.ndarray) -> "FullyConnected":
        """Return a copy of the networks at some places of a stack, in that order."""
        index = torch.as_tensor(places, dtype=torch.int64, device=self.weights[0].device)
        return self.with_parameters([t.index_select(0, index) for t in self.parameters])

    def without_output(self) -> "FullyConnected":
        """Return the network whose outputs are the features x_(L-1), the last hidden layer.

        Raises:
            ConfigError: there is no hidden layer.
        """
        if len(self.weights) < 2:
            raise ConfigError("network: it has one layer; features need at least one hidden layer")
        biases = None if self.biases is None else self.biases[:-1]
        return replace(
            self,
            weights=self.weights[:-1],
            biases=biases,
            names=self.names[:-1],
            activated_output=True,
        )


def as_fully_connected(network: nn.Module) -> FullyConnected | None:
    """Return a torch network in this form if it is a plain stack of dense layers, else None.

    It must be an `nn.Sequential` of `nn.Linear` layers with the same elementwise activation after
    each, or with none. It may start with `nn.Flatten` and end with the activation. All parameters
    must be real and trainable, all layers different, and no module may have hooks or a forward of
    its own.
    """
    if type(network) is not nn.Sequential or any(map(_is_changed, network.modules())):
        return None
    by_name = list(_leaves(network))
    if by_name and _is_flatten(by_name[0][1]):
        by_name = by_name[1:]
    modules = [module for _, module in by_name]
    names = [name for name, module in by_name if type(module) is nn.Linear]
    layers = [module for module in modules if type(module) is nn.Linear]
    if not layers or modules[0] is not layers[0] or not all(map(_is_plain, layers)):
        return None
    if _share_parameters(layers):
        return None
    activation = _common_activation(modules)
    with_bias = [module.bias is not None for module in layers]
    if activation is None or len({*with_bias}) > 1:
        return None
    biases = [module.bias.detach() for module in layers] if with_bias[0] else None
    return FullyConnected(
        weights=[module.weight.detach().mT for module in layers],
        biases=biases,
        activation=activation,
        activated_output=type(modules[-1]) is not nn.Linear,
        names=tuple(names),
    )


def _is_flatten(module: nn.Module) -> bool:
    """Tell whether a module flattens inputs (N, ...) to (N, n0)."""
    return type(module) is nn.Flatten and module.start_dim == 1


def _share_parameters(layers: Sequence[nn.Linear]) -> bool:
    """Tell whether a parameter belongs to two layers."""
    seen = set()
    for layer in layers:
        for parameter in layer._parameters.values():
            if parameter is None:
                continue
            if id(parameter) in seen:
                return True
            seen.add(id(parameter))
    return False


def _leaves(network: nn.Sequential, prefix: str = "") -> Iterator[tuple[str, nn.Module]]:
    for name, module in network._modules.items():  # named_children leaves out repeated modules
        if type(module) is nn.Sequential:
            yield from _leaves(module, f"{prefix}{name}.")
        else:
            yield prefix + name, module


def _is_plain(module: nn.Linear) -> bool:
    """Tell whether a linear layer has a weight and a bias or none, real and trainable."""
    if set(module._parameters) != {"weight", "bias"}:
        return False
    parameters = [p for p in module._parameters.values() if p is not None]
    return all(p.requires_grad and not p.is_complex() for p in parameters)


def _is_changed(module: nn.Module) -> bool:
    """Tell whether a module computes something else than its class says."""
    hooks = (
        module._forward_hooks,
        module._forward_pre_hooks,
        module._backward_hooks,
        module._backward_pre_hooks,
        *GLOBAL_HOOKS,
    )
    return any(hooks) or "forward" in vars(module)


def _common_activation(modules: Sequence[nn.Module]) -> Activation | None:
    """Return the activation between linear layers; None if they differ or are not elementwise."""
    runs: list[list[nn.Module]] = []  # the modules after each linear layer
    for module in modules:
        if type(module) is nn.Linear:
            runs.append([])
        elif runs:
            runs[-1].append(module)
    if not runs[-1] and len(runs) > 1:  # a linear output
        runs = runs[:-1]
    kinds = {tuple(map(_kind, run)) for run in runs}
    if len(kinds) != 1 or len(runs[0]) > 1:
        return None
    return _activation(runs[0][0]) if runs[0] else IDENTITY


def _kind(module: nn.Module) -> str:
    """Return a text that is equal for modules that compute the same."""
    return repr(module).replace("inplace=True", "")


def _activation(module: nn.Module) -> Activation | None:
    if type(module) is nn.ReLU:
        return RELU
    if type(module) is nn.Tanh:
        return TANH
    if type(module) is nn.Identity:
        return IDENTITY
    if type(module) in ELEMENTWISE:
        return activation_of(lambda h: module(h.clone()))  # it may work in place
    return None
