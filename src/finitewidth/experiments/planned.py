"""A training as the workflow knows it: a name, what is trained, on which data. Imports no torch."""

from dataclasses import dataclass

from finitewidth.training.run import TrainingRun


@dataclass(frozen=True, kw_only=True)
class PlannedTraining:
    """A training the workflow knows by name.

    Attributes:
        name: of the training, also of its folder.
        run: what is trained.
        dataset: the papers' dataset whose part a source plays: ``mnist``, ``cifar10`` … .
        earlier: name of the training whose weights it starts from, or None.
    """

    name: str
    run: TrainingRun
    dataset: str
    earlier: str | None = None
