"""One set of networks: its tangent kernels, and how its errors shrink, really and linearly."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from finitewidth.common.errors import ConfigError
from finitewidth.kernels.gated_ntk import relu_ntk, value_kernel
from finitewidth.kernels.npk import trace
from finitewidth.training.full_batch import Gates, gradient_descent
from finitewidth.training.linear_recursion import error_ratios

PRECISIONS = {"float32": torch.float32, "float64": torch.float64}
DESCENT, LINEAR = "gradient descent", "linear recursion"
BATCH_ELEMENTS = 1_000_000  # activations of one batch of runs: 8 MB each for z, delta, gates
FEWEST_TIMES, TIMES_PER_DECADE = 10, 12


@dataclass(frozen=True)
class Networks:
    """Replicas without biases and their tasks.

    Attributes:
        x: inputs (S, n0) or (R, S, n0).
        y: targets (R, S).
        weights: one (R, fan_in, fan_out) per layer, one output.
        gates: see `finitewidth.training.full_batch.Gates`.
    """

    x: Tensor
    y: Tensor
    weights: Sequence[Tensor]
    gates: Gates

    @property
    def depth(self) -> int:
        """Weight layers."""
        return len(self.weights)

    def first(self, count: int) -> "Networks":
        """The first ``count`` replicas."""
        gates = self.gates if isinstance(self.gates, str) else [g[:count] for g in self.gates]
        x = self.x[:count] if self.x.dim() == 3 else self.x
        return Networks(x, self.y[:count], [w[:count] for w in self.weights], gates)

    def kernel(self) -> Tensor:
        """Tangent kernels K_0, (R, S, S) in float64."""
        if self.gates == "own":
            return relu_ntk(self.x, self.weights, None, with_biases=False)
        return value_kernel(self.x, self.weights, None, self._all_gates(), with_biases=False)

    def outputs(self) -> Tensor:
        """Outputs (R, S) in float64."""
        z = self.x.double()
        for layer, weight in enumerate(self.weights):
            z = z @ weight.double()
            if layer < self.depth - 1 and self.gates != "open":
                z = torch.relu(z) if self.gates == "own" else z * self.gates[layer]
        return z[..., 0]

    def _all_gates(self) -> Sequence[Tensor]:
        if self.gates != "open":
            return self.gates
        return [torch.ones(*self.y.shape, w.shape[-1]).double() for w in self.weights[:-1]]


@dataclass(frozen=True)
class Protocol:
    """How networks descend.

    Attributes:
        rate: decay of the fastest error per step, as the linear recursion has it.
        rho: what divides the rate: the largest eigenvalue of a run's ``kernel`` K_0, or of
            ``kernel_over_depth``, K_0/d.
        loss_half: whether the loss is 1/2 sum e^2 or sum e^2.
        steps: of gradient descent.
        linear_steps: of the linear recursion, which costs nothing.
        precision: ``float64``, or ``float32``: half the time, but squared errors stall near 1e-11.
    """

    rate: float
    rho: str
    loss_half: bool
    steps: int
    linear_steps: int
    precision: str

    @classmethod
    def of(cls, settings: Mapping[str, Any], **own: Any) -> "Protocol":
        """The settings of these names, and ``own`` in place of some."""
        given = {**settings, **own}
        return cls(**{field.name: given[field.name] for field in fields(cls)})

    def step(self, largest: Tensor, depth: int) -> Tensor:
        """Step size of each replica from its K_0's largest eigenvalue."""
        if self.rho not in ("kernel", "kernel_over_depth"):
            raise ConfigError(f"rho: {self.rho!r} must be 'kernel' or 'kernel_over_depth'")
        return self.rate / (largest / depth if self.rho == "kernel_over_depth" else largest)


@dataclass(frozen=True)
class Dynamics:
    """What was found of R replicas.

    Attributes:
        kernel: K_0, (R, S, S).
        eigenvalues: of K_0, ascending, (R, S).
        ratios: |e_t|^2/|e_0|^2: dynamics -> (times, array (times, replicas)).
        growth: trace of the kernel after gradient descent over that before, of the replicas that
            descended.
    """

    kernel: np.ndarray
    eigenvalues: np.ndarray
    ratios: Mapping[str, tuple[list[int], np.ndarray]]
    growth: np.ndarray


def follow(networks: Networks, protocol: Protocol, descents: int) -> Dynamics:
    """Kernels and the linear recursion of all replicas, gradient descent of the first ones."""
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
    """Times and error ratios, and the trained networks."""
    times, squares = log_times(protocol.steps), []
    for state in gradient_descent(
        networks.x, networks.y, networks.weights, networks.gates,
        step=step, times=times, loss_half=protocol.loss_half,
        dtype=PRECISIONS[protocol.precision],
    ):  # fmt: skip
        squares.append((state.errors.double() ** 2).sum(-1))
    ratios = torch.stack([square / squares[0] for square in squares]).numpy()
    return (times, ratios), replace(networks, weights=state.weights)


def log_times(last: int) -> list[int]:
    """0, all of the first steps, then 12 times a decade, among them the powers of ten; ``last``."""
    decades = int(np.ceil(np.log10(max(last, 1)))) * TIMES_PER_DECADE
    spaced = np.round(10 ** (np.arange(decades + 1) / TIMES_PER_DECADE)).astype(int)
    times = {0, last, *range(FEWEST_TIMES + 1), *spaced.tolist()}
    return sorted(time for time in times if time <= last)


def batches(runs: int, elements: int) -> Iterator[range]:
    """Consecutive runs, so many at once that ``elements`` activations per run fit in memory."""
    size = max(1, BATCH_ELEMENTS // max(1, elements))
    for start in range(0, runs, size):
        yield range(start, min(start + size, runs))


def follow_runs(
    draw: Callable[[range], Networks], protocol: Protocol, runs: int, descents: int, elements: int
) -> Iterator[tuple[int, Dynamics]]:
    """The number of the first run, and what was found, of one batch of runs after the other.

    Args:
        draw: runs -> their networks.
        protocol: how they descend.
        runs: how many there are.
        descents: how many of them, the first ones, descend.
        elements: activations per run, see `batches`.
    """
    for batch in batches(runs, elements):
        descending = min(max(descents - batch.start, 0), len(batch))
        yield batch.start, follow(draw(batch), protocol, descending)
