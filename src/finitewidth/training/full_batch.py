"""Full-batch training of a stack: gradient descent of gated networks without biases, and Adam.

With a constant tangent kernel, the errors of gradient descent are known in closed form:
`error_ratios`.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from finitewidth.kernels.trained import FullyConnected
from finitewidth.training.checkpoints import CheckpointStore
from finitewidth.training.fully_connected import Gates, Passes
from finitewidth.training.loop import Training, carry_out

BETAS = (0.9, 0.999)
EPSILON = 1e-8
Observed = dict[str, Any]  # tensors and plain values, so that it can be in a checkpoint


class State(NamedTuple):
    """The state of all replicas after ``time`` steps."""

    time: int
    errors: Tensor  # outputs minus targets, (R, S)
    weights: list[Tensor]  # (R, fan_in, fan_out) of each layer; the next step changes them in place


def gradient_descent(
    x: Tensor,
    y: Tensor,
    weights: Sequence[Tensor],
    gates: Gates,
    *,
    step: Tensor,
    times: Sequence[int],
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
        dtype: of the arithmetic. float32 takes half the time. Its errors are uncertain by about
            1e-6 of e_0, so squared errors stop falling near 1e-11 of their first value.
        double_below: with float32, the arithmetic changes to float64 when the squared errors of a
            replica fall below this share of their first value. Their uncertainty then falls with
            them; for 1e-6 it stays at about a thousandth of the errors. None for no change.
    """

    def passes_of(weights: Sequence[Tensor], dtype: torch.dtype) -> Passes:
        stack = FullyConnected(weights, None, "relu").copy(dtype)
        return Passes(stack, x, y[..., None], gates)

    passes = passes_of(weights, dtype)
    scale = step.to(dtype)[:, None, None]
    first_squares = None  # squared errors of each replica at the start
    observed = set(times)
    for time in range(times[-1] + 1):
        errors = passes.forward()[..., 0]
        if double_below is not None and scale.dtype == torch.float32:
            squares = errors.square().sum(-1)
            if first_squares is None:
                first_squares = squares
            if bool((squares < double_below * first_squares).any()):
                passes = passes_of(passes.stack.weights, torch.float64)
                scale = scale.double()
                errors = passes.forward()[..., 0]
        if time in observed:
            yield State(time, errors.clone(), list(passes.stack.weights))
        if time < times[-1]:
            passes.descend(scale)


def error_ratios(
    eigenvalues: Tensor,
    eigenvectors: Tensor,
    errors: Tensor,
    *,
    step: Tensor,
    times: Sequence[int],
) -> Tensor:
    """Compute |e_t|^2 / |e_0|^2 under the linear recursion, (times, R) in float64.

    Args:
        eigenvalues: of the kernels, (R, S).
        eigenvectors: in columns, (R, S, S), as returned by ``torch.linalg.eigh``.
        errors: e_0, outputs minus targets at the start, (R, S).
        step: step size of each replica, (R,), with the loss 1/2 sum_s e_s^2.
        times: numbers of steps, in any order.
    """
    energy = (eigenvectors.mT @ errors.double()[..., None])[..., 0] ** 2  # (R, S), by eigenvector
    energy = energy / energy.sum(-1, keepdim=True)
    factors = (1 - step.double()[:, None] * eigenvalues) ** 2  # of a step
    return torch.stack([(energy * factors**time).sum(-1) for time in times])


def adam(
    stack: FullyConnected,
    x: Tensor,
    y: Tensor,
    *,
    rate: float,
    times: Sequence[int],
    observe: Callable[[FullyConnected, int], Observed],
    checkpoints: CheckpointStore | None = None,
    title: str = "steps of Adam",
) -> list[Observed]:
    """Minimise 1/(2S) sum_s |f(x_s) - y_s|^2 by Adam with full batches, from the newest checkpoint.

    Each network is trained as it would be alone: Adam acts on each number by itself. The initial
    networks do not change. Inputs are (S, n_0) on their device, targets (S, K). After each number
    of steps in ``times``, ascending, ``observe`` gets the networks, which it must not change, and
    the number. What it returned is the result.
    """
    training = _Adam(stack.copy(), x, y, rate=rate, times=times, observe=observe, title=title)
    return carry_out(training, checkpoints)


class _Adam(Training):
    """The training of `adam`."""

    def __init__(
        self,
        stack: FullyConnected,
        x: Tensor,
        y: Tensor,
        *,
        rate: float,
        times: Sequence[int],
        observe: Callable[[FullyConnected, int], Observed],
        title: str,
    ):
        optimiser = torch.optim.Adam(
            stack.parameters, lr=rate, betas=BETAS, eps=EPSILON, foreach=True
        )
        super().__init__(title, times[-1], stack.parameters, optimiser, observed=[])
        self.stack = stack
        self.times = times
        self.observe = observe
        self.passes = Passes(stack, x, y)
        self.gradients = [torch.empty_like(tensor) for tensor in stack.parameters]
        for tensor, gradient in zip(stack.parameters, self.gradients, strict=True):
            tensor.grad = gradient

    def step(self) -> None:
        self.passes.forward()
        self.passes.gradient(out=self.gradients)
        self.optimiser.step()
        self.state.done += 1

    def measure(self) -> None:
        if self.done in self.times:
            self.state.observed.append(self.observe(self.stack, self.done))

    def result(self) -> list[Observed]:
        return self.state.observed
