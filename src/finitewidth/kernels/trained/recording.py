"""Record the calls of modules in a forward pass, and find the parameters that they account for.

Forward hooks keep the input and the output of each call. Each hook passes a copy of the output on,
because an activation in place behind the module would otherwise move the recorded output behind the
activation. One pass with a single input shows which calls keep the inputs apart on their first
axis. The graph of the pass shows which parameters are also used elsewhere than in recorded calls,
such as weights that are shared through `torch.nn.functional`.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from finitewidth.common.errors import ConfigError
from finitewidth.kernels.trained import refusals
from finitewidth.kernels.trained.layers import PRODUCTS, Call, Unit, patch_shape, supported

Function = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class Recording:
    """A forward pass and the parameters whose gradients can be read off it.

    Attributes:
        outputs: (N, K), the root of the graph.
        units: the parameters that recorded calls account for.
        others: the remaining parameters by name.
    """

    outputs: Tensor
    units: tuple[Unit, ...]
    others: dict[str, nn.Parameter]


def record(
    network: nn.Module, of: Function, x: Tensor, counted: dict[str, nn.Parameter]
) -> Recording:
    """Run a network once with all inputs and once with the first one.

    Args:
        network: the network.
        of: the function x -> (N, K) whose kernel is wanted.
        x: inputs, (N, ...).
        counted: the parameters of the kernel by name.

    Raises:
        ConfigError: the kernel would be wrong. The message says why.
    """
    refusals.check_modules(network)
    wanted = {id(parameter) for parameter in counted.values()}
    with torch.no_grad(), _recorded(network, wanted) as calls_alone:
        alone = of(x[:1])
    with torch.enable_grad(), _recorded(network, wanted) as calls:
        outputs = of(x)
    refusals.check_outputs(outputs, len(x))
    refusals.check_single_input(alone, outputs)
    _check_unchanged(network, calls)
    apart = _inputs_apart(calls_alone, calls, len(x))
    nodes, uses = _graph(outputs)
    live = [call for call in calls if call.output.grad_fn in nodes]
    _check_gradients(network, calls)
    users: dict[int, list[Call]] = {key: [] for key in wanted}
    for call in live:
        for parameter in call.module._parameters.values():
            if id(parameter) in wanted:
                users[id(parameter)].append(call)
    reached = {
        key
        for key in wanted
        if len(users[key]) == uses[key] and all(apart[id(call)] for call in users[key])
    }
    reached = {key for key in reached if len({_role(key, call) for call in users[key]}) < 2}
    units = tuple(_units(counted, users, reached))
    others = {name: p for name, p in counted.items() if id(p) not in reached}
    return Recording(outputs, units, others)


@contextmanager
def _recorded(network: nn.Module, wanted: set[int]) -> Iterator[list[Call]]:
    """Record the calls of supported modules with wanted parameters."""
    calls: list[Call] = []

    def hook(module: nn.Module, inputs: tuple[Tensor, ...], output: Tensor) -> Tensor:
        seen = inputs[0].detach()
        calls.append(Call(module, seen, seen._version, output))
        return output.clone()

    modules = [
        module
        for module in network.modules()
        if supported(module) and wanted & {id(p) for p in module.parameters(recurse=False)}
    ]
    handles = [module.register_forward_hook(hook, prepend=True) for module in modules]
    try:
        yield calls
    finally:
        for handle in handles:
            handle.remove()


def _inputs_apart(alone: Sequence[Call], together: Sequence[Call], samples: int) -> dict[int, bool]:
    """Tell for each call whether the first axis of its input and output is that of the inputs.

    The shapes must say so, and the first input must come first.

    Raises:
        ConfigError: the calls depend on the number of inputs.
    """
    if [call.module for call in alone] != [call.module for call in together]:
        raise ConfigError(
            "network: it calls other modules for one input than for all; the kernel needs the same "
            "calls for every input"
        )
    return {
        id(many): all(
            one.shape == (1, *all_.shape[1:]) and len(all_) == samples
            for one, all_ in ((single.input, many.input), (single.output, many.output))
        )
        and refusals.alike(single.input, many.input[:1])
        for single, many in zip(alone, together, strict=True)
    }


def _graph(outputs: Tensor) -> tuple[set[object], Counter[int]]:
    """Return the nodes of a graph, and how often it uses each parameter, by id."""
    if outputs.grad_fn is None:
        return set(), Counter()
    nodes, uses, waiting = {outputs.grad_fn}, Counter(), [outputs.grad_fn]
    while waiting:
        for node, _ in waiting.pop().next_functions:
            if node is None:
                continue
            if hasattr(node, "variable"):  # a leaf
                uses[id(node.variable)] += 1
            if node not in nodes:
                nodes.add(node)
                waiting.append(node)
    return nodes, uses


def _check_unchanged(network: nn.Module, calls: Sequence[Call]) -> None:
    for call in calls:
        if call.input._version != call.version:
            raise ConfigError(
                f"network: the input of module {_name(network, call.module)!r} is changed in place "
                "after the call, so its gradient is lost; change a copy instead"
            )


def _check_gradients(network: nn.Module, calls: Sequence[Call]) -> None:
    for call in calls:
        if call.output.grad_fn is None:
            raise ConfigError(
                f"network: module {_name(network, call.module)!r} runs without gradients (no_grad "
                "or a reentrant checkpoint); remove it, or leave the module out with parameters="
            )


def _role(key: int, call: Call) -> tuple[str, tuple[int, int] | None]:
    """Return as what a call uses a parameter: its name there, groups and fan-in of a product."""
    name = next(name for name, p in call.module._parameters.items() if id(p) == key)
    product = name == "weight" and isinstance(call.module, PRODUCTS)
    return name, patch_shape(call.module) if product else None


def _units(
    counted: dict[str, nn.Parameter], users: dict[int, list[Call]], reached: set[int]
) -> Iterator[Unit]:
    """Yield units for all reached parameters that are used."""
    done: set[int] = set()
    for name, parameter in counted.items():
        key = id(parameter)
        if key not in reached or key in done or not users[key]:
            continue
        module = name.rpartition(".")[0] or name
        calls = tuple(users[key])
        role, product = _role(key, calls[0])
        done.add(key)
        if not product:
            yield Unit(module, "scale" if role == "weight" else "shift", calls)
            continue
        unit = Unit(module, "product", calls)
        biases = {id(call.module._parameters.get("bias")) for call in calls}
        _, G, _, _, P = unit.shape
        bias = next(iter(biases))
        merged = len(biases) == 1 and bias in reached and bias not in done and G == P == 1
        if merged and users[bias] == users[key]:
            done.add(bias)
            unit = Unit(module, "product", calls, bias=True)
        yield unit


def _name(network: nn.Module, wanted: nn.Module) -> str:
    return next(name for name, module in network.named_modules() if module is wanted)
