"""Tangent kernels of gated fully connected networks in closed form, without autograd.

K^v is the kernel of the value weights. K^f is the kernel of the feature weights, which determine
the gates (Lakshminarayanan and Singh 2020, Proposition 4.1). Both are sums over layers of a Gram
matrix of backward signals times a Gram matrix of layer inputs. Gradients are not stored.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

import torch
from torch import Tensor

from finitewidth.kernels.gated_networks import (
    cast,
    feature_pass,
    gate_slopes,
    hidden_slope,
    value_pass,
)

# logits_trace: the sum of the kernels of all outputs.
# true_class_logit: for each input, the output that ``labels`` names.
# softmax_sum: the sum of the softmax outputs, which the authors' published code differentiates. It
# is 1 for all weights, so its kernel contains only rounding errors.
Output = Literal["logits_trace", "true_class_logit", "softmax_sum"]


def value_kernel(
    x: Tensor,
    weights: Sequence[Tensor],
    biases: Sequence[Tensor] | None,
    gates: Sequence[Tensor],
    *,
    with_biases: bool,
    output: Output = "logits_trace",
    labels: Tensor | None = None,
    dtype: torch.dtype = torch.float64,
) -> Tensor:
    """Compute K^v(s, s') = <grad y(s), grad y(s')> over the value weights, with external gates.

    K^v = sum_l <delta^l, delta'^l> (<z^{l-1}, z'^{l-1}> [+ 1]), where delta^l is the derivative of
    the output with respect to the pre-activations of layer l (NPF Proposition 4.1).

    Args:
        x: inputs (S, n0) or (R, S, n0).
        weights: L tensors (..., fan_in, fan_out), the output layer last.
        biases: L tensors (..., fan_out), or None.
        gates: L-1 tensors (..., S, width), hard or soft.
        with_biases: whether to include the gradients with respect to the biases (the term + 1). If
            ``biases`` is None, they are taken to be trainable and equal to 0.
        output: the function that is differentiated, see ``Output``.
        labels: (S,) or (R, S) integers, for ``true_class_logit``.
        dtype: type of the computation and of the result.

    Returns:
        (..., S, S).
    """
    x, W, gates = x.to(dtype), cast(weights, dtype), cast(gates, dtype)
    inputs, _, logits = value_pass(x, W, cast(biases, dtype), gates)
    signals = (_value_signals(c, W, gates) for c in _covectors(logits, output, labels))
    return _layer_sum(signals, inputs, with_biases)


def feature_kernel(
    x: Tensor,
    feature_weights: Sequence[Tensor],
    feature_biases: Sequence[Tensor] | None,
    weights: Sequence[Tensor],
    biases: Sequence[Tensor] | None,
    *,
    beta: float | None,
    eps: float = 0.0,
    hidden: Literal["hard", "soft"] = "hard",
    with_biases: bool,
    output: Output = "logits_trace",
    labels: Tensor | None = None,
    dtype: torch.dtype = torch.float64,
) -> Tensor:
    """Compute K^f(s, s') = <grad y(s), grad y(s')> over the feature weights.

    K^f = sum_l <e^l, e'^l> (<z_f^{l-1}, z_f'^{l-1}> [+ 1]), where e^l is the derivative of the
    output with respect to the feature pre-activations q_f^l:
    e^l = (W_{l+1} delta^{l+1}) q_v^l G'(q_f^l) + (V_{l+1} e^{l+1}) z_f'(q_f^l)
    (NPF Proposition 4.1). For hard gates it is exactly 0 (NPF section 6.2).

    Args:
        x: inputs (S, n0) or (R, S, n0).
        feature_weights: V_1 .. V_{L-1} of shape (..., fan_in, fan_out); there is no output layer.
        feature_biases: c_1 .. c_{L-1} of shape (..., fan_out), or None.
        weights: L tensors of the value network, as for ``value_kernel``.
        biases: L tensors of the value network, or None.
        beta: slope of the soft gates; None for hard gates.
        eps: overshoot of the soft gates.
        hidden: hidden units of the feature network, see ``gated_networks.feature_gates``.
        with_biases: whether to include the gradients with respect to the feature biases.
        output: as for ``value_kernel``.
        labels: as for ``value_kernel``.
        dtype: type of the computation and of the result.

    Returns:
        (..., S, S).
    """
    x, V, W = x.to(dtype), cast(feature_weights, dtype), cast(weights, dtype)
    inputs, q_f, gates = feature_pass(x, V, cast(feature_biases, dtype), beta, eps, hidden)
    _, q_v, logits = value_pass(x, W, cast(biases, dtype), gates)
    slopes = [gate_slopes(q, beta, eps) for q in q_f]
    crossing = [slope * q for slope, q in zip(slopes, q_v, strict=True)]  # from value to feature
    own = [hidden_slope(*f, hidden) for f in zip(q_f, gates, slopes, strict=True)]
    covectors = _covectors(logits, output, labels)
    signals = (_feature_signals(c, W, V, gates, crossing, own) for c in covectors)
    return _layer_sum(signals, inputs, with_biases)


def soft_relu_ntk(
    x: Tensor,
    weights: Sequence[Tensor],
    biases: Sequence[Tensor] | None,
    *,
    beta: float | None,
    eps: float = 0.0,
    with_biases: bool,
    output: Output = "logits_trace",
    labels: Tensor | None = None,
    dtype: torch.dtype = torch.float64,
) -> Tensor:
    """Compute the neural tangent kernel of a soft-ReLU network (DGN Table 3).

    The hidden units are q·G(q). The gates depend on the same weights, so the derivative of a hidden
    unit is G(q) + q G'(q). For ``beta`` and ``eps`` see ``gated_networks.gate_values``. The other
    arguments and the result are those of ``value_kernel``.
    """
    x, W, b = x.to(dtype), cast(weights, dtype), cast(biases, dtype)
    _, q, gates = feature_pass(x, W[:-1], b and b[:-1], beta, eps, "soft")
    inputs, _, logits = value_pass(x, W, b, gates)
    slopes = [
        hidden_slope(at, gate, gate_slopes(at, beta, eps), "soft")
        for at, gate in zip(q, gates, strict=True)
    ]
    signals = (_value_signals(c, W, slopes) for c in _covectors(logits, output, labels))
    return _layer_sum(signals, inputs, with_biases)


def _layer_sum(
    signals: Iterable[Sequence[Tensor]], inputs: Sequence[Tensor], with_biases: bool
) -> Tensor:
    """Sum <signal, signal'> (<z, z'> [+ 1]) over outputs and layers.

    Each of the signals begins with the output layer, ``inputs`` with the first layer.
    """
    grams = [_gram(z) + with_biases for z in inputs]
    kernel = torch.zeros_like(grams[0])
    for of_output in signals:
        for signal, gram in zip(of_output, grams[::-1], strict=True):
            kernel = kernel + _gram(signal) * gram
    return kernel


def _value_signals(covector: Tensor, W: Sequence[Tensor], gates: Sequence[Tensor]) -> list[Tensor]:
    """Return the derivatives delta^L .. delta^1 of the output by q_v, output layer first."""
    signals = [covector]
    for weight, gate in zip(W[:0:-1], gates[::-1], strict=True):
        signals.append((signals[-1] @ weight.mT) * gate)
    return signals


def _feature_signals(
    covector: Tensor,
    W: Sequence[Tensor],
    V: Sequence[Tensor],
    gates: Sequence[Tensor],
    crossing: Sequence[Tensor],
    own: Sequence[Tensor],
) -> list[Tensor]:
    """Return the derivatives e^{L-1} .. e^1 of the output by q_f, last hidden layer first."""
    signals: list[Tensor] = []
    delta = covector
    for layer in reversed(range(len(V))):
        of_hidden = delta @ W[layer + 1].mT
        signal = of_hidden * crossing[layer]
        if signals:
            signal = signal + (signals[-1] @ V[layer + 1].mT) * own[layer]
        signals.append(signal)
        delta = of_hidden * gates[layer]
    return signals


def _covectors(logits: Tensor, output: str, labels: Tensor | None) -> Iterator[Tensor]:
    """Yield the derivatives of the chosen outputs by the logits, one (..., S, K) per output."""
    classes = logits.shape[-1]
    if output == "logits_trace":
        for unit in torch.eye(classes).to(logits):
            yield unit.expand_as(logits)
    elif output == "true_class_logit":
        yield torch.nn.functional.one_hot(labels.long(), classes).to(logits).expand_as(logits)
    else:
        probabilities = torch.softmax(logits, dim=-1)
        yield probabilities * (1 - probabilities.sum(-1, keepdim=True))


def _gram(z: Tensor) -> Tensor:
    return z @ z.mT
