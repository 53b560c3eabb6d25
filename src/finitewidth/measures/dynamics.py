"""Tangent kernels of networks, and their errors under gradient descent and the linear recursion."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from finitewidth.kernels.gated_ntk import value_kernel
from finitewidth.kernels.npk import trace
from finitewidth.kernels.trained import FullyConnected, traced_kernel
from finitewidth.training.full_batch import error_ratios, gradient_descent
from finitewidth.training.fully_connected import Gates

# type of the arithmetic, and the share of the first squared errors below which it becomes float64
PRECISIONS = {
    "float32": (torch.float32, None),
    "float64": (torch.float64, None),
    "adapted": (torch.float32, 1e-6),
}
DESCENT, LINEAR = "gradient descent", "linear recursion"
BATCH_ELEMENTS = 1_000_000  # activations of a batch of runs; z, delta and gates take 8 MB each
FEWEST_TIMES, TIMES_PER_DECADE = 10, 12


@dataclass(frozen=True)
class Networks:
    """R networks without biases, with their inputs and targets.

    Attributes:
        x: inputs (S, n0), shared by all replicas, or (R, S, n0).
        y: targets (R, S).
        weights: one tensor (R, fan_in, fan_out) per layer; the output layer has one unit.
        gates: see `finitewidth.training.fully_connected.Gates`.
    """

    x: Tensor
    y: Tensor
    weights: Sequence[Tensor]
    gates: Gates

    @property
    def depth(self) -> int:
        """Number of weight layers, output layer included."""
        return len(self.weights)

    def first(self, count: int) -> "Networks":
        """Return the first ``count`` replicas."""
        gates = self.gates if isinstance(self.gates, str) else [g[:count] for g in self.gates]
        x = self.x[:count] if self.x.dim() == 3 else self.x
        return Networks(x, self.y[:count], [w[:count] for w in self.weights], gates)

    def kernel(self) -> Tensor:
        """Return the tangent kernels K_0, (R, S, S) in float64."""
        if self.gates == "own":
            return traced_kernel(FullyConnected(self.weights, None, "relu"), self.x)
        gates = self.gates
        if gates == "open":
            gates = [torch.ones(*self.y.shape, w.shape[-1]).double() for w in self.weights[:-1]]
        return value_kernel(self.x, self.weights, None, gates, with_biases=False)

    def outputs(self) -> Tensor:
        """Return the outputs, (R, S) in float64."""
        z = self.x.double()
        for layer, weight in enumerate(self.weights):
            z = z @ weight.double()
            if layer < self.depth - 1 and self.gates != "open":
                z = torch.relu(z) if self.gates == "own" else z * self.gates[layer]
        return z[..., 0]


@dataclass(frozen=True)
class Protocol:
    """Settings of gradient descent and of the linear recursion.

    Attributes:
        rate: the step size is ``rate`` divided by the largest eigenvalue of the matrix ``rho``.
        rho: ``kernel`` for K_0 of each run, or ``kernel_over_depth`` for K_0/d.
        loss_half: True for the loss 1/2 sum e^2, False for sum e^2.
        steps: number of steps of gradient descent.
        linear_steps: number of steps of the linear recursion. It is evaluated in closed form, so
            its cost hardly depends on this number.
        precision: ``float64``, ``float32`` or ``adapted``. With ``float32``, gradient descent takes
            half the time, but squared errors do not fall below about 1e-11 of the first. With
            ``adapted``, it is ``float32`` until they have fallen to a millionth, and ``float64``
            from there on.
    """

    rate: float
    rho: str
    loss_half: bool
    steps: int
    linear_steps: int
    precision: str

    @classmethod
    def of(cls, settings: Mapping[str, Any], **own: Any) -> "Protocol":
        """Make a protocol from settings of the same names; ``own`` overrides some of them."""
        given = {**settings, **own}
        return cls(**{field.name: given[field.name] for field in fields(cls)})

    def step(self, largest: Tensor, depth: int) -> Tensor:
        """Return the step size of each replica.

        Args:
            largest: (R,), the largest eigenvalue of each K_0.
            depth: number of weight layers d.

        Returns:
            (R,).
        """
        return self.rate / (largest / depth if self.rho == "kernel_over_depth" else largest)


@dataclass(frozen=True)
class Dynamics:
    """Kernels and errors of R replicas.

    Attributes:
        kernel: K_0, (R, S, S).
        eigenvalues: eigenvalues of K_0 in ascending order, (R, S).
        ratios: maps the name of the dynamics (`DESCENT` or `LINEAR`) to the times and to the
            ratios |e_t|^2 / |e_0|^2, an array (times, replicas).
        growth: trace of the kernel after gradient descent divided by the trace before it, for the
            replicas that were trained.
    """

    kernel: np.ndarray
    eigenvalues: np.ndarray
    ratios: Mapping[str, tuple[list[int], np.ndarray]]
    growth: np.ndarray


def follow(networks: Networks, protocol: Protocol, descents: int) -> Dynamics:
    """Compute the kernels and the dynamics of R replicas.

    Args:
        networks: the replicas.
        protocol: settings of both dynamics.
        descents: how many replicas, counted from the first, are trained by gradient descent. The
            linear recursion is computed for all.
    """
    kernel = networks.kernel()
    values, vectors = torch.linalg.eigh(kernel)
    step = protocol.step(values[:, -1], networks.depth)
    times = log_times(protocol.linear_steps)
    linear = error_ratios(
        values, vectors, networks.outputs() - networks.y,
        step=step, times=times, loss_half=protocol.loss_half,
    )  # fmt: skip
    ratios, growth = {LINEAR: (times, linear.numpy())}, np.empty(0)
    if descents:
        descending = networks.first(descents)
        ratios[DESCENT], trained = _descend(descending, step[:descents], protocol)
        growth = (trace(trained.kernel()) / trace(kernel[:descents])).numpy()
    return Dynamics(kernel.numpy(), values.numpy(), ratios, growth)


def _descend(
    networks: Networks, step: Tensor, protocol: Protocol
) -> tuple[tuple[list[int], np.ndarray], Networks]:
    """Train all networks; return times and error ratios, and the trained networks."""
    times, squares = log_times(protocol.steps), []
    dtype, double_below = PRECISIONS[protocol.precision]
    for state in gradient_descent(
        networks.x, networks.y, networks.weights, networks.gates,
        step=step, times=times, loss_half=protocol.loss_half,
        dtype=dtype, double_below=double_below,
    ):  # fmt: skip
        squares.append((state.errors.double() ** 2).sum(-1))
    ratios = torch.stack([square / squares[0] for square in squares]).numpy()
    return (times, ratios), replace(networks, weights=state.weights)


def log_times(last: int) -> list[int]:
    """Return times from 0 to ``last``, spaced logarithmically, sorted and without repetition.

    They contain 0 to `FEWEST_TIMES`, then `TIMES_PER_DECADE` times per decade, the powers of ten
    among them, and ``last``.
    """
    decades = int(np.ceil(np.log10(max(last, 1)))) * TIMES_PER_DECADE
    spaced = np.round(10 ** (np.arange(decades + 1) / TIMES_PER_DECADE)).astype(int)
    times = {0, last, *range(FEWEST_TIMES + 1), *spaced.tolist()}
    return sorted(time for time in times if time <= last)


def batches(runs: int, elements: int) -> Iterator[range]:
    """Divide ``runs`` into consecutive batches of about `BATCH_ELEMENTS` activations each.

    Args:
        runs: number of runs.
        elements: activations per run.
    """
    size = max(1, BATCH_ELEMENTS // max(1, elements))
    for start in range(0, runs, size):
        yield range(start, min(start + size, runs))


def follow_batch(
    draw: Callable[[range], Networks], protocol: Protocol, batch: range, descents: int
) -> Dynamics:
    """Compute the dynamics of one of the `batches` of runs.

    Args:
        draw: returns the networks of a range of runs.
        protocol: settings of both dynamics.
        batch: numbers of the runs.
        descents: how many of all runs, counted from run 0, are trained by gradient descent.
    """
    return follow(draw(batch), protocol, min(max(descents - batch.start, 0), len(batch)))
