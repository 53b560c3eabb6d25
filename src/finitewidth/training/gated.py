"""Training of stacked replicas of gated networks, on batches of their own."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from finitewidth.common.progress import LOG
from finitewidth.networks.architecture import Layer, layers_of
from finitewidth.networks.forward import forward, hard_gates
from finitewidth.networks.regimes import Gating
from finitewidth.networks.weights import Weights, generator, initial_weights, stacked
from finitewidth.training.checkpoints import CheckpointStore
from finitewidth.training.images import Images
from finitewidth.training.loop import EpochTraining, carry_out
from finitewidth.training.optimisers import StackedOptimiser
from finitewidth.training.run import Replica, TrainingRun
from finitewidth.training.selection import replica_number

# bytes of the gates of all replicas and images of one kind, above which they are not kept
GATES_AT_MOST = 2**28
IMAGES_AT_ONCE = 500


@dataclass(frozen=True)
class Trained:
    """The result of a training."""

    history: list[dict[str, Any]]  # one row per epoch and replica
    weights: dict[str, np.ndarray]  # <label>/value/0.weight and the like -> array (R, …)


@dataclass(frozen=True)
class GatedStack:
    """The networks of all replicas; ``learns`` are the parts that are trained."""

    layers: tuple[Layer, ...]  # of the value network
    gating: Gating
    value: Weights
    feature: Weights | None
    learns: frozenset[str]
    # for each replica whether its given feature weights are not finite; such a feature network
    # closes all gates, so the loss alone would not show it
    spoilt: tuple[bool, ...]

    def trained(self) -> list[Tensor]:
        """Return the tensors that training changes, in a fixed order."""
        tensors: list[Tensor] = []
        if "value" in self.learns:
            tensors += self.value.values()
        if "output" in self.learns:
            prefix = f"{len(self.layers) - 1}."
            tensors += [self.value[name] for name in self.value if name.startswith(prefix)]
        if self.feature is not None and "feature" in self.learns:
            tensors += self.feature.values()
        return tensors

    def outputs(self, x: Tensor, gates: Sequence[Tensor] | None = None) -> Tensor:
        """Return outputs (R, batch, outputs) for ``x`` (R, batch, …), whose gates may be given."""
        return forward(self.layers, self.gating, self.value, self.feature, x, gates)

    @torch.no_grad()
    def fixed_gates(self, x: Tensor) -> list[Tensor] | None:
        """Return the gates of ``x`` (n, …), see `hard_gates`, if training does not change them.

        They take a third to a half of a step of networks with frozen gates, and need to be computed
        only once. None if gates are learnt or soft, or take more than `GATES_AT_MOST` bytes.
        """
        if self.feature is None or "feature" in self.learns:
            return None
        if self.gating.beta is not None or not len(x):
            return None
        inputs = x.expand(len(self.spoilt), *x.shape)  # (R, n, …)
        gates_of_one = hard_gates(self.layers, self.feature, inputs[:, :1])
        if len(x) * sum(gates.numel() for gates in gates_of_one) > GATES_AT_MOST:
            return None
        parts = []
        for part in inputs.split(IMAGES_AT_ONCE, dim=1):
            parts.append(hard_gates(self.layers, self.feature, part))
        return [torch.cat(layer, dim=1) for layer in zip(*parts, strict=True)]

    def weights(self) -> dict[str, Tensor]:
        """Return a copy of all weights: ``value/0.weight`` … and ``feature/0.weight`` … ."""
        copies = {}
        for part, weights in (("value", self.value), ("feature", self.feature or {})):
            for name, tensor in weights.items():
                copies[f"{part}/{name}"] = tensor.detach().clone()
        return copies


def build_stack(run: TrainingRun, images: Images, earlier: Trained | None = None) -> GatedStack:
    """Draw the initial weights of every replica from the random streams of its name.

    The stack is on the device of the images. ``earlier`` is a finished training, needed if a
    feature network starts ``pretrained``.
    """
    device = images.train_x.device
    is_flat = len(images.shape) == 1
    channels, height, width = (*images.shape, 1, 1) if is_flat else images.shape
    layers = layers_of(run.architecture, (height, width, channels), images.outputs)
    values = []
    features = []
    for replica in run.replicas:
        stream = generator(replica.name, "value weights")
        value = initial_weights(layers, run.architecture.init, stream)
        values.append(value)
        feature = _feature_start(run, replica, layers, value, earlier)
        if feature is not None:  # the same for all replicas
            features.append(feature)
    spoilt = [not _is_finite(feature) for feature in features]
    stack = GatedStack(
        layers=layers,
        gating=_gating(run, device),
        value=_on(device, stacked(values)),
        feature=_on(device, stacked(features)) if features else None,
        learns=run.replicas[0].gate_regime.learns,
        spoilt=tuple(spoilt or [False] * len(run.replicas)),
    )
    for tensor in stack.trained():
        tensor.requires_grad_()
    return stack


def _is_finite(weights: Weights) -> bool:
    """Tell whether all weights are finite numbers."""
    return all(bool(tensor.isfinite().all()) for tensor in weights.values())


def _gating(run: TrainingRun, device: torch.device) -> Gating:
    """Return the gating of the stack; beta or eps is a float64 tensor (R,) if it differs."""
    gatings = [replica.gate_regime.gating for replica in run.replicas]
    beta = _of_stack([gating.beta for gating in gatings], device)
    eps = _of_stack([gating.eps for gating in gatings], device)
    return replace(gatings[0], beta=beta, eps=eps)


def _of_stack(numbers: list[Any], device: torch.device) -> Any:
    """Return the number of all replicas, or a tensor (R,) if they differ."""
    if len(set(numbers)) == 1:
        return numbers[0]
    return torch.tensor(numbers, dtype=torch.float64, device=device)


def _on(device: torch.device, weights: Weights) -> Weights:
    """Return weights on a device."""
    return {name: tensor.to(device) for name, tensor in weights.items()}


def _feature_start(
    run: TrainingRun,
    replica: Replica,
    layers: Sequence[Layer],
    value: Weights,
    earlier: Trained | None,
) -> Weights | None:
    """Return the initial weights of one feature network, which has no output layer."""
    start = replica.gate_regime.feature_start
    hidden = layers[:-1]
    if start is None:
        return None
    if start == "independent":
        stream = generator(replica.name, "feature weights")
        return initial_weights(hidden, run.architecture.init, stream)
    names = [name for name in value if int(name.split(".")[0]) < len(hidden)]
    if start == "value":
        return {name: value[name].clone() for name in names}
    # those of the earlier training with the same seed and its best step size
    assert earlier is not None
    number = replica_number(earlier.history, replica.seed)
    weights = {}
    for name in names:
        array = earlier.weights[f"{replica.pretrained}/value/{name}"]  # (R, …)
        weights[name] = torch.from_numpy(array[number].copy())
    return weights


def train(
    run: TrainingRun,
    images: Images,
    earlier: Trained | None = None,
    checkpoints: CheckpointStore | None = None,
) -> Trained:
    """Train all replicas of a run, starting from the newest checkpoint if there is one.

    The initial weights of a replica and the order in which it sees the images depend only on its
    name (and the order on the epoch). Its result therefore does not depend on the other replicas
    of the stack, apart from rounding. tests/agreement/test_stacked_training.py states where
    results are equal bit for bit. The same run gives the same bits, also after an interruption.

    The training takes place on the device of the images. The training ``earlier`` provides the
    weights of ``pretrained`` feature networks.
    """
    training = _Training(run, images, build_stack(run, images, earlier))
    carry_out(training, checkpoints)
    training.keep_last()
    arrays = {}
    for label, weights in training.state.stored.items():
        for name, tensor in weights.items():
            arrays[f"{label}/{name}"] = tensor.cpu().numpy()
    return Trained(training.state.history, arrays)


class _Training(EpochTraining):
    """The training of `train`.

    Its state has ``sums`` (R, 2), loss and number of correct outputs over the images of this epoch;
    ``history``, a row per finished epoch and replica; ``best``, criterion -> each replica's best
    score (R,) and its weights at that time; and ``stored``, label -> weights.
    """

    def __init__(self, run: TrainingRun, images: Images, stack: GatedStack):
        self.run = run
        self.images = images
        self.stack = stack
        count = len(run.replicas)
        regimes = dict.fromkeys(replica.regime for replica in run.replicas)
        step_sizes = [replica.step_size for replica in run.replicas]
        steps_per_epoch = -(-images.train_count // run.batch_size)
        weights = stack.trained()
        super().__init__(
            title=f"{'+'.join(regimes)}, {count} replicas",
            total=run.epochs * steps_per_epoch,
            weights=weights,
            optimiser=StackedOptimiser(run.optimiser, weights, step_sizes),
            steps_per_epoch=steps_per_epoch,
            sums=torch.zeros(count, 2, device=images.train_x.device),
            history=[],
            best={},
            stored={},
        )
        self.train_gates = stack.fixed_gates(images.train_x)
        self.test_gates = stack.fixed_gates(images.test_x)
        self._keep_snapshots(0)

    def _draw_batches(self, epoch: int) -> Sequence[Tensor]:
        """Return the indices of the images of each batch, (R, b), in an order for each replica.

        Indices count the images of all variants. Each replica sees those of its variant.
        """
        images = self.images
        count = images.train_count
        orders = []
        for replica in self.run.replicas:
            stream = generator(replica.name, "order", epoch)
            first = images.variants.index(replica.variant) * count
            orders.append(first + torch.randperm(count, generator=stream))
        return torch.stack(orders).to(images.train_x.device).split(self.run.batch_size, dim=1)

    def _step(self, batch: Tensor) -> None:
        """Take one step of every replica on its own batch; ``batch`` holds image indices (R, b)."""
        x = self.images.train_x.index_select(0, batch.flatten()).unflatten(0, batch.shape)
        targets = self.images.train_y[batch]
        outputs = self.stack.outputs(x, _chosen(self.train_gates, batch))
        losses = batch_losses(self.run.loss, outputs, targets)
        # the sum over replicas: each loss depends on the weights of its own replica only
        gradients = torch.autograd.grad(losses.sum(), self.weights)
        self.optimiser.step(gradients)
        with torch.no_grad():
            self.state.sums[:, 0] += losses * batch.shape[1]
            self.state.sums[:, 1] += correct(self.run.loss, outputs, targets).sum(dim=1)

    @torch.no_grad()
    def _scores(self) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Return the test loss, and accuracies on all, the even and the odd test images, (R,) each.

        The two halves allow the epoch to be chosen on one half and scored on the other.
        """
        x = self.images.test_x
        y = self.images.test_y
        replicas = len(self.run.replicas)
        losses = []
        is_correct = []
        for start in range(0, len(x), IMAGES_AT_ONCE):
            part = slice(start, start + IMAGES_AT_ONCE)
            gates = None
            if self.test_gates is not None:
                gates = [layer[:, part] for layer in self.test_gates]
            outputs = self.stack.outputs(x[part].expand(replicas, *x[part].shape), gates)
            targets = y[part].expand(replicas, -1)
            losses.append(batch_losses(self.run.loss, outputs, targets) * targets.shape[1])
            is_correct.append(correct(self.run.loss, outputs, targets))
        loss = torch.stack(losses).sum(dim=0) / len(x)
        correct_images = torch.cat(is_correct, dim=1).double()  # (R, images)
        # not computed from the halves: equal counts must give exactly equal numbers to keep ties
        accuracy = correct_images.mean(dim=1)
        even_accuracy = correct_images[:, 0::2].mean(dim=1)
        odd_accuracy = correct_images[:, 1::2].mean(dim=1)
        return loss, accuracy, even_accuracy, odd_accuracy

    def _record(self, epoch: int) -> None:
        """Add the rows of this epoch to the history, and keep the weights that the run asks for."""
        state = self.state
        test_loss, accuracy, even_accuracy, odd_accuracy = self._scores()
        train_loss, train_accuracy = (state.sums / self.images.train_count).T.tolist()
        columns = {
            "train_loss": train_loss,
            "train_accuracy": train_accuracy,
            "test_loss": test_loss.tolist(),
            "test_accuracy": accuracy.tolist(),
            "test_accuracy_first": even_accuracy.tolist(),
            "test_accuracy_second": odd_accuracy.tolist(),
        }
        for number, replica in enumerate(self.run.replicas):
            scores = {name: values[number] for name, values in columns.items()}
            diverged = self.stack.spoilt[number] or not isfinite(scores["train_loss"])
            description = _description(self.run, replica)
            state.history.append(
                {**description, "epoch": epoch, **scores, "diverged": int(diverged)}
            )
        self._log_diverged(epoch)
        if "best_test" in self.run.keep or self.run.best_so_far:
            self._keep_best("best_test", accuracy)
        if "best_validation" in self.run.keep:
            self._keep_best("best_validation", even_accuracy)
        state.sums.zero_()
        self._keep_snapshots(epoch)

    def _log_diverged(self, epoch: int) -> None:
        """Log the replicas that have diverged in this epoch, and how many there are by now."""
        count = len(self.run.replicas)
        rows = self.state.history[-count:]
        rows_before = self.state.history[-2 * count : -count]
        names = []
        for number, replica in enumerate(self.run.replicas):
            diverged_before = rows_before and rows_before[number]["diverged"]
            if rows[number]["diverged"] and not diverged_before:
                names.append(
                    f"{replica.regime} seed {replica.seed} (step size {replica.step_size:g})"
                )
        if names:
            LOG.warning(
                "epoch %d: loss is not finite; %d of %d replicas have diverged, now %s",
                epoch,
                sum(row["diverged"] for row in rows),
                count,
                ", ".join(names),
            )

    def _keep_best(self, criterion: str, score: Tensor) -> None:
        """Keep the weights of replicas that improved; on a tie the earlier epoch is kept."""
        weights = self.stack.weights()
        best = self.state.best.setdefault(
            criterion, {"score": torch.full_like(score, -1.0), "weights": weights}
        )
        better = score > best["score"]
        best["score"] = torch.where(better, score, best["score"])
        for name, tensor in weights.items():
            best["weights"][name][better] = tensor[better]

    def _keep_snapshots(self, epoch: int) -> None:
        """Keep the weights of this epoch, and the best ones so far, if the run asks for them."""
        state = self.state
        if epoch in self.run.snapshots:
            state.stored[f"epoch{epoch}"] = self.stack.weights()
        if epoch in self.run.best_so_far:
            best = state.best["best_test"]["weights"]
            copies = {name: tensor.clone() for name, tensor in best.items()}
            state.stored[f"best_so_far{epoch}"] = copies

    def keep_last(self) -> None:
        """Keep the weights at the end, or the best ones, if the run asks for them."""
        for label in self.run.keep:
            if label == "last":
                self.state.stored[label] = self.stack.weights()
            else:
                self.state.stored[label] = self.state.best[label]["weights"]


def _description(run: TrainingRun, replica: Replica) -> dict[str, Any]:
    """Return the columns of the history that describe a replica."""
    return {
        "row": run.row,
        "regime": replica.regime,
        "stage": replica.stage,
        "beta": replica.beta,
        "eps": None if replica.beta is None else replica.eps,
        "variant": replica.variant,
        "seed": replica.seed,
        "step_size": replica.step_size,
    }


def _chosen(gates: Sequence[Tensor] | None, batch: Tensor) -> list[Tensor] | None:
    """Select the gates of the images in ``batch``, indices (R, b), from those of all images."""
    if gates is None:
        return None
    replicas, count = gates[0].shape[:2]
    rows = batch + count * torch.arange(replicas, device=batch.device)[:, None]
    chosen = []
    for layer in gates:  # (R, images, …)
        selected = layer.flatten(0, 1).index_select(0, rows.flatten())
        chosen.append(selected.unflatten(0, batch.shape))
    return chosen


def batch_losses(loss: str, outputs: Tensor, targets: Tensor) -> Tensor:
    """Return the mean loss of each replica over its batch, (R,), of outputs (R, batch, outputs).

    Targets (R, batch) are classes for ``cross_entropy`` and real for ``squared``, the mean of
    (f - y)² over the batch and the outputs, as ``mse`` of Keras.
    """
    if loss == "cross_entropy":
        flat = F.cross_entropy(outputs.flatten(0, 1), targets.flatten(), reduction="none")
        return flat.view(targets.shape).mean(dim=1)
    return (outputs.squeeze(-1) - targets).square().mean(dim=1)


def correct(loss: str, outputs: Tensor, targets: Tensor) -> Tensor:
    """Tell whether each output is correct, as booleans (R, batch).

    The prediction is the largest logit for ``cross_entropy`` and the sign for ``squared``.
    """
    if loss == "cross_entropy":
        return outputs.argmax(dim=-1) == targets
    return torch.sign(outputs.squeeze(-1)) == targets
