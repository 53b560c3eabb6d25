"""Trainings on batches of images: epochs of steps, with records after each epoch."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from finitewidth.training.loop import Training, moved
from finitewidth.training.momentum import NesterovSGD
from finitewidth.training.optimisers import StackedOptimiser


@dataclass
class Position:
    """How far a training is. With what a subclass adds, all but weights and optimiser.

    Attributes:
        epoch: number of finished epochs.
        step: number of finished steps of the present epoch.
    """

    epoch: int
    step: int


class EpochTraining(Training):
    """A training on batches, the same number in each epoch.

    Attributes:
        weights: the tensors that training changes, in place.
        optimiser: of the weights.
        state: tensors and plain values.
        steps_per_epoch: number of batches.
    """

    def __init__(
        self,
        weights: Sequence[Tensor],
        optimiser: StackedOptimiser | NesterovSGD,
        state: Position,
        epochs: int,
        steps_per_epoch: int,
    ):
        self.weights, self.optimiser, self.state = weights, optimiser, state
        self.total, self.steps_per_epoch = epochs * steps_per_epoch, steps_per_epoch
        self._batches: Sequence[Tensor] | None = None  # of the present epoch

    @abstractmethod
    def _drawn(self, epoch: int) -> Sequence[Tensor]:
        """Return the indices of the images of each batch of an epoch, which counts from 1."""

    @abstractmethod
    def _step(self, batch: Tensor) -> None:
        """Change the weights by one step on a batch."""

    @abstractmethod
    def _record(self, batch: Tensor) -> None:
        """Record an epoch that has ended; ``batch`` was its last one."""

    def done(self) -> int:
        """Return the number of steps made."""
        return self.state.epoch * self.steps_per_epoch + self.state.step

    def step(self) -> None:
        """Make a step of all networks on the next batch."""
        self._step(self._batch(self.state.step))
        self.state.step += 1

    def measure(self) -> None:
        """Record the epoch if it has ended, and begin the next one."""
        state = self.state
        if state.step == self.steps_per_epoch:
            last = self._batch(-1)
            state.epoch, state.step = state.epoch + 1, 0
            self._record(last)
            self._batches = None

    def _batch(self, number: int) -> Tensor:
        if self._batches is None:
            self._batches = self._drawn(self.state.epoch + 1)
        return self._batches[number]

    def checkpoint(self) -> dict[str, Any]:
        """Return weights, optimiser and state."""
        weights = [tensor.detach() for tensor in self.weights]
        return {"weights": weights, "optimiser": self.optimiser.state(), **vars(self.state)}

    def restore(self, state: dict[str, Any]) -> None:
        """Restore weights, optimiser and state, on the device of the weights."""
        saved = moved(state, self.weights[0].device)
        with torch.no_grad():
            for tensor, value in zip(self.weights, saved.pop("weights"), strict=True):
                tensor.copy_(value)
        self.optimiser.restore(saved.pop("optimiser"))
        self.state = type(self.state)(**saved)
