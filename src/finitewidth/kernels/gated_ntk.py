"""Gated fully connected networks, and their tangent kernels in closed form, without autograd.

The feature network computes gates from its pre-activations. The value network multiplies its own
pre-activations by these gates (Lakshminarayanan and Singh 2020, section 4). K^v is the kernel of
the value weights. K^f is the kernel of the feature weights, which determine the gates
(Proposition 4.1). Both are sums over layers of a Gram matrix of backward signals times a Gram
matrix of layer inputs. Gradients are not stored.

Inputs x are (S, n0) or (R, S, n0). Weights of a value network are L tensors (..., fan_in, fan_out),
the output layer last, and those of a feature network L-1, without an output layer. Biases are
(..., fan_out), or None. Gates are L-1 tensors (..., S, width).
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

import torch
from torch import Tensor

# logits_trace: the sum of the kernels of all outputs.
# true_class_logit: for each input, the output that ``labels`` names.
# softmax_sum: the sum of the softmax outputs, which the authors' published code differentiates. It
# is 1 for all weights, so its kernel contains only rounding errors.
Output = Literal["logits_trace", "true_class_logit", "softmax_sum"]
Biases = Sequence[Tensor] | None


def relu_gates(weights: Sequence[Tensor], biases: Biases, x: Tensor) -> list[Tensor]:
    """Return the gates 1{q > 0} of a ReLU network (NPF Table 1) in the dtype of ``weights``."""
    return feature_gates(x, weights[:-1], biases and biases[:-1], beta=None)


def feature_gates(
    x: Tensor,
    weights: Sequence[Tensor],
    biases: Biases,
    *,
    beta: float | None,
    eps: float = 0.0,
    hidden: Literal["hard", "soft"] = "hard",
) -> list[Tensor]:
    """Return the gates that a feature network computes (NPF section 4, Figure 2).

    Soft gates of pre-activations q are (1+eps)/(1+exp(-beta q)); ``beta`` None gives the hard gates
    1{q > 0}. Hidden units are relu(q) if ``hidden`` is hard, or q·G(q) if it is soft (DGN Table 2).
    The gates have the dtype of ``weights``.
    """
    return _feature_pass(x.to(weights[0].dtype), weights, biases, beta, eps, hidden)[2]


def value_kernel(
    x: Tensor,
    weights: Sequence[Tensor],
    biases: Biases,
    gates: Sequence[Tensor],
    *,
    with_biases: bool,
    output: Output = "logits_trace",
    labels: Tensor | None = None,
    dtype: torch.dtype = torch.float64,
) -> Tensor:
    """Compute K^v(s, s') = <grad y(s), grad y(s')> over the value weights, with external gates.

    K^v = sum_l <delta^l, delta'^l> (<z^{l-1}, z'^{l-1}> [+ 1]), where delta^l is the derivative of
    the output with respect to the pre-activations of layer l (NPF Proposition 4.1). The result is
    (..., S, S) in ``dtype``, in which it is computed.

    Args:
        x: inputs.
        weights: of the value network.
        biases: of the value network, or None.
        gates: hard or soft.
        with_biases: whether to include the gradients with respect to the biases (the term + 1). If
            ``biases`` is None, they are taken to be trainable and equal to 0.
        output: the function that is differentiated, see ``Output``.
        labels: (S,) or (R, S) integers, for ``true_class_logit``.
        dtype: of the computation.
    """
    x, W, gates = x.to(dtype), _cast(weights, dtype), _cast(gates, dtype)
    inputs, _, logits = _value_pass(x, W, _cast(biases, dtype), gates)
    signals = (_value_signals(c, W, gates) for c in _covectors(logits, output, labels))
    return _layer_sum(signals, inputs, with_biases)


def feature_kernel(
    x: Tensor,
    feature_weights: Sequence[Tensor],
    feature_biases: Biases,
    weights: Sequence[Tensor],
    biases: Biases,
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
    (NPF Proposition 4.1). For hard gates it is exactly 0 (NPF section 6.2). Arguments are those of
    `feature_gates` and of `value_kernel`; ``with_biases`` is about the biases of the features.
    """
    x, V, W = x.to(dtype), _cast(feature_weights, dtype), _cast(weights, dtype)
    inputs, q_f, gates = _feature_pass(x, V, _cast(feature_biases, dtype), beta, eps, hidden)
    _, q_v, logits = _value_pass(x, W, _cast(biases, dtype), gates)
    slopes = [_gate_slopes(q, beta, eps) for q in q_f]
    crossing = [slope * q for slope, q in zip(slopes, q_v, strict=True)]  # from value to feature
    own = [_hidden_slope(*f, hidden) for f in zip(q_f, gates, slopes, strict=True)]
    covectors = _covectors(logits, output, labels)
    signals = (_feature_signals(c, W, V, gates, crossing, own) for c in covectors)
    return _layer_sum(signals, inputs, with_biases)


def soft_relu_ntk(
    x: Tensor,
    weights: Sequence[Tensor],
    biases: Biases,
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
    unit is G(q) + q G'(q). Arguments are those of `feature_gates` and of `value_kernel`.
    """
    x, W, b = x.to(dtype), _cast(weights, dtype), _cast(biases, dtype)
    _, q, gates = _feature_pass(x, W[:-1], b and b[:-1], beta, eps, "soft")
    inputs, _, logits = _value_pass(x, W, b, gates)
    slopes = [
        _hidden_slope(at, gate, _gate_slopes(at, beta, eps), "soft")
        for at, gate in zip(q, gates, strict=True)
    ]
    signals = (_value_signals(c, W, slopes) for c in _covectors(logits, output, labels))
    return _layer_sum(signals, inputs, with_biases)


def _gate_slopes(q: Tensor, beta: float | None, eps: float) -> Tensor:
    """Return the derivatives of gates with respect to q; they are 0 for hard gates."""
    if beta is None:
        return torch.zeros_like(q)
    opened = torch.sigmoid(beta * q)
    return (1 + eps) * beta * opened * (1 - opened)


def _hidden_slope(q: Tensor, gate: Tensor, slope: Tensor, hidden: str) -> Tensor:
    """Return the derivative of a hidden unit, relu(q) or q·G(q), from G(q) and G'(q)."""
    return (q > 0).to(q.dtype) if hidden == "hard" else gate + q * slope


def _value_pass(
    x: Tensor, weights: Sequence[Tensor], biases: Biases, gates: Sequence[Tensor]
) -> tuple[list[Tensor], list[Tensor], Tensor]:
    """Return layer inputs z^0 .. z^{L-1}, pre-activations q^1 .. q^{L-1} and outputs."""
    inputs, preactivations = [x], []
    for layer, gate in enumerate(gates):
        preactivations.append(_affine(inputs[-1], weights, biases, layer))
        inputs.append(preactivations[-1] * gate)
    return inputs, preactivations, _affine(inputs[-1], weights, biases, len(weights) - 1)


def _feature_pass(
    x: Tensor,
    weights: Sequence[Tensor],
    biases: Biases,
    beta: float | None,
    eps: float,
    hidden: str,
) -> tuple[list[Tensor], list[Tensor], list[Tensor]]:
    """Return layer inputs z_f^0 .. z_f^{L-2}, pre-activations q_f^1 .. q_f^{L-1} and gates."""
    z, inputs, preactivations, gates = x, [], [], []
    for layer in range(len(weights)):
        inputs.append(z)
        q = _affine(z, weights, biases, layer)
        preactivations.append(q)
        gates.append((q > 0).to(q.dtype) if beta is None else (1 + eps) * torch.sigmoid(beta * q))
        z = torch.relu(q) if hidden == "hard" else q * gates[-1]
    return inputs, preactivations, gates


def _affine(z: Tensor, weights: Sequence[Tensor], biases: Biases, layer: int) -> Tensor:
    product = z @ weights[layer]
    return product if biases is None else product + biases[layer][..., None, :]


def _cast(tensors: Biases, dtype: torch.dtype) -> list[Tensor] | None:
    return None if tensors is None else [tensor.to(dtype) for tensor in tensors]


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
