"""The loop of every training: step, measure, stop, and checkpoints from which to go on exactly.

Trainings on batches of images go by epochs, with records after each.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from finitewidth.common.progress import LOG, Progress
from finitewidth.training.checkpoints import CheckpointStore, SavingTimes
from finitewidth.training.optimisers import NesterovSGD, StackedOptimiser

RESULT = "result"  # the only entry of the last checkpoint of a training that leaves its result


class Training(ABC):
    """A training in progress.

    Attributes:
        title: of the progress that is shown.
        total: number of steps after which it has ended.
    """

    title: str
    total: int

    @abstractmethod
    def done(self) -> int:
        """Return the number of steps made; those of a network that has stopped count as all."""

    @abstractmethod
    def step(self) -> None:
        """Make a step."""

    @abstractmethod
    def measure(self) -> None:
        """Do what is due between two steps: record, and let networks stop."""

    @abstractmethod
    def checkpoint(self) -> dict[str, Any]:
        """Return tensors and plain values from which `restore` makes the same training."""

    @abstractmethod
    def restore(self, state: dict[str, Any]) -> None:
        """Go back to what `checkpoint` returned, with its tensors on the CPU."""

    def result(self) -> Any:
        """Return what the last checkpoint holds instead, once it has ended; None for no change."""
        return None


def carry_out(
    training: Training, checkpoints: CheckpointStore | None = None, seconds: float = 60.0
) -> Any:
    """Train to the end, from the newest checkpoint if there is one.

    Args:
        training: with nothing done yet.
        checkpoints: where to store checkpoints, by an identity that settings, data and code
            determine; None for none.
        seconds: time between two checkpoints. It is longer if saving takes long.

    Returns:
        `Training.result`, also of a training that an earlier run has finished.

    Raises:
        ResultError: a checkpoint cannot be written.
    """
    state = checkpoints.latest() if checkpoints else None
    if state is not None and checkpoints.part:
        LOG.info("checkpoint of %s found", checkpoints.part)
    if state is not None and RESULT in state:
        LOG.info("finished in an earlier run")
        return state[RESULT]
    if state is not None:
        training.restore(state)
        LOG.info("continuing after %d of %d steps", training.done(), training.total)
    number = checkpoints.next_number() if checkpoints else 0
    times = SavingTimes(seconds if checkpoints else float("inf"))
    progress = Progress(training.total, training.title, training.done())
    training.measure()
    while (done := training.done()) < training.total:
        progress.reach(done)
        training.step()
        if times.due():
            with times.saving():
                checkpoints.save(number, training.checkpoint())
            number += 1
            LOG.info("checkpoint after %d of %d steps", training.done(), training.total)
        training.measure()
    progress.reach(training.total)
    progress.close()
    result = training.result()
    if checkpoints and result is not None:
        checkpoints.save(number, {RESULT: result})
        checkpoints.keep_newest()
    return result


def moved(value: Any, device: torch.device) -> Any:
    """Return the same nested value with its tensors on ``device``."""
    if isinstance(value, Tensor):
        return value.to(device)
    if isinstance(value, dict):
        return {key: moved(entry, device) for key, entry in value.items()}
    return [moved(entry, device) for entry in value] if isinstance(value, list) else value


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
