"""A training as the workflow declares it. Does not import torch."""

from dataclasses import dataclass

from finitewidth.training.run import TrainingRun


@dataclass(frozen=True, kw_only=True)
class PlannedTraining:
    """A training of the workflow.

    Attributes:
        name: of the training and of its folder.
        run: description of the training.
        dataset: role of the dataset, e.g. ``mnist`` or ``cifar10``.
        earlier: name of the training whose weights it starts from, or None.
    """

    name: str
    run: TrainingRun
    dataset: str
    earlier: str | None = None
