"""How much trainings write to the disk, from their settings. Does not import torch."""

from dataclasses import dataclass
from math import prod

from finitewidth.data.catalogue import Source
from finitewidth.networks.architecture import Layer, layers_of, weight_shape
from finitewidth.training.run import TrainingRun

SINGLE = 4  # bytes of a number
STATES = {"sgd": 0, "rmsprop": 1, "adam": 2}  # numbers that an optimiser keeps for each weight
BEST = ("best_test", "best_validation")  # whose weights a training keeps from the start


@dataclass(frozen=True)
class Disk:
    """Bytes of weights among the results of a training, and of its last checkpoint."""

    weights: float = 0.0
    checkpoint: float = 0.0

    def __add__(self, other: "Disk") -> "Disk":
        return Disk(self.weights + other.weights, self.checkpoint + other.checkpoint)


def of_training(run: TrainingRun, source: Source) -> Disk:
    """Return the bytes that a training on a source leaves.

    All replicas keep their weights under the same labels, such as ``epoch5`` or ``best_test``.
    """
    value, output = _parameters(run, source)
    regime = run.replicas[0].gate_regime
    feature = value - output if regime.gating.source == "feature" else 0
    parts = {"value": value, "output": output, "feature": feature}
    trained = sum(parts[part] for part in regime.learns)
    snapshots = {f"epoch{epoch}" for epoch in run.snapshots}
    snapshots |= {f"best_so_far{epoch}" for epoch in run.best_so_far}
    labels = snapshots | set(run.keep)
    best = set(BEST) & set(run.keep)  # labels that hold weights from the start
    if run.best_so_far:
        best.add("best_test")
    networks = 1 + len(snapshots) + len(best)  # in a checkpoint, with the one that is trained
    numbers = trained * STATES[run.optimiser] + (value + feature) * networks
    per_number = SINGLE * len(run.replicas)
    return Disk(
        weights=per_number * (value + feature) * len(labels), checkpoint=per_number * numbers
    )


def _parameters(run: TrainingRun, source: Source) -> tuple[int, int]:
    """Return the numbers of parameters of a value network, and of its output layer."""
    assert source.shape is not None
    height, width, channels = source.shape
    pool = run.data.pool
    outputs = 1 if run.data.classes else source.classes
    assert outputs is not None
    layers = layers_of(run.architecture, (height // pool, width // pool, channels), outputs)
    counts = [_parameter_count(layer) for layer in layers]
    return sum(counts), counts[-1]


def _parameter_count(layer: Layer) -> int:
    """Return the number of weights and biases of a layer."""
    weights = prod(weight_shape(layer))
    return weights + layer.fan_out if layer.bias else weights
