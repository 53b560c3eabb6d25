"""What a training is: two equal descriptions give the same weights. Imports no torch."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from finitewidth.common.errors import ConfigError
from finitewidth.networks.architecture import Architecture
from finitewidth.networks.regimes import Regime, regime

KEPT = ("best_test", "best_validation", "last")


@dataclass(frozen=True, kw_only=True)
class Replica:
    """One network of a stack.

    Attributes:
        name: names its random streams (initial weights, order of the data); replicas that share a
            name share them, whatever else differs and whichever stack they train in.
        regime: see `finitewidth.networks.regimes.regime`.
        seed: the number of the run, as rows show it.
        step_size: of the optimiser.
        pretrained: label of the weights, kept by an earlier training, that a feature network
            starts from (those of the same seed); None unless the regime asks for it.
        stage: as rows show it; None where there are no stages.
        beta, eps: of soft gates; None and 0 where gates are hard.
        variant: what is done to its training images, see `finitewidth.data.select.altered`.
    """

    name: str
    regime: str
    seed: int
    step_size: float
    pretrained: str | None = None
    stage: int | None = None
    beta: float | None = None
    eps: float = 0.0
    variant: str = "original"

    @property
    def gate_regime(self) -> Regime:
        """The regime with this replica's soft gates."""
        return regime(self.regime, self.beta, self.eps)


@dataclass(frozen=True, kw_only=True)
class DataChoice:
    """Which part of a dataset a training sees, and as what.

    Attributes:
        classes: two classes for ±1 targets (the first becomes -1), or None for all.
        train: images kept for training, drawn stratified; None for all.
        test: likewise for testing.
        pool: side of the squares of pixels that become one, their mean; 1 leaves images alone.
    """

    classes: tuple[int, int] | None = None
    train: int | None = None
    test: int | None = None
    pool: int = 1


@dataclass(frozen=True, kw_only=True)
class TrainingRun:
    """One stack of replicas trained together, fully described.

    Attributes:
        row: the row of a table or the panel the training belongs to, as history shows it.
        replicas: at least one; their regimes must stack (`Regime.stacks_with`).
        architecture: of value and feature network.
        data: which images, as which targets.
        loss: ``cross_entropy`` of logits or ``squared`` error (mean over the batch).
        optimiser: ``sgd``, ``adam`` or ``rmsprop``, with a constant step.
        batch_size: images a step sees; the last batch of an epoch may be smaller.
        epochs: passes over the training images.
        snapshots: epochs at whose end all weights are kept (0: before the first step).
        keep: further weights to keep at the end: ``best_test``, ``best_validation`` (best on the
            first half of the test images), ``last``.
        best_so_far: epochs at whose end each replica's weights best on the test set so far are
            kept.
    """

    row: str
    replicas: tuple[Replica, ...]
    architecture: Architecture
    data: DataChoice = field(default_factory=DataChoice)
    loss: str = "cross_entropy"
    optimiser: str = "sgd"
    batch_size: int = 32
    epochs: int = 1
    snapshots: tuple[int, ...] = ()
    keep: tuple[str, ...] = ()
    best_so_far: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what no training can mean.

        Raises:
            ConfigError: no replicas, regimes that do not stack, ``pretrained`` missing or needless,
                weights to keep that there will not be.
        """
        if not self.replicas:
            raise ConfigError("a training needs at least one replica")
        if unknown := set(self.keep) - set(KEPT):
            raise ConfigError(f"keep: {sorted(unknown)} is refused; allowed are {', '.join(KEPT)}")
        for name, first in (("snapshots", 0), ("best_so_far", 1)):
            if wrong := [e for e in getattr(self, name) if not first <= e <= self.epochs]:
                raise ConfigError(
                    f"{name}: epochs {wrong} are refused; allowed are {first} to {self.epochs}"
                )
        first = self.regime
        for replica in self.replicas:
            this = replica.gate_regime
            if not this.stacks_with(first):
                raise ConfigError(
                    f"{replica.regime} and {self.replicas[0].regime} cannot train in one stack: "
                    "their gates or what they learn differ"
                )
            if (this.feature_start == "pretrained") != (replica.pretrained is not None):
                raise ConfigError(
                    f"replica {replica.name} ({replica.regime}): `pretrained` is "
                    f"{replica.pretrained!r}, but the feature network starts {this.feature_start}"
                )

    @property
    def regime(self) -> Regime:
        """The kind of gating, and what learns, that all replicas share; the first one's regime."""
        return self.replicas[0].gate_regime

    @property
    def variants(self) -> tuple[str, ...]:
        """The variants of the training images that replicas see, in the order they first occur."""
        return tuple(dict.fromkeys(replica.variant for replica in self.replicas))

    @classmethod
    def from_mapping(cls, settings: Mapping[str, Any]) -> "TrainingRun":
        """Read what `to_mapping` wrote."""
        values = dict(settings)
        values["replicas"] = tuple(Replica(**replica) for replica in values["replicas"])
        values["architecture"] = Architecture(**_tuples(values["architecture"]))
        values["data"] = DataChoice(**_tuples(values["data"]))
        return cls(**_tuples(values))

    def to_mapping(self) -> dict[str, Any]:
        """Plain JSON types: what a rule carries as a parameter and provenance records."""
        return _lists(asdict(self))


def _tuples(values: Mapping[str, Any]) -> dict[str, Any]:
    return {k: tuple(v) if isinstance(v, list) else v for k, v in values.items()}


def _lists(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _lists(entry) for key, entry in value.items()}
    return [_lists(entry) for entry in value] if isinstance(value, list | tuple) else value
