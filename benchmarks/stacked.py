"""Training of replicas in one stack, one after the other, and one by one in plain torch.

Times are those of whole trainings of one epoch: initial weights, steps, and one evaluation.
"""

from collections.abc import Callable, Iterator

import torch
from benchmarks.timing import Comparison, Way
from benchmarks.work import Work, counted_flops
from torch import nn

from finitewidth.networks.architecture import Architecture
from finitewidth.training.gated import build_stack, train
from finitewidth.training.images import Images
from finitewidth.training.run import Replica, TrainingRun

NAME = "stacked"
UNIT = "step of one network"
OUTPUTS = 10
LOOP = "one by one"
PLAIN = "plain torch"
BATCH, STEPS = 32, 16
# name -> architecture, shape of an input, optimiser
CASES = {
    "784-128×4-10, SGD": (Architecture(dense=(128,) * 4), (784,), "sgd"),
    "64-64×5-10, Adam": (Architecture(dense=(64,) * 5), (64,), "adam"),
    "8-8-8-16 channels, Adam": (
        Architecture(channels=(8, 8, 8, 16), dense=(32,), global_average_pooling=True),
        (3, 8, 8),
        "adam",
    ),
}
SIZES = (1, 2, 5, 10, 20)
QUICK = (1, 2)


def comparisons(device: str, quick: bool) -> Iterator[Comparison]:
    """Yield the comparisons of all networks and numbers of replicas."""
    steps = 2 if quick else STEPS
    for name, (architecture, shape, optimiser) in CASES.items():
        data = images(shape, device, BATCH * steps)
        for replicas in QUICK if quick else SIZES:
            run = description(architecture, optimiser, replicas)
            units = replicas * steps
            work = least_work(lambda run=run, data=data: train(run, data), run, data, units)
            ways = (
                Way(name, lambda run=run, data=data: train(run, data), units, work),
                Way(LOOP, one_by_one(run, data), units, work),
                Way(PLAIN, plain(run, data), units, work),
            )
            yield Comparison(
                NAME, "replicas", {"replicas": replicas}, UNIT, "float32", ways[:1], ways[1:]
            )


def description(architecture: Architecture, optimiser: str, replicas: int) -> TrainingRun:
    """Describe the training of some ReLU networks for one epoch."""
    return TrainingRun(
        row="benchmark",
        replicas=tuple(
            Replica(name=f"run {seed}", regime="relu", seed=seed, step_size=1e-3)
            for seed in range(replicas)
        ),
        architecture=architecture,
        optimiser=optimiser,
        batch_size=BATCH,
    )


def least_work(training: Callable[[], object], run: TrainingRun, data: Images, units: int) -> Work:
    """Count the FLOP of a training; bytes: weights and state of the optimiser, and the images.

    In each step, these are read and written once, and the images of a batch are read once.
    """
    layers = build_stack(run, data).layers
    weights = sum(tensor.numel() for tensor in modules(layers, data).parameters())
    tensors = {"sgd": 1, "adam": 3}[run.optimiser]
    moved = 4 * (2 * tensors * weights + BATCH * data.train_x[0].numel())
    return Work(flops=counted_flops(training) / units, bytes=moved)


def one_by_one(run: TrainingRun, data: Images) -> Callable[[], None]:
    """Return a function that trains each replica in a stack of its own."""
    alone = [
        TrainingRun(
            row=run.row,
            replicas=(replica,),
            architecture=run.architecture,
            optimiser=run.optimiser,
            batch_size=run.batch_size,
        )
        for replica in run.replicas
    ]

    def all_of_them() -> None:
        for each in alone:
            train(each, data)

    return all_of_them


def plain(run: TrainingRun, data: Images) -> Callable[[], None]:
    """Return a function that trains modules of torch, and sums loss and accuracy as we do."""
    layers = build_stack(run, data).layers
    optimiser = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam}[run.optimiser]

    def one() -> None:
        network = modules(layers, data).to(data.train_x.device)
        steps = optimiser(network.parameters(), lr=1e-3)
        sums = torch.zeros(2, device=data.train_x.device)
        for batch in torch.randperm(data.train_count).to(data.train_x.device).split(BATCH):
            targets = data.train_y[batch]
            outputs = network(data.train_x[batch])
            loss = nn.functional.cross_entropy(outputs, targets)
            steps.zero_grad()
            loss.backward()
            steps.step()
            with torch.no_grad():
                sums[0] += loss * len(batch)
                sums[1] += (outputs.argmax(1) == targets).sum()
        with torch.no_grad():
            sums[1].item(), network(data.test_x)

    def all_of_them() -> None:
        for _ in run.replicas:
            one()

    return all_of_them


def modules(layers: tuple, data: Images) -> nn.Sequential:
    """Return the network of these layers as a module of torch."""
    found: list[nn.Module] = []
    for layer in layers:
        if layer.kind == "conv":
            found.append(nn.Conv2d(layer.fan_in, layer.fan_out, 3, padding=1))
        else:
            if layer.reduce and data.train_x.dim() == 4:
                found += [nn.AdaptiveAvgPool2d(1), nn.Flatten()]
            found.append(nn.Linear(layer.fan_in, layer.fan_out))
        found.append(nn.ReLU())
    return nn.Sequential(*found[:-1])


def images(shape: tuple[int, ...], device: str, count: int) -> Images:
    """Random images with random classes."""
    stream = torch.Generator().manual_seed(0)
    x = torch.rand(count, *shape, generator=stream).to(device)
    y = torch.randint(0, OUTPUTS, (count,), generator=stream).to(device)
    return Images(train_x=x, train_y=y, test_x=x[:10], test_y=y[:10], outputs=OUTPUTS)
