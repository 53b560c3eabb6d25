"""The operations of a torch module, read by `torch.fx`, and carried out on laws of tensors."""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, fx, nn
from torch.nn import functional
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.dropout import _DropoutNd

from finitewidth.common.errors import ConfigError
from finitewidth.kernels.wide import activations, layers
from finitewidth.kernels.wide.calculated import calculated, flat, scaled
from finitewidth.kernels.wide.composed import ELEMENTWISE, function_of_one
from finitewidth.kernels.wide.law import TOKENS, WEIGHTED, LayerLaw, Weighted
from finitewidth.kernels.wide.layers import Signal, refused
from finitewidth.kernels.wide.shapes import averaged, like, shaped
from finitewidth.kernels.wide.weighted import weighted

POOLS = (nn.AvgPool1d, nn.AvgPool2d, nn.AdaptiveAvgPool1d, nn.AdaptiveAvgPool2d)
POOLING = {
    functional.avg_pool1d,
    functional.avg_pool2d,
    functional.adaptive_avg_pool1d,
    functional.adaptive_avg_pool2d,
}
ADDITIONS = {"add", "iadd", "sub", "add_"}
SCALINGS = {"mul", "imul", "truediv", "div", "mul_", "div_", "neg"}
DIVISIONS = {"truediv", "div", "div_"}
UNCHANGED = {"contiguous", "clone", "float", "double", "type_as"}
SHAPING = {"flatten", "view", "reshape", "squeeze", "unsqueeze", "permute", "transpose"}


def traced(network: nn.Module) -> fx.GraphModule:
    """Return the operations of a network.

    Raises:
        ConfigError: its forward pass depends on numbers in tensors, or cannot be read otherwise.
    """
    try:
        graph = fx.symbolic_trace(network)
    except Exception as error:  # a network may raise anything
        lines = str(error).splitlines() or [type(error).__name__]
        raise ConfigError(
            f"network: torch.fx cannot read its forward pass ({lines[0]}); write it without "
            "conditions on tensors, and with x.shape[0] in place of len(x)"
        ) from error
    return graph


class Limit(fx.Interpreter):
    """Carries out the operations of a network on laws of tensors; see `layers`.

    Each value is a `Signal`, or does not depend on the inputs.
    """

    def __init__(self, graph: fx.GraphModule, laws: Mapping[str, LayerLaw]) -> None:
        super().__init__(graph, garbage_collect_values=True)
        self.laws = laws
        self.used: set[int] = set()  # weights, by their identity
        self.order = {node: number for number, node in enumerate(graph.graph.nodes)}
        self.extra_traceback = False  # messages stay as they are

    def run_node(self, node: fx.Node) -> Any:
        """Carry out one operation."""
        args, kwargs = self.fetch_args_kwargs_from_env(node)
        if node.op == "get_attr" and isinstance(self.fetch_attr(str(node.target)), nn.Parameter):
            raise refused(f"parameter {node.target!r}", "is used outside a layer that has a rule")
        if node.op == "output":
            return super().run_node(node)
        if not any(isinstance(value, Signal) for value in flat(args, kwargs)):
            self._check_constant(node)
            return super().run_node(node)
        operation = f"operation {_name(node.target)!r}"
        self._check_in_place(node, operation)
        if node.op == "call_module":
            if len(args) != 1 or kwargs or not isinstance(args[0], Signal):
                reason = "must be given one tensor by position"
                raise refused(f"module {str(node.target)!r}", reason)
            return self._module(str(node.target), args[0])
        if isinstance(node.target, str):  # a method
            return self._call(node.target, operation, getattr(Tensor, node.target), args, kwargs)
        return self._call(_name(node.target), operation, node.target, args, kwargs)

    def _check_constant(self, node: fx.Node) -> None:
        """Refuse a module with weights that acts on what does not depend on the inputs."""
        if node.op == "call_module" and list(self.fetch_attr(str(node.target)).parameters()):
            reason = "does not act on the inputs, or on a tensor that depends on them"
            raise refused(f"module {str(node.target)!r}", reason)

    def _check_in_place(self, node: fx.Node, operation: str) -> None:
        """Refuse to change a tensor in place that is used later."""
        module = self.fetch_attr(str(node.target)) if node.op == "call_module" else None
        name = _name(node.target)
        by_name = name.endswith("_") or name in ("iadd", "imul", "isub", "itruediv")
        if not (by_name or node.kwargs.get("inplace") or getattr(module, "inplace", False)):
            return
        changed = node.args[0]
        assert isinstance(changed, fx.Node)
        later = [user for user in changed.users if self.order[user] > self.order[node]]
        if later:
            raise refused(operation, "changes a tensor in place that is used later; change a copy")

    def _module(self, name: str, signal: Signal) -> Signal:
        """Apply a module.

        Raises:
            ConfigError: there is no rule for it.
        """
        module = self.fetch_attr(name)
        operation = f"module {name!r} ({type(module).__name__})"
        _check_module(operation, module)
        if type(module) in WEIGHTED:
            return self._weighted(name, module, signal)
        if signal.inputs is not None and not list(module.parameters()):
            return calculated(operation, module, (signal,), {})
        if isinstance(module, nn.Identity | _DropoutNd):
            return signal
        if isinstance(module, nn.Flatten):
            return shaped(operation, signal, lambda x: module(x))
        if isinstance(module, POOLS):
            return averaged(operation, signal, module)
        if isinstance(module, nn.LayerNorm):
            return layers.normalised(operation, module, signal)
        root = function_of_one(module, (signal,), {})
        if type(module) in activations.ACTIVATIONS:
            dual = activations.ACTIVATIONS[type(module)](module)
            return layers.activated(operation, dual, signal, root)
        if type(module) in activations.ELEMENTWISE:
            return layers.activated(operation, None, signal, root)
        raise refused(operation, _reason(module))

    def _weighted(self, name: str, module: Weighted, signal: Signal) -> Signal:
        """Apply a layer with weights, each of which must be used once."""
        parameters = {id(parameter) for parameter in module.parameters()}
        if parameters & self.used:
            reason = "is used twice, or shares weights; there is no rule for the limit of that"
            raise refused(f"module {name!r}", reason)
        self.used |= parameters
        dtype = torch.long if isinstance(module, TOKENS) else module.weight.dtype
        example = torch.zeros(signal.shape, dtype=dtype, device=module.weight.device)
        return weighted(name, module, self.laws[name], signal, module(example).shape)

    def _call(
        self,
        name: str,
        operation: str,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:
        """Apply a function or method.

        Raises:
            ConfigError: there is no rule for it.
        """
        signals = [value for value in flat(args, kwargs) if isinstance(value, Signal)]
        if name == "getattr":
            return getattr(like(args[0]), args[1])
        if name in ("size", "dim", "len"):
            return function(like(args[0]), *args[1:])
        if name == "dropout":
            if _argument("training", 2, args, kwargs, default=True):
                raise refused(operation, "draws random numbers; call network.eval()")
            return signals[0]
        if all(signal.inputs is not None for signal in signals):
            return calculated(operation, function, args, kwargs)
        if name in UNCHANGED:
            return signals[0]
        if name in ("cat", "concat"):
            axis = _argument("dim", 1, args, kwargs, default=0)
            shape = torch.cat([like(part) for part in args[0]], axis).shape
            return layers.concatenated(operation, list(args[0]), axis, shape)
        if name in SHAPING:
            return shaped(operation, signals[0], lambda x: function(x, *args[1:], **kwargs))
        if name == "mean" or function in POOLING:
            return averaged(operation, signals[0], lambda x: function(x, *args[1:], **kwargs))
        return _elementwise(name, operation, function, args, kwargs)


def _elementwise(
    name: str,
    operation: str,
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Signal:
    """Apply a sum, a product with a number, or an activation."""
    signals = [value for value in flat(args, kwargs) if isinstance(value, Signal)]
    signal = signals[0]
    root = function_of_one(function, args, kwargs)
    if len(signals) > 1 and root is not None and name.rstrip("_") in ELEMENTWISE:
        return layers.activated(operation, None, signal, root)
    if name in ADDITIONS and len(signals) == 2 and "alpha" not in kwargs:
        return layers.added(operation, *signals)
    by_tensor = name in DIVISIONS and args[0] is not signal
    if name in SCALINGS and len(signals) == 1 and not kwargs and not by_tensor:
        return scaled(operation, function, args, signal, root)
    if function in activations.ACTIVATIONS:
        dual = activations.ACTIVATIONS[function](*args[1:], **kwargs)
        return layers.activated(operation, dual, signal, root)
    name = name.rstrip("_")
    if name in activations.NAMED:
        return layers.activated(operation, activations.NAMED[name], signal, root)
    if name in activations.SMOOTH or (name in ELEMENTWISE and root is not None):
        return layers.activated(operation, None, signal, root)
    raise refused(operation, "has no rule for its limit")


def _argument(
    name: str, position: int, args: tuple[Any, ...], kwargs: dict[str, Any], default: Any
) -> Any:
    """Return an argument of a function that was given by name, by position, or not at all."""
    if name in kwargs:
        return kwargs[name]
    return args[position] if len(args) > position else default


def _name(target: Any) -> str:
    """Return the name of a function, method or module that a node of a graph calls."""
    return target if isinstance(target, str) else getattr(target, "__name__", str(target))


def _check_module(operation: str, module: nn.Module) -> None:
    """Refuse modules that do something else than their type says, or that draw random numbers."""
    if module._forward_hooks or module._forward_pre_hooks:
        raise refused(operation, "has hooks, such as those of a weight norm")
    if isinstance(module, _DropoutNd) and module.training and module.p > 0:
        raise refused(operation, "is in train mode and draws random numbers; call network.eval()")
    if isinstance(module, _BatchNorm):
        raise refused(operation, _reason(module))


def _reason(module: nn.Module) -> str:
    """Return why a module has no limit here."""
    kind = type(module).__name__
    if isinstance(module, _BatchNorm):
        return "normalises with statistics of a batch or of a training; use nn.LayerNorm, or none"
    if "MaxPool" in kind:
        return "takes a maximum over positions, which has no closed form; use an average"
    if "Attention" in kind or "Softmax" in kind or "Transformer" in kind:
        return "has a softmax, for which there is no limit in closed form in general"
    if isinstance(module, nn.RNNBase | nn.RNNCellBase):
        return "uses its weights again at each time, for which there is no rule"
    return "has no rule for its limit"
