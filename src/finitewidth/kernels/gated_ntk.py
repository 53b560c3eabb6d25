"""Tangent kernels of gated fully connected networks in closed form, without autograd.

K^v is the kernel of the value weights, K^f that of the feature weights that make the gates
(Lakshminarayanan and Singh 2020, Proposition 4.1). Both are sums over layers of a Gram matrix of
backward signals times a Gram matrix of layer inputs, so no gradient is ever stored.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, get_args

import torch
from torch import Tensor

from finitewidth.common.errors import ConfigError
from finitewidth.kernels.gated_networks import (
    cast,
    check_network,
    check_widths,
    feature_pass,
    gate_slopes,
    hidden_slope,
    relu_gates,
    value_pass,
)

# logits_trace: the kernels of all outputs, summed. true_class_logit: the output that ``labels``
# names for each input. softmax_sum: a degenerate check, what the authors' published code
# differentiates: softmax outputs sum to 1 whatever the weights, so the kernel is rounding noise.
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
    """K^v(s, s') = <grad y(s), grad y(s')> over the value weights, with gates from outside.

    K^v = sum_l <delta^l, delta'^l> (<z^{l-1}, z'^{l-1}> [+ 1]), delta^l the derivative of the
    output with respect to the pre-activations of layer l (NPF Proposition 4.1).

    Args:
        x: inputs (S, n0) or (R, S, n0).
        weights: L tensors (..., fan_in, fan_out), the output layer last.
        biases: L tensors (..., fan_out), or None.
        gates: L-1 tensors (..., S, width), hard or soft.
        with_biases: whether the gradient with respect to biases counts (the + 1); without
            ``biases`` they count as trainable zeros.
        output: what is differentiated, see ``Output``.
        labels: (S,) or (R, S) integers, for ``true_class_logit``.
        dtype: of the arithmetic and the result.

    Returns:
        (..., S, S).

    Raises:
        ConfigError: an argument is unknown or its shape impossible; the message names it.
    """
    check_network(x, weights, biases)
    check_widths("gates", gates, [weight.shape[-1] for weight in weights[:-1]], x.shape[-2])
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
    """K^f(s, s') = <grad y(s), grad y(s')> over the feature weights; exactly 0 for hard gates.

    K^f = sum_l <e^l, e'^l> (<z_f^{l-1}, z_f'^{l-1}> [+ 1]), where e^l is the derivative of the
    output with respect to the feature pre-activations q_f^l:
    e^l = (W_{l+1} delta^{l+1}) q_v^l G'(q_f^l) + (V_{l+1} e^{l+1}) z_f'(q_f^l)
    (NPF Proposition 4.1; section 6.2 on hard gates).

    Args:
        x: inputs (S, n0) or (R, S, n0).
        feature_weights: V_1 .. V_{L-1} of shape (..., fan_in, fan_out); no output layer.
        feature_biases: c_1 .. c_{L-1} of shape (..., fan_out), or None.
        weights: L tensors of the value network, as for ``value_kernel``.
        biases: L tensors of the value network, or None.
        beta: slope of the soft gates; None for hard ones.
        eps: overshoot of the soft gates.
        hidden: the feature network's hidden units, see ``gated_networks.feature_gates``.
        with_biases: whether gradients with respect to the feature biases count.
        output: as for ``value_kernel``.
        labels: as for ``value_kernel``.
        dtype: of the arithmetic and the result.

    Returns:
        (..., S, S).

    Raises:
        ConfigError: an argument is unknown or its shape impossible; the message names it.
    """
    check_network(x, feature_weights, feature_biases, "feature ")
    check_network(x, weights, biases)
    check_widths("feature weights", feature_weights, [w.shape[-1] for w in weights[:-1]])
    x, V, W = x.to(dtype), cast(feature_weights, dtype), cast(weights, dtype)
    inputs, q_f, gates = feature_pass(x, V, cast(feature_biases, dtype), beta, eps, hidden)
    _, q_v, logits = value_pass(x, W, cast(biases, dtype), gates)
    slopes = _Slopes(gates, q_f, q_v, beta, eps, hidden)
    signals = (_feature_signals(c, W, V, slopes) for c in _covectors(logits, output, labels))
    return _layer_sum(signals, inputs, with_biases)


def relu_ntk(
    x: Tensor,
    weights: Sequence[Tensor],
    biases: Sequence[Tensor] | None,
    *,
    with_biases: bool,
    output: Output = "logits_trace",
    labels: Tensor | None = None,
    dtype: torch.dtype = torch.float64,
) -> Tensor:
    """Neural tangent kernel of a ReLU network: K^v with the network's own gates.

    Arguments, result and errors are those of ``value_kernel``.
    """
    biases_cast = cast(biases, dtype)
    gates = relu_gates(cast(weights, dtype), biases_cast, x.to(dtype))
    return value_kernel(
        x, weights, biases, gates,
        with_biases=with_biases, output=output, labels=labels, dtype=dtype,
    )  # fmt: skip


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
    """Neural tangent kernel of a soft-ReLU network, whose hidden units are q·G(q) (DGN Table 3).

    Its weights make its gates too, so that signals pass a unit with slope G(q) + q G'(q).
    ``beta`` and ``eps`` are those of the gates, see ``gated_networks.gate_values``; all other
    arguments, result and errors are those of ``value_kernel``.
    """
    check_network(x, weights, biases)
    x, W, b = x.to(dtype), cast(weights, dtype), cast(biases, dtype)
    _, q, gates = feature_pass(x, W[:-1], b and b[:-1], beta, eps, "soft")
    inputs, _, logits = value_pass(x, W, b, gates)
    slopes = [
        hidden_slope(at, gate, gate_slopes(at, beta, eps), "soft")
        for at, gate in zip(q, gates, strict=True)
    ]
    signals = (_value_signals(c, W, slopes) for c in _covectors(logits, output, labels))
    return _layer_sum(signals, inputs, with_biases)


class _Slopes:
    """Factors by which a backward signal passes each hidden layer, into and within two networks."""

    def __init__(
        self,
        gates: Sequence[Tensor],
        q_f: Sequence[Tensor],
        q_v: Sequence[Tensor],
        beta: float | None,
        eps: float,
        hidden: str,
    ) -> None:
        slopes = [gate_slopes(q, beta, eps) for q in q_f]
        self.value = gates
        self.into_feature = [slope * q for slope, q in zip(slopes, q_v, strict=True)]
        self.feature = [hidden_slope(*f, hidden) for f in zip(q_f, gates, slopes, strict=True)]


def _layer_sum(
    signals: Iterable[Sequence[Tensor]], inputs: Sequence[Tensor], with_biases: bool
) -> Tensor:
    """Sum over outputs and layers of <signal, signal'> (<z, z'> [+ 1]); signals come top first."""
    grams = [_gram(z) + with_biases for z in inputs]
    kernel = torch.zeros_like(grams[0])
    for of_output in signals:
        for signal, gram in zip(of_output, grams[::-1], strict=True):
            kernel = kernel + _gram(signal) * gram
    return kernel


def _value_signals(covector: Tensor, W: Sequence[Tensor], gates: Sequence[Tensor]) -> list[Tensor]:
    """Derivatives delta^L .. delta^1 of the output with respect to q_v, top layer first."""
    signals = [covector]
    for weight, gate in zip(W[:0:-1], gates[::-1], strict=True):
        signals.append((signals[-1] @ weight.mT) * gate)
    return signals


def _feature_signals(
    covector: Tensor, W: Sequence[Tensor], V: Sequence[Tensor], slopes: _Slopes
) -> list[Tensor]:
    """Derivatives e^{L-1} .. e^1 of the output with respect to q_f, top layer first."""
    signals: list[Tensor] = []
    delta = covector
    for layer in reversed(range(len(V))):
        of_hidden = delta @ W[layer + 1].mT
        signal = of_hidden * slopes.into_feature[layer]
        if signals:
            signal = signal + (signals[-1] @ V[layer + 1].mT) * slopes.feature[layer]
        signals.append(signal)
        delta = of_hidden * slopes.value[layer]
    return signals


def _covectors(logits: Tensor, output: str, labels: Tensor | None) -> Iterator[Tensor]:
    """Derivatives of the chosen output with respect to the logits, one (..., S, K) at a time."""
    classes = logits.shape[-1]
    if output == "logits_trace":
        for unit in torch.eye(classes).to(logits):
            yield unit.expand_as(logits)
    elif output == "true_class_logit":
        _check_labels(labels, logits)
        yield torch.nn.functional.one_hot(labels.long(), classes).to(logits).expand_as(logits)
    elif output == "softmax_sum":
        probabilities = torch.softmax(logits, dim=-1)
        yield probabilities * (1 - probabilities.sum(-1, keepdim=True))
    else:
        raise ConfigError(f"output: {output!r} must be one of {', '.join(get_args(Output))}")


def _check_labels(labels: Tensor | None, logits: Tensor) -> None:
    if labels is None:
        raise ConfigError("labels: output 'true_class_logit' needs one label per input")
    if labels.is_floating_point() or labels.shape[-1:] != logits.shape[-2:-1]:
        raise ConfigError(
            f"labels: {labels.dtype} of shape {tuple(labels.shape)} must be integers of shape "
            f"(..., {logits.shape[-2]})"
        )
    if bool(((labels < 0) | (labels >= logits.shape[-1])).any()):
        raise ConfigError(f"labels: they must lie between 0 and {logits.shape[-1] - 1}")


def _gram(z: Tensor) -> Tensor:
    return z @ z.mT
