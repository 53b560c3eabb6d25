"""Descriptions of trainings and of settings: name in words -> value, in the order of a footer."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from finitewidth.data.catalogue import ROLES
from finitewidth.networks.architecture import Architecture
from finitewidth.settings.nested import leaves
from finitewidth.training.planned import PlannedTraining
from finitewidth.training.run import Replica

LAYERS = "layers"
TRAIN = "training images"
TEST = "test images"
EPOCHS = "epochs"
RUNS = "runs"
PIXELS = "pixels averaged per side"
NAMES = {  # of settings, where words say more than the key
    "train": TRAIN,
    "test": TEST,
    "pool": PIXELS,
    "batch_size": "batch size",
    "per_class": "images per class",
    "step_size": "step size",
    "init": "initialisation",
    "bias": "biases",
    "global_average_pooling": "global average pooling",
    "shown": "runs shown",
    "paper_draws": "draws of the paper-sized sample",
}


def describe_training(training: PlannedTraining) -> dict[str, Any]:
    """What a training does."""
    run = training.run
    return {
        "dataset": ROLES[training.dataset],
        "classes": run.data.classes,
        TRAIN: run.data.train,
        TEST: run.data.test,
        PIXELS: run.data.pool,
        **_describe_network(run.architecture),
        EPOCHS: run.epochs,
        RUNS: len({replica.seed for replica in run.replicas}),
        "loss": run.loss,
        "optimiser": run.optimiser,
        "batch size": run.batch_size,
        **_describe_spacing("evaluations", run.snapshots),
        **_describe_spacing("stages", run.best_so_far),
        **_describe_replicas(run.replicas),
    }


def describe_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The nested settings of an experiment; a network is described as that of a training."""
    description: dict[str, Any] = {}
    network: Any = settings.get("network")
    if _is_architecture(network):
        description |= _describe_network(Architecture.from_mapping(network))
        settings = {name: value for name, value in settings.items() if name != "network"}
    for path, value in leaves(settings).items():
        description[_name_of(path)] = value
    return description


def _is_architecture(network: Any) -> bool:
    """Whether a setting describes an `Architecture`, not one of the networks of one paper."""
    if not isinstance(network, Mapping):
        return False
    if network.get("kind") == "fully_connected":
        return "width" in network or "widths" in network
    return network.get("kind") == "convolutional"


def _name_of(path: Sequence[str]) -> str:
    """The path of a setting in words: ``wide: step size``."""
    *parents, last = path
    name = NAMES.get(last, last)
    if parents and parents[-1] != last:
        name = f"{' '.join(parents)}: {name}"
    return name.replace("_", " ")


def _describe_network(architecture: Architecture) -> dict[str, Any]:
    """All layers in one text, and what else belongs to an architecture."""
    attributes = asdict(architecture)
    channels = _sizes(attributes.pop("channels"))
    dense = _sizes(attributes.pop("dense"))
    if channels:
        layers = f"channels {channels}, dense layers {dense or 'none'}"
    else:
        layers = f"hidden layers {dense}"
    others = {NAMES.get(name, name): value for name, value in attributes.items()}
    return {LAYERS: layers, **others}


def _sizes(widths: Sequence[int]) -> str:
    """``64-64-128``; ``5 × 128`` for many equal ones."""
    if len(widths) > 2 and len(set(widths)) == 1:
        return f"{len(widths)} × {widths[0]}"
    return "-".join(map(str, widths))


def _describe_spacing(name: str, epochs: Sequence[int]) -> dict[str, int]:
    """The distance of the first two epochs; how many there are follows from the epochs."""
    if len(epochs) < 2:
        return {}
    return {f"epochs between {name}": epochs[1] - epochs[0]}


def _describe_replicas(replicas: Sequence[Replica]) -> dict[str, Any]:
    """In what the networks that are trained together differ."""
    # "best_so_far10" is a start; its epoch follows from the distance of the stages
    starts = [(replica.pretrained or "").rstrip("0123456789") for replica in replicas]
    return {
        "step size": _distinct(replica.step_size for replica in replicas),
        "beta": _distinct(replica.beta for replica in replicas),
        "epsilon": _distinct(replica.eps for replica in replicas),
        "regimes": _distinct(replica.regime for replica in replicas),
        "kinds of images": _distinct(replica.variant for replica in replicas),
        "stages": len({replica.stage for replica in replicas}),
        "starts": _distinct(starts),
    }


def _distinct(values: Iterable[Any]) -> Any:
    """The one value that all have, or the list of all values that are given."""
    distinct = list(dict.fromkeys(value for value in values if value not in (None, "")))
    return distinct[0] if len(distinct) == 1 else distinct
