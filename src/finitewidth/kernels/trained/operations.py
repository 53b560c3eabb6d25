"""Operations on weights, from which the gradients of each input follow.

An operation gives a tensor that holds the inputs. With the signal g, the derivative of an output of
the network by this tensor, the gradient of input i by the weight is

    products       sum_p g_ip a_ip^T: linear layers, convolutions, embeddings. The patch a_ip is
                   what the weight sees at position p
    elementwise    the sum of g o factor over the positions: biases, scales and shifts of norms,
                   tokens, positions. The factor is 1, or what the weight is multiplied by

The operations are nodes of autograd's graph, whoever called them.
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from itertools import count
from math import prod

import torch
from torch import Tensor
from torch.autograd.graph import GradientEdge, Node
from torch.nn import functional

from finitewidth.common.shapes import Float
from finitewidth.kernels.trained.convolutions import convolved, for_each_axis
from finitewidth.kernels.trained.graph import (
    Graph,
    InputAxis,
    argument_edge,
    edge_shape,
    saved,
    shape_of,
)
from finitewidth.kernels.trained.patches import unfolded


@dataclass(frozen=True, eq=False)
class Product:
    """A product of a weight with patches.

    Attributes:
        edge: the result, in the graph.
        weight: the weight, in the graph.
        shape: groups G, channels per group c, fan-in D, positions P.
        patches: returns the patches of some inputs, (n, G, D, P).
        signals: arranges the signals of k outputs as (k, N, G c, P).
        as_weight: arranges gradients (..., G, c, D) as the weight.
        layout: equal for products whose gradients (G, c, D) are arranged alike.
        convolved: returns the gradients (r, D) of one input from signals (r, P), without patches;
            None where there is no faster way than patches.
    """

    edge: GradientEdge
    weight: GradientEdge
    shape: tuple[int, int, int, int]
    patches: Callable[[slice], Tensor]
    signals: Callable[[Tensor], Tensor]
    as_weight: Callable[[Tensor], Tensor]
    layout: Hashable
    convolved: Callable[[int, Tensor], Tensor] | None = None

    @property
    def kept(self) -> tuple[int, int]:
        """Return the shape of what is kept of the signal of one input."""
        G, c, _, P = self.shape
        return G * c, P

    def gradients(
        self, samples: slice, signals: Float[Tensor, "n G r P"]
    ) -> Float[Tensor, "n G r D"]:
        """Return the gradients of some inputs, (n, G, r, D), from signals (n, G, r, P)."""
        if self.convolved is None:
            return signals @ self.patches(samples).mT
        numbers = count(samples.start or 0, samples.step or 1)  # of the inputs
        rows = []  # (r, D) of each input
        for number, of_input in zip(numbers, signals, strict=False):
            rows.append(self.convolved(number, of_input[0]))
        stacked = torch.stack(rows) if len(rows) > 1 else rows[0][None]  # no copy of a single one
        return stacked[:, None]


@dataclass(frozen=True, eq=False)
class Elementwise:
    """An operation in which a weight acts on each element, with its result in the graph.

    ``signals`` turns the signals of k outputs into the gradients of all inputs, (k, N, size), and
    their terms, whose sums over positions they are.
    """

    edge: GradientEdge
    weight: GradientEdge
    size: int
    signals: Callable[[Tensor], tuple[Tensor, Tensor]]

    @property
    def kept(self) -> tuple[int]:
        """Return the shape of what is kept of the signal of one input."""
        return (self.size,)

    def as_weight(self, rows: Tensor) -> Tensor:
        """Arrange gradients (..., size) as the weight."""
        return rows.reshape((*rows.shape[:-1], *edge_shape(self.weight)))


Operation = Product | Elementwise


@dataclass(frozen=True)
class Use:
    """A node that uses a weight as its argument ``at``, and its twin in the graph of two inputs.

    ``chosen`` are the positions of these two, and ``axis`` is where the inputs lie in the output.
    """

    node: Node
    twin: Node
    chosen: tuple[int, int]
    axis: InputAxis
    at: int

    @property
    def edge(self) -> GradientEdge:
        """Return the output in the graph."""
        return GradientEdge(self.node, 0)

    @property
    def weight(self) -> GradientEdge:
        """Return the weight in the graph."""
        return argument_edge(self.node, self.at)

    def argument(self, name: str, axis: int) -> tuple[Tensor, InputAxis] | None:
        """Return what the node keeps of an argument, and where it holds the inputs on an axis.

        None if the inputs do not lie there.
        """
        many, two = saved(self.node, name), saved(self.twin, name)
        if many is None or two is None or many.is_complex():
            return None
        inner = two.shape[axis] // 2
        if many.shape[axis] != inner * self.axis.samples or two.shape[axis] != inner * 2:
            return None
        order = replace(self.axis, axis=axis, inner=inner).ordered_as(many, two, self.chosen)
        return (many, order) if order else None


def operation(graph: Graph, node: Node, at: int) -> Operation | None:
    """Return the operation of a node on its argument ``at``, a weight; None without a rule.

    Raises:
        RuntimeError: an argument was changed in place after the operation.
    """
    axis = graph.input_axis(node)
    rule = RULES.get(node.name())
    if rule is None or axis is None or node._input_metadata[0].dtype.is_complex:
        return None
    return rule(Use(node, graph.partners[node], graph.chosen, axis, at))


def real(tensor: Tensor) -> Tensor:
    """Return a tensor of half precision in float32, in which sums keep their digits."""
    return tensor.float() if tensor.dtype in (torch.float16, torch.bfloat16) else tensor


def _matrix_product(use: Use, left: str = "self") -> Product | None:
    """The rule of ``left @ mat2``, of matrices or of stacks of matrices.

    One is the weight. The rows of the other hold the inputs, or its columns if it is the right one.
    A stack of G matrices has G groups, and T rows for each input are T positions.
    """
    shape = shape_of(use.node)
    stacked = len(shape) == 3
    row_axis, column_axis = len(shape) - 2, len(shape) - 1
    weight_is_left = use.at == (0 if left == "self" else 1)
    if weight_is_left:  # (c, D) @ (D, N T)
        name, input_axis, feature_axis = "mat2", column_axis, row_axis
    else:  # (N T, D) @ (D, c)
        name, input_axis, feature_axis = left, row_axis, column_axis
    argument = use.argument(name, input_axis)
    if argument is None or use.axis.axis != input_axis:
        return None
    a, axis = argument  # the inputs lie on this axis of the output, too
    G = a.shape[0] if stacked else 1
    c = shape[feature_axis]
    D = a.shape[feature_axis]

    def grouped(tensor: Tensor, before: int) -> Tensor:
        """Arrange a matrix or stack as (..., N, G, n, T), behind some axes ``before`` it."""
        split = real(axis.split(tensor, before=before))
        if stacked:
            return split.movedim(before + 1, -1)  # from (..., N, T, G, n)
        return split.mT.unsqueeze(before + 1)  # from (..., N, T, n)

    def signals(g: Tensor) -> Tensor:
        return grouped(g, before=1).flatten(2, 3)  # (k, N, G c, T)

    def as_weight(gradients: Tensor) -> Tensor:
        weight = gradients if weight_is_left else gradients.mT
        return weight if stacked else weight[..., 0, :, :]

    patches = grouped(a, before=0)  # (N, G, D, T)
    return Product(
        edge=use.edge,
        weight=use.weight,
        shape=(G, c, D, axis.inner),
        patches=lambda samples: patches[samples],
        signals=signals,
        as_weight=as_weight,
        layout=("matrix", weight_is_left),
    )


def _addmm(use: Use) -> Operation | None:
    if saved(use.node, "alpha") != 1 or saved(use.node, "beta") != 1:
        return None
    if use.at > 0:
        return _matrix_product(use, "mat1")
    return _shift_of_product(use, "mat1", None)


def _shift_of_product(use: Use, name: str, align: int | None) -> Elementwise | None:
    """The rule of a bias that is added to a product with the argument ``name``."""
    if saved(use.node, name) is None:  # the weight is frozen
        return _elementwise(use, align=align)
    argument = use.argument(name, 0)
    if argument is None or argument[1].inner != use.axis.inner:
        return None
    return _elementwise(replace(use, axis=argument[1]), align=align)


def _convolution(use: Use) -> Operation | None:
    node = use.node
    if use.axis.axis != 0:
        return None
    if use.at == 2:
        return _shift_of_product(use, "input", 1)
    argument = use.argument("input", 0)
    if argument is None or use.at != 1:
        return None
    x, axis = argument
    sizes = edge_shape(use.weight)
    steps = (for_each_axis(node, name) for name in ("stride", "padding", "dilation"))
    taps = tuple(zip(sizes[2:], *steps, strict=True))
    G = saved(node, "groups")
    if saved(node, "transposed"):
        return _transposed_convolution(use, x, axis, taps, G)
    T = axis.inner
    D = prod(sizes[1:])
    C, *space = shape_of(node)[1:]
    shape = (G, C // G, D, T * prod(space))

    def patches(samples: slice) -> Tensor:
        if T == 1:
            return unfolded(real(x[samples]), taps, G)
        images = real(axis.split(x)[samples]).flatten(0, 1)  # (n T, channels, ...)
        a = unfolded(images, taps, G).unflatten(0, (-1, T))  # (n, T, G, D, P)
        return a.permute(0, 2, 3, 1, 4).flatten(3)  # (n, G, D, T P)

    def signals(g: Tensor) -> Tensor:
        g = real(axis.split(g, before=1)).flatten(4)  # (k, N, T, C, P)
        return g[:, :, 0] if T == 1 else g.transpose(2, 3).flatten(3)

    def as_weight(gradients: Tensor) -> Tensor:
        return gradients.reshape(*gradients.shape[:-3], *sizes)

    return Product(
        edge=use.edge,
        weight=use.weight,
        shape=shape,
        patches=patches,
        signals=signals,
        as_weight=as_weight,
        layout="convolution",
        convolved=convolved(node, x, shape, space),
    )


def _transposed_convolution(
    use: Use, x: Tensor, axis: InputAxis, taps: tuple[tuple[int, int, int, int], ...], G: int
) -> Elementwise | None:
    """The gradient sum_p x_p b_p^T, where the patch b_p is what the input sees of the signal."""
    if axis.inner > 1:
        return None
    output_padding = for_each_axis(use.node, "output_padding")
    for padding, (_, stride, _, _) in zip(output_padding, taps, strict=True):
        if padding >= stride:
            return None
    x = real(axis.split(x))[:, 0].flatten(2).unflatten(1, (G, -1))  # (N, G, c, P)

    def signals(g: Tensor) -> tuple[Tensor, Tensor]:
        images = real(g).flatten(0, 1)  # (k N, channels, ...)
        b = unfolded(images, taps, G).unflatten(0, (-1, axis.samples))  # (k, N, G, D, P)
        return (x @ b.mT).flatten(2), g

    return Elementwise(
        edge=use.edge,
        weight=use.weight,
        size=prod(edge_shape(use.weight)),
        signals=signals,
    )


def _embedding(use: Use) -> Product | None:
    node = use.node
    axis = use.axis
    indices = saved(node, "indices")
    if saved(node, "scale_grad_by_freq") or indices.shape[axis.axis] != axis.samples * axis.inner:
        return None
    words, size = edge_shape(use.weight)
    used, rank = indices.unique(return_inverse=True)  # the words in use, and their numbers there
    rank = axis.split(rank).flatten(1)  # (N, P)
    N, P = rank.shape
    D = len(used)
    counted = (used != saved(node, "padding_idx")).to(torch.get_default_dtype())

    def patches(samples: slice) -> Tensor:
        """Return 1 where a word stands at a position, and 0 for all other words."""
        numbers = rank[samples]  # (n, P)
        one_hot = counted.new_zeros(*numbers.shape, D)
        one_hot.scatter_(2, numbers[..., None], counted[numbers][..., None])
        return one_hot.mT[:, None].to(real_dtype(node))  # (n, 1, D, P)

    def as_weight(gradients: Tensor) -> Tensor:
        weight = gradients.new_zeros(*gradients.shape[:-3], words, size)
        weight[..., used, :] = gradients[..., 0, :, :].mT
        return weight

    def signals(g: Tensor) -> Tensor:
        return real(axis.split(g, before=1)).reshape(len(g), N, P, size).mT

    return Product(
        edge=use.edge,
        weight=use.weight,
        shape=(1, size, D, P),
        patches=patches,
        signals=signals,
        as_weight=as_weight,
        layout=("embedding", tuple(used.tolist())),
    )


def real_dtype(node: Node) -> torch.dtype:
    """Return the type in which signals at the output of a node are kept."""
    dtype = node._input_metadata[0].dtype
    return torch.float32 if dtype in (torch.float16, torch.bfloat16) else dtype


def _elementwise(
    use: Use, factor: Callable[[], Tensor | float] | None = None, *, align: int | None = None
) -> Elementwise | None:
    """The rule of an operation that adds a weight, or multiplies by it, with broadcasting.

    ``factor`` returns what the signal is multiplied by, with the axes of the output; None for 1. A
    weight of one axis acts on the axis ``align`` of the output, the last by default.
    """
    output = shape_of(use.node)
    sizes = list(edge_shape(use.weight))
    if align is not None:
        sizes += [1] * (len(output) - align - 1)
    sizes = [1] * (len(output) - len(sizes)) + sizes  # as broadcasting fills them up
    axis = use.axis
    if sizes.pop(axis.axis) != 1:
        return None

    def signals(g: Tensor) -> tuple[Tensor, Tensor]:
        g = real(g)
        terms = g if factor is None else g * factor()
        rows = axis.split(terms, before=1)  # (k, N, T, ...)
        summed = [2] if axis.inner > 1 else []
        for at, size in enumerate(sizes, start=3):
            if size == 1 < rows.shape[at]:
                summed.append(at)
        if summed:
            rows = rows.sum(summed)
        return rows.reshape(len(g), axis.samples, -1), terms

    return Elementwise(use.edge, use.weight, prod(sizes), signals)


def _sum(use: Use) -> Elementwise | None:
    alpha = saved(use.node, "alpha") if use.at else 1
    return _elementwise(use, None if alpha == 1 else lambda: alpha)


def _difference(use: Use) -> Elementwise | None:
    alpha = -saved(use.node, "alpha")
    return _elementwise(use, (lambda: alpha) if use.at else None)


def _multiplied(use: Use) -> Elementwise | None:
    other = saved(use.node, "self" if use.at else "other")
    return None if other.is_complex() else _elementwise(use, lambda: real(other))


def _divided(use: Use) -> Elementwise | None:
    numerator = saved(use.node, "self")
    divisor = saved(use.node, "other")
    if use.at == 0:
        return _elementwise(use, lambda: 1 / real(divisor))
    return _elementwise(use, lambda: -real(numerator) / real(divisor).square())


def _repeated(use: Use) -> Elementwise | None:
    """A vector that is repeated for each input, as by functional.instance_norm."""
    if len(shape_of(use.node)) != 1:
        return None
    (size,) = edge_shape(use.weight)

    def signals(g: Tensor) -> tuple[Tensor, Tensor]:
        g = real(g)
        return g.view(len(g), use.axis.samples, -1, size).sum(2), g

    return Elementwise(use.edge, use.weight, size, signals)


def _prelu(use: Use) -> Elementwise | None:
    x = saved(use.node, "self")
    return _elementwise(use, lambda: real(x).clamp(max=0)) if use.at == 1 else None


def _where(use: Use) -> Elementwise | None:
    condition = saved(use.node, "condition")
    return _elementwise(use, lambda: ~condition if use.at else condition)


def _layer_norm(use: Use) -> Elementwise | None:
    if use.at == 2:
        return _elementwise(use)
    x = saved(use.node, "input")
    mean = saved(use.node, "result1")
    scale = saved(use.node, "result2")
    return _elementwise(use, lambda: (real(x) - mean) * scale)


def _batch_norm(use: Use) -> Elementwise | None:
    node = use.node
    if use.at == 2:
        return _elementwise(use, align=1)
    if saved(node, "training"):
        return None
    x = real(saved(node, "input"))
    mean = real(saved(node, "running_mean"))
    variance = real(saved(node, "running_var"))
    eps = saved(node, "eps")
    return _elementwise(use, lambda: functional.batch_norm(x, mean, variance, eps=eps), align=1)


def _group_norm(use: Use) -> Elementwise | None:
    if use.at == 2:
        return _elementwise(use, align=1)
    x = saved(use.node, "input")
    mean = saved(use.node, "result1")
    scale = saved(use.node, "result2")

    def factor() -> Tensor:
        groups = real(x).reshape(*mean.shape, -1)
        return ((groups - mean[..., None]) * scale[..., None]).view(x.shape)

    return _elementwise(use, factor, align=1) if use.axis.axis == 0 else None


RULES: dict[str, Callable[[Use], Operation | None]] = {
    "AddBackward0": _sum,
    "AddmmBackward0": _addmm,
    "BmmBackward0": _matrix_product,
    "ConvolutionBackward0": _convolution,
    "DivBackward0": _divided,
    "EmbeddingBackward0": _embedding,
    "ExpandBackward0": _elementwise,
    "MmBackward0": _matrix_product,
    "MulBackward0": _multiplied,
    "NativeBatchNormBackward0": _batch_norm,
    "NativeGroupNormBackward0": _group_norm,
    "NativeLayerNormBackward0": _layer_norm,
    "PreluKernelBackward0": _prelu,
    "RepeatBackward0": _repeated,
    "SubBackward0": _difference,
    "WhereBackward0": _where,
}
