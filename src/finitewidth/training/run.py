"""Description of a training. Equal descriptions give equal weights. Does not import torch."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from finitewidth.common.errors import ConfigError
from finitewidth.networks.architecture import Architecture
from finitewidth.networks.regimes import Regime, regime


@dataclass(frozen=True, kw_only=True)
class Replica:
    """One network of a stack.

    The name seeds the random streams of the replica (initial weights, order of the images).
    Replicas with the same name use the same streams, whatever else differs and whichever stack they
    belong to.
    """

    name: str
    regime: str  # see `finitewidth.networks.regimes.regime`
    seed: int  # number of the run, as shown in tables
    step_size: float  # of the optimiser
    # label of the weights of an earlier training from which the feature network starts (those of
    # the same seed), if the regime starts from such weights
    pretrained: str | None = None
    stage: int | None = None  # as shown in tables
    beta: float | None = None  # of soft gates
    eps: float = 0.0  # of soft gates
    variant: str = "original"  # of the training images, see `finitewidth.data.select.altered`

    @property
    def gate_regime(self) -> Regime:
        """The regime with the soft gates of this replica."""
        return regime(self.regime, self.beta, self.eps)


@dataclass(frozen=True, kw_only=True)
class DataChoice:
    """The part of a dataset that a training uses, and the form of its targets.

    ``train`` and ``test`` are applied before ``classes``: the images are drawn from all classes,
    and only then are the two classes selected. With ten classes of equal size ``train=1000``
    leaves about 200 images of two classes.
    """

    classes: tuple[int, int] | None = None  # for targets -1 (the first) and +1; None for all
    train: int | None = None  # training images drawn from all classes, stratified; None for all
    test: int | None = None  # likewise
    pool: int = 1  # images are averaged over squares of pool × pool pixels


@dataclass(frozen=True, kw_only=True)
class TrainingRun:
    """The complete description of a stack of replicas that are trained together."""

    row: str  # of a table, or panel of a figure, that the training belongs to, as in the history
    replicas: tuple[Replica, ...]  # their regimes share their kind of gates and what learns
    architecture: Architecture  # of the value and the feature network
    data: DataChoice = field(default_factory=DataChoice)
    loss: str = "cross_entropy"  # of logits, or "squared" error (mean over the batch)
    optimiser: str = "sgd"  # or "adam" or "rmsprop", with a constant step size
    batch_size: int = 32  # images per step; the last batch of an epoch may be smaller
    epochs: int = 1  # passes over the training images
    snapshots: tuple[int, ...] = ()  # epochs after which all weights are kept, 0 for the initial
    # further weights to keep: best_test, best_validation (on the even-numbered test images), last
    keep: tuple[str, ...] = ()
    # epochs after which the weights of each replica that were best on the test set so far are kept
    best_so_far: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        """Reject inconsistent descriptions."""
        if not self.replicas:
            raise ConfigError("replicas: a training needs at least one replica")
        for replica in self.replicas:
            start = replica.gate_regime.feature_start
            if (start == "pretrained") != (replica.pretrained is not None):
                raise ConfigError(
                    f"replica {replica.name} ({replica.regime}): `pretrained` is "
                    f"{replica.pretrained!r}, but the feature network starts {start}"
                )

    @property
    def variants(self) -> tuple[str, ...]:
        """The variants of the training images, in the order of their first replica."""
        return tuple(dict.fromkeys(replica.variant for replica in self.replicas))

    @classmethod
    def from_mapping(cls, settings: Mapping[str, Any]) -> "TrainingRun":
        """Read a mapping that `to_mapping` returned."""
        values = dict(settings)
        values["replicas"] = tuple(Replica(**replica) for replica in values["replicas"])
        values["architecture"] = Architecture(**_tuples(values["architecture"]))
        values["data"] = DataChoice(**_tuples(values["data"]))
        return cls(**_tuples(values))

    def to_mapping(self) -> dict[str, Any]:
        """Return plain JSON types, for the parameters of a rule and for the provenance."""
        return json.loads(json.dumps(asdict(self)))


def _tuples(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values with tuples in place of lists, which JSON does not have."""
    result = dict(values)
    for name, value in values.items():
        if isinstance(value, list):
            result[name] = tuple(value)
    return result
