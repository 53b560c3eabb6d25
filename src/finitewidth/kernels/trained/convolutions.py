"""What a convolution in the graph keeps, and gradients of large ones without patches."""

from collections.abc import Callable, Sequence
from math import prod

import torch
from torch import Tensor
from torch.autograd.graph import Node

from finitewidth.kernels.trained.graph import argument_edge, edge_shape, saved, shape_of

CONVOLVED = 10**7  # multiplications for one input and output, from which on patches are not made


def for_each_axis(node: Node, name: str) -> Sequence[int]:
    """Return a setting of a convolution for each axis of space; one number is for all of them."""
    numbers = saved(node, name)
    axes = len(shape_of(node)) - 2
    return numbers * axes if len(numbers) == 1 else numbers


def convolved(
    node: Node, x: Tensor, shape: tuple[int, int, int, int], space: Sequence[int]
) -> Callable[[int, Tensor], Tensor] | None:
    """Gradients of one input by a convolution whose output channels are those of all outputs.

    oneDNN computes large ones twice as fast as a product with patches, for float32 on a CPU.
    """
    G, c, D, P = shape
    fast = x.device.type == "cpu" and x.dtype == torch.float32 and torch.backends.mkldnn.enabled
    if not fast or len(space) < 2 or G > 1:
        return None
    several = prod(space) < P  # images for one input
    if several or c * D * P < CONVOLVED:
        return None
    stride = for_each_axis(node, "stride")
    padding = for_each_axis(node, "padding")
    dilation = for_each_axis(node, "dilation")
    weight_edge = argument_edge(node, 1)
    size = edge_shape(weight_edge)[1:]

    def gradients(sample: int, signals: Tensor) -> Tensor:
        weight = x.new_empty(len(signals), *size)  # only its shape is used
        _, gradient, _ = torch.ops.aten.convolution_backward(
            grad_output=signals.reshape(1, -1, *space),
            input=x[sample : sample + 1],
            weight=weight,
            bias_sizes=None,
            stride=stride,
            padding=padding,
            dilation=dilation,
            transposed=False,
            output_padding=[0] * len(space),
            groups=1,
            output_mask=[False, True, False],
        )
        return gradient.flatten(1)  # (r, D)

    return gradients
