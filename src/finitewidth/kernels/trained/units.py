"""Weights whose part of the kernel is computed together."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import torch
from torch import Tensor, nn
from torch.autograd.graph import GradientEdge, Node

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

    bias: Elementwise | None = None

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Return groups G, channels per group c, fan-in D, and positions P of all products."""
        G, c, D, _ = self.operations[0].shape
        return G, c, D + (self.bias is not None), sum(op.shape[3] for op in self.operations)

    def patches(self, samples: slice = slice(None)) -> Tensor:
        """Return the patches of all products for some inputs, (n, G, D, P)."""
        a = _joined(op.patches(samples) for op in self.operations)
        return torch.cat([a, torch.ones_like(a[:, :, :1])], dim=2) if self.bias else a

    def gradients_of(self, samples: slice, signals: Tensor) -> Tensor:
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
        G, _, D, P = self.shape
        return 0 if self.operations[0].convolved and len(self.operations) == 1 else G * D * P

    def signals(self, of_operation: OfOperation) -> Tensor:
        """Return the signals of all products, (N, k, G c, P), from those of single ones."""
        signals = _joined(of_operation(op) for op in self.operations)
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

    def rows(self, of_operation: OfOperation, inputs: slice | None = None) -> dict[str, Tensor]:
        """Return the gradients by each parameter for some inputs, (n, k, size).

        ``of_operation`` returns the signals (N, k, ...) of all inputs.
        """
        inputs = inputs or slice(0, len(of_operation(self.operations[0])))
        if self.arranged:
            total = sum(of_operation(op)[inputs] for op in self.operations)
            return {next(iter(self.parameters)): total * self.factor}
        totals: list[Tensor | int] = [0] * len(self.parameters)
        for op in self.operations:
            signals = of_operation(op)[inputs]
            n, k = signals.shape[:2]
            gradients = op.as_weight(formed(op, signals, inputs))
            found = self.gradients(op, gradients.flatten(0, 1))
            for at, part in enumerate(found):
                if part is not None:
                    totals[at] = totals[at] + part.reshape(n, k, -1)
        return dict(zip(self.parameters, totals, strict=True))


Unit = ProductUnit | RowUnit


def formed(op: Operation, signals: Tensor, inputs: slice) -> Tensor:
    """Return gradients of some inputs from their signals (n, k, ...).

    They are (n, k, G, c, D) of products, and (n, k, size) else.
    """
    if isinstance(op, Elementwise):
        return signals
    G, c, _, P = op.shape
    N, k = signals.shape[:2]
    grouped = signals.view(N, k, G, c, P).transpose(1, 2).reshape(N, G, k * c, P)
    rows = op.gradients(inputs, grouped)
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
    leaves: dict[Node, frozenset[str]] = {}
    uses: list[tuple[frozenset[str], Operation | None]] = []
    for node in graph.partners:
        if node in graph.weights:
            continue
        for at, (child, _) in enumerate(node.next_functions):
            if child in graph.weights:
                used = _leaves(child, names, leaves)
                if used:
                    uses.append((used, operation(graph, node, at)))
    units, others = [], []
    for group in _groups(used for used, _ in uses):
        operations = [op for used, op in uses if used <= group]
        if None in operations:
            others += [name for name in counted if name in group]
        else:
            parameters = {name: p for name, p in counted.items() if name in group}
            units.append(_unit(parameters, tuple(operations)))
    order = {name: at for at, name in enumerate(counted)}
    units.sort(key=lambda unit: order[next(iter(unit.parameters))])
    return _with_biases(units), others


def _leaves(node: Node, names: dict[int, str], known: dict[Node, frozenset[str]]) -> frozenset[str]:
    """Return the names of the counted parameters that a weight follows from."""
    if node not in known:
        seen, waiting, found = {node}, [node], set()
        while waiting:
            below = waiting.pop()
            if is_leaf(below):
                found.add(names.get(id(below.variable), ""))
            new = [child for child in children(below) if child not in seen]
            seen.update(new)
            waiting += new
        known[node] = frozenset(found - {""})
    return known[node]


def _groups(sets: Iterable[frozenset[str]]) -> list[frozenset[str]]:
    """Unite sets that have elements in common."""
    groups: list[frozenset[str]] = []
    for one in sets:
        apart = [group for group in groups if not group & one]
        groups = [*apart, one.union(*(group for group in groups if group & one))]
    return groups


def _unit(parameters: dict[str, nn.Parameter], operations: tuple[Operation, ...]) -> Unit:
    ways = {_way(op.weight) for op in operations}
    if len(parameters) == 1 and len(ways) == 1 and None not in ways:
        ((_, factor),) = ways
        if all(isinstance(op, Elementwise) for op in operations):
            return RowUnit(parameters, operations, factor, arranged=True)
        layouts = {isinstance(op, Product) and (op.layout, op.shape[:3]) for op in operations}
        if len(layouts) == 1 and False not in layouts:
            return ProductUnit(parameters, operations, factor)
    return RowUnit(parameters, operations)


def _way(weight: GradientEdge) -> tuple[tuple, float] | None:
    """Return how a weight is arranged from one parameter, and by which number it is multiplied.

    None if it is made in another way.
    """
    steps, factor, node = [], 1.0, weight.node
    while not is_leaf(node):
        below = list(children(node))
        if len(below) != 1 or prod(shape_of(below[0])) != prod(shape_of(node)):
            return None
        if node.name() in SCALING:
            first = node.next_functions[0][0] is not None  # the weight is the first argument
            number, divided = saved(node, "other" if first else "self"), "Div" in node.name()
            if number is None or number.numel() != 1 or (divided and not first):
                return None
            factor *= 1 / float(number) if divided else float(number)
        elif node.name() not in ARRANGING:
            return None
        elif not node.name().startswith(("Alias", "Clone", "ToCopy")):
            steps.append((node.name(), shape_of(node), settings_of(node)))
        node = below[0]
    return tuple(steps), factor


def _with_biases(units: Sequence[Unit]) -> list[Unit]:
    """Join biases of dense layers with the weights of the same products."""
    biases = {
        unit.operations[0].edge.node: unit
        for unit in units
        if isinstance(unit, RowUnit)
        and unit.arranged
        and unit.factor == 1
        and len(unit.operations) == 1
    }
    joined: list[Unit] = []
    taken: set[int] = set()
    for unit in units:
        if isinstance(unit, ProductUnit) and unit.factor == 1 and len(unit.operations) == 1:
            G, c, _, P = unit.shape
            bias = biases.get(unit.operations[0].edge.node)
            same = bias and bias.name == unit.name and bias.operations[0].size == c
            if same and G == P == 1:
                taken.add(id(bias))
                unit = ProductUnit(
                    unit.parameters | bias.parameters, unit.operations, 1.0, bias.operations[0]
                )
        joined.append(unit)
    return [unit for unit in joined if id(unit) not in taken]


def _joined(parts: Iterable[Tensor]) -> Tensor:
    parts = list(parts)
    return parts[0] if len(parts) == 1 else torch.cat(parts, dim=-1)
