"""Training of one torch module of any kind with batches of labelled inputs."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import isfinite

import torch
from torch import Tensor, nn
from torch.nn import functional

from finitewidth.common.errors import ConfigError
from finitewidth.kernels.trained.batches import Batch
from finitewidth.networks.user_network import seeded
from finitewidth.records.provenance import seed_for

OPTIMISERS = {"adam": torch.optim.Adam, "sgd": torch.optim.SGD}
LOSSES = ("squared", "cross_entropy")
CHUNK = 1024  # inputs of which losses are computed at once


@dataclass(frozen=True, kw_only=True)
class ModulePlan:
    """How a module is trained.

    Attributes:
        loss: see `loss_of`.
        optimiser: "adam" or "sgd".
        rate: the learning rate.
        batch_size: inputs in each batch; all of them if there are fewer.
        seed: of the order of the inputs, and of dropout.
    """

    loss: str
    optimiser: str
    rate: float
    batch_size: int
    seed: int


def loss_of(loss: str, outputs: Tensor, labels: Tensor) -> Tensor:
    """Return the mean loss of outputs (N, K) for labels (N,), integers from 0.

    It is "squared", 1/(2N) sum_s |f(x_s) - y_s|^2 with one-hot y, or "cross_entropy".
    """
    if loss == "cross_entropy":
        return functional.cross_entropy(outputs, labels)
    targets = functional.one_hot(labels, outputs.shape[1]).to(outputs)
    return 0.5 * (outputs - targets).square().sum(1).mean()


def loss_and_accuracy(
    network: nn.Module, x: Batch, labels: Tensor, loss: str
) -> tuple[float, float]:
    """Return loss and accuracy of a network in eval mode.

    Raises:
        ConfigError: the loss is not finite.
    """
    with torch.no_grad():
        outputs = torch.cat([part.passed_to(network) for part in x.split(CHUNK)])
    value = float(loss_of(loss, outputs, labels))
    if not isfinite(value):
        raise ConfigError("rate: the loss is not finite; choose a smaller rate")
    correct = outputs.argmax(1) == labels
    return value, float(correct.double().mean())


def train_module(
    network: nn.Module,
    x: Batch,
    labels: Tensor,
    plan: ModulePlan,
    *,
    times: Sequence[int],
    observe: Callable[[int], None],
    stepped: Callable[[], object],
) -> None:
    """Train a network in place, in train mode, and call ``observe`` in eval mode.

    Args:
        network: a module that maps inputs (N, ...) on its device to outputs (N, K).
        x: the inputs.
        labels: (N,), integers from 0.
        plan: how to train.
        times: numbers of steps after which ``observe`` is called, ascending.
        observe: gets the number of steps.
        stepped: called after each step.
    """
    parameters = [parameter for parameter in network.parameters() if parameter.requires_grad]
    optimiser = OPTIMISERS[plan.optimiser](parameters, lr=plan.rate)
    batches = _batches(len(x), min(plan.batch_size, len(x)), plan.seed)
    now = 0
    with seeded(seed_for(plan.seed, "noise")):
        for time in times:
            network.train()
            for _ in range(time - now):
                batch = next(batches).to(x.device)
                optimiser.zero_grad()
                outputs = x[batch].passed_to(network)
                loss_of(plan.loss, outputs, labels[batch]).backward()
                optimiser.step()
                stepped()
            now = time
            network.eval()
            observe(time)


def _batches(count: int, size: int, seed: int) -> Iterator[Tensor]:
    """Yield batches of ``size`` indices below ``count`` without end.

    The indices are in a random order, which is drawn anew when all have been used.
    """
    stream = torch.Generator().manual_seed(seed_for(seed, "batches"))
    order = torch.empty(0, dtype=torch.int64)
    while True:
        if len(order) < size:
            order = torch.cat([order, torch.randperm(count, generator=stream)])
        yield order[:size]
        order = order[size:]
