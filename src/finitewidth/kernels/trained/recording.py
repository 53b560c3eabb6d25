"""A forward pass, the units of weights found in its graph, and the parameters left to autograd."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.graph import Node
from torch.overrides import TorchFunctionMode

from finitewidth.common.errors import ConfigError
from finitewidth.kernels.trained import outputs as returned
from finitewidth.kernels.trained import refusals
from finitewidth.kernels.trained.batches import Batch, joined
from finitewidth.kernels.trained.graph import (
    FEWEST,
    Graph,
    children_first,
    coarsest,
    graph_size,
    is_leaf,
    paired,
    rows_of,
    saved,
)
from finitewidth.kernels.trained.units import Unit, units_of
from finitewidth.networks.user_network import forget

Function = Callable[..., Any]
CONVOLUTION = "ConvolutionBackward0"
FEW_GRADIENTS = 2**18  # numbers that take less time than the calls of a backward sweep


class PlainRecurrence(TorchFunctionMode):
    """Has recurrent layers computed by single operations, for which there are rules."""

    NAMES = ("lstm", "gru", "rnn_tanh", "rnn_relu")

    def __torch_function__(
        self,
        func: Function,
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        if getattr(func, "__name__", "") not in self.NAMES:
            return func(*args, **(kwargs or {}))
        with _switched_off(torch.backends.mkldnn, torch.backends.cudnn):
            return func(*args, **(kwargs or {}))


@contextmanager
def _switched_off(*backends: Any) -> Iterator[None]:
    before = [backend.enabled for backend in backends]
    try:
        for backend in backends:
            backend.enabled = False
        yield
    finally:
        for backend, enabled in zip(backends, before, strict=True):
            backend.enabled = enabled


@dataclass(frozen=True)
class Request:
    """What is wanted of a network.

    Attributes:
        network: the network.
        of: the function of the inputs whose kernel is wanted; it returns (N, K) or (N,).
        x: inputs.
        counted: the parameters of the kernel by name.
        by_layer: False to add all layers up, under the name "".
        budget: bytes for temporary arrays.
        check: whether gradients are compared with those of autograd.
        rows: the number of inputs that belong to the rows of a block of the kernel; the others
            belong to its columns. None for the whole kernel.
    """

    network: nn.Module
    of: Function
    x: Batch
    counted: dict[str, nn.Parameter]
    by_layer: bool
    budget: int
    check: bool
    rows: int | None = None

    def outputs(self, x: Batch) -> Any:
        """Return the outputs for inputs, of which the network gets a copy.

        One number for each input, (N,) or () for one input alone, is one output (N, 1). All else is
        returned as it is.
        """
        with PlainRecurrence() if self.recurrent else nullcontext():
            outputs = x.map(Tensor.clone).passed_to(self.of)
        one_each = isinstance(outputs, Tensor) and outputs.dim() < 2
        if one_each and outputs.numel() == len(x):
            return outputs.reshape(len(x), 1)
        return outputs

    @cached_property
    def recurrent(self) -> bool:
        """Tell whether the network has recurrent layers."""
        return any(isinstance(module, nn.RNNBase) for module in self.network.modules())

    def padded(self) -> Batch:
        """Return the inputs, and the last one again where there are very few."""
        missing = max(FEWEST - len(self.x), 0)
        return joined([self.x, *[self.x[-1:]] * missing])


@dataclass(frozen=True)
class Reference:
    """Gradients of the sum of c_ik f_k(x_i) over two inputs by autograd, to compare ours with.

    c is random, (N, K); ``chosen`` are the positions of the two inputs; gradients have the names of
    their parameters.
    """

    cotangent: Tensor
    chosen: tuple[int, int]
    gradients: dict[str, Tensor]


@dataclass(frozen=True)
class Recording:
    """A forward pass and the weights in its graph.

    Attributes:
        outputs: (N, K), the root of the graph, for the padded inputs.
        units: weights with rules for their gradients.
        others: the remaining parameters by name.
        reference: what gradients are compared with; None if they are not.
        dtype: the type of the lowest precision in the graph.
        graph: the graph of the outputs; None if it differs from that of two inputs.
    """

    outputs: Tensor
    units: tuple[Unit, ...]
    others: dict[str, nn.Parameter]
    reference: Reference | None
    dtype: torch.dtype
    graph: Graph | None


@dataclass(frozen=True)
class Pass:
    """A forward pass of all inputs, and one of two of them.

    Attributes:
        outputs: (N, K) for the padded inputs.
        two: (2, K), the outputs for two of them.
        chosen: the positions of these two.
        nodes: those of the graph of ``outputs``, each after all that it takes arguments from.
        counted: the parameters of the kernel that the outputs depend on.
        dtype: the type of the lowest precision in the graph.
    """

    outputs: Tensor
    two: Tensor
    chosen: tuple[int, int]
    nodes: list[Node]
    counted: dict[str, nn.Parameter]
    dtype: torch.dtype


def checked_pass(request: Request) -> Pass:
    """Run a network with all inputs and with two of them, and see whether it mixes inputs.

    With the check it also runs with one input alone and with all in reverse: the first, a middle
    and the last input are then seen in other company than in the batch, and all at other places.
    Without it only the two inputs are.

    Raises:
        ConfigError: the kernel would be wrong. The message says why.
    """
    try:
        return _checked_pass(request)
    except refusals.ChangedBufferError:
        with gradients_on():
            completed = refusals.completes_itself(
                request.network, lambda: request.outputs(request.padded())
            )
        if not completed:
            raise
        return _checked_pass(request)


def _checked_pass(request: Request) -> Pass:
    x = request.padded()
    name = "network" if request.of is request.network else "of"
    of = partial(returned.outputs_of, request.outputs, name)
    middle = (len(request.x) - 1) // 2
    chosen = (middle, max(len(request.x) - 1, middle + 1))
    refusals.check_modules(request.network)
    with gradients_on(), refusals.unchanged_buffers(request.network):
        pair = x.map(lambda tensor: rows_of(tensor, chosen))
        two = of(pair)
        returned.check_outputs(two, request.outputs, name, pair, more=x)
        if request.check:
            # a forward pass may differentiate, so that no_grad is not for it
            first = of(x[:1]).detach()
            reverse = x.map(lambda tensor: tensor.flip(0))
            reversed_outputs = of(reverse).detach()
        outputs = of(x)
        returned.check_outputs(outputs, request.outputs, name, x, more=pair)
        refusals.check_gradient(outputs)
        nodes = children_first(outputs.grad_fn)
        dtype = coarsest(nodes)
        pairs = [(two, rows_of(outputs, chosen))]
        if request.check:
            pairs.append((first, outputs[:1]))
            pairs.append((reversed_outputs, outputs.flip(0)))
        refusals.check_apart(pairs, dtype, lambda: _rounding(request, x, outputs, dtype))
        missing = _missing(request, nodes)
        if missing and _appear_after_forgetting(request, missing, pair):
            return _checked_pass(request)
        check_missing(request, missing, pair, two)
    counted = {name: p for name, p in request.counted.items() if name not in missing}
    refusals.check_counted(counted, name)
    return Pass(outputs, two, chosen, nodes, counted, dtype)


def _missing(request: Request, nodes: Sequence[Node]) -> dict[str, nn.Parameter]:
    """Return the counted parameters that are not in a graph."""
    reached = {id(node.variable) for node in nodes if is_leaf(node)}
    return {name: p for name, p in request.counted.items() if id(p) not in reached}


def record(
    request: Request, apart: frozenset[str] = frozenset(), *, ordered: bool = False
) -> Recording:
    """Run a network with all inputs, and find the weights in the graph.

    Parameters in ``apart`` are left to autograd although there are rules for them. If ``ordered``,
    a further backward sweep tells where the inputs lie on axes that hold positions, too.

    Raises:
        ConfigError: the kernel would be wrong. The message says why.
    """
    run = checked_pass(request)
    reference = _reference(request, run) if request.check else None
    graph = paired(run.outputs, run.two, run.chosen, run.nodes)
    if graph and ordered and reference:
        graph = graph.ordered(run.outputs, run.two, reference.cotangent)
    units, others = _found_units(graph, run)
    left = _left_to_autograd(units, apart)
    units = [unit for unit in units if not left & unit.parameters.keys()]
    left = left.union(others)
    if left and _is_cheaper_by_autograd(units, run):
        units = []
        left = set(run.counted)
    by_autograd = {name: p for name, p in run.counted.items() if name in left}
    return Recording(run.outputs, tuple(units), by_autograd, reference, run.dtype, graph)


def _found_units(graph: Graph | None, run: Pass) -> tuple[list[Unit], list[str]]:
    """Return the units in a graph, and the names of parameters without rules.

    Raises:
        ConfigError: a tensor was changed in place.
    """
    if graph is None:
        return [], list(run.counted)
    try:
        return units_of(graph, run.counted)
    except RuntimeError as error:
        raise refusals.without_gradient(error) from None


def _left_to_autograd(units: Sequence[Unit], apart: frozenset[str]) -> set[str]:
    """Return the parameters ``apart``, and those that are computed together with them."""
    left: set[str] = set()
    for unit in units:
        if apart & unit.parameters.keys():
            left.update(unit.parameters)
    return left


def _is_cheaper_by_autograd(units: Sequence[Unit], run: Pass) -> bool:
    """Tell whether autograd computes units at less cost beside the parameters without rules.

    It goes through the network for these in any case. The units then take their gradients more, and
    without it another backward sweep.
    """
    N, K = run.outputs.shape
    gradients = sum(sum(unit.sizes.values()) for unit in units)
    sweep = graph_size(run.nodes) // N
    return gradients <= sweep or N * K * gradients <= FEW_GRADIENTS


@contextmanager
def gradients_on() -> Iterator[None]:
    """Keep gradients, whatever the caller has switched off."""
    with torch.inference_mode(False), torch.enable_grad():
        yield


def _reference(request: Request, run: Pass) -> Reference:
    """Return gradients of autograd by the counted parameters, for the two inputs of a pass."""
    stream = torch.Generator().manual_seed(0)
    cotangent = torch.randn(run.outputs.shape, generator=stream)
    cotangent[len(request.x) :] = 0
    cotangent = cotangent.to(run.outputs)
    # for two inputs, oneDNN is slower than PyTorch itself, except for groups of channels
    groups = [saved(node, "groups") for node in run.nodes if node.name() == CONVOLUTION]
    plain = run.dtype == torch.float32 and set(groups) == {1}
    try:
        with _switched_off(torch.backends.mkldnn) if plain else nullcontext():
            by_parameter = torch.autograd.grad(
                run.two,
                list(run.counted.values()),
                rows_of(cotangent, run.chosen),
                allow_unused=True,
                retain_graph=True,
            )
    except RuntimeError as error:
        raise refusals.without_gradient(error) from None
    gradients = {}
    for name, gradient in zip(run.counted, by_parameter, strict=True):
        if gradient is not None:
            gradients[name] = gradient.to_dense() if gradient.is_sparse else gradient
    return Reference(cotangent, run.chosen, gradients)


def _rounding(request: Request, x: Batch, outputs: Tensor, dtype: torch.dtype) -> Tensor:
    """Return the largest change of outputs if all parameters change by a rounding unit.

    Zero for a network that is random, which changes as much by itself.
    """
    eps = torch.finfo(dtype).eps
    parameters = dict(request.network.named_parameters())
    moved = _moved(parameters, lambda p, noise: p * (1 + eps * noise))
    again = (request.outputs(x).detach() - outputs.detach()).abs().amax()
    changed = outputs_with(request, moved, x).detach()
    rounding = (changed - outputs.detach()).abs().amax()
    return rounding if rounding > 4 * again else torch.zeros_like(rounding)


def _moved(
    parameters: Mapping[str, nn.Parameter], change: Callable[[Tensor, Tensor], Tensor]
) -> dict[str, Tensor]:
    """Return parameters that are changed by random numbers."""
    stream = torch.Generator().manual_seed(0)
    moved = {}
    for name, p in parameters.items():
        noise = torch.randn(p.shape, generator=stream).to(p.device, p.dtype)
        moved[name] = change(p.detach(), noise)
    return moved


def _appear_after_forgetting(
    request: Request, missing: Mapping[str, nn.Parameter], pair: Batch
) -> bool:
    """Tell whether gradients by some of the missing parameters arrive in another forward pass.

    The network may have kept what it computed from them when gradients were off, as in an
    evaluation of the loss.
    """
    forget(request.network)
    outputs = request.outputs(pair)
    numbers = {id(parameter) for parameter in missing.values()}
    nodes = children_first(outputs.grad_fn) if outputs.grad_fn else []
    return any(id(node.variable) in numbers for node in nodes if is_leaf(node))


def check_missing(
    request: Request, missing: Mapping[str, nn.Parameter], x: Batch, outputs: Tensor
) -> None:
    """Check that outputs do not depend on parameters from which no gradient arrives."""
    moved = _moved(missing, lambda p, noise: p * (1 + noise / 4) + noise / 4)

    def depends(parameters: Mapping[str, Tensor]) -> bool:
        return not refusals.alike(outputs_with(request, parameters, x), outputs)

    if not moved or not depends(moved):
        return
    names = [name for name in moved if depends({name: moved[name]})]
    raise ConfigError(
        f"network: the outputs depend on {', '.join(names[:3] or missing)}, but no gradient "
        "arrives there (no_grad, inference_mode, detach, or a reentrant checkpoint); remove that, "
        "or leave these parameters out with parameters="
    )


def outputs_with(request: Request, tensors: Mapping[str, Tensor], x: Batch) -> Tensor:
    """Return the outputs of a network with some tensors in place of parameters, by their names.

    `torch.func.functional_call` is not used, because it leaves a tensor in a module that the
    network holds twice.
    """
    parameters = dict(request.network.named_parameters())
    new = {id(parameters[name]): tensor for name, tensor in tensors.items()}
    # any tensor may take the place of a parameter
    replaced: list[tuple[dict[str, Any], str, nn.Parameter | None]] = []
    for module in request.network.modules():
        for name, p in module._parameters.items():
            if id(p) in new:
                replaced.append((module._parameters, name, p))
    try:
        for of_module, name, p in replaced:
            of_module[name] = new[id(p)]
        return request.outputs(x)
    finally:
        for of_module, name, p in replaced:
            of_module[name] = p
