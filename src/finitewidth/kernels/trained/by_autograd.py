"""Gradients of parameters for which there are no rules, input by input.

The gradient of a batch norm in eval mode is wrong in torch (2.13, on a CPU) for one input alone, if
it arrives in another memory format, as where images are read as tokens. The strides of one image do
not tell the formats apart. So an input is given twice to a network with batch norms.
"""

import warnings
from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor
from torch.func import vmap

from finitewidth.kernels.trained.batches import Batch
from finitewidth.kernels.trained.graph import backward, children_first
from finitewidth.kernels.trained.recording import Request, gradients_on, outputs_with

BATCH_NORM = "NativeBatchNormBackward0"


def rows(request: Request, names: Sequence[str], outputs: slice, at_once: int) -> list[Tensor]:
    """Return the Jacobians (N, k, size) of k outputs by some parameters.

    They are zero where an output does not depend on the parameter. `torch.func.vmap` computes
    ``at_once`` inputs together, if the network allows it; at 0, one input follows after another.
    """
    x = request.padded()
    if at_once:
        try:
            return _vectorised(request, x, names, outputs, at_once)
        except (RuntimeError, NotImplementedError, ValueError):
            pass  # such as values that steer the forward pass, or operations without a rule
    return _one_by_one(request, x, names, outputs)


def _vectorised(
    request: Request, x: Batch, names: Sequence[str], outputs: slice, at_once: int
) -> list[Tensor]:
    parameters = [request.counted[name].detach() for name in names]
    found: list[list[Tensor]] = [[] for _ in names]

    def answers(own: tuple[Tensor, ...], sample: tuple[Tensor, ...]) -> Tensor:
        named = dict(zip(names, own, strict=True))
        alone = replace(x, tensors=tuple(tensor[None] for tensor in sample))
        return outputs_with(request, named, alone)[0, outputs]

    for some in x.split(at_once):
        with gradients_on(), warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="There is a performance drop")
            # each input has parameters of its own
            own = tuple(p.expand(len(some), *p.shape).requires_grad_() for p in parameters)
            answered = vmap(answers)(own, some.tensors)
            one_each = torch.eye(answered.shape[1], dtype=answered.dtype, device=answered.device)
            cotangents = one_each[:, None].expand(-1, len(some), -1)
            gradients = backward(answered, own, cotangents)
        for parts, p, gradient in zip(found, parameters, gradients, strict=True):
            shape = (len(some), len(one_each), p.numel())
            parts.append(
                p.new_zeros(shape) if gradient is None else gradient.transpose(0, 1).reshape(shape)
            )
    return [torch.cat(parts) for parts in found]


def has_batch_norm(outputs: Tensor) -> bool:
    """Tell whether there is a batch norm in the graph of outputs."""
    nodes = children_first(outputs.grad_fn) if outputs.grad_fn else []
    return any(node.name() == BATCH_NORM for node in nodes)


def _one_by_one(request: Request, x: Batch, names: Sequence[str], outputs: slice) -> list[Tensor]:
    parameters = [request.counted[name] for name in names]
    count = outputs.stop - outputs.start
    jacobians = [p.new_zeros(len(x), count, p.numel()) for p in parameters]
    with gradients_on():
        copies = 2 if has_batch_norm(request.outputs(x[:1])) else 1
    for sample in range(len(x)):
        with gradients_on():
            answers = request.outputs(x[[sample] * copies])[0, outputs].unbind()
        for k, answer in enumerate(answers):
            gradients = torch.autograd.grad(
                answer, parameters, retain_graph=k + 1 < count, allow_unused=True
            )
            for jacobian, gradient in zip(jacobians, gradients, strict=True):
                if gradient is not None:
                    jacobian[sample, k] = gradient.to_dense().flatten()
    return jacobians
