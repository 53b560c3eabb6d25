"""A training as the workflow declares it. Does not import torch."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from finitewidth.networks.architecture import Architecture
from finitewidth.settings.sections import Section
from finitewidth.training.run import DataChoice, Replica, TrainingRun

Settings = (
    Section | Mapping[str, Any]
)  # of a training: a section, or what is put together from some


@dataclass(frozen=True, kw_only=True)
class PlannedTraining:
    """A training of the workflow."""

    name: str  # of the training and of its folder
    run: TrainingRun
    dataset: str  # role of the dataset, e.g. mnist or cifar10
    earlier: str | None = None  # name of the training whose weights it starts from


def replicas_of(regime: str, stream: str, settings: Settings, **more: Any) -> tuple[Replica, ...]:
    """Return a replica for each run.

    Replicas of one stream start with the same weights and see the images in the same order.

    The settings have ``runs`` and ``step_size``; ``more`` are further attributes of a `Replica`,
    such as another ``step_size``.
    """
    values = dict(settings)
    attributes = {"regime": regime, "step_size": values["step_size"], **more}
    replicas = []
    for seed in range(values["runs"]):
        replicas.append(Replica(name=f"{stream}/run{seed}", seed=seed, **attributes))
    return tuple(replicas)


def planned(
    name: str,
    row: str,
    network: Settings,
    settings: Settings,
    replicas: Iterable[Replica],
    earlier: str | None = None,
    **more: Any,
) -> PlannedTraining:
    """Return the training that a section of the settings describes, of replicas in one stack.

    The settings have ``dataset``, ``train``, ``test``, ``optimiser``, ``batch_size``, ``epochs``;
    ``pool`` if images are averaged, ``classes`` if there are two with targets of -1 and +1, and
    ``every`` if weights are kept every few epochs. ``more`` are other attributes of its
    `TrainingRun`.
    """
    values = dict(settings)
    classes = values.get("classes")
    epochs = values["epochs"]
    every = values.get("every")
    attributes = {
        "row": row,
        "architecture": Architecture.from_mapping(dict(network)),
        "data": DataChoice(
            classes=tuple(classes) if classes else None,
            pool=values.get("pool", 1),
            train=values["train"],
            test=values["test"],
        ),
        "loss": "squared" if classes else "cross_entropy",
        "snapshots": tuple(range(0, epochs + 1, every)) if every else (),
        "replicas": tuple(replicas),
        "optimiser": values["optimiser"],
        "batch_size": values["batch_size"],
        "epochs": epochs,
    }
    run = TrainingRun(**attributes | more)
    return PlannedTraining(name=name, run=run, dataset=values["dataset"], earlier=earlier)
