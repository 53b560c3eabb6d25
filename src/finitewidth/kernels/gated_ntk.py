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
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from finitewidth.common.shapes import Float, Int, Num, Shaped

# logits_trace: the sum of the kernels of all outputs.
# true_class_logit: for each input, the output that ``labels`` names.
# softmax_sum: the sum of the softmax outputs, which the authors' published code differentiates. It
# is 1 for all weights, so its kernel contains only rounding errors.
Output = Literal["logits_trace", "true_class_logit", "softmax_sum"]
Biases = Sequence[Tensor] | None
Layers = tuple[Sequence[Tensor], Biases]  # weights and biases


@dataclass(frozen=True)
class Gating:
    """How a feature network computes gates and hidden units from its pre-activations q.

    Attributes:
        beta: slope of the soft gates G(q) = (1+eps)/(1+exp(-beta q)); None for the hard gates
            1{q > 0}.
        eps: see ``beta``; unused for hard gates.
        hidden: "hard" for the hidden units relu(q), "soft" for q·G(q) (DGN Table 2).
    """

    beta: float | None = None
    eps: float = 0.0
    hidden: Literal["hard", "soft"] = "hard"

    def gates(self, q: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
        """Return G(q)."""
        if self.beta is None:
            return (q > 0).to(q.dtype)
        return (1 + self.eps) * torch.sigmoid(self.beta * q)

    def gate_slopes(self, q: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
        """Return G'(q), which is 0 for hard gates."""
        if self.beta is None:
            return torch.zeros_like(q)
        sigmoid = torch.sigmoid(self.beta * q)
        return (1 + self.eps) * self.beta * sigmoid * (1 - sigmoid)

    def units(
        self, q: Float[Tensor, "*shape"], gates: Float[Tensor, "*shape"]
    ) -> Float[Tensor, "*shape"]:
        """Return the hidden units, from q and G(q)."""
        return torch.relu(q) if self.hidden == "hard" else q * gates

    def unit_slopes(
        self,
        q: Float[Tensor, "*shape"],
        gates: Float[Tensor, "*shape"],
        gate_slopes: Float[Tensor, "*shape"],
    ) -> Float[Tensor, "*shape"]:
        """Return the derivatives of the hidden units by q, from G(q) and G'(q)."""
        if self.hidden == "hard":
            return (q > 0).to(q.dtype)
        return gates + q * gate_slopes


HARD = Gating()


def relu_gates(
    weights: Sequence[Float[Tensor, "... _ _"]], biases: Biases, x: Num[Tensor, "... S n0"]
) -> list[Float[Tensor, "... S _"]]:
    """Return the gates 1{q > 0} of a ReLU network (NPF Table 1) in the dtype of ``weights``."""
    return feature_gates(x, weights[:-1], biases and biases[:-1])


def feature_gates(
    x: Num[Tensor, "... S n0"],
    weights: Sequence[Float[Tensor, "... _ _"]],
    biases: Biases,
    gating: Gating = HARD,
) -> list[Float[Tensor, "... S _"]]:
    """Return the gates that a feature network computes (NPF section 4, Figure 2).

    They have the dtype of ``weights``.
    """
    _, _, gates = _feature_pass(x.to(weights[0].dtype), weights, biases, gating)
    return gates


def value_kernel(
    x: Num[Tensor, "... S n0"],
    weights: Sequence[Float[Tensor, "... _ _"]],
    biases: Biases,
    gates: Sequence[Shaped[Tensor, "... S _"]],
    *,
    with_biases: bool,
    output: Output = "logits_trace",
    labels: Int[Tensor, "... S"] | None = None,
    dtype: torch.dtype = torch.float64,
) -> Float[Tensor, "... S S"]:
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
    x = x.to(dtype)
    W = _cast(weights, dtype)
    gates = _cast(gates, dtype)
    inputs, _, logits = _value_pass(x, W, biases and _cast(biases, dtype), gates)
    covectors = _covectors(logits, output, labels)
    signals = (_value_signals(covector, W, gates) for covector in covectors)
    return _layer_sum(signals, inputs, with_biases)


def feature_kernel(
    x: Num[Tensor, "... S n0"],
    features: Layers,
    values: Layers,
    gating: Gating,
    *,
    with_biases: bool,
    output: Output = "logits_trace",
    labels: Int[Tensor, "... S"] | None = None,
) -> Float[Tensor, "... S S"]:
    """Compute K^f(s, s') = <grad y(s), grad y(s')> over the feature weights.

    K^f = sum_l <e^l, e'^l> (<z_f^{l-1}, z_f'^{l-1}> [+ 1]), where e^l is the derivative of the
    output with respect to the feature pre-activations q_f^l:
    e^l = (W_{l+1} delta^{l+1}) q_v^l G'(q_f^l) + (V_{l+1} e^{l+1}) z_f'(q_f^l)
    (NPF Proposition 4.1). For hard gates it is exactly 0 (NPF section 6.2). The result is
    (..., S, S) in float64.

    Args:
        x: inputs.
        features: weights V and biases of the feature network.
        values: weights W and biases of the value network.
        gating: how the features give gates and hidden units.
        with_biases: whether to include the gradients with respect to the feature biases (the
            term + 1).
        output: the function that is differentiated, see ``Output``.
        labels: (S,) or (R, S) integers, for ``true_class_logit``.
    """
    x = x.double()
    V, feature_biases = _doubled(features)
    W, value_biases = _doubled(values)
    inputs, q_f, gates = _feature_pass(x, V, feature_biases, gating)
    _, q_v, logits = _value_pass(x, W, value_biases, gates)
    to_feature = []  # q_v^l G'(q_f^l): from a value unit to the pre-activation of its gate
    through = []  # z_f'(q_f^l): from a feature unit to its pre-activation
    for q, gate, q_value in zip(q_f, gates, q_v, strict=True):
        gate_slope = gating.gate_slopes(q)
        to_feature.append(gate_slope * q_value)
        through.append(gating.unit_slopes(q, gate, gate_slope))
    covectors = _covectors(logits, output, labels)
    signals = (_feature_signals(c, W, V, gates, to_feature, through) for c in covectors)
    return _layer_sum(signals, inputs, with_biases)


def soft_relu_ntk(
    x: Num[Tensor, "... S n0"],
    weights: Sequence[Float[Tensor, "... _ _"]],
    biases: Biases,
    *,
    beta: float | None,
    eps: float = 0.0,
    with_biases: bool,
    output: Output = "logits_trace",
    labels: Int[Tensor, "... S"] | None = None,
) -> Float[Tensor, "... S S"]:
    """Compute the neural tangent kernel of a soft-ReLU network (DGN Table 3).

    The hidden units are q·G(q). The gates depend on the same weights, so the derivative of a hidden
    unit is G(q) + q G'(q). For ``beta`` and ``eps`` see `Gating`; the other arguments are those of
    `value_kernel`. The result is (..., S, S) in float64.
    """
    gating = Gating(beta, eps, hidden="soft")
    x = x.double()
    W, b = _doubled((weights, biases))
    _, q, gates = _feature_pass(x, W[:-1], b and b[:-1], gating)
    inputs, _, logits = _value_pass(x, W, b, gates)
    slopes = [
        gating.unit_slopes(q_l, gate, gating.gate_slopes(q_l))
        for q_l, gate in zip(q, gates, strict=True)
    ]
    covectors = _covectors(logits, output, labels)
    signals = (_value_signals(covector, W, slopes) for covector in covectors)
    return _layer_sum(signals, inputs, with_biases)


def _value_pass(
    x: Float[Tensor, "... S n0"],
    weights: Sequence[Tensor],
    biases: Biases,
    gates: Sequence[Float[Tensor, "... S _"]],
) -> tuple[
    list[Float[Tensor, "... S _"]], list[Float[Tensor, "... S _"]], Float[Tensor, "... S K"]
]:
    """Return layer inputs z^0 .. z^{L-1}, pre-activations q^1 .. q^{L-1} and outputs."""
    inputs = [x]
    preactivations = []
    for layer, gate in enumerate(gates):
        q = _affine(inputs[-1], weights, biases, layer)
        preactivations.append(q)
        inputs.append(q * gate)
    logits = _affine(inputs[-1], weights, biases, len(weights) - 1)
    return inputs, preactivations, logits


def _feature_pass(
    x: Float[Tensor, "... S n0"], weights: Sequence[Tensor], biases: Biases, gating: Gating
) -> tuple[
    list[Float[Tensor, "... S _"]], list[Float[Tensor, "... S _"]], list[Float[Tensor, "... S _"]]
]:
    """Return layer inputs z_f^0 .. z_f^{L-2}, pre-activations q_f^1 .. q_f^{L-1} and gates."""
    inputs = []
    preactivations = []
    gates = []
    z = x
    for layer in range(len(weights)):
        q = _affine(z, weights, biases, layer)
        gate = gating.gates(q)
        inputs.append(z)
        preactivations.append(q)
        gates.append(gate)
        z = gating.units(q, gate)
    return inputs, preactivations, gates


def _affine(
    z: Float[Tensor, "... S fan_in"], weights: Sequence[Tensor], biases: Biases, layer: int
) -> Float[Tensor, "... S fan_out"]:
    """Return z W + b of a layer, (..., S, fan_out)."""
    product = z @ weights[layer]
    return product if biases is None else product + biases[layer][..., None, :]


def _cast(tensors: Sequence[Tensor], dtype: torch.dtype) -> list[Tensor]:
    return [tensor.to(dtype) for tensor in tensors]


def _doubled(layers: Layers) -> Layers:
    """Return weights and biases in float64."""
    weights, biases = layers
    return _cast(weights, torch.float64), biases and _cast(biases, torch.float64)


def _layer_sum(
    signals: Iterable[Sequence[Tensor]],
    inputs: Sequence[Float[Tensor, "... S _"]],
    with_biases: bool,
) -> Float[Tensor, "... S S"]:
    """Sum <signal, signal'> (<z, z'> [+ 1]) over outputs and layers.

    Each of the signals begins with the output layer, ``inputs`` with the first layer.
    """
    grams = [_gram(z) + with_biases for z in inputs]
    kernel = torch.zeros_like(grams[0])
    for layer_signals in signals:  # of one output
        for signal, gram in zip(layer_signals, reversed(grams), strict=True):
            kernel = kernel + _gram(signal) * gram
    return kernel


def _value_signals(
    covector: Float[Tensor, "... S K"],
    W: Sequence[Tensor],
    gates: Sequence[Float[Tensor, "... S _"]],
) -> list[Float[Tensor, "... S _"]]:
    """Return the derivatives delta^L .. delta^1 of the output by q_v, output layer first."""
    signals = [covector]
    for weight, gate in zip(W[:0:-1], gates[::-1], strict=True):
        signals.append((signals[-1] @ weight.mT) * gate)
    return signals


def _feature_signals(
    covector: Float[Tensor, "... S K"],
    W: Sequence[Tensor],
    V: Sequence[Tensor],
    gates: Sequence[Float[Tensor, "... S _"]],
    to_feature: Sequence[Float[Tensor, "... S _"]],
    through: Sequence[Float[Tensor, "... S _"]],
) -> list[Float[Tensor, "... S _"]]:
    """Return the derivatives e^{L-1} .. e^1 of the output by q_f, last hidden layer first.

    ``to_feature`` is q_v^l G'(q_f^l) and ``through`` z_f'(q_f^l), one tensor per layer.
    """
    signals: list[Tensor] = []
    delta = covector
    for layer in reversed(range(len(V))):
        unit_signal = delta @ W[layer + 1].mT  # derivative by the hidden units of the values
        signal = unit_signal * to_feature[layer]
        if signals:
            signal = signal + (signals[-1] @ V[layer + 1].mT) * through[layer]
        signals.append(signal)
        delta = unit_signal * gates[layer]
    return signals


def _covectors(
    logits: Float[Tensor, "... S K"], output: str, labels: Int[Tensor, "... S"] | None
) -> Iterator[Float[Tensor, "... S K"]]:
    """Yield the derivatives of the chosen outputs by the logits, one (..., S, K) per output."""
    classes = logits.shape[-1]
    if output == "logits_trace":
        for unit in torch.eye(classes).to(logits):
            yield unit.expand_as(logits)
    elif output == "true_class_logit":
        assert labels is not None  # this output needs them
        one_hot = torch.nn.functional.one_hot(labels.long(), classes)
        yield one_hot.to(logits).expand_as(logits)
    else:
        probabilities = torch.softmax(logits, dim=-1)
        yield probabilities * (1 - probabilities.sum(-1, keepdim=True))


def _gram(z: Float[Tensor, "... S n"]) -> Float[Tensor, "... S S"]:
    return z @ z.mT
