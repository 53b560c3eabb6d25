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
    """Return what a training on a source leaves; all replicas keep the weights of all labels."""
    height, width, channels = source.shape
    shape = height // run.data.pool, width // run.data.pool, channels
    layers = layers_of(run.architecture, shape, 1 if run.data.classes else source.classes)
    value = sum(map(_numbers, layers))
    gates, learns = run.replicas[0].gate_regime.gating, run.replicas[0].gate_regime.learns
    feature = value - _numbers(layers[-1]) if gates.source == "feature" else 0
    parts = {"value": value, "output": _numbers(layers[-1]), "feature": feature}
    learnt = sum(parts[part] for part in learns)
    kept = {*run.keep, *(f"epoch{each}" for each in run.snapshots)}
    kept |= {f"best_so_far{each}" for each in run.best_so_far}
    best = set(BEST) & {*run.keep, *(["best_test"] if run.best_so_far else [])}
    before_the_end = len(kept - {"last", *BEST}) + len(best)
    state = learnt * STATES[run.optimiser] + (value + feature) * (1 + before_the_end)
    each = SINGLE * len(run.replicas)
    return Disk(weights=each * (value + feature) * len(kept), checkpoint=each * state)


def _numbers(layer: Layer) -> int:
    """Weights and biases of a layer."""
    return prod(weight_shape(layer)) + layer.bias * layer.fan_out
