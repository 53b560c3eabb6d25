"""Stacks of fully connected networks with biases: initial weights, and passes written out by hand.

The loss of a network is 1/(2S) sum_s |f(x_s) - y_s|^2, the sum over its K outputs included. Nothing
is recorded for autograd, and no activation is allocated twice.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import sqrt
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from finitewidth.kernels.ntk_init.activations import activation_of
from finitewidth.kernels.trained import FullyConnected
from finitewidth.networks.weights import generator

# given gates, one tensor (R, S, width) of zeros and ones per hidden layer; "own" for those of the
# network's activation; "open" for a deep linear network
Gates = Sequence[Tensor] | Literal["own", "open"]


def per_network(values: Tensor | np.ndarray, tensor: Tensor) -> Tensor:
    """Return numbers (R,) in the type of a tensor (R, ...), with as many axes, as factors of it."""
    ones = [1] * (tensor.dim() - 1)
    return torch.as_tensor(values).to(tensor).view(-1, *ones)


@dataclass(frozen=True)
class Draw:
    """One network of a stack: variances of its weights (times fan_in) and biases, and its seed."""

    sigma_w2: float
    sigma_b2: float
    seed: int


def initial_stack(
    name: Sequence[str | int], draws: Sequence[Draw], widths: Sequence[int], activation: str
) -> FullyConnected:
    """Draw Gaussian ReLU or tanh networks in the standard parametrisation, on the CPU in float32.

    Weights have variance sigma_w2 / fan_in and biases sigma_b2. Networks of the same seed use the
    same standard normal numbers, whatever their variances are, so that curves over sigma_w2 are
    smooth. The random stream depends on the ``name``, see `provenance.seed_for`, the seed and all
    widths n_0, ..., n_L: networks of other seeds, depths or widths are independent. It also depends
    on the base seed of the run.
    """
    shapes = list(pairwise(widths))  # fan_in and fan_out of each layer
    weights = [torch.empty(len(draws), *shape) for shape in shapes]
    biases = [torch.empty(len(draws), fan_out) for _, fan_out in shapes]
    for seed in dict.fromkeys(draw.seed for draw in draws):
        stream = generator(*name, seed, *widths)
        networks = [number for number, draw in enumerate(draws) if draw.seed == seed]
        for layer, (fan_in, fan_out) in enumerate(shapes):
            normal_weight = torch.randn((fan_in, fan_out), generator=stream).double()
            normal_bias = torch.randn(fan_out, generator=stream).double()
            for number in networks:
                draw = draws[number]
                weights[layer][number] = normal_weight * sqrt(draw.sigma_w2 / fan_in)
                biases[layer][number] = normal_bias * sqrt(draw.sigma_b2)
    return FullyConnected(tuple(weights), tuple(biases), activation)


def in_span_of_inputs(stack: FullyConnected, x: Tensor) -> tuple[FullyConnected, Tensor]:
    """Return an equal problem with at most S inputs, by a rotation of the input space.

    Gradient descent changes the weights of the first layer only within the span of the S inputs.
    With coordinates in an orthonormal basis of that span, outputs, gradients, tangent kernels and
    all steps of gradient descent stay what they are, up to rounding. This does not hold for Adam.
    It saves most of the first layer if n_0 > S; otherwise stack and inputs (S, n_0) stay.
    """
    count, n_0 = x.shape
    if n_0 <= count:
        return stack, x
    basis, coordinates = torch.linalg.qr(x.double().mT)  # (n_0, S), (S, S)
    first = stack.weights[0]
    rotated = (basis.mT @ first.double()).to(first.dtype).contiguous()
    reduced = replace(stack, weights=(rotated, *stack.weights[1:]))
    return reduced, coordinates.mT.to(x.dtype).contiguous()


class Passes:
    """Forward and backward passes of a stack on fixed inputs, in memory allocated once.

    Passes see changes of the tensors of the stack. Inputs are (S, n_0) or (R, S, n_0), targets
    (S, K) or (R, S, K). All methods but `forward` use the activations of the last call of
    `forward`. `gradient` and `largest_eigenvalue` are for networks with biases, `descend` is for
    those without.
    """

    def __init__(self, stack: FullyConnected, x: Tensor, y: Tensor, gates: Gates = "own"):
        self.stack = stack
        self.relu = activation_of(stack.activation).name == "relu"
        self.samples = x.shape[-2]
        like = stack.weights[0]
        self.targets = y.to(like)
        self.gates = gates if isinstance(gates, str) else [gate.to(like) for gate in gates]
        self.z = [x.to(like).expand(stack.count, *x.shape[-2:])]  # inputs of layers, then errors
        for weight in stack.weights:
            self.z.append(like.new_empty(stack.count, self.samples, weight.shape[-1]))
        self.signals = [torch.empty_like(z) for z in self.z[1:]]
        self.scratch = [] if self.relu else [torch.empty_like(z) for z in self.z[1:-1]]

    def forward(self) -> Tensor:
        """Compute all activations and return the errors f - y, (R, S, K)."""
        weights = self.stack.weights
        biases = self.stack.biases
        for layer, weight in enumerate(weights):
            z = self.z[layer]
            h = self.z[layer + 1]
            if biases is None:
                torch.bmm(z, weight, out=h)
            else:
                torch.baddbmm(biases[layer][:, None], z, weight, out=h)
            if layer < len(weights) - 1:
                self._activate(h, layer)
        return self.z[-1].sub_(self.targets)

    def descend(self, scale: Tensor) -> None:
        """Take a step of gradient descent with 1/2 sum_s |f - y|^2, of size ``scale`` (R, 1, 1)."""
        torch.mul(self.z[-1], scale, out=self.signals[-1])
        for layer in self._backward():
            self.stack.weights[layer].baddbmm_(self.z[layer].mT, self.signals[layer], alpha=-1)

    def losses(self) -> np.ndarray:
        """Return the loss of each network, (R,), summed in float64."""
        squares = self.z[-1].double().square().sum(dim=(1, 2))
        return squares.cpu().numpy() / (2 * self.samples)

    def gradient(
        self, scale: np.ndarray | None = None, out: Sequence[Tensor] | None = None
    ) -> list[Tensor]:
        """Compute the gradient of the loss in the order of `FullyConnected.parameters`.

        ``scale`` is a factor for each network, (R,); it is written into the tensors ``out``.
        """
        if scale is None:
            scale = np.ones(self.stack.count)
        if out is None:
            out = [torch.empty_like(parameter) for parameter in self.stack.parameters]
        depth = len(self.stack.weights)
        factor = torch.from_numpy(scale / self.samples).to(self.z[-1])[:, None, None]
        torch.mul(self.z[-1], factor, out=self.signals[-1])
        for layer in self._backward():
            torch.bmm(self.z[layer].mT, self.signals[layer], out=out[layer])  # of the weights
            torch.sum(self.signals[layer], dim=1, out=out[depth + layer])  # of the biases
        return list(out)

    def largest_eigenvalue(self, start: Tensor, iterations: int) -> tuple[np.ndarray, Tensor]:
        """Estimate the largest eigenvalue of the S K x S K tangent kernel over S.

        It is that of the curvature J^T J / S of the loss, which limits the rate to 2/lambda_max.
        The estimates come from power iteration, hence they are not too large. One iteration takes
        about two thirds of the products of a step. It starts at vectors (R, S, K) of norm 1.
        Returns the estimates, (R,) in float64, and the last vectors, from which to go on.
        """
        grams = [torch.bmm(z, z.mT).add_(1) for z in self.z[:-1]]
        vector = start.to(self.z[-1])
        for _ in range(iterations):
            image = self._tangent(vector, grams).div_(self.samples)
            value = (image * vector).sum(dim=(1, 2), dtype=torch.float64)
            norm = image.flatten(1).norm(dim=1)[:, None, None]
            vector = torch.where(norm > 0, image / norm, vector)
        return value.cpu().numpy(), vector

    def _tangent(self, vector: Tensor, grams: list[Tensor]) -> Tensor:
        """Return J J^T applied to ``vector``, by a backward and a forward pass."""
        self.signals[-1].copy_(vector)
        for _ in self._backward():
            pass
        # the change of h in each layer, if the weights of all layers change by J^T vector
        change = torch.bmm(grams[0], self.signals[0])
        for layer in range(1, len(grams)):
            self._times_slope(change, layer - 1)
            change = torch.bmm(change, self.stack.weights[layer])
            change.baddbmm_(grams[layer], self.signals[layer])
        return change

    def _backward(self) -> Iterator[int]:
        """Compute the signals of all layers from that of the last.

        Yields the layers from the last to the first, each when its signal is ready.
        """
        for layer in reversed(range(len(self.stack.weights))):
            if layer:
                below = self.signals[layer - 1]
                torch.bmm(self.signals[layer], self.stack.weights[layer].mT, out=below)
                self._times_slope(below, layer - 1)
            yield layer

    def _activate(self, h: Tensor, hidden: int) -> None:
        """Apply the activation of a hidden layer in place."""
        if self.gates == "open":
            return
        if self.gates != "own":
            h.mul_(self.gates[hidden])
        elif self.relu:
            h.clamp_(min=0)
        elif h.device.type == "cpu":
            array = h.numpy()
            np.tanh(array, out=array)  # several times as fast as torch on a CPU
        else:
            h.tanh_()

    def _times_slope(self, signal: Tensor, hidden: int) -> None:
        """Multiply a signal in place by the slope of the activation of a hidden layer."""
        z = self.z[hidden + 1]
        if self.gates == "open":
            return
        if self.gates != "own":
            signal.mul_(self.gates[hidden])
        elif self.relu:
            # eight times as fast as a product with z > 0
            torch.ops.aten.threshold_backward.grad_input(signal, z, 0, grad_input=signal)
        else:
            signal.addcmul_(torch.mul(signal, z, out=self.scratch[hidden]), z, value=-1)
