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

from finitewidth.common.shapes import Float
from finitewidth.kernels.ntk_init.activations import activation_of
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

    weights: Sequence[Float[Tensor, "R _ _"]]
    inputs: Sequence[Float[Tensor, "R S _"]]
    slopes: Sequence[Float[Tensor, "R S _"]]
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
    count = len(x)  # replicas
    S = x.shape[-2]
    K = network.outputs
    r, m = (S, S) if rows is None else (rows, S - rows)  # inputs of rows and of columns
    shape = {"traced": (r, m), "full": (r, K, m, K), "diagonal": (S, K), "norms": (K, K)}[what]
    names = network.names if by_layer else ("",) * len(network.weights)
    check_result((count, *shape), len({*names}), x.device)
    totals = {name: x.new_zeros((count, *shape), dtype=result or dtype) for name in names}
    plan = _chunks(network, S, r, m, count, what, budget)
    checked = result not in (None, dtype)
    for chosen in pieces(count, plan.replicas):
        run = forward(network, x, chosen, dtype)
        if what == "norms":
            full = run.inputs[0].new_zeros(len(run.inputs[0]), S, K, S, K)
            _add_layers([full] * len(names), run, what, plan, rows, checked)
            totals[""][chosen] = full.square_().sum((1, 3)).sqrt_()
        else:
            _add_layers([totals[name][chosen] for name in names], run, what, plan, rows, checked)
    return {name: _ordered(total, what, leading) for name, total in totals.items()}


def _ordered(total: Tensor, what: str, leading: tuple[int, ...]) -> Tensor:
    """Return a kernel with outputs before inputs, and with the leading axes of the replicas."""
    order = {"traced": (1, 2), "full": (2, 1, 4, 3), "diagonal": (2, 1), "norms": (1, 2)}[what]
    ordered = total.permute(0, *order)
    return ordered.reshape(*leading, *ordered.shape[1:])


def _add_layers(
    totals: Sequence[Tensor],
    run: Pass,
    what: str,
    plan: "_Plan",
    rows: int | None,
    checked: bool,
) -> None:
    """Add the part of each layer to its total, for some replicas.

    A total is (R, r, m), (R, r, K, m, K) or (R, S, K), see `dense_terms`.

    Raises:
        RangeError: the range of the type is ``checked``, and is too small.
    """
    S = run.inputs[0].shape[1]
    K = run.weights[-1].shape[-1]
    columns = slice(rows or 0, None)
    for part in pieces(K, plan.outputs):
        for layer, signal in signals(run, part):
            total = totals[layer]
            A = run.inputs[layer]
            if checked:
                _check_range(A, signal)
            if what == "diagonal":
                total[..., part] += _diagonal(A, signal, run.with_biases)
                continue
            terms = _traced if what == "traced" else _full
            for block in pieces(S if rows is None else rows, plan.rows):
                total[:, block] += terms(A, signal, run.with_biases, block, columns)


def _check_range(*factors: Tensor) -> None:
    """Check that squares of the factors of a gradient can be multiplied in float32.

    Raises:
        RangeError: a factor is too large, too small (zero included), or not finite.
    """
    for factor in factors:
        if not SMALLEST < float(torch.linalg.vector_norm(factor)) < LARGEST:
            raise RangeError


def stacked(
    network: FullyConnected, x: Tensor
) -> tuple[FullyConnected, Float[Tensor, "R S n0"], tuple[int, ...]]:
    """Return networks and inputs with one leading axis of R replicas, and their leading axes.

    Raises:
        ConfigError: the shapes do not match.
    """
    check_network(x, network.weights, network.biases)
    leading = np.broadcast_shapes(x.shape[:-2], network.replicas)

    def flat(tensor: Tensor, dimensions: int) -> Tensor:
        axes = tensor.shape[tensor.dim() - dimensions :]
        return tensor.expand(*leading, *axes).reshape(-1, *axes)

    weights = [flat(weight, 2) for weight in network.weights]
    biases = network.biases and [flat(bias, 1) for bias in network.biases]
    return replace(network, weights=weights, biases=biases), flat(x, 2), leading


def forward(
    network: FullyConnected,
    x: Float[Tensor, "R S n0"],
    chosen: slice = slice(None),
    dtype: torch.dtype = torch.float64,
) -> Pass:
    """Run the forward pass of some replicas, with networks and inputs from `stacked`.

    Autograd can differentiate it and what follows.
    """
    weights = [weight[chosen].to(dtype) for weight in network.weights]
    biases = network.biases and [bias[chosen].to(dtype) for bias in network.biases]
    phi = activation_of(network.activation)
    last = len(weights) - 1
    inputs = [x[chosen].to(dtype)]  # (R, S, n) each
    slopes = []
    for layer, weight in enumerate(weights):
        if layer == last and not network.activated_output:
            break
        h = inputs[-1] @ weight
        if biases is not None:
            h = h + biases[layer][:, None, :]
        value = phi.value(h)
        if phi.slope_of_value is None:
            slopes.append(phi.slope(h))
        else:
            slopes.append(phi.slope_of_value(value))
        inputs.append(value)
    return Pass(
        weights=weights,
        inputs=inputs[: last + 1],
        slopes=slopes,
        with_biases=biases is not None,
        activated=network.activated_output,
    )


def signals(run: Pass, outputs: slice) -> Iterator[tuple[int, Float[Tensor, "R S k n"]]]:
    """Yield layers from 0, last first, with the derivatives (R, S, k, n_l) of k outputs by h_l."""
    last = len(run.weights) - 1
    x = run.inputs[0]
    R, S, _ = x.shape
    K = run.weights[-1].shape[-1]
    signal = torch.eye(K, dtype=x.dtype, device=x.device)[outputs]
    signal = signal.expand(R, S, -1, K)
    if run.activated:
        signal = signal * run.slopes[last][:, :, None, :]
    yield last, signal
    for layer in range(last - 1, -1, -1):
        W = run.weights[layer + 1].mT  # (R, n_(l+1), n_l)
        slope = run.slopes[layer][:, :, None, :]  # (R, S, 1, n_l)
        if layer < last - 1:
            back = (signal.flatten(1, 2) @ W).view(R, S, -1, W.shape[-1])
            signal = back.mul_(slope)  # in place, which saves a copy
        else:  # the signal above is diagonal
            back = W[:, None, outputs, :]
            if run.activated:
                back = run.slopes[last][:, :, outputs, None] * back
            signal = back * slope
        yield layer, signal


@torch.no_grad()
def times(run: Pass, vectors: Float[Tensor, "R S K"]) -> Float[Tensor, "R S K"]:
    """Return J J^T v for vectors v (R, S, K), by one backward and one tangent pass."""
    last = len(run.weights) - 1
    signal = vectors * run.slopes[last] if run.activated else vectors
    by_layer = [signal]  # (R, S, n_l) each, the last layer first
    for layer in range(last - 1, -1, -1):
        signal = signal @ run.weights[layer + 1].mT
        signal = signal * run.slopes[layer]
        by_layer.append(signal)
    tangent = torch.zeros_like(signal)
    for layer, signal in enumerate(reversed(by_layer)):
        if layer:
            tangent = (tangent * run.slopes[layer - 1]) @ run.weights[layer]
        A = run.inputs[layer]
        short = A.shape[1] <= A.shape[2]  # a Gram matrix is cheaper than two products with A
        product = (A @ A.mT) @ signal if short else A @ (A.mT @ signal)
        tangent = tangent + product
        if run.with_biases:
            tangent = tangent + signal.sum(1, keepdim=True)
    return tangent * run.slopes[last] if run.activated else tangent


def _traced(
    A: Float[Tensor, "R S n"], G: Float[Tensor, "R S k m"], bias: bool, rows: slice, columns: slice
) -> Float[Tensor, "R r c"]:
    """Return the part of some rows and columns, (R, r, m)."""
    g = G.flatten(2)  # (R, S, k n)
    of_inputs = (A[:, rows] @ A[:, columns].mT).add_(float(bias))
    of_signals = g[:, rows] @ g[:, columns].mT
    return of_inputs.mul_(of_signals)


def _full(
    A: Float[Tensor, "R S n"], G: Float[Tensor, "R S K m"], bias: bool, rows: slice, columns: slice
) -> Float[Tensor, "R r K c K"]:
    """Return the part of some rows and columns, (R, r, K, m, K)."""
    left = G[:, rows]  # (R, r, K, n)
    right = G[:, columns]  # (R, m, K, n)
    of_signals = left.flatten(1, 2) @ right.flatten(1, 2).mT  # (R, r K, m K)
    of_signals = of_signals.view(*left.shape[:3], *right.shape[1:3])
    of_inputs = (A[:, rows] @ A[:, columns].mT).add_(float(bias))  # (R, r, m)
    return of_signals.mul_(of_inputs[:, :, None, :, None])


def _diagonal(
    A: Float[Tensor, "R S n"], G: Float[Tensor, "R S k m"], bias: bool
) -> Float[Tensor, "R S k"]:
    """Return the squared gradients, (R, S, k)."""
    of_inputs = A.square().sum(-1) + float(bias)  # (R, S)
    of_signals = G.square().sum(-1)
    return of_inputs[:, :, None] * of_signals


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
    pairs = K**2 if together else 1  # of outputs
    fewest = K if together else 1  # outputs
    fixed = ITEM * (weights + 2 * samples * units + forms_kernel)
    per_row = 0 if what == "diagonal" else ITEM * 3 * columns * pairs
    per_output = ITEM * 3 * samples * max(widths)
    one = fixed + rows * per_row + K * per_output
    least = fixed + per_row + fewest * per_output
    if budget < least:
        remedy = ", or use fewer inputs" if samples > 1 else ""
        raise BudgetError("the kernel of one network", budget, least, remedy)
    if budget >= one:
        return _Plan(fitting(budget, one, replicas, "one network"), K, rows)
    # rows first: products of few rows are slow, and outputs need no work again
    beside = fixed + fewest * per_output
    rows_at_once = fitting(budget, per_row, rows, "one row", fixed=beside)
    if together:
        return _Plan(1, K, rows_at_once)
    beside = fixed + rows_at_once * per_row
    outputs_at_once = fitting(budget, per_output, K, "one output", fixed=beside)
    return _Plan(1, outputs_at_once, rows_at_once)
