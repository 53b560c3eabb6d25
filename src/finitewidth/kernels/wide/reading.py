"""The operations of a torch module, read by `torch.fx`, and carried out on laws of tensors."""

import operator
from collections.abc import Callable, Mapping
from dataclasses import replace
from math import prod
from typing import Any

import torch
from torch import Tensor, fx, nn
from torch.nn import functional
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.dropout import _DropoutNd

from finitewidth.common.errors import ConfigError
from finitewidth.kernels.wide import duals, layers
from finitewidth.kernels.wide.law import WEIGHTED, LayerLaw, Weighted
from finitewidth.kernels.wide.layers import Signal, refused

POOLS = (nn.AvgPool1d, nn.AvgPool2d, nn.AdaptiveAvgPool1d, nn.AdaptiveAvgPool2d)
POOLING = {
    functional.avg_pool1d,
    functional.avg_pool2d,
    functional.adaptive_avg_pool1d,
    functional.adaptive_avg_pool2d,
}
ADDITIONS = {"add", "iadd", "sub", "add_"}
SCALINGS = {"mul", "imul", "truediv", "div", "mul_", "div_", "neg"}
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
    needed = [node for node in graph.graph.nodes if node.op == "placeholder" and not node.args]
    if len(needed) != 1:
        raise ConfigError(f"network: it takes {len(needed)} arguments; it must take one")
    return graph


class Limit(fx.Interpreter):
    """Carries out the operations of a network on laws of tensors; see `layers`.

    Each value is a `Signal`, or what does not depend on the inputs. A tensor for two inputs runs
    along, for its shape.
    """

    def __init__(self, graph: fx.GraphModule, laws: Mapping[str, LayerLaw]) -> None:
        super().__init__(graph, garbage_collect_values=True)
        self.laws = laws
        self.used: set[int] = set()  # weights, by their identity
        self.order = {node: at for at, node in enumerate(graph.graph.nodes)}
        self.extra_traceback = False  # messages stay as they are

    def run_node(self, node: fx.Node) -> Any:
        """Carry out one operation."""
        args, kwargs = self.fetch_args_kwargs_from_env(node)
        if node.op == "get_attr" and isinstance(self.fetch_attr(node.target), nn.Parameter):
            raise refused(f"parameter {node.target!r}", "is used outside a layer that has a rule")
        if node.op == "output" or not any(isinstance(each, Signal) for each in _flat(args, kwargs)):
            return super().run_node(node)
        what = f"operation {_name(node.target)!r}"
        self._check_in_place(node, what)
        if node.op == "call_module":
            return self._module(str(node.target), *args, **kwargs)
        if node.op == "call_method":
            return self._call(node.target, what, getattr(Tensor, node.target), args, kwargs)
        return self._call(_name(node.target), what, node.target, args, kwargs)

    def _check_in_place(self, node: fx.Node, what: str) -> None:
        """Refuse to change a tensor in place that is used later."""
        module = self.fetch_attr(node.target) if node.op == "call_module" else None
        name = _name(node.target)
        changes = name.endswith("_") or name in ("iadd", "imul", "isub", "itruediv")
        if not (changes or node.kwargs.get("inplace") or getattr(module, "inplace", False)):
            return
        later = [user for user in node.args[0].users if self.order[user] > self.order[node]]
        if later:
            raise refused(what, "changes a tensor in place that is used later; change a copy")

    def _module(self, name: str, signal: Signal) -> Signal:
        module = self.fetch_attr(name)
        what = f"module {name!r} ({type(module).__name__})"
        if module._forward_hooks or module._forward_pre_hooks:
            raise refused(what, "has hooks, such as those of a weight norm")
        if type(module) in WEIGHTED:
            return self._weighted(name, module, signal)
        if isinstance(module, _DropoutNd) and module.training and module.p > 0:
            raise refused(what, "is in train mode and draws random numbers; call network.eval()")
        if isinstance(module, _BatchNorm):
            raise refused(what, _reason(module))
        if signal.inputs is not None and not list(module.parameters()):
            return _calculated(what, module, (signal,), {})
        if isinstance(module, nn.Identity | _DropoutNd):
            return signal
        if isinstance(module, nn.Flatten):
            return _shaped(what, signal, lambda x: module(x))
        if isinstance(module, POOLS):
            return _averaged(what, signal, module)
        if isinstance(module, nn.LayerNorm):
            return layers.normalised(what, module, signal)
        if type(module) in layers.ACTIVATIONS:
            return layers.activated(what, layers.ACTIVATIONS[type(module)](module), signal)
        if type(module) in layers.ELEMENTWISE:
            return layers.activated(what, duals.by_quadrature(_not_in_place(module)), signal)
        raise refused(what, _reason(module))

    def _weighted(self, name: str, module: Weighted, signal: Signal) -> Signal:
        parameters = {id(p) for p in module.parameters()}
        if parameters & self.used:
            reason = "is used twice, or shares weights; there is no rule for the limit of that"
            raise refused(f"module {name!r}", reason)
        self.used |= parameters
        shape = module(module.weight.new_zeros(signal.shape)).shape
        return layers.weighted(name, module, self.laws[name], signal, shape)

    def _call(
        self, name: str, what: str, function: Callable, args: tuple, kwargs: dict[str, Any]
    ) -> Any:
        signals = [each for each in _flat(args, kwargs) if isinstance(each, Signal)]
        if name == "getattr":
            return getattr(_like(args[0]), args[1])
        if name in ("size", "dim", "len"):
            return function(_like(args[0]), *args[1:])
        if name == "dropout":
            if kwargs.get("training", args[2] if len(args) > 2 else True):
                raise refused(what, "draws random numbers; call network.eval()")
            return signals[0]
        if all(signal.inputs is not None for signal in signals):
            return _calculated(what, function, args, kwargs)
        if name in UNCHANGED:
            return signals[0]
        if name in ADDITIONS and len(signals) == 2 and "alpha" not in kwargs:
            return layers.added(what, *signals)
        if name in SCALINGS and len(signals) == 1 and not kwargs:
            return _scaled(what, function, args, signals[0])
        if name in ("cat", "concat"):
            axis = kwargs.get("dim", args[1] if len(args) > 1 else 0)
            shape = torch.cat([_like(part) for part in args[0]], axis).shape
            return layers.joined(what, list(args[0]), axis, shape)
        if name in SHAPING:
            return _shaped(what, signals[0], lambda x: function(x, *args[1:], **kwargs))
        if name == "mean" or function in POOLING:
            return _averaged(what, signals[0], lambda x: function(x, *args[1:], **kwargs))
        if function in layers.ACTIVATIONS:
            dual = layers.ACTIVATIONS[function](*args[1:], **kwargs)
            return layers.activated(what, dual, signals[0])
        name = name.rstrip("_")
        if name in layers.NAMED:
            return layers.activated(what, layers.NAMED[name], signals[0])
        if name in layers.SMOOTH:
            smooth = layers.SMOOTH[name]
            dual = duals.by_quadrature(lambda h: smooth(h, *args[1:], **kwargs))
            return layers.activated(what, dual, signals[0])
        raise refused(what, "has no rule for its limit")


def _name(target: Any) -> str:
    return target if isinstance(target, str) else getattr(target, "__name__", str(target))


def _flat(args: Any, kwargs: Mapping[str, Any]) -> list[Any]:
    """Return all arguments, and the members of lists among them."""
    flat: list[Any] = []
    for each in (*args, *kwargs.values()):
        flat += list(each) if isinstance(each, list | tuple) else [each]
    return flat


def _like(signal: Any) -> Any:
    """Return a tensor of the shape of a signal, in the type of its inputs."""
    return torch.zeros(signal.shape) if isinstance(signal, Signal) else signal


def _not_in_place(module: nn.Module) -> Callable[[Tensor], Tensor]:
    return lambda h: module(h.clone())


def _calculated(what: str, function: Callable, args: tuple, kwargs: Mapping[str, Any]) -> Signal:
    """Apply a function without weights to the inputs themselves.

    It gets two inputs at a time, as sizes that were read from a tensor are those for two.

    Raises:
        ConfigError: it mixes inputs.
    """
    x, other = (_by_twos(what, function, args, kwargs, side) for side in (0, 1))
    return Signal((2, *x.shape[1:]), inputs=(x, other))


def _by_twos(
    what: str, function: Callable, args: tuple, kwargs: Mapping[str, Any], side: int
) -> Tensor:
    """Return a function of the inputs of one side, (n, ...)."""
    tensors = [each.inputs[side] for each in _flat(args, kwargs) if isinstance(each, Signal)]
    count = len(tensors[0])

    def of(rows: list[int]) -> Tensor:
        def value(each: Any) -> Any:
            if isinstance(each, list | tuple):
                return type(each)(map(value, each))
            return each.inputs[side][rows] if isinstance(each, Signal) else each

        return function(*map(value, args), **{key: value(each) for key, each in kwargs.items()})

    last = count - 1
    parts = [of([at, min(at + 1, last)]) for at in range(0, count, 2)]
    if not torch.equal(parts[0][:1], of([0, 0])[:1]):
        raise refused(what, "mixes inputs")
    return torch.cat(parts)[:count]


def _scaled(what: str, function: Callable, args: tuple, signal: Signal) -> Signal:
    """Multiply by a number, or divide by one."""
    others = [each for each in args if not isinstance(each, Signal)]
    numbers = all(isinstance(each, int | float) for each in others)
    if not numbers or (function in (operator.truediv, torch.div) and args[0] is not signal):
        raise refused(what, "combines a tensor with something else than a number")
    one = torch.ones((), dtype=torch.float64)
    factor = function(*(one if isinstance(each, Signal) else each for each in args))
    return replace(signal, field=signal.field.scaled(float(factor)))


def _marked(signal: Signal) -> Tensor:
    """Return a tensor whose numbers tell which channel and position each of them is."""
    numbers = torch.arange(1, prod(signal.shape[1:]) + 1)
    return numbers.view(1, *signal.shape[1:]).double().expand(signal.shape)


def _shaped(what: str, signal: Signal, function: Callable[[Tensor], Tensor]) -> Signal:
    """Arrange the axes of a tensor anew: flatten it, or put its axes in another order."""
    new = function(_like(signal))
    old = signal.shape
    if tuple(new.shape) == old and torch.equal(function(_marked(signal)), _marked(signal)):
        return signal
    if new.shape[0] == 2 and new.dim() == 2 and new.shape[1] == _like(signal)[0].numel():
        return _flattened(signal, new.shape)
    marked = function(_marked(signal))
    for axis in range(1, new.dim()):
        # the channels lie on the axis along which their numbers differ, with the order of positions
        moved = _marked(signal).movedim(signal.channel, axis) if axis < len(old) else None
        if moved is not None and moved.shape == marked.shape and torch.equal(moved, marked):
            return replace(signal, shape=tuple(new.shape), channel=axis)
    raise refused(
        what, f"arranges a tensor {old} as {tuple(new.shape)}, for which there is no rule"
    )


def _flattened(signal: Signal, shape: torch.Size) -> Signal:
    """Lay channels and positions on one axis."""
    field = signal.field
    flat = prod(field.space) > 1
    if not flat:
        field = field.over_positions()
    return replace(signal, shape=tuple(shape), field=field, channel=1, flat=flat)


def _averaged(what: str, signal: Signal, function: Callable[[Tensor], Tensor]) -> Signal:
    """Apply an average over positions.

    Raises:
        ConfigError: it is one over channels.
    """
    shape = function(_like(signal)).shape
    more = list(signal.shape)
    more[signal.channel] += 1
    sizes = zip(shape, function(torch.zeros(more)).shape, strict=True)
    axes = [axis for axis, (size, with_more) in enumerate(sizes) if size != with_more]
    plain = not signal.flat and signal.field.space
    if (
        not plain
        or len(axes) != 1
        or axes == [0]
        or not _is_same_for_channels(function, signal, axes[0])
    ):
        raise refused(what, "averages over channels or inputs, and not over positions alone")
    (channel,) = axes

    def average(k: Tensor) -> Tensor:
        """Average (B, 1, *space), with the axes in the order of the network."""
        return function(k.movedim(1, signal.channel)).movedim(channel, 1)

    field = signal.field.averaged(average)
    return replace(signal, shape=tuple(shape), field=field, channel=channel)


def _is_same_for_channels(
    function: Callable[[Tensor], Tensor], signal: Signal, channel: int
) -> bool:
    """Tell whether a linear map does the same to each channel; they then lie on ``channel``."""
    numbers = torch.arange(1, signal.shape[signal.channel] + 1, dtype=torch.float64)
    given = torch.ones(signal.shape, dtype=torch.float64).movedim(signal.channel, -1) * numbers
    result = function(given.movedim(-1, signal.channel)).movedim(channel, -1)
    return torch.allclose(result, result[..., :1] * numbers)


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
