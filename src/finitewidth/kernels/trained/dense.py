"""Kernels of fully connected networks in closed form, without autograd.

With the layer inputs A_(l-1) (S, n_(l-1)) and the signals G_l (S, K, n_l), the derivatives of all
outputs by the pre-activations of layer l, the parts of layer l are

    traced     (A A^T + 1) o (G G^T), with the signals of the K outputs side by side, (S, K n_l)
    full       the same with G as (S K, n_l)
    diagonal   (|a|^2 + 1) |g|^2

where o is the elementwise product and 1 stands for the bias. No gradient is stored. Source:
equations 4 and 7 of ``beyond``; Novak, Sohl-Dickstein and Schoenholz, "Fast Finite Width Neural
Tangent Kernel" (ICML 2022), call the order of these products structured derivatives.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from finitewidth.kernels.shapes import check_network
from finitewidth.kernels.trained.budget import (
    BudgetError,
    check_result,
    fitting,
    pieces,
    within_budget,
)
from finitewidth.kernels.trained.fully_connected import FullyConnected

ITEM = 8  # bytes of a float64
SMALLEST, LARGEST = 1e-9, 1e9  # lengths between which products of squares are exact in float32


class RangeError(Exception):
    """Products of squares may leave the range of float32."""


@dataclass(frozen=True)
class Pass:
    """Forward pass of a stack.

    Attributes:
        weights: W_1 .. W_L, (R, n_(l-1), n_l).
        inputs: A_0 .. A_(L-1), (R, S, n_(l-1)).
        slopes: phi' of every layer that has an activation, (R, S, n_l).
        with_biases: whether biases count as parameters.
        activated: whether the output has an activation.
    """

    weights: Sequence[Tensor]
    inputs: Sequence[Tensor]
    slopes: Sequence[Tensor]
    with_biases: bool
    activated: bool


def terms_within(
    network: FullyConnected,
    x: Tensor,
    what: str,
    by_layer: bool,
    budget: int | None,
    dtype: torch.dtype,
    rows: int | None = None,
    *,
    of_module: bool,
) -> dict[str, Tensor]:
    """Compute the parts of a kernel, see `dense_terms`, within a budget or the default one.

    Those of a module in float32 are computed in float32 and added up in float64. They are computed
    in float64 where products of squares leave the range of float32.
    """

    def computed(dtype: torch.dtype, result: torch.dtype | None = None) -> dict[str, Tensor]:
        return within_budget(
            lambda given: dense_terms(network, x, what, by_layer, given, dtype, result, rows),
            x.device,
            budget,
        )

    if what == "norms":
        return computed(torch.float64)
    if of_module and x.dtype == torch.float32:
        with suppress(RangeError):
            return computed(torch.float32, torch.float64)
    return computed(dtype)


@torch.no_grad()
def dense_terms(
    network: FullyConnected,
    x: Tensor,
    what: str,
    by_layer: bool,
    budget: int,
    dtype: torch.dtype = torch.float64,
    result: torch.dtype | None = None,
    rows: int | None = None,
) -> dict[str, Tensor]:
    """Compute the parts of a kernel that belong to the layers of a stack, or their sum as "".

    Each is traced (..., S, S), full (..., K, S, K, S) or diagonal (..., K, S), for inputs (S, n0)
    or (R, S, n0). The leading axes are the replicas. With ``rows``, traced and full kernels are the
    blocks (..., r, S - r) and (..., K, r, K, S - r) of the first r inputs and the others. The norms
    over inputs of the full kernel, (..., K, K), are those of the sum; it is not kept. Terms are
    computed in ``dtype``, and added up in the type of the ``result``, the same by default.

    Raises:
        ConfigError: the shapes do not match, or one replica does not fit into the budget.
        RangeError: a type is given for the result, and ``dtype`` has too small a range.
    """
    network, x, leading = stacked(network, x)
    count, S, K = len(x), x.shape[-2], network.outputs
    r, m = (S, S) if rows is None else (rows, S - rows)  # inputs of rows and of columns
    columns = slice(rows or 0, None)
    shape = {"traced": (r, m), "full": (r, K, m, K), "diagonal": (S, K), "norms": (K, K)}[what]
    names = network.names if by_layer else ("",) * len(network.weights)
    check_result((count, *shape), len({*names}), x.device)
    totals = {name: x.new_zeros((count, *shape), dtype=result or dtype) for name in names}
    plan = _chunks(network, S, r, m, count, what, budget)
    for chosen in pieces(count, plan.replicas):
        run = forward(network, x, chosen, dtype)
        full = run.inputs[0].new_zeros(len(run.inputs[0]), S, K, S, K) if what == "norms" else None
        for part in pieces(K, plan.outputs):
            for layer, signal in signals(run, part):
                if result not in (None, dtype):
                    _check_range(run.inputs[layer], signal)
                total = totals[names[layer]][chosen] if full is None else full
                A, bias = run.inputs[layer], run.with_biases
                if what == "diagonal":
                    total[..., part] += _diagonal(A, signal, bias)
                    continue
                terms = _traced if what == "traced" else _full
                for some in pieces(r, plan.rows):
                    total[:, some] += terms(A, signal, bias, some, columns)
        if full is not None:
            totals[""][chosen] = full.square_().sum((1, 3)).sqrt_()
    order = {"traced": (1, 2), "full": (2, 1, 4, 3), "diagonal": (2, 1), "norms": (1, 2)}[what]
    return {
        name: total.permute(0, *order).reshape(*leading, *(shape[axis - 1] for axis in order))
        for name, total in totals.items()
    }


def _check_range(*factors: Tensor) -> None:
    """Check that squares of the factors of a gradient can be multiplied in float32.

    Raises:
        RangeError: a factor is too large, too small (zero included), or not finite.
    """
    for factor in factors:
        if not SMALLEST < float(torch.linalg.vector_norm(factor)) < LARGEST:
            raise RangeError


def stacked(network: FullyConnected, x: Tensor) -> tuple[FullyConnected, Tensor, tuple[int, ...]]:
    """Return networks and inputs with one leading axis of R replicas, and their leading axes.

    Raises:
        ConfigError: the shapes do not match.
    """
    check_network(x, network.weights, network.biases)
    leading = np.broadcast_shapes(x.shape[:-2], network.replicas)

    def flat(tensor: Tensor, own: int) -> Tensor:
        axes = tensor.shape[tensor.dim() - own :]
        return tensor.expand(*leading, *axes).reshape(-1, *axes)

    weights = [flat(weight, 2) for weight in network.weights]
    biases = network.biases and [flat(bias, 1) for bias in network.biases]
    return replace(network, weights=weights, biases=biases), flat(x, 2), leading


def forward(
    network: FullyConnected,
    x: Tensor,
    chosen: slice = slice(None),
    dtype: torch.dtype = torch.float64,
) -> Pass:
    """Run the forward pass of some replicas, with networks and inputs from `stacked`.

    Autograd can differentiate it and what follows.
    """
    weights = [weight[chosen].to(dtype) for weight in network.weights]
    biases = network.biases and [bias[chosen].to(dtype) for bias in network.biases]
    phi, last = network.activation, len(weights) - 1
    inputs, slopes = [x[chosen].to(dtype)], []
    for layer, weight in enumerate(weights):
        if layer == last and not network.activated_output:
            break
        h = inputs[-1] @ weight
        h = h if biases is None else h + biases[layer][:, None, :]
        value = phi.value(h)
        slopes.append(phi.slope(h) if phi.slope_of_value is None else phi.slope_of_value(value))
        inputs.append(value)
    return Pass(weights, inputs[: last + 1], slopes, biases is not None, network.activated_output)


def signals(run: Pass, outputs: slice) -> Iterator[tuple[int, Tensor]]:
    """Yield layers from 0, last first, with the derivatives (R, S, k, n_l) of k outputs by h_l."""
    last = len(run.weights) - 1
    R, S, K = *run.inputs[0].shape[:2], run.weights[-1].shape[-1]
    signal = torch.eye(K, dtype=run.inputs[0].dtype, device=run.inputs[0].device)[outputs]
    signal = signal.expand(R, S, -1, K)
    if run.activated:
        signal = signal * run.slopes[last][:, :, None, :]
    yield last, signal
    for layer in range(last - 1, -1, -1):
        back = run.weights[layer + 1].mT
        if layer == last - 1:  # the signal above is diagonal
            back = back[:, None, outputs, :]
            if run.activated:
                back = run.slopes[last][:, :, outputs, None] * back
        else:
            back = (signal.flatten(1, 2) @ back).view(R, S, -1, back.shape[-1])
        slope = run.slopes[layer][:, :, None, :]
        # a product of its own size is overwritten, which saves a copy of it
        signal = back.mul_(slope) if layer < last - 1 else back * slope
        yield layer, signal


@torch.no_grad()
def times(run: Pass, vectors: Tensor) -> Tensor:
    """Return J J^T v for vectors v (R, S, K), by one backward and one tangent pass."""
    last = len(run.weights) - 1
    signal = vectors * run.slopes[last] if run.activated else vectors
    back = [signal]
    for layer in range(last - 1, -1, -1):
        back.append((back[-1] @ run.weights[layer + 1].mT) * run.slopes[layer])
    tangent = torch.zeros_like(back[-1])
    for layer, signal in enumerate(reversed(back)):
        if layer:
            tangent = (tangent * run.slopes[layer - 1]) @ run.weights[layer]
        A = run.inputs[layer]
        short = A.shape[1] <= A.shape[2]  # a Gram matrix is cheaper than two products with A
        tangent = tangent + ((A @ A.mT) @ signal if short else A @ (A.mT @ signal))
        if run.with_biases:
            tangent = tangent + signal.sum(1, keepdim=True)
    return tangent * run.slopes[last] if run.activated else tangent


def _traced(A: Tensor, G: Tensor, bias: bool, rows: slice, columns: slice) -> Tensor:
    """Return the part of some rows and columns, (R, r, m)."""
    g = G.flatten(2)
    return (A[:, rows] @ A[:, columns].mT).add_(float(bias)).mul_(g[:, rows] @ g[:, columns].mT)


def _full(A: Tensor, G: Tensor, bias: bool, rows: slice, columns: slice) -> Tensor:
    """Return the part of some rows and columns, (R, r, K, m, K)."""
    left, right = G[:, rows], G[:, columns]
    products = left.flatten(1, 2) @ right.flatten(1, 2).mT
    products = products.view(*left.shape[:3], *right.shape[1:3])
    inner = (A[:, rows] @ A[:, columns].mT).add_(float(bias))
    return products.mul_(inner[:, :, None, :, None])


def _diagonal(A: Tensor, G: Tensor, bias: bool) -> Tensor:
    return (A.square().sum(-1) + float(bias))[:, :, None] * G.square().sum(-1)


@dataclass(frozen=True)
class _Plan:
    """How many replicas, outputs and rows of the kernel are computed at once."""

    replicas: int
    outputs: int
    rows: int


def _chunks(
    network: FullyConnected,
    samples: int,
    rows: int,
    columns: int,
    replicas: int,
    what: str,
    budget: int,
) -> _Plan:
    """Return how much of the work fits into the budget at once.

    All rows and outputs of as many replicas as fit, or else some rows and some outputs of one.

    Raises:
        BudgetError: one row with one output of one replica does not fit.
    """
    widths = [weight.shape[-1] for weight in network.weights]
    units = sum(widths) + network.weights[0].shape[-2]
    weights = sum(weight.shape[-1] * weight.shape[-2] for weight in network.weights)
    K = network.outputs
    together = what in ("full", "norms")  # all outputs at once
    forms_kernel = {"norms": (samples * K) ** 2}.get(what, 0)
    fixed = ITEM * (weights + 2 * samples * units + forms_kernel)
    per_row = 0 if what == "diagonal" else ITEM * 3 * columns * (K**2 if together else 1)
    per_output = ITEM * 3 * samples * max(widths)
    one = fixed + rows * per_row + K * per_output
    least = fixed + per_row + (K if together else 1) * per_output
    if budget < least:
        remedy = ", or use fewer inputs" if samples > 1 else ""
        raise BudgetError("the kernel of one network", budget, least, remedy)
    if budget >= one:
        return _Plan(fitting(budget, one, replicas, "one network"), K, rows)
    # rows first: products of few rows are slow, and outputs need no work again
    for_outputs = per_output * (K if together else 1)
    some = fitting(budget, per_row, rows, "one row", fixed=fixed + for_outputs)
    if together:
        return _Plan(1, K, some)
    left = fixed + some * per_row
    return _Plan(1, fitting(budget, per_output, K, "one output", fixed=left), some)
