"""Training of a model that is linear in its parameters, in the space of its training outputs.

With coefficients a the change of the outputs is Theta a at the training inputs, and Theta(x, X) a
elsewhere. Gradient flow is da/dt = - grad L(f_0 + Theta a), from a = 0, and a step of descent is
a <- a - rate grad L. Vectors are in the order of the rows of the kernel, see `fixed_kernel`.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import torch
from scipy.integrate import solve_ivp
from torch import Tensor

from finitewidth.common.errors import ConfigError

Gradient = Callable[[Tensor], Tensor]  # of the loss, by outputs


def eigenpairs(matrix: Tensor, eps: float) -> tuple[Tensor, Tensor]:
    """Return eigenvalues in ascending order, those that are rounding as 0, and eigenvectors.

    Args:
        matrix: a kernel (R, R), float64.
        eps: the rounding unit of the type in which its entries were computed.
    """
    values, vectors = torch.linalg.eigh(matrix)
    least = max(len(matrix) * torch.finfo(matrix.dtype).eps, eps) * values.abs().amax()
    return torch.where(values > least, values, 0.0), vectors


@dataclass(frozen=True)
class ClosedForm:
    """The squared loss 1/(2N) |f - y|^2.

    Attributes:
        values: eigenvalues of the kernel, (R,), >= 0.
        vectors: its eigenvectors, (R, R).
        error: y - f_0, (R, C).
        count: N.
        rate: of descent; None for gradient flow.
    """

    values: Tensor
    vectors: Tensor
    error: Tensor
    count: int
    rate: float | None

    def coefficients(self, times: list[float]) -> Iterator[Tensor]:
        """Yield (R, C) for each time."""
        yield from self._times_error(times, power=-1)

    def changes(self, times: list[float]) -> list[Tensor]:
        """Return the changes of the training outputs (R, C), for each time."""
        return list(self._times_error(times, power=0))

    def _times_error(self, times: list[float], power: int) -> Iterator[Tensor]:
        """Yield V (1 - exp(-t values / N)) values^power V^T error for each time t, (R, C)."""
        along = self.vectors.mT @ self.error  # the error along each eigenvector
        learned = self.values > 0
        scale = torch.where(learned, self.values, 1.0) ** power
        for time in times:
            share = torch.where(learned, self._share(time) * scale, 0.0)
            yield self.vectors @ (share[:, None] * along)

    def _share(self, time: float) -> Tensor:
        """Return what is learned of each eigenvector, (R,).

        It is 1 - exp(-t value / N) by gradient flow, and 1 - (1 - rate value / N)^t by descent.
        """
        speeds = self.values / self.count
        if self.rate is None:
            return -torch.expm1(-torch.where(speeds > 0, speeds * time, 0.0))
        largest_rate = 2 / float(speeds.amax())
        if math.isinf(time):
            if self.rate >= largest_rate:
                raise ConfigError(
                    f"rate = {self.rate:g}: gradient descent does not converge; give a rate below "
                    f"{largest_rate:g}, or a finite number of steps"
                )
            return torch.ones_like(speeds)
        steps = checked_steps(time)
        step = self.rate * speeds
        small = step < 0.5  # powers of numbers near 1 would lose digits
        slow = -torch.expm1(steps * torch.log1p(-torch.where(small, step, 0.0)))
        fast = 1 - (1 - step) ** steps
        return torch.where(small, slow, fast)


@dataclass(frozen=True)
class Descent:
    """Gradient descent with any loss.

    Attributes:
        matrix: the kernel, (R, R).
        start: f_0, (R, C).
        gradient: of the loss.
        rate: the size of a step.
    """

    matrix: Tensor
    start: Tensor
    gradient: Gradient
    rate: float

    def coefficients(self, times: list[float]) -> list[Tensor]:
        """Return (R, C) for each time, a number of steps."""
        steps = [checked_steps(time) for time in times]
        last = max(steps)
        now = torch.zeros_like(self.start)
        at_steps = {}
        for step in range(last + 1):
            if step in steps:
                at_steps[step] = now
            if step < last:
                now = now - self.rate * self.gradient(self.start + self.matrix @ now)
        return [at_steps[step] for step in steps]

    def changes(self, times: list[float]) -> list[Tensor]:
        """Return the changes of the training outputs (R, C), for each time."""
        return [self.matrix @ part for part in self.coefficients(times)]


@dataclass(frozen=True)
class Flow:
    """Gradient flow with any loss, integrated by LSODA.

    Attributes:
        matrix: the kernel, (R, R).
        start: f_0, (R, C).
        gradient: of the loss.
        tolerance: relative; absolute for outputs.
    """

    matrix: Tensor
    start: Tensor
    gradient: Gradient
    tolerance: float

    def coefficients(self, times: list[float]) -> list[Tensor]:
        """Return (R, C) for each time."""
        if math.isinf(max(times)):
            raise ConfigError("t: inf is for the squared loss; give a finite time")
        ordered = sorted({0.0, *times})
        if ordered == [0.0]:
            return [torch.zeros_like(self.start) for _ in times]
        norm = float(self.matrix.abs().sum(1).amax())  # of outputs, for coefficients of size 1
        solution = solve_ivp(
            self._speed,
            (0.0, ordered[-1]),
            np.zeros(self.start.numel()),
            method="LSODA",
            t_eval=ordered,
            rtol=self.tolerance,
            atol=self.tolerance / norm,
        )
        if not solution.success:
            raise ConfigError(f"t: gradient flow could not be integrated: {solution.message}")
        at_times = {}
        for column, time in enumerate(ordered):
            at_times[time] = self._tensor(solution.y[:, column])
        return [at_times[time] for time in times]

    def changes(self, times: list[float]) -> list[Tensor]:
        """Return the changes of the training outputs (R, C), for each time."""
        return [self.matrix @ part for part in self.coefficients(times)]

    def _speed(self, _: float, coefficients: np.ndarray) -> np.ndarray:
        outputs = self.start + self.matrix @ self._tensor(coefficients)
        return -self.gradient(outputs).flatten().cpu().numpy()

    def _tensor(self, flat: np.ndarray) -> Tensor:
        return torch.from_numpy(flat.copy()).to(self.start).view_as(self.start)


def checked_steps(time: float) -> int:
    """Return a time of gradient descent as a number of steps.

    Raises:
        ConfigError: it is not whole.
    """
    if math.isinf(time):
        raise ConfigError("t: inf is for the squared loss; give a number of steps")
    if time != int(time):
        raise ConfigError(f"t: {time:g} must be a whole number of steps, since there is a rate")
    return int(time)
