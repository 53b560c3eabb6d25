"""Tables of vectors for tokens: linear layers of one-hot inputs.

The vectors of two tokens are independent, so their covariance is sigma_w2 if they are the same
token, and 0 otherwise. Here sigma_w2 is the variance of a number of the table, and the fan-in is 1.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from finitewidth.common.shapes import Float, Int, Num
from finitewidth.kernels.wide.fields import Field, Inputs
from finitewidth.kernels.wide.law import Table
from finitewidth.kernels.wide.layers import Signal, refused


@dataclass(frozen=True, eq=False)
class Tokens(Inputs):
    """Tokens of rows (N, 1, P) and of columns (M, 1, P).

    The covariance is 1 for equal tokens, and 0 for others. The token of ``padding``, if there is
    one, has the covariance 0 with itself.
    """

    padding: int | None

    def self_covariance(
        self, x: Num[Tensor, "n 1 P"], pairs: bool
    ) -> Float[Tensor, "n *positions"]:
        """Compare tokens (n, 1, P) of each input, (n, P, P), or (n, P) at equal positions."""
        if pairs:
            return self._equal(x.mT, x)
        return self._equal(x[:, 0], x[:, 0])

    def products(
        self, first: Num[Tensor, "n 1 P"], second: Num[Tensor, "m 1 P"], pairs: bool
    ) -> Float[Tensor, "n m *positions"]:
        """Compare tokens (n, 1, P) and (m, 1, P), (n, m, P, P), or (n, m, P)."""
        if pairs:
            return self._equal(first.mT[:, None], second[None])
        return self._equal(first, second[:, 0])

    def _equal(self, first: Tensor, second: Tensor) -> Tensor:
        """Compare two tensors of tokens."""
        same = first == second
        if self.padding is not None:
            same = same & (first != self.padding)
        return same.double()


def field_of_tokens(name: str, module: Table, signal: Signal) -> Field:
    """Return the covariance of the vectors of tokens, for sigma_w2 = 1.

    Raises:
        ConfigError: the vectors depend on something else than one token, or a bag of tokens.
    """
    operation = f"module {name!r} ({type(module).__name__})"
    if signal.inputs is None or signal.inputs[0].is_floating_point():
        raise refused(operation, "reads tokens, which must be inputs of integers")
    if module.max_norm is not None or module.scale_grad_by_freq:
        raise refused(operation, "has max_norm or scale_grad_by_freq; leave them out")
    if isinstance(module, nn.EmbeddingBag):
        if module.mode == "max" or len(signal.shape) != 2:
            raise refused(operation, "must be the mean or sum of the vectors of tokens (N, T)")
        return _bags(*signal.inputs, module)
    rows, columns = (tokens.reshape(len(tokens), 1, -1) for tokens in signal.inputs)
    return Tokens(signal.shape[1:], (), rows, columns, module.padding_idx)


def _bags(x: Int[Tensor, "N T"], other: Int[Tensor, "M T"], module: nn.EmbeddingBag) -> Field:
    """Return the covariance of sums or means of the vectors of tokens (N, T) and (M, T)."""
    tokens, index = torch.cat([x, other]).unique(return_inverse=True)  # index: (N + M, T)
    counts = torch.zeros(len(index), len(tokens), dtype=torch.float64, device=x.device)
    counts.scatter_add_(1, index, torch.ones_like(index, dtype=torch.float64))
    if module.padding_idx is not None:
        counts[:, tokens == module.padding_idx] = 0
    if module.mode == "mean":
        counts = counts / counts.sum(1, keepdim=True).clamp_min(1)
    rows = counts[: len(x), :, None]
    columns = counts[len(x) :, :, None]
    # `Inputs` averages over the tokens, of which the law is a sum, as the fan-in is 1
    return Inputs((), (), rows, columns).times(len(tokens))
