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
DESCRIBED = ("regime", "stage", "beta", "eps", "variant", "seed", "step_size")  # of a replica


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
        """The tensors that training changes, in a fixed order."""
        last = f"{len(self.layers) - 1}."
        output = {name: tensor for name, tensor in self.value.items() if name.startswith(last)}
        parts = {"value": self.value, "output": output, "feature": self.feature}
        return [
            tensor
            for part, weights in parts.items()
            if part in self.learns
            for tensor in weights.values()
        ]

    def outputs(self, x: Tensor, gates: Sequence[Tensor] | None = None) -> Tensor:
        """Outputs (R, batch, outputs) for ``x`` (R, batch, …), from its `fixed_gates` if given."""
        return forward(self.layers, self.gating, self.value, self.feature, x, gates)

    @torch.no_grad()
    def fixed_gates(self, x: Tensor) -> list[Tensor] | None:
        """Gates of ``x`` (n, …) as `hard_gates` returns them, if training does not change them.

        They take a third to a half of a step of networks with frozen gates, and need to be computed
        only once. None if gates are learnt or soft, or take more than `GATES_AT_MOST` bytes.
        """
        learnt = self.gating.source != "feature" or "feature" in self.learns
        if learnt or self.gating.beta is not None or not len(x):
            return None

        inputs = x.expand(len(self.spoilt), *x.shape)
        first = hard_gates(self.layers, self.feature, inputs[:, :1])
        if len(x) * sum(gates.numel() for gates in first) > GATES_AT_MOST:
            return None
        parts = [
            hard_gates(self.layers, self.feature, part)
            for part in inputs.split(IMAGES_AT_ONCE, dim=1)
        ]
        return [torch.cat(layer, dim=1) for layer in zip(*parts, strict=True)]

    def weights(self) -> dict[str, Tensor]:
        """A copy of all weights: ``value/0.weight`` … and ``feature/0.weight`` … ."""
        parts = {"value": self.value, "feature": self.feature or {}}
        return {
            f"{part}/{name}": tensor.detach().clone()
            for part, weights in parts.items()
            for name, tensor in weights.items()
        }


def build_stack(run: TrainingRun, images: Images, earlier: Trained | None = None) -> GatedStack:
    """Draw the initial weights of every replica from the random streams of its name.

    The stack is on the device of the images. ``earlier`` is a finished training, needed if a
    feature network starts ``pretrained``.
    """
    flat, device = len(images.shape) == 1, images.train_x.device
    channels, height, width = (*images.shape, 1, 1) if flat else images.shape
    layers = layers_of(run.architecture, (height, width, channels), images.outputs)
    values, features = [], []
    for replica in run.replicas:
        stream = generator(replica.name, "value weights")
        values.append(initial_weights(layers, run.architecture.init, stream))
        features.append(_feature_start(run, replica, layers, values[-1], earlier))
    stack = GatedStack(
        layers,
        _gating(run, device),
        _on(device, stacked(values)),
        None if features[0] is None else _on(device, stacked(features)),
        run.replicas[0].gate_regime.learns,
        tuple(
            not all(bool(tensor.isfinite().all()) for tensor in (weights or {}).values())
            for weights in features
        ),
    )
    for tensor in stack.trained():
        tensor.requires_grad_()
    return stack


def _gating(run: TrainingRun, device: torch.device) -> Gating:
    """The gating of the whole stack; beta or eps is a float64 tensor (R,) if it differs."""
    gatings, differing = [replica.gate_regime.gating for replica in run.replicas], {}
    for name in ("beta", "eps"):
        numbers = [getattr(one, name) for one in gatings]
        if len(set(numbers)) > 1:
            differing[name] = torch.tensor(numbers, dtype=torch.float64, device=device)
    return replace(gatings[0], **differing)


def _on(device: torch.device, weights: Weights) -> Weights:
    return {name: tensor.to(device) for name, tensor in weights.items()}


def _feature_start(
    run: TrainingRun,
    replica: Replica,
    layers: Sequence[Layer],
    value: Weights,
    earlier: Trained | None,
) -> Weights | None:
    """Initial weights of one feature network, which has no output layer."""
    start, hidden = replica.gate_regime.feature_start, layers[:-1]
    if start is None:
        return None
    if start == "independent":
        stream = generator(replica.name, "feature weights")
        return initial_weights(hidden, run.architecture.init, stream)
    names = [name for name in value if int(name.split(".")[0]) < len(hidden)]
    if start == "value":
        return {name: value[name].clone() for name in names}
    # those that the earlier training kept for the same seed and its chosen step size
    number = replica_number(earlier.history, replica.seed)
    kept = {name: earlier.weights[f"{replica.pretrained}/value/{name}"] for name in names}
    return {name: torch.from_numpy(array[number].copy()) for name, array in kept.items()}


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
    arrays = {
        f"{label}/{name}": tensor.cpu().numpy()
        for label, weights in training.state.kept.items()
        for name, tensor in weights.items()
    }
    return Trained(training.state.history, arrays)


class _Training(EpochTraining):
    def __init__(self, run: TrainingRun, images: Images, stack: GatedStack):
        self.run, self.images, self.stack = run, images, stack
        weights, step_sizes = stack.trained(), [replica.step_size for replica in run.replicas]
        regimes = dict.fromkeys(replica.regime for replica in run.replicas)
        steps = -(-images.train_count // run.batch_size)
        super().__init__(
            f"{'+'.join(regimes)}, {len(run.replicas)} replicas",
            run.epochs * steps,
            weights,
            StackedOptimiser(run.optimiser, weights, step_sizes),
            steps_per_epoch=steps,
            # loss and number of correct outputs over the images of this epoch
            sums=torch.zeros(len(run.replicas), 2, device=images.train_x.device),
            history=[],  # one row per finished epoch and replica
            best={},  # criterion -> each replica's best score (R,) and its weights at that time
            kept={},  # label -> weights kept so far
        )
        self.train_gates = stack.fixed_gates(images.train_x)
        self.test_gates = stack.fixed_gates(images.test_x)
        self._keep_snapshots(0)

    def _drawn(self, epoch: int) -> Sequence[Tensor]:
        """Return the indices of the images of each batch, (R, b), in an order for each replica.

        Indices count the images of all variants. Each replica sees those of its own variant.
        """
        images = self.images
        orders = [
            images.variants.index(replica.variant) * images.train_count
            + torch.randperm(images.train_count, generator=generator(replica.name, "order", epoch))
            for replica in self.run.replicas
        ]
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
        """Test loss, and accuracies on all, the even and the odd test images, (R,) each.

        The two halves allow the epoch to be chosen on one half and scored on the other.
        """
        x, y, replicas = self.images.test_x, self.images.test_y, len(self.run.replicas)
        losses, right = [], []
        for start in range(0, len(x), IMAGES_AT_ONCE):
            part = slice(start, start + IMAGES_AT_ONCE)
            gates = self.test_gates and [layer[:, part] for layer in self.test_gates]
            outputs = self.stack.outputs(x[part].expand(replicas, *x[part].shape), gates)
            targets = y[part].expand(replicas, -1)
            losses.append(batch_losses(self.run.loss, outputs, targets) * targets.shape[1])
            right.append(correct(self.run.loss, outputs, targets))
        right = torch.cat(right, dim=1).double()
        loss = torch.stack(losses).sum(dim=0) / len(x)
        # not computed from the halves: equal counts must give exactly equal numbers to keep ties
        return loss, *(part.mean(dim=1) for part in (right, right[:, 0::2], right[:, 1::2]))

    def _record(self, epoch: int) -> None:
        """Add the rows of this epoch to the history and keep the weights that are wanted."""
        state, count = self.state, self.images.train_count
        loss, accuracy, first, second = self._scores()
        train_loss, train_accuracy = (state.sums / count).T.tolist()
        numbers = {
            "train_loss": train_loss,
            "train_accuracy": train_accuracy,
            "test_loss": loss.tolist(),
            "test_accuracy": accuracy.tolist(),
            "test_accuracy_first": first.tolist(),
            "test_accuracy_second": second.tolist(),
        }
        for number, replica in enumerate(self.run.replicas):
            row = {"row": self.run.row, **{name: getattr(replica, name) for name in DESCRIBED}}
            row |= {"eps": None if replica.beta is None else replica.eps, "epoch": epoch}
            row |= {name: values[number] for name, values in numbers.items()}
            row["diverged"] = int(self.stack.spoilt[number] or not isfinite(row["train_loss"]))
            state.history.append(row)
        self._tell_diverged(epoch)
        wanted = set(self.run.keep) | ({"best_test"} if self.run.best_so_far else set())
        for criterion, score in (("best_test", accuracy), ("best_validation", first)):
            if criterion in wanted:
                self._keep_best(criterion, score)
        state.sums.zero_()
        self._keep_snapshots(epoch)

    def _tell_diverged(self, epoch: int) -> None:
        """Log the replicas that have diverged in this epoch, and how many there are by now."""
        count = len(self.run.replicas)
        rows, before = self.state.history[-count:], self.state.history[-2 * count : -count]
        known = [row["diverged"] for row in before] or [0] * count
        new = [
            replica
            for replica, row, was in zip(self.run.replicas, rows, known, strict=True)
            if row["diverged"] and not was
        ]
        names = (f"{each.regime} seed {each.seed} (step size {each.step_size:g})" for each in new)
        if new:
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
        state = self.state
        if epoch in self.run.snapshots:
            state.kept[f"epoch{epoch}"] = self.stack.weights()
        if epoch in self.run.best_so_far:
            best = state.best["best_test"]["weights"]
            state.kept[f"best_so_far{epoch}"] = {k: v.clone() for k, v in best.items()}

    def keep_last(self) -> None:
        """Keep the weights at the end, or the best ones, where they are wanted."""
        for label in self.run.keep:
            weights = self.stack.weights() if label == "last" else self.state.best[label]["weights"]
            self.state.kept[label] = weights


def _chosen(gates: Sequence[Tensor] | None, batch: Tensor) -> list[Tensor] | None:
    """Select the gates of the images in ``batch``, indices (R, b), from those of all images."""
    if gates is None:
        return None
    replicas, count = gates[0].shape[:2]
    rows = batch + count * torch.arange(replicas, device=batch.device)[:, None]
    return [
        layer.flatten(0, 1).index_select(0, rows.flatten()).unflatten(0, batch.shape)
        for layer in gates
    ]


def batch_losses(loss: str, outputs: Tensor, targets: Tensor) -> Tensor:
    """Mean loss of each replica over its batch, (R,), of outputs (R, batch, outputs).

    Targets (R, batch) are classes for ``cross_entropy`` and real for ``squared``, the mean of
    (f - y)² over the batch and the outputs, as ``mse`` of Keras.
    """
    if loss == "cross_entropy":
        flat = F.cross_entropy(outputs.flatten(0, 1), targets.flatten(), reduction="none")
        return flat.view(targets.shape).mean(dim=1)
    return (outputs.squeeze(-1) - targets).square().mean(dim=1)


def correct(loss: str, outputs: Tensor, targets: Tensor) -> Tensor:
    """Whether each output is correct, as booleans (R, batch).

    The prediction is the largest logit for ``cross_entropy`` and the sign for ``squared``.
    """
    if loss == "cross_entropy":
        return outputs.argmax(dim=-1) == targets
    return torch.sign(outputs.squeeze(-1)) == targets
