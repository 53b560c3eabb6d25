"""Full-batch gradient descent of gated networks without biases, for all replicas at once.

The gradients are written out by hand. One step of all replicas takes three batched matrix products
per layer. Nothing is recorded for autograd, and no activation is allocated twice. With a constant
tangent kernel, the errors are known in closed form: `error_ratios`.
"""

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

import torch
from torch import Tensor

# given gates, one tensor (R, S, width) of zeros and ones per hidden layer; "own" for those of a
# ReLU network; "open" for a deep linear network
Gates = Sequence[Tensor] | Literal["own", "open"]


class State(NamedTuple):
    """The state of all replicas after ``time`` steps.

    Attributes:
        time: number of steps.
        errors: outputs minus targets, (R, S).
        weights: one tensor (R, fan_in, fan_out) per layer; the next step changes them in place.
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
    double_below: float | None = None,
) -> Iterator[State]:
    """Minimise 1/2 sum_s e_s^2 by gradient descent and yield the state at the given times.

    Args:
        x: inputs, (S, n0) or (R, S, n0).
        y: targets, (R, S).
        weights: L tensors (R, fan_in, fan_out), the last with one output. They are not changed.
        gates: see ``Gates``.
        step: step size of each replica, (R,).
        times: numbers of steps after which to yield, ascending; 0 is the initial network.
        loss_half: True for the loss above, False for sum_s e_s^2, whose gradient is twice as large.
        dtype: of the arithmetic. float32 takes half the time. Its errors are uncertain by about
            1e-6 of e_0, so squared errors stop falling near 1e-11 of their first value.
        double_below: with float32, the arithmetic changes to float64 when the squared errors of a
            replica fall below this share of their first value. Their uncertainty then falls with
            them; for 1e-6 it stays at about a thousandth of the errors. None for no change.
    """
    network = _Network(x, y, weights, gates, dtype)
    scale = (step * (1 if loss_half else 2)).to(dtype)[:, None, None]
    wanted, first = set(times), None
    for time in range(times[-1] + 1):
        errors = network.forward()
        if double_below is not None and scale.dtype == torch.float32:
            squares = errors.square().sum(-1)
            first = squares if first is None else first
            if bool((squares < double_below * first).any()):
                network = _Network(x, y, network.weights, gates, torch.float64)
                scale, errors = scale.double(), network.forward()
        if time in wanted:
            yield State(time, errors, network.weights)
        if time < times[-1]:
            network.descend(scale)


class _Network:
    """Weights of all replicas, with preallocated memory for one activation per layer."""

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
        """Compute the activations of all layers and return the errors, (R, S)."""
        last = len(self.weights) - 1
        for layer, weight in enumerate(self.weights):
            q = torch.bmm(self.z[layer], weight, out=self.z[layer + 1])
            if layer < last:
                self._gate(q, layer)
        return self.z[-1][..., 0] - self.targets

    def descend(self, scale: Tensor) -> None:
        """Take one step of size ``scale`` (R, 1, 1), using the activations of ``forward``."""
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
            # eight times as fast as a product with z > 0
            z = self.z[layer + 1]
            torch.ops.aten.threshold_backward.grad_input(delta, z, 0, grad_input=delta)
        elif self.gates != "open":
            delta.mul_(self.gates[layer])


def error_ratios(
    eigenvalues: Tensor,
    eigenvectors: Tensor,
    errors: Tensor,
    *,
    step: Tensor,
    times: Sequence[int],
    loss_half: bool = True,
) -> Tensor:
    """Compute |e_t|^2 / |e_0|^2 under the linear recursion.

    Args:
        eigenvalues: of the kernels, (R, S).
        eigenvectors: in columns, (R, S, S), as returned by ``torch.linalg.eigh``.
        errors: e_0, outputs minus targets at the start, (R, S).
        step: step size a of each replica, (R,).
        times: numbers of steps, in any order.
        loss_half: True for the loss 1/2 sum e^2, False for sum e^2, which doubles a.

    Returns:
        (times, R), float64.
    """
    energy = (eigenvectors.mT @ errors.double()[..., None])[..., 0] ** 2
    energy = energy / energy.sum(-1, keepdim=True)
    steepness = (1 if loss_half else 2) * step.double()[:, None]
    shrinking = (1 - steepness * eigenvalues) ** 2
    return torch.stack([(energy * shrinking**time).sum(-1) for time in times])
