"""Gradients of parameters for which there are no rules, input by input.

The gradient of a batch norm in eval mode is wrong in torch (2.13, on a CPU) for one input alone, if
it arrives in another memory format, as where images are read as tokens. The strides of one image do
not tell the formats apart. So an input is given twice to a network with batch norms.
"""

import warnings
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

import torch
from torch import Tensor
from torch.func import vjp, vmap

from finitewidth.kernels.trained.batches import Batch
from finitewidth.kernels.trained.budget import pieces
from finitewidth.kernels.trained.graph import children_first
from finitewidth.kernels.trained.recording import Request, gradients_on, outputs_with

FORMED = 2**22  # numbers of gradients that are made at once, at most: more do not save time
BATCH_NORM = "NativeBatchNormBackward0"


def rows(request: Request, names: Sequence[str], outputs: slice, at_once: int) -> list[Tensor]:
    """Return the Jacobians (N, k, size) of k outputs by some parameters.

    They are zero where an output does not depend on the parameter. `torch.func.vmap` computes
    ``at_once`` inputs together, if the network allows it; at 0, one input follows after another.
    """
    x = request.padded()
    count = outputs.stop - outputs.start
    per_input = count * sum(request.counted[name].numel() for name in names)
    at_once = min(at_once, max(1, FORMED // per_input))
    if at_once:
        # such as values that steer the forward pass, or operations that vmap does not know
        with suppress(RuntimeError, NotImplementedError, ValueError):
            return _vectorised(request, x, names, outputs, at_once)
    return _one_by_one(request, x, names, outputs)


def _vectorised(
    request: Request, x: Batch, names: Sequence[str], outputs: slice, at_once: int
) -> list[Tensor]:
    parameters = tuple(request.counted[name].detach() for name in names)

    def gradients(sample: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        """Return the gradients (k, ...) of the outputs for one input by each parameter."""

        def outputs_of(tensors: tuple[Tensor, ...]) -> Tensor:
            named = dict(zip(names, tensors, strict=True))
            alone = replace(x, tensors=tuple(tensor[None] for tensor in sample))
            return outputs_with(request, named, alone)[0, outputs]

        answers, pull_back, *_ = vjp(outputs_of, parameters)
        one_each = torch.eye(len(answers), dtype=answers.dtype, device=answers.device)
        (by_parameter,) = vmap(pull_back)(one_each)
        return by_parameter

    def rows_of(part: Batch) -> list[Tensor]:
        """Return the Jacobians (n, k, size) of some inputs."""
        with gradients_on(), warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="There is a performance drop")
            by_parameter = vmap(gradients)(part.tensors)  # (n, k, ...) each
        return [gradient.detach().flatten(2).contiguous() for gradient in by_parameter]

    if len(x) <= at_once:
        return rows_of(x)
    jacobians = _empty(parameters, len(x), outputs)
    for inputs in pieces(len(x), at_once):
        for jacobian, part in zip(jacobians, rows_of(x[inputs]), strict=True):
            jacobian[inputs] = part
    return jacobians


def _empty(parameters: Sequence[Tensor], samples: int, outputs: slice) -> list[Tensor]:
    count = outputs.stop - outputs.start
    return [p.new_empty(samples, count, p.numel()) for p in parameters]


def has_batch_norm(outputs: Tensor) -> bool:
    """Tell whether there is a batch norm in the graph of outputs."""
    nodes = children_first(outputs.grad_fn) if outputs.grad_fn else []
    return any(node.name() == BATCH_NORM for node in nodes)


def _one_by_one(request: Request, x: Batch, names: Sequence[str], outputs: slice) -> list[Tensor]:
    parameters = [request.counted[name] for name in names]
    jacobians = [rows.zero_() for rows in _empty(parameters, len(x), outputs)]
    count = outputs.stop - outputs.start
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
