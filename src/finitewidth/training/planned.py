"""A training as the workflow declares it. Does not import torch."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from finitewidth.networks.architecture import Architecture
from finitewidth.training.run import DataChoice, Replica, TrainingRun


@dataclass(frozen=True, kw_only=True)
class PlannedTraining:
    """A training of the workflow."""

    name: str  # of the training and of its folder
    run: TrainingRun
    dataset: str  # role of the dataset, e.g. mnist or cifar10
    earlier: str | None = None  # name of the training whose weights it starts from


def replicas_of(
    regime: str, stream: str, settings: Mapping[str, Any], **more: Any
) -> tuple[Replica, ...]:
    """A replica per run; those of one stream start alike and see the images in the same order.

    The settings have ``runs`` and ``step_size``; ``more`` are further attributes of a `Replica`,
    such as another ``step_size``.
    """
    shared = {"regime": regime, "step_size": settings["step_size"], **more}
    seeds = range(settings["runs"])
    return tuple(Replica(name=f"{stream}/run{seed}", seed=seed, **shared) for seed in seeds)


def planned(
    name: str,
    row: str,
    network: Mapping[str, Any],
    settings: Mapping[str, Any],
    replicas: Iterable[Replica],
    earlier: str | None = None,
    **more: Any,
) -> PlannedTraining:
    """A training of a section of the settings, of all ``replicas`` in one stack.

    The settings have ``dataset``, ``train``, ``test``, ``optimiser``, ``batch_size``, ``epochs``;
    ``pool`` if images are averaged, ``classes`` if there are two with targets of -1 and +1, and
    ``every`` if weights are kept every few epochs. ``more`` are other attributes of its
    `TrainingRun`.
    """
    classes, every = settings.get("classes"), settings.get("every")
    described = {
        "row": row,
        "architecture": Architecture.from_mapping(network),
        "data": DataChoice(
            classes=classes and tuple(classes),
            pool=settings.get("pool", 1),
            train=settings["train"],
            test=settings["test"],
        ),
        "loss": "squared" if classes else "cross_entropy",
        "snapshots": tuple(range(0, settings["epochs"] + 1, every)) if every else (),
        "replicas": tuple(replicas),
        **{name: settings[name] for name in ("optimiser", "batch_size", "epochs")},
    }
    run = TrainingRun(**described | more)
    return PlannedTraining(name=name, run=run, dataset=settings["dataset"], earlier=earlier)
