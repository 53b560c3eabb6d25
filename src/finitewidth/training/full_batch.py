"""Full-batch gradient descent of gated networks without biases, all replicas at once, by hand.

One step of every replica is three batched matrix products per layer; nothing is recorded for
autograd and no activation is allocated twice.
"""

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

import torch
from torch import Tensor

from finitewidth.common.errors import ConfigError

# gates from outside, one tensor (R, S, width) of zeros and ones per hidden layer; a ReLU network's
# own; or all open, a deep linear network
Gates = Sequence[Tensor] | Literal["own", "open"]


class State(NamedTuple):
    """Where all replicas stand after ``time`` steps.

    Attributes:
        time: steps taken.
        errors: outputs minus targets, (R, S).
        weights: one (R, fan_in, fan_out) per layer, changed in place by the next step.
    """

    time: int
    errors: Tensor
    weights: list[Tensor]


def gradient_descent(
    x: Tensor,
    y: Tensor,
    weights: Sequence[Tensor],
    gates: Gates,
    *,
    step: Tensor,
    times: Sequence[int],
    loss_half: bool = True,
    dtype: torch.dtype = torch.float64,
) -> Iterator[State]:
    """Descend 1/2 sum_s e_s^2 and stop by at the given times.

    Args:
        x: inputs (S, n0) or (R, S, n0).
        y: targets (R, S).
        weights: L tensors (R, fan_in, fan_out), the last of one output; they are not changed.
        gates: see ``Gates``.
        step: step size of each replica, (R,).
        times: ascending step counts to yield at; 0 is the initial network.
        loss_half: descend the loss above; otherwise sum_s e_s^2, twice as steep.
        dtype: of the arithmetic. float32 takes half the time; its errors are uncertain by some 1e-6
            of e_0, so that squared errors stall near 1e-11 of theirs.

    Raises:
        ConfigError: ``times`` do not ascend from 0 or above, or there is more than one output.
    """
    if not times or list(times) != sorted(set(times)) or times[0] < 0:
        raise ConfigError(f"times: {list(times)} must ascend and not be negative")
    if weights[-1].shape[-1] != 1:
        raise ConfigError(f"weights: {weights[-1].shape[-1]} outputs; one is needed")
    network = _Network(x, y, weights, gates, dtype)
    scale = (step * (1 if loss_half else 2)).to(dtype)[:, None, None]
    wanted = set(times)
    for time in range(times[-1] + 1):
        errors = network.forward()
        if time in wanted:
            yield State(time, errors, network.weights)
        if time < times[-1]:
            network.descend(scale)


class _Network:
    """Replicas with room for one activation per layer."""

    def __init__(
        self, x: Tensor, y: Tensor, weights: Sequence[Tensor], gates: Gates, dtype: torch.dtype
    ):
        self.weights = [weight.to(dtype, copy=True).contiguous() for weight in weights]
        self.targets = y.to(dtype)
        replicas, samples = y.shape
        self.gates = gates if isinstance(gates, str) else [gate.to(dtype) for gate in gates]
        widths = [weight.shape[-1] for weight in weights]
        self.z = [x.to(dtype).expand(replicas, samples, x.shape[-1])]
        self.z += [torch.empty(replicas, samples, width, dtype=dtype) for width in widths]
        self.delta = [torch.empty_like(z) for z in self.z[1:]]

    def forward(self) -> Tensor:
        """Fill the activations; returns the errors (R, S)."""
        last = len(self.weights) - 1
        for layer, weight in enumerate(self.weights):
            q = torch.bmm(self.z[layer], weight, out=self.z[layer + 1])
            if layer < last:
                self._gate(q, layer)
        return self.z[-1][..., 0] - self.targets

    def descend(self, scale: Tensor) -> None:
        """One step of size ``scale`` (R, 1, 1) from where ``forward`` left the activations."""
        delta = torch.sub(self.z[-1], self.targets[..., None], out=self.delta[-1]).mul_(scale)
        for layer in reversed(range(len(self.weights))):
            weight, z, above = self.weights[layer], self.z[layer], delta
            if layer:
                delta = torch.bmm(above, weight.mT, out=self.delta[layer - 1])
                self._gate_signal(delta, layer - 1)
            weight.baddbmm_(z.mT, above, alpha=-1)

    def _gate(self, q: Tensor, layer: int) -> None:
        if self.gates == "own":
            q.clamp_(min=0)
        elif self.gates != "open":
            q.mul_(self.gates[layer])

    def _gate_signal(self, delta: Tensor, layer: int) -> None:
        if self.gates == "own":
            delta.mul_(self.z[layer + 1] > 0)
        elif self.gates != "open":
            delta.mul_(self.gates[layer])
