"""The loop of every training: step, measure, stop, and checkpoints from which to go on exactly.

Trainings on batches of images go by epochs, with records after each.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import lru_cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from finitewidth.common.progress import LOG, Progress
from finitewidth.training.checkpoints import CheckpointStore

RESULT = "result"  # the only entry of the last checkpoint of a training that leaves its result


class Training(ABC):
    """A training in progress, whose progress is shown by its title; it ends after ``total`` steps.

    It changes the tensors ``weights`` in place. The optimiser has ``state_dict`` and
    ``load_state_dict``. All else that changes is in ``state``: ``done``, the number of steps made,
    and what a subclass adds, tensors and plain values. Progress is shown in a ``unit`` of
    ``steps_per_unit`` steps.
    """

    unit = "step"
    steps_per_unit = 1

    def __init__(
        self, title: str, total: int, weights: Sequence[Tensor], optimiser: Any, **state: Any
    ):
        self.title = title
        self.total = total
        self.weights = weights
        self.optimiser = optimiser
        self.state = SimpleNamespace(done=0, **state)

    @property
    def done(self) -> int:
        """The number of steps made."""
        return self.state.done

    @abstractmethod
    def step(self) -> None:
        """Make a step."""

    @abstractmethod
    def measure(self) -> None:
        """Do what is due between two steps: record, and let networks stop."""

    def checkpoint(self) -> dict[str, Any]:
        """Return tensors and plain values from which `restore` makes the same training."""
        weights = [tensor.detach() for tensor in self.weights]
        return {"weights": weights, "optimiser": self.optimiser.state_dict(), **vars(self.state)}

    def restore(self, state: dict[str, Any]) -> None:
        """Go back to what `checkpoint` returned, with its tensors on the CPU."""
        saved = unpacked(state, self.weights[0].device)
        with torch.no_grad():
            for tensor, value in zip(self.weights, saved.pop("weights"), strict=True):
                tensor.copy_(value)
        self.optimiser.load_state_dict(saved.pop("optimiser"))
        self.state = SimpleNamespace(**saved)

    def result(self) -> Any:
        """Return the result, which the last checkpoint then holds in place of the state.

        None if the last checkpoint holds the state.
        """
        return None


def carry_out(training: Training, checkpoints: CheckpointStore | None = None) -> Any:
    """Train to the end, from the newest checkpoint if there is one.

    Args:
        training: with nothing done yet.
        checkpoints: where to store checkpoints, by an identity that settings, data and code
            determine; None for none.

    Returns:
        `Training.result`, also of a training that an earlier run has finished.
    """
    state = checkpoints.latest() if checkpoints else None
    if state is not None and RESULT in state:
        LOG.info("finished in an earlier run")
        return state[RESULT]
    if state is not None:
        training.restore(state)
        LOG.info("continuing after %d of %d steps", training.done, training.total)
    progress = Progress(
        training.total,
        training.title,
        training.done,
        unit=training.unit,
        per=training.steps_per_unit,
    )
    training.measure()
    while training.done < training.total:
        progress.reach(training.done)
        training.step()
        if checkpoints and checkpoints.due():
            checkpoints.save(training.checkpoint())
            LOG.info("checkpoint after %d of %d steps", training.done, training.total)
        training.measure()
    progress.reach(training.total)
    progress.close()
    result = training.result()
    if checkpoints and result is not None:
        checkpoints.save({RESULT: result})
        checkpoints.keep_newest()
    return result


def packed(value: Any) -> Any:
    """Replace arrays in a nested value by tensors, marked as such, for a checkpoint."""
    if isinstance(value, np.ndarray):
        return {"array": torch.from_numpy(value)}
    if isinstance(value, dict):
        return {key: packed(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [packed(entry) for entry in value]
    return value


def unpacked(value: Any, device: torch.device) -> Any:
    """Undo `packed`, with tensors on a device."""
    if isinstance(value, dict):
        if value.keys() == {"array"}:
            return value["array"].numpy()
        return {key: unpacked(entry, device) for key, entry in value.items()}
    if isinstance(value, list):
        return [unpacked(entry, device) for entry in value]
    return value.to(device) if isinstance(value, Tensor) else value


class EpochTraining(Training):
    """A training on batches, the same number ``steps_per_epoch`` in each epoch."""

    def __init__(self, *arguments: Any, steps_per_epoch: int, **state: Any):
        super().__init__(*arguments, **state)
        self.steps_per_epoch = steps_per_epoch
        self.batches = lru_cache(1)(self._draw_batches)
        self.unit = "epoch"
        self.steps_per_unit = steps_per_epoch

    @abstractmethod
    def _draw_batches(self, epoch: int) -> Sequence[Tensor]:
        """Return the indices of the images of each batch of an epoch, which counts from 1."""

    @abstractmethod
    def _step(self, batch: Tensor) -> None:
        """Change the weights by one step on a batch."""

    @abstractmethod
    def _record(self, epoch: int) -> None:
        """Record an epoch that has ended."""

    def step(self) -> None:
        """Make a step of all networks on the next batch."""
        epoch, number = divmod(self.done, self.steps_per_epoch)
        self._step(self.batches(epoch + 1)[number])
        self.state.done += 1

    def measure(self) -> None:
        """Record the epoch if it has ended."""
        epoch, further = divmod(self.done, self.steps_per_epoch)
        if epoch and not further:
            self._record(epoch)
