"""Tangent and path kernels by their definition, as Gram matrices of autograd gradients.

Tests and benchmarks compare the closed forms with these functions, which share no formula with
them. They are slow and need much memory. They take one network without replica axes and compute in
the dtype of ``weights``.
"""

import itertools
import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor
from torch.func import grad, vmap

from finitewidth.kernels.paths import enumerate_paths, path_activity, path_features, path_values

Network = tuple[list[Tensor], list[Tensor]]


def value_kernel_by_jacobian(
    x: Tensor,
    weights: Sequence[Tensor],
    biases: Sequence[Tensor] | None,
    gates: Sequence[Tensor],
    *,
    with_biases: bool,
) -> Tensor:
    """Compute K^v, (S, S), from gradients over the value weights."""

    def logits(theta: Network, sample: Tensor, *gates_of_sample: Tensor) -> Tensor:
        return _gated(theta, sample, gates_of_sample)

    theta = _with_biases(weights, biases)
    return _kernel(logits, theta, (x, *gates), with_biases, theta[0][-1].shape[-1])


def feature_kernel_by_jacobian(
    x: Tensor,
    feature_weights: Sequence[Tensor],
    feature_biases: Sequence[Tensor] | None,
    weights: Sequence[Tensor],
    biases: Sequence[Tensor] | None,
    *,
    beta: float | None,
    eps: float = 0.0,
    hidden: str = "hard",
    with_biases: bool,
) -> Tensor:
    """Compute K^f, (S, S), from gradients over the feature weights.

    See ``gated_ntk.feature_kernel``.
    """
    value = _with_biases(weights, biases)

    def logits(theta: Network, sample: Tensor) -> Tensor:
        gates = []
        z = sample
        for weight, bias in zip(*theta, strict=True):
            q = z @ weight + bias
            opened = (q > 0).to(q.dtype) if beta is None else (1 + eps) / (1 + torch.exp(-beta * q))
            gates.append(opened)
            z = torch.relu(q) if hidden == "hard" else q * opened
        return _gated(value, sample, gates)

    theta = _with_biases(feature_weights, feature_biases)
    return _kernel(logits, theta, (x,), with_biases, weights[-1].shape[-1])


def value_tangent_kernel(weights: Sequence[Tensor], output: int = 0) -> Tensor:
    """Compute V = (grad v)ᵀ (grad v), (P, P), from the gradients of all path values.

    Source: NPF Definition 3.2.
    """
    sizes = [*(weight.shape[0] for weight in weights), weights[-1].shape[1]]
    paths = enumerate_paths(sizes, output)
    jacobians = torch.func.jacrev(lambda theta: path_values(theta, paths))(list(weights))
    gradients = torch.cat([jacobian.flatten(1) for jacobian in jacobians], dim=1)
    return gradients @ gradients.T


def overlap_by_definition(
    gates: Sequence[Tensor], paths: Tensor, input_unit: int | None = None
) -> Tensor:
    """Compute Lambda(s, s') = |Act(s, s')| / n0, the shared active paths per input unit.

    Source: NPF Definition 2.2.

    With ``input_unit``, only the paths from this input unit are counted, and the number is not
    divided. In a fully connected network the result is the same for every input unit (remark after
    Definition 2.2).
    """
    inputs = int(paths[:, 0].max()) + 1
    if input_unit is not None:
        paths = paths[paths[:, 0] == input_unit]
        inputs = 1
    activity = path_activity(gates, paths)
    return activity @ activity.mT / inputs


def npk_by_definition(x: Tensor, gates: Sequence[Tensor], paths: Tensor) -> Tensor:
    """Compute the neural path kernel H(s, s') = <phi_s, phi_s'> (NPF Lemma 2.1).

    Arguments are those of `path_features`.
    """
    features = path_features(x, gates, paths)
    return features @ features.mT


def npk_by_jacobian(x: Tensor, gates: Sequence[Tensor]) -> Tensor:
    """Compute the neural path kernel (S, S) from derivatives of networks with shared paths only.

    For each pair of inputs, all weights are 1 and a unit is open if it is open for both inputs. The
    derivative of the output with respect to input unit i is then the number of shared active paths
    from i (NPF Definition 2.2 and its remark). This works for networks of any size.
    """
    ones = [torch.ones(*pair, dtype=x.dtype) for pair in _layer_shapes(x, gates)]

    def shared_output(u: Tensor, *gates_of_both: Tensor) -> Tensor:
        z = u
        for weight, gate in zip(ones, gates_of_both, strict=True):
            z = (z @ weight) * gate
        return z.sum()

    def row(sample: Tensor, *gates_of_sample: Tensor) -> Tensor:
        shared = [mine * all_ for mine, all_ in zip(gates_of_sample, gates, strict=True)]
        counts = vmap(grad(shared_output))(torch.zeros_like(x), *shared)
        return (counts * sample * x).sum(1)

    rows = [row(x[s], *(gate[s] for gate in gates)) for s in range(len(x))]
    return torch.stack(rows)


def limiting_dispersion(ratio: float) -> float:
    """Return the limit of E[K(x, x)^2] / E[K(x, x)]^2 as depth / (open units) tends to r.

    It is the same for every law of the value weights.
    """
    bracket = 1 / 3 + 4 / (9 * ratio) + 4 * math.expm1(-3 * ratio) / (27 * ratio**2)
    return math.exp(2 * ratio) * bracket


def _layer_shapes(x: Tensor, gates: Sequence[Tensor]) -> list[tuple[int, int]]:
    units = [x.shape[1], *(gate.shape[1] for gate in gates)]
    return list(itertools.pairwise(units))


def _gated(theta: Network, sample: Tensor, gates: Sequence[Tensor]) -> Tensor:
    z = sample
    for weight, bias, gate in zip(theta[0][:-1], theta[1][:-1], gates, strict=True):
        z = (z @ weight + bias) * gate
    return z @ theta[0][-1] + theta[1][-1]


def _with_biases(weights: Sequence[Tensor], biases: Sequence[Tensor] | None) -> Network:
    if biases is None:
        biases = [torch.zeros(weight.shape[-1], dtype=weight.dtype) for weight in weights]
    return list(weights), list(biases)


def _kernel(
    logits: Callable[..., Tensor],
    theta: Network,
    samples: tuple[Tensor, ...],
    with_biases: bool,
    classes: int,
) -> Tensor:
    """Compute the sum over outputs of the Gram matrices of per-sample gradients."""
    size = len(samples[0])

    def scalar(theta: Network, unit: Tensor, *sample: Tensor) -> Tensor:
        return logits(theta, *sample) @ unit

    axes = (None, 0, *(0 for _ in samples))
    kernel = torch.zeros(())
    for unit in torch.eye(classes, dtype=samples[0].dtype):
        units = unit.expand(size, classes)
        weights, biases = vmap(grad(scalar), in_dims=axes)(theta, units, *samples)
        counted = weights + biases if with_biases else weights
        gradients = torch.cat([gradient.flatten(1) for gradient in counted], dim=1)
        kernel = kernel + gradients @ gradients.T
    return kernel
