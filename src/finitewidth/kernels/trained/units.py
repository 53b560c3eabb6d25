"""Weights whose part of the kernel is computed together."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.graph import GradientEdge, Node

from finitewidth.common.shapes import Float
from finitewidth.kernels.trained.graph import (
    Graph,
    backward,
    children,
    children_first,
    edge_shape,
    is_leaf,
    saved,
    settings_of,
    shape_of,
)
from finitewidth.kernels.trained.operations import Elementwise, Operation, Product, operation

OfOperation = Callable[[Operation], Tensor]
# nodes that only arrange a weight anew, or change its precision or sign
ARRANGING = {
    "AliasBackward0",
    "CloneBackward0",
    "NegBackward0",
    "PermuteBackward0",
    "ReshapeAliasBackward0",
    "SqueezeBackward0",
    "SqueezeBackward1",
    "SqueezeBackward2",
    "SqueezeBackward3",
    "TBackward0",
    "ToCopyBackward0",
    "TransposeBackward0",
    "TransposeBackward1",
    "UnsafeViewBackward0",
    "UnsqueezeBackward0",
    "UnsqueezeBackward1",
    "ViewBackward0",
    "ViewBackward1",
}
SCALING = {"MulBackward0", "DivBackward0"}  # by a number


@dataclass(frozen=True, eq=False)
class Weights:
    """Parameters by name, and all operations on what is derived from them.

    ``factor`` is what the one parameter of a `ProductUnit`, or of an arranged `RowUnit`, is
    multiplied by.
    """

    parameters: dict[str, nn.Parameter]
    operations: tuple[Operation, ...]
    factor: float = 1.0

    @property
    def name(self) -> str:
        """Return the module of the first parameter."""
        return module_of(next(iter(self.parameters)))

    def gradients(self, operation: Operation, rows: Tensor) -> list[Tensor | None]:
        """Carry gradients (n, ...) by the weight of an operation on to the parameters.

        None where the weight does not depend on one.
        """
        leaf = parameter_at(operation.weight)
        if leaf is not None:
            rows = rows if is_leaf(operation.weight.node) else rows.mT
            return [rows if leaf is p else None for p in self.parameters.values()]
        dtype = operation.weight.node._input_metadata[operation.weight.output_nr].dtype
        return backward(operation.weight, list(self.parameters.values()), rows.to(dtype))


@dataclass(frozen=True, eq=False)
class ProductUnit(Weights):
    """A weight of products, whose gradients need not be formed.

    ``bias`` is the bias of the same products, as a weight of a further input that is 1.
    """

    operations: tuple[Product, ...]
    bias: Elementwise | None = None

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Return groups G, channels per group c, fan-in D, and positions P of all products."""
        G, c, D, _ = self.operations[0].shape
        P = sum(op.shape[3] for op in self.operations)
        return G, c, D + (self.bias is not None), P

    def patches(self, samples: slice = slice(None)) -> Float[Tensor, "n G D P"]:
        """Return the patches of all products for some inputs, (n, G, D, P)."""
        a = _side_by_side([op.patches(samples) for op in self.operations])
        if self.bias is None:
            return a
        ones = torch.ones_like(a[:, :, :1])
        return torch.cat([a, ones], dim=2)

    def gradients_of(
        self, samples: slice, signals: Float[Tensor, "n G r P"]
    ) -> Float[Tensor, "n G r D"]:
        """Return the gradients of some inputs, (n, G, r, D), from signals (n, G, r, P)."""
        if len(self.operations) == 1 and not self.bias:
            return self.operations[0].gradients(samples, signals)
        return signals @ self.patches(samples).mT

    @property
    def sizes(self) -> dict[str, int]:
        """Return the number of elements of all gradients, under the name of the first parameter."""
        return {next(iter(self.parameters)): prod(self.shape[:3])}

    @property
    def patch_size(self) -> int:
        """Return the number of elements of the patches of one input that gradients need."""
        if self.operations[0].convolved and len(self.operations) == 1:
            return 0
        G, _, D, P = self.shape
        return G * D * P

    def signals(self, of_operation: OfOperation) -> Float[Tensor, "N k C P"]:
        """Return the signals of all products, (N, k, G c, P), from those of single ones."""
        signals = _side_by_side([of_operation(op) for op in self.operations])
        return signals if self.factor == 1 else signals * self.factor


@dataclass(frozen=True, eq=False)
class RowUnit(Weights):
    """Parameters whose gradients are formed.

    If ``arranged``, the gradients by the weights are those by the one parameter, up to their order
    and ``factor``.
    """

    arranged: bool = False
    bias = None

    @property
    def sizes(self) -> dict[str, int]:
        """Return the number of elements of each parameter."""
        return {name: p.numel() for name, p in self.parameters.items()}

    @cached_property
    def formed_size(self) -> int:
        """Return how many numbers `rows` makes for one input and output, at most."""
        size = sum(self.sizes.values())
        if self.arranged:
            return 2 * size
        largest = 0
        for op in self.operations:
            below = children_first(op.weight.node)
            derived = sum(prod(output.shape) for node in below for output in node._input_metadata)
            # the gradient by the weight, as it is formed and arranged, and a backward pass from it
            largest = max(largest, 2 * prod(edge_shape(op.weight)) + derived)
        return size + largest

    def rows(
        self, of_operation: OfOperation, inputs: slice | None = None
    ) -> dict[str, Float[Tensor, "n k _"]]:
        """Return the gradients by each parameter for some inputs, (n, k, size).

        ``of_operation`` returns the signals (N, k, ...) of all inputs.
        """
        inputs = inputs or slice(0, len(of_operation(self.operations[0])))
        if self.arranged:
            parts = [of_operation(op)[inputs] for op in self.operations]
            total = sum(parts, start=torch.zeros(()))
            return {next(iter(self.parameters)): total * self.factor}
        totals = [torch.zeros(())] * len(self.parameters)
        for op in self.operations:
            signals = of_operation(op)[inputs]
            n, k = signals.shape[:2]
            by_weight = op.as_weight(formed(op, signals, inputs))  # (n, k, ...)
            by_parameter = self.gradients(op, by_weight.flatten(0, 1))
            for at, gradients in enumerate(by_parameter):
                if gradients is not None:
                    totals[at] = totals[at] + gradients.reshape(n, k, -1)
        return dict(zip(self.parameters, totals, strict=True))


Unit = ProductUnit | RowUnit


def formed(
    op: Operation, signals: Float[Tensor, "n k ..."], inputs: slice
) -> Float[Tensor, "n k ..."]:
    """Return gradients of some inputs from their signals (n, k, ...).

    They are (n, k, G, c, D) of products, and (n, k, size) else.
    """
    if isinstance(op, Elementwise):
        return signals
    G, c, _, P = op.shape
    N, k = signals.shape[:2]
    grouped = signals.view(N, k, G, c, P).transpose(1, 2).reshape(N, G, k * c, P)
    rows = op.gradients(inputs, grouped)  # (N, G, k c, D)
    return rows.unflatten(2, (k, c)).transpose(1, 2)


def parameter_at(weight: GradientEdge) -> Tensor | None:
    """Return the parameter that a weight, or its transpose, is; None if it is another."""
    node = weight.node
    if node.name() == "TBackward0" and len(shape_of(node)) == 2:
        (node,) = children(node)
    return node.variable if is_leaf(node) else None


def module_of(name: str) -> str:
    """Return the module of a parameter; a parameter of the network itself keeps its name."""
    return name.rpartition(".")[0] or name


def units_of(graph: Graph, counted: dict[str, nn.Parameter]) -> tuple[list[Unit], list[str]]:
    """Find the operations on the counted parameters, and group what is computed together.

    Returns the units, and the names of parameters in the graph that have none.

    Raises:
        RuntimeError: an argument of an operation was changed in place after it.
    """
    names = {id(p): name for name, p in counted.items()}
    uses = _uses(graph, names)
    units: list[Unit] = []
    others: list[str] = []
    for group in _groups(used for used, _ in uses):
        found = [op for used, op in uses if used <= group]
        operations = tuple(op for op in found if op is not None)
        if len(operations) < len(found):
            others += [name for name in counted if name in group]
        else:
            parameters = {name: p for name, p in counted.items() if name in group}
            units.append(_unit(parameters, operations))
    order = {name: number for number, name in enumerate(counted)}
    units.sort(key=lambda unit: order[next(iter(unit.parameters))])
    return _with_biases(units), others


def _uses(graph: Graph, names: dict[int, str]) -> list[tuple[frozenset[str], Operation | None]]:
    """Return all operations on weights, None without a rule, with the parameters of the weight."""
    leaves: dict[Node, frozenset[str]] = {}
    uses = []
    for node in graph.partners:
        if node in graph.weights:
            continue
        for at, (child, _) in enumerate(node.next_functions):
            if child is None or child not in graph.weights:
                continue
            used = _leaves(child, names, leaves)
            if used:
                uses.append((used, operation(graph, node, at)))
    return uses


def _leaves(node: Node, names: dict[int, str], known: dict[Node, frozenset[str]]) -> frozenset[str]:
    """Return the names of the counted parameters that a weight follows from."""
    if node in known:
        return known[node]
    seen = {node}
    waiting = [node]
    leaves = set()
    while waiting:
        below = waiting.pop()
        if is_leaf(below):
            leaves.add(names.get(id(below.variable), ""))
        for child in children(below):
            if child not in seen:
                seen.add(child)
                waiting.append(child)
    known[node] = frozenset(leaves - {""})
    return known[node]


def _groups(sets: Iterable[frozenset[str]]) -> list[frozenset[str]]:
    """Unite sets that have elements in common."""
    groups: list[frozenset[str]] = []
    for names in sets:
        apart = []
        for group in groups:
            if group & names:
                names = names | group
            else:
                apart.append(group)
        groups = [*apart, names]
    return groups


def _unit(parameters: dict[str, nn.Parameter], operations: tuple[Operation, ...]) -> Unit:
    ways = {_way(op.weight) for op in operations}
    way, *more = ways
    if len(parameters) > 1 or more or way is None:
        return RowUnit(parameters, operations)
    _, factor = way
    if all(isinstance(op, Elementwise) for op in operations):
        return RowUnit(parameters, operations, factor, arranged=True)
    products = tuple(op for op in operations if isinstance(op, Product))
    layouts = {(op.layout, op.shape[:3]) for op in products}
    if len(products) == len(operations) and len(layouts) == 1:
        return ProductUnit(parameters, products, factor)
    return RowUnit(parameters, operations)


def _way(weight: GradientEdge) -> tuple[tuple[Any, ...], float] | None:
    """Return how a weight is arranged from one parameter, and by which number it is multiplied.

    None if it is made in another way.
    """
    steps = []
    factor = 1.0
    node = weight.node
    while not is_leaf(node):
        below = list(children(node))
        if len(below) != 1 or prod(shape_of(below[0])) != prod(shape_of(node)):
            return None
        name = node.name()
        if name in SCALING:
            number = _scale(node)
            if number is None:
                return None
            factor *= number
        elif name not in ARRANGING:
            return None
        elif not name.startswith(("Alias", "Clone", "ToCopy")):
            steps.append((name, shape_of(node), settings_of(node)))
        node = below[0]
    return tuple(steps), factor


def _scale(node: Node) -> float | None:
    """Return the number by which a node multiplies a weight; None if it does something else."""
    weight_is_first = node.next_functions[0][0] is not None
    number = saved(node, "other" if weight_is_first else "self")
    if number is None or number.numel() != 1:
        return None
    if "Mul" in node.name():
        return float(number)
    return 1 / float(number) if weight_is_first else None


def _with_biases(units: Sequence[Unit]) -> list[Unit]:
    """Join biases of dense layers with the weights of the same products."""
    biases = {}
    for unit in units:
        if isinstance(unit, RowUnit) and unit.arranged and _is_single(unit):
            biases[unit.operations[0].edge.node] = unit
    with_biases: list[Unit] = []
    taken: set[int] = set()
    for unit in units:
        if isinstance(unit, ProductUnit) and _is_single(unit):
            bias = biases.get(unit.operations[0].edge.node)
            operation_of_bias = _of_layer(bias, unit) if bias else None
            if bias and operation_of_bias:
                taken.add(id(bias))
                parameters = unit.parameters | bias.parameters
                unit = ProductUnit(parameters, unit.operations, 1.0, operation_of_bias)
        with_biases.append(unit)
    return [unit for unit in with_biases if id(unit) not in taken]


def _is_single(unit: Unit) -> bool:
    """Tell whether a parameter is used once, as it is."""
    return unit.factor == 1 and len(unit.operations) == 1


def _of_layer(bias: RowUnit, unit: ProductUnit) -> Elementwise | None:
    """Return the operation of the bias of a dense layer without further positions, else None."""
    G, c, _, P = unit.shape
    (op,) = bias.operations
    if bias.name != unit.name or not isinstance(op, Elementwise) or op.size != c:
        return None
    return op if G == P == 1 else None


def _side_by_side(parts: list[Tensor]) -> Tensor:
    """Return positions of several products on one axis, the last."""
    return parts[0] if len(parts) == 1 else torch.cat(parts, dim=-1)
