"""The graph that autograd keeps of a forward pass, and where the inputs lie in its tensors.

A graph of N inputs and one of two of them have the same nodes; an axis that differs in length holds
the inputs. What has the same shape in both, and follows from parameters alone, is a weight.
"""

import contextlib
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any, TypeGuard

import torch
from torch import Tensor
from torch.autograd.graph import GradientEdge, Node
from torch.func import vmap

from finitewidth.common.shapes import Shaped
from finitewidth.kernels.trained.refusals import alike

FEWEST = 3  # inputs of a graph, so that it differs from a graph of two


@dataclass(frozen=True)
class InputAxis:
    """The axis of a tensor that holds the inputs.

    Attributes:
        samples: N, the number of inputs.
        axis: the axis, of length N T.
        inner: T, the positions of one input on the same axis.
        outer: the number of positions before the inputs: the axis is (outer, N, T / outer). It is 1
            where the inputs come first, as (N, T), and T where they come last, as (T, N).
    """

    samples: int
    axis: int
    inner: int
    outer: int = 1

    def split(self, tensor: Tensor, *, before: int = 0) -> Tensor:
        """Return a tensor as (..., N, T, ...), with its further axes in their order.

        ``before`` counts the axes in front of those that are numbered, such as that of the outputs.
        """
        moved = tensor.movedim(self.axis + before, before)
        if self.outer == 1:
            return moved.unflatten(before, (self.samples, self.inner))
        rest = self.inner // self.outer
        apart = moved.unflatten(before, (self.outer, self.samples, rest))
        return apart.transpose(before, before + 1).flatten(before + 1, before + 2)

    def orders(self) -> Iterator["InputAxis"]:
        """Yield all orders of inputs and positions on the axis, the likely ones first."""
        divisors = [size for size in range(1, self.inner + 1) if self.inner % size == 0]
        for outer in sorted(divisors, key=lambda size: size not in (1, self.inner)):
            yield replace(self, outer=outer)

    def ordered_as(self, many: Tensor, two: Tensor, chosen: tuple[int, int]) -> "InputAxis | None":
        """Return the order in which a tensor of N inputs has the rows of one of two of them."""
        for order in self.orders():
            rows = rows_of(order.split(many), chosen)
            if alike(rows, replace(order, samples=2).split(two)):
                return order
        return None


@dataclass(frozen=True)
class Graph:
    """A graph of N inputs beside a graph of two of them.

    Attributes:
        samples: N.
        chosen: the positions of the two inputs among the N.
        partners: the nodes of the first graph, each with its node in the second.
        weights: the nodes of the first graph that follow from parameters alone.
        orders: where the inputs lie in outputs of nodes, where it is known from their gradients. By
            default inputs come first on an axis.
    """

    samples: int
    chosen: tuple[int, int]
    partners: dict[Node, Node]
    weights: set[Node]
    orders: dict[Node, InputAxis] = field(default_factory=dict)

    def input_axis(self, node: Node) -> InputAxis | None:
        """Return where the inputs lie in the output of a node; None if it does not tell."""
        if node in self.orders:
            return self.orders[node]
        many, two = shape_of(node), shape_of(self.partners[node])
        if len(many) != len(two):
            return None
        apart = [axis for axis in range(len(many)) if many[axis] != two[axis]]
        if len(apart) != 1:
            return None
        (axis,) = apart
        inner = many[axis] // self.samples
        if many[axis] != inner * self.samples or two[axis] != inner * 2:
            return None
        return InputAxis(self.samples, axis, inner)

    def merged(self) -> dict[Node, InputAxis]:
        """Return the operations on weights whose outputs have inputs and positions on one axis."""
        axes = {}
        for node in self.partners:
            if node in self.weights or self.weights.isdisjoint(children(node)):
                continue
            axis = self.input_axis(node)
            if axis and axis.inner > 1:
                axes[node] = axis
        return axes

    def ordered(self, outputs: Tensor, two: Tensor, cotangent: Tensor) -> "Graph":
        """Return the graph with the orders of inputs and positions on axes that hold both.

        The gradients of the outputs (N, K), times the ``cotangent``, and of those for two inputs
        have the same rows in the right order.
        """
        axes = self.merged()
        edges = [GradientEdge(node, 0) for node in axes]
        twins = [GradientEdge(self.partners[node], 0) for node in axes]
        settings = {"retain_graph": True, "allow_unused": True}
        given = rows_of(cotangent, self.chosen)
        many = torch.autograd.grad(outputs, edges, cotangent, **settings)
        few = torch.autograd.grad(two, twins, given, **settings)
        orders = {}
        for (node, axis), g, g_of_two in zip(axes.items(), many, few, strict=True):
            if g is not None and g_of_two is not None:
                orders[node] = axis.ordered_as(g, g_of_two, self.chosen) or axis
        return replace(self, orders=orders)


def rows_of(tensor: Shaped[Tensor, "N ..."], chosen: tuple[int, int]) -> Shaped[Tensor, "2 ..."]:
    """Return the rows of two inputs."""
    return torch.stack([tensor[at] for at in chosen])


def shape_of(node: Node, output: int = 0) -> tuple[int, ...]:
    """Return the shape of an output of a node."""
    return tuple(node._input_metadata[output].shape)


def edge_shape(edge: GradientEdge) -> tuple[int, ...]:
    """Return the shape of a tensor in a graph."""
    return shape_of(edge.node, edge.output_nr)


class Leaf(Node):
    """The node of a leaf, for type checkers: torch has no name for its class."""

    variable: Tensor


def is_leaf(node: Node) -> TypeGuard[Leaf]:
    """Tell whether a node stands for a leaf, such as a parameter."""
    return hasattr(node, "variable")


def root_of(outputs: Tensor) -> Node:
    """Return the node of a tensor that has a gradient."""
    assert outputs.grad_fn is not None
    return outputs.grad_fn


def argument_edge(node: Node, at: int) -> GradientEdge:
    """Return an argument of an operation, which has a gradient."""
    child, output = node.next_functions[at]
    assert child is not None
    return GradientEdge(child, output)


def children(node: Node) -> Iterator[Node]:
    """Yield the nodes that an operation takes its arguments from, as far as they have gradients."""
    return (child for child, _ in node.next_functions if child is not None)


def children_first(root: Node) -> list[Node]:
    """Return the nodes below a node, and it itself, each after all that it takes arguments from."""
    order = []
    seen = {root}
    waiting = [(root, children(root))]
    while waiting:
        node, rest = waiting[-1]
        child = next((child for child in rest if child not in seen), None)
        if child is None:
            order.append(node)
            waiting.pop()
        else:
            seen.add(child)
            waiting.append((child, children(child)))
    return order


def graph_size(nodes: Iterable[Node]) -> int:
    """Return the number of elements of the outputs of nodes."""
    return sum(prod(output.shape) for node in nodes for output in node._input_metadata)


def coarsest(nodes: Iterable[Node]) -> torch.dtype:
    """Return the type of the lowest precision among the outputs of nodes."""
    dtypes = {output.dtype for node in nodes for output in node._input_metadata}
    real = [dtype for dtype in dtypes if dtype.is_floating_point]
    return max(real, key=lambda dtype: torch.finfo(dtype).eps)


def paired(
    outputs: Tensor, two: Tensor, chosen: tuple[int, int], nodes: Iterable[Node]
) -> Graph | None:
    """Compare the graphs of N outputs (N, K) and of those for two ``chosen`` inputs, (2, K).

    ``nodes`` are those of the first graph, from `children_first`. None if the graphs differ.
    """
    partners = _partners(root_of(outputs), root_of(two))
    if partners is None:
        return None
    weights: set[Node] = set()
    for node in nodes:
        below = list(children(node))
        made_of_weights = below and weights.issuperset(below) and _alike(node, partners[node])
        if made_of_weights or _is_weight(node, partners[node]):
            weights.add(node)
    return Graph(len(outputs), chosen, partners, weights)


def _partners(root: Node, other: Node) -> dict[Node, Node] | None:
    """Return for each node below the first root its node below the second, if they correspond."""
    partners = {root: other}
    waiting = [root]
    while waiting:
        one = waiting.pop()
        two = partners[one]
        if one.name() != two.name() or len(one.next_functions) != len(two.next_functions):
            return None
        if is_leaf(one) and not _is_weight(one, two) and _alike(one, two):
            return None  # another parameter
        for (child, at), (twin, there) in zip(one.next_functions, two.next_functions, strict=True):
            if (child is None) != (twin is None) or at != there:
                return None
            if child is None or twin is None:
                continue
            if child not in partners:
                partners[child] = twin
                waiting.append(child)
            elif partners[child] is not twin:
                return None
    return partners


def _is_weight(node: Node, other: Node) -> bool:
    """Tell whether two nodes stand for one parameter; inputs can be leaves, too."""
    return is_leaf(node) and is_leaf(other) and node.variable is other.variable


def _alike(node: Node, other: Node) -> bool:
    """Tell whether the outputs of two nodes have the same shapes."""
    shapes = [output.shape for output in node._input_metadata]
    return shapes == [output.shape for output in other._input_metadata]


def saved(node: Node, name: str) -> Any:
    """Return what a node keeps for the backward pass.

    Raises:
        RuntimeError: it was changed in place, or the graph was freed.
    """
    value = getattr(node, f"_saved_{name}")
    return value.detach() if isinstance(value, Tensor) else value


def settings_of(node: Node) -> tuple[tuple[str, Any], ...]:
    """Return what a node keeps beside tensors, such as the axes of a transposition."""
    settings = []
    for name in dir(node):
        if name.startswith("_saved_"):
            value = getattr(node, name)
            several = isinstance(value, Sequence)
            parts = value if several else [value]
            if not any(isinstance(part, Tensor) for part in parts):
                settings.append((name, tuple(value) if several else value))
    return tuple(settings)


def backward(
    outputs: Tensor | GradientEdge,
    edges: Sequence[GradientEdge] | Sequence[Tensor],
    cotangents: Tensor,
) -> list[Tensor | None]:
    """Return the gradients (k, ...) of a tensor at edges of a graph; None where none arrives.

    The cotangents (k, ...) are sent back at once, or one after another where an operation does not
    allow it.
    """
    reached: list[int] = []

    def gradients(cotangent: Tensor) -> tuple[Tensor, ...]:
        by_edge = torch.autograd.grad(
            outputs, edges, cotangent, retain_graph=True, allow_unused=True
        )
        reached[:] = [at for at, gradient in enumerate(by_edge) if gradient is not None]
        return tuple(by_edge[at] for at in reached)

    rows: Sequence[Tensor] | None = None
    if len(cotangents) > 1:
        with contextlib.suppress(RuntimeError, NotImplementedError), warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="There is a performance drop")
            rows = vmap(gradients)(cotangents)
    if rows is None:
        singly = [gradients(cotangent) for cotangent in cotangents]
        rows = [_stacked(of_edge) for of_edge in zip(*singly, strict=True)]
    by_number = dict(zip(reached, rows, strict=True))
    return [by_number.get(at) for at in range(len(edges))]


def _stacked(rows: tuple[Tensor, ...]) -> Tensor:
    """Stack tensors; a single one is not copied."""
    return torch.stack(rows) if len(rows) > 1 else rows[0][None]
