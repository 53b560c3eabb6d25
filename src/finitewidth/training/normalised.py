"""Training of stacked networks with BatchNorm, on balanced batches that all replicas share.

The protocol is that of the paper `collapse` (section 5 and appendix C): Nesterov momentum, weight
decay, rates divided by ten at given times, and the squared error of one-hot targets.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from finitewidth.common.errors import ConfigError
from finitewidth.networks.normalised.stacked import StackedNetwork
from finitewidth.training.checkpoints import CheckpointStore, plain
from finitewidth.training.gated import batch_losses
from finitewidth.training.images import Images, batch_labels, epoch_batches
from finitewidth.training.loop import EpochTraining, carry_out
from finitewidth.training.optimisers import NesterovSGD, Schedule

RECENT = 10  # number of batches of train_accuracy_last10
Row = dict[str, Any]
Measure = Callable[[StackedNetwork, Tensor, Tensor, int], list[Row]]


@dataclass(frozen=True, kw_only=True)
class NormalisedPlan:
    """The description of a training.

    The loss is ``squared``, the mean over the batch and the outputs of (f - y)² / 2 with one-hot y,
    or ``cross_entropy``, the mean over the batch.
    """

    rates: tuple[float, ...]  # learning rate of each replica at the start, (R,)
    epochs: int  # passes over the training images
    batch_per_class: int  # images of each class in a batch
    order: str  # name of the random stream of the batches
    decay: float | tuple[float, ...]  # of all replicas, or of each, see `NesterovSGD`
    momentum: float = 0.9  # of Nesterov's method
    decay_rate_at: tuple[float, ...] = (0.3, 0.6, 0.9)  # fractions of all steps, see `Schedule`
    loss: str = "squared"
    measure_at: tuple[int, ...] = ()  # epochs after which the networks are measured

    @property
    def decays(self) -> tuple[float, ...]:
        """The coefficient of weight decay of each replica."""
        if isinstance(self.decay, tuple):
            return self.decay
        return (self.decay,) * len(self.rates)


@dataclass(frozen=True)
class Result:
    """The result of a training; the networks themselves have been trained in place.

    ``history`` has a row per epoch and replica: ``replica``, ``rate``, ``epoch``, ``train_loss``
    and ``train_accuracy`` (means over the batches as they were seen), ``train_accuracy_last10`` (of
    the last ten batches), ``diverged`` (0 or 1). ``measures`` has a row per measured epoch and
    replica: ``replica``, ``rate``, ``epoch``, ``tau``, ``test_loss``, ``test_accuracy``, and what
    ``measure`` returned. ``tau`` is the sum of rate * decay / (1 - momentum) over the steps so far.
    """

    history: list[Row]
    measures: list[Row]


def train(
    network: StackedNetwork,
    images: Images,
    plan: NormalisedPlan,
    measure: Measure,
    checkpoints: CheckpointStore | None = None,
) -> Result:
    """Train all networks of a stack, starting from the newest checkpoint if there is one.

    All networks see the same batches. A network whose loss is not finite has the weights nan from
    the next step on; the other networks are not affected. The network is trained in place, on the
    device of the images.

    After the epochs ``plan.measure_at``, ``measure`` is called without gradients, with the network,
    the last batch of the epoch (images and labels) and the number of the epoch. It returns numbers
    or texts by name, one dict per replica, and must not change the network.

    Raises:
        ConfigError: a batch has more images of a class than there are.
    """
    if plan.batch_per_class > images.per_class:
        raise ConfigError(
            f"batch_per_class = {plan.batch_per_class}: there are {images.per_class} training "
            f"images of each class; set a number from 1 to {images.per_class}"
        )
    training = _Training(network, images, plan, measure)
    carry_out(training, checkpoints)
    return Result(training.state.history, training.state.measures)


def losses_of(loss: str, outputs: Tensor, labels: Tensor) -> Tensor:
    """Return the mean loss, see `NormalisedPlan`, of each replica over a batch, (R,).

    Outputs are (R, b, K), and labels, the classes, (b,).
    """
    replicas, _, classes = outputs.shape
    if loss == "cross_entropy":
        return batch_losses(loss, outputs, labels.expand(replicas, -1))
    one_hot = labels[:, None] == torch.arange(classes, device=labels.device)
    return (outputs - one_hot.to(outputs.dtype)).square().mean(dim=(1, 2)) / 2


class _Training(EpochTraining):
    """The training of `train`.

    Its state has ``sums`` (2, R), loss and accuracy over the batches of this epoch; ``recent``
    (10, R), accuracies on the last ten batches, in turn; ``diverged`` (R,); and ``history`` and
    ``measures``, the rows of `Result`.
    """

    def __init__(
        self, network: StackedNetwork, images: Images, plan: NormalisedPlan, measure: Measure
    ):
        self.network = network
        self.images = images
        self.plan = plan
        self.measure_networks = measure
        self.parameters = list(network.parameters.values())
        replicas = network.replicas
        device = images.train_x.device
        steps_per_epoch = images.per_class // plan.batch_per_class
        super().__init__(
            title=f"{plan.order}, {replicas} replicas",
            total=plan.epochs * steps_per_epoch,
            weights=[*self.parameters, *network.buffers.values()],
            optimiser=NesterovSGD(network.parameters, plan.momentum, plan.decay),
            steps_per_epoch=steps_per_epoch,
            sums=torch.zeros(2, replicas, dtype=torch.float64, device=device),
            recent=torch.zeros(RECENT, replicas, dtype=torch.float64, device=device),
            diverged=torch.zeros(replicas, dtype=torch.bool, device=device),
            history=[],
            measures=[],
        )
        self.by_class = images.by_class()
        self.labels = batch_labels(images.outputs, plan.batch_per_class).to(device)
        self.schedule = Schedule(plan.decay_rate_at, self.total)
        self.rates = torch.tensor(plan.rates, dtype=torch.float64)
        self.factor: float | None = None  # of the present rates
        self.scaled_rates = self.rates  # times this factor, on the device

    def _draw_batches(self, epoch: int) -> Sequence[Tensor]:
        """Return the indices of the images of each batch, (b,), the same for all networks."""
        words = (self.plan.order, "batches", epoch)
        batches = epoch_batches(self.by_class, self.plan.batch_per_class, words)
        return batches.to(self.images.train_x.device).unbind()

    def _step(self, batch: Tensor) -> None:
        """Take one step of every network on the same batch, of image indices (b,)."""
        state = self.state
        factor = self.schedule.factor(self.done)
        if factor != self.factor:
            self.factor = factor
            self.scaled_rates = (self.rates * factor).to(self.parameters[0])
        x = self.images.train_x.index_select(0, batch)
        _, outputs = self.network.forward(x, training=True)
        losses = losses_of(self.plan.loss, outputs, self.labels)
        # the sum over replicas: each loss depends on the weights of its own replica only
        gradients = torch.autograd.grad(losses.sum(), self.parameters)
        with torch.no_grad():
            # no value leaves the device here, or a GPU would have to wait in every step
            state.diverged |= ~losses.isfinite()
            rates = self.scaled_rates.masked_fill(state.diverged, float("nan"))
            self.optimiser.step(gradients, rates)
            accuracies = (outputs.argmax(dim=2) == self.labels).double().mean(dim=1)
            state.sums[0] += losses
            state.sums[1] += accuracies
            state.recent[self.done % RECENT] = accuracies

    def _rows(self, epoch: int, **columns: Sequence[Any]) -> list[Row]:
        """Return the rows of an epoch, one per replica, with further columns (R,)."""
        rows = []
        for number, rate in enumerate(self.plan.rates):
            row = {"replica": number, "rate": float(rate), "epoch": epoch}
            for name, values in columns.items():
                row[name] = values[number]
            rows.append(row)
        return rows

    def _record(self, epoch: int) -> None:
        """Add the rows of this epoch to the history, and measure the networks if it is due."""
        state = self.state
        loss, accuracy = (state.sums / self.steps_per_epoch).tolist()
        last = (state.recent.sum(dim=0) / min(self.done, RECENT)).tolist()
        state.history += self._rows(
            epoch,
            train_loss=loss,
            train_accuracy=accuracy,
            train_accuracy_last10=last,
            diverged=state.diverged.int().tolist(),
        )
        state.sums.zero_()
        if epoch in self.plan.measure_at:
            self._measure(epoch)

    @torch.no_grad()
    def _measure(self, epoch: int) -> None:
        """Add the rows of an epoch to the measures."""
        plan = self.plan
        last_batch = self.batches(epoch)[-1]
        x = self.images.train_x.index_select(0, last_batch)
        measured = self.measure_networks(self.network, x, self.labels, epoch)
        loss, accuracy = self._test()
        sum_of_factors = self.schedule.total(self.done)
        tau = []
        for rate, decay in zip(plan.rates, plan.decays, strict=True):
            tau.append(float(rate) * sum_of_factors * decay / (1 - plan.momentum))
        rows = self._rows(epoch, tau=tau, test_loss=loss, test_accuracy=accuracy)
        for row, numbers in zip(rows, measured, strict=True):
            self.state.measures.append(row | plain(numbers))

    def _test(self) -> tuple[list[float], list[float]]:
        """Return loss and accuracy of each replica on all test images, in eval mode."""
        x = self.images.test_x
        y = self.images.test_y
        sums = torch.zeros(2, self.network.replicas, dtype=torch.float64, device=x.device)
        chunk = 2 * len(self.labels)  # needs no more memory than a training step
        for images, labels in zip(x.split(chunk), y.split(chunk), strict=True):
            _, outputs = self.network.forward(images, training=False)
            sums[0] += losses_of(self.plan.loss, outputs, labels) * len(labels)
            sums[1] += (outputs.argmax(dim=2) == labels).sum(dim=1)
        loss, accuracy = (sums / len(y)).tolist()
        return loss, accuracy
