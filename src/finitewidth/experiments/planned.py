"""A training as the workflow declares it. Does not import torch."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from finitewidth.networks.architecture import Architecture
from finitewidth.training.run import DataChoice, Replica, TrainingRun


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


def replicas_of(
    regime: str, stream: str, settings: Mapping[str, Any], **more: Any
) -> tuple[Replica, ...]:
    """A replica per run; those of one stream start alike and see the images in the same order.

    Args:
        regime: of all of them.
        stream: first words of their names, which name their random streams.
        settings: ``runs`` and ``step_size``.
        **more: further attributes of a `Replica`, such as another ``step_size``.
    """
    return tuple(
        Replica(
            name=f"{stream}/run{seed}",
            regime=regime,
            seed=seed,
            **{"step_size": settings["step_size"], **more},
        )
        for seed in range(settings["runs"])
    )


def planned(
    name: str,
    row: str,
    network: Mapping[str, Any],
    settings: Mapping[str, Any],
    replicas: Iterable[Replica],
    earlier: str | None = None,
    **more: Any,
) -> PlannedTraining:
    """A training of a section of the settings.

    Args:
        name: of the training.
        row: as in the history.
        network: settings of its architecture.
        settings: ``dataset``, ``train``, ``test``, ``optimiser``, ``batch_size``, ``epochs``;
            ``pool`` if images are averaged, ``classes`` if there are two with targets of -1 and +1,
            and ``every`` if weights are kept every few epochs.
        replicas: all that are trained in one stack.
        earlier: name of the training whose weights it starts from.
        **more: other attributes of its `TrainingRun`.
    """
    classes, every = settings.get("classes"), settings.get("every")
    described = {
        "row": row,
        "architecture": Architecture.from_mapping(network),
        "data": DataChoice(
            classes=classes and tuple(classes),
            train=settings["train"],
            test=settings["test"],
            pool=settings.get("pool", 1),
        ),
        "loss": "squared" if classes else "cross_entropy",
        "snapshots": tuple(range(0, settings["epochs"] + 1, every)) if every else (),
        "optimiser": settings["optimiser"],
        "batch_size": settings["batch_size"],
        "epochs": settings["epochs"],
        "replicas": tuple(replicas),
    }
    run = TrainingRun(**described | more)
    return PlannedTraining(name=name, run=run, dataset=settings["dataset"], earlier=earlier)
