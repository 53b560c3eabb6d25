"""A stack: the weights of all replicas of a run, as tensors."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from finitewidth.networks.architecture import Layer, layers_of
from finitewidth.networks.forward import forward, hard_gates
from finitewidth.networks.regimes import Gating
from finitewidth.networks.weights import Weights, generator, initial_weights, stacked
from finitewidth.training.images import Images
from finitewidth.training.run import Replica, TrainingRun
from finitewidth.training.selection import replica_number

# bytes of the gates of all replicas and images of one kind, above which they are not kept
GATES_AT_MOST = 2**28
IMAGES_AT_ONCE = 500


@dataclass(frozen=True)
class Trained:
    """The result of a training.

    Attributes:
        history: one row per epoch and replica.
        weights: ``<label>/value/0.weight`` and the like -> array (R, …).
    """

    history: list[dict[str, Any]]
    weights: dict[str, np.ndarray]


@dataclass(frozen=True)
class GatedStack:
    """The networks of all replicas.

    Attributes:
        layers: of the value network.
        gating: of all replicas.
        value: weights of the value networks.
        feature: weights of the feature networks, or None.
        learns: the parts that are trained.
        spoilt: for each replica whether its given feature weights are not finite. Such a feature
            network closes all gates, so the loss alone would not show it.
    """

    layers: tuple[Layer, ...]
    gating: Gating
    value: Weights
    feature: Weights | None
    learns: frozenset[str]
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
        """Outputs (R, batch, outputs) for ``x`` of shape (R, batch, …).

        Args:
            x: the inputs.
            gates: their `fixed_gates`; None to compute all gates.
        """
        return forward(self.layers, self.gating, self.value, self.feature, x, gates)

    @torch.no_grad()
    def fixed_gates(self, x: Tensor) -> list[Tensor] | None:
        """Gates that training does not change, which need to be computed only once.

        They take a third to a half of a step of networks with frozen gates.

        Args:
            x: (n, …), images or vectors.

        Returns:
            For each hidden layer, bool (R, n, units) or (R, n, height, width, channels). None if
            gates are learnt or soft, or take more than `GATES_AT_MOST` bytes.
        """
        learnt = self.gating.source != "feature" or "feature" in self.learns
        if learnt or self.gating.beta is not None or not len(x):
            return None

        def found(part: Tensor) -> list[Tensor]:
            stacked = part.expand(len(self.spoilt), *part.shape)
            return hard_gates(self.layers, self.feature, stacked)

        if len(x) * sum(gates.numel() for gates in found(x[:1])) > GATES_AT_MOST:
            return None
        parts = [found(part) for part in x.split(IMAGES_AT_ONCE)]
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

    Args:
        run: the description.
        images: of the training, on whose device the stack is.
        earlier: a finished training; needed if a feature network starts ``pretrained``.
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
        run.regime.learns,
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
    gatings = [replica.gate_regime.gating for replica in run.replicas]
    if len(set(gatings)) == 1:
        return gatings[0]
    found = {}
    for name in ("beta", "eps"):
        numbers = [getattr(one, name) for one in gatings]
        same = len(set(numbers)) == 1
        found[name] = (
            numbers[0] if same else torch.tensor(numbers, dtype=torch.float64, device=device)
        )
    return replace(gatings[0], **found)


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
