"""Cost of a stacked training: steps, forward and backward products, updates, evaluations."""

from dataclasses import dataclass
from math import ceil, prod

from finitewidth.networks.architecture import (
    KERNEL_SIZE,
    Layer,
    layers_of,
    parameter_count,
)
from finitewidth.pipeline.costs.work import Work
from finitewidth.training.run import TrainingRun

SINGLE = 4  # bytes of a float32
UPDATE = {"sgd": 3, "rmsprop": 6, "adam": 10}  # numbers touched per weight and step
STATES = {"sgd": 0, "rmsprop": 1, "adam": 2}  # numbers an optimiser keeps per weight
CHECKPOINTS = 2  # kept of a training under way (`finitewidth.training.checkpoints`)
CALLS_PER_LAYER = 14  # of a dense layer, forward, backward and update


@dataclass(frozen=True)
class Pictures:
    """What a training sees: shape (H, W, C), classes, numbers of training and test images."""

    shape: tuple[int, int, int]
    classes: int
    train: int
    test: int


def positions(layers: tuple[Layer, ...], shape: tuple[int, int, int]) -> list[int]:
    """Output positions of every layer, 1 for a dense one."""
    height, width, _ = shape
    found = []
    for layer in layers:
        if layer.kind == "conv":
            left, right, top, bottom = layer.pad
            height = (height + top + bottom - KERNEL_SIZE) // layer.stride + 1
            width = (width + left + right - KERNEL_SIZE) // layer.stride + 1
            found.append(height * width)
        else:
            found.append(1)
    return found


def _shape(run: TrainingRun, data: Pictures) -> tuple[int, int, int]:
    height, width, channels = data.shape
    return height // run.data.pool, width // run.data.pool, channels


def _layers(run: TrainingRun, data: Pictures) -> tuple[Layer, ...]:
    return layers_of(run.architecture, _shape(run, data), 1 if run.data.classes else data.classes)


def checkpoint(run: TrainingRun, data: Pictures) -> float:
    """Bytes of a training's last checkpoint, its largest, but for the history.

    What learns with the optimiser's states, and all networks once per label kept so far.
    """
    learnt = len(run.regime.learns) * (1 + STATES[run.optimiser])
    best = set(run.keep) - {"last"} | ({"best_test"} if run.best_so_far else set())
    labels = len(best) + len(run.snapshots) + len(run.best_so_far)
    networks = 1 + (run.regime.gating.source == "feature")
    weights = len(run.replicas) * parameter_count(_layers(run, data))
    return SINGLE * weights * (learnt + networks * labels)


def training(run: TrainingRun, data: Pictures) -> Work:
    """One job: all replicas of a run, as `finitewidth.training.loop.train` does it."""
    shape, layers = _shape(run, data), _layers(run, data)
    places = positions(layers, shape)
    kept = 2 / data.classes if run.data.classes else 1.0
    train = min(run.data.train or data.train, data.train) * kept
    test = min(run.data.test or data.test, data.test) * kept
    replicas, feature = len(run.replicas), run.regime.gating.source == "feature"
    products = {"dense": 0.0, "conv": 0.0}
    for layer, place in zip(layers, places, strict=True):
        window = KERNEL_SIZE**2 if layer.kind == "conv" else 1
        products[layer.kind] += 2 * place * window * layer.fan_in * layer.fan_out
    units = sum(layer.fan_out * place for layer, place in zip(layers, places, strict=True))
    networks = 1 + feature
    learning = len(run.regime.learns)
    passes = networks + 2 * learning  # forward through all, backward twice through what learns
    images = replicas * run.epochs * (train * passes + test * networks)
    steps = run.epochs * ceil(train / run.batch_size)
    weights = parameter_count(layers)
    # convolutions go through their replicas one by one on a CPU
    calls = sum(
        CALLS_PER_LAYER * (replicas if layer.kind == "conv" else 1) for layer in layers
    )  # fmt: skip
    states = networks + (UPDATE[run.optimiser] > 3) * learning
    snapshots = len(run.snapshots) + len(run.keep) + len(run.best_so_far) + 2
    return Work(
        flops=products["dense"] * images,
        convolutions=products["conv"] * images,
        elements=5 * units * images + steps * replicas * learning * weights * UPDATE[run.optimiser],
        calls=steps * calls * passes / 3,
        starts=1,
        memory=SINGLE * (
            replicas * weights * (states + snapshots)
            + (train * len(run.variants) + test) * prod(shape)
            + 8 * replicas * run.batch_size * units
        ),
        disk=SINGLE * replicas * weights * networks * (snapshots - 2)
        + 150 * replicas * run.epochs
        + CHECKPOINTS * checkpoint(run, data),
    )  # fmt: skip
