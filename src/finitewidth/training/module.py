"""Training of one torch module of any kind with batches of labelled inputs."""

from collections.abc import Callable, Sequence
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


def loss_of(loss: str, outputs: Tensor, labels: Tensor) -> Tensor:
    """Return the mean loss of outputs (N, K) for labels (N,), integers from 0.

    It is "squared", 1/(2N) sum_s |f(x_s) - y_s|^2 with one-hot y, or "cross_entropy".
    """
    if loss == "cross_entropy":
        return functional.cross_entropy(outputs, labels)
    wanted = functional.one_hot(labels, outputs.shape[1]).to(outputs)
    return 0.5 * (outputs - wanted).square().sum(1).mean()


def loss_and_accuracy(
    network: nn.Module, x: Batch, labels: Tensor, loss: str
) -> tuple[float, float]:
    """Return loss and accuracy of a network in eval mode."""
    with torch.no_grad():
        outputs = torch.cat([part.passed_to(network) for part in x.split(CHUNK)])
    value = float(loss_of(loss, outputs, labels))
    if not isfinite(value):
        raise ConfigError("rate: the loss is not finite; choose a smaller rate")
    return value, float((outputs.argmax(1) == labels).double().mean())


def train_module(
    network: nn.Module,
    x: Batch,
    labels: Tensor,
    *,
    times: Sequence[int],
    observe: Callable[[int], None],
    stepped: Callable[[], object],
    loss: str,
    optimiser: str,
    rate: float,
    batch_size: int,
    seed: int,
) -> None:
    """Train a network in place, in train mode; let it be observed in eval mode.

    The network is any module that maps inputs (N, ...) on its device to outputs (N, K). It is
    observed after the numbers of steps ``times``, ascending; ``stepped`` is called after each step.
    The ``seed`` is that of the order of the inputs, and of dropout.
    """
    step_of = OPTIMISERS[optimiser]([p for p in network.parameters() if p.requires_grad], lr=rate)
    size = min(batch_size, len(x))
    stream = torch.Generator().manual_seed(seed_for(seed, "batches"))
    order, now = torch.empty(0, dtype=torch.int64), 0
    with seeded(seed_for(seed, "noise")):
        for time in times:
            network.train()
            for _ in range(time - now):
                if len(order) < size:
                    order = torch.cat([order, torch.randperm(len(x), generator=stream)])
                batch, order = order[:size].to(x.device), order[size:]
                step_of.zero_grad()
                loss_of(loss, x[batch].passed_to(network), labels[batch]).backward()
                step_of.step()
                stepped()
            now = time
            network.eval()
            observe(time)
