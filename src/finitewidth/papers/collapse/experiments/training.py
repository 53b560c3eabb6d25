"""Trainings of ``collapse``, jobs `collapse_train_<pair>` of a kind of network and a dataset.

All initialisations and rates of a pair are trained on the same batches. Networks of one
initialisation start from the same weights at every rate.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import torch

from finitewidth.common.errors import ConfigError
from finitewidth.common.torch_setup import prepare_torch
from finitewidth.data.store import Dataset
from finitewidth.networks.normalised.initial import initial_state
from finitewidth.networks.normalised.plain import build
from finitewidth.networks.normalised.specs import Network
from finitewidth.networks.normalised.stacked import StackedNetwork
from finitewidth.papers.collapse.experiments.measuring import Measuring
from finitewidth.training.balanced import BalancedImages, balanced_images
from finitewidth.training.checkpoints import Checkpoints
from finitewidth.training.normalised import NormalisedPlan, Result, train

NAME = "collapse"
REPLICA = "replica"  # name of the array with the numbers of the kept replicas


@dataclass(frozen=True)
class Replica:
    """One network of a pair.

    Attributes:
        replica: its number among all networks of the pair.
        init: its initialisation.
        rate_index: number of its rate.
        rate: its learning rate at the start.
    """

    replica: int
    init: str
    rate_index: int
    rate: float


def measure(
    inputs: Mapping[str, Any], settings: Mapping[str, Any], checkpoints: Checkpoints | None = None
) -> dict[str, Any]:
    """Train the networks of a pair and measure them during training.

    Args:
        inputs: ``data``, the dataset.
        settings: ``pair`` (its name), ``network`` (see
            `finitewidth.networks.normalised.specs.Network.from_mapping`), ``images`` (see
            `images_of`), ``inits``, ``rates`` (see `rates_of`), ``loss``, ``epochs``,
            ``batch_per_class``, ``momentum``, ``decay``, ``decay_rate_at`` (see
            `finitewidth.training.normalised.NormalisedPlan`), ``measure_every`` (epochs),
            ``kernel_per_class`` (images of each class in the kernels), ``kernel_gib`` (memory
            for the kernels, in GiB), ``normalise_columns`` (of the class means in NC2 and NC3),
            ``stack`` (networks that are trained at once, null for all), ``keep`` (initialisations
            whose weights are kept), ``device`` (``cpu``, ``cuda`` or ``auto``; ``cpu`` if it is
            left out).
        checkpoints: where to continue from; None for no checkpoints.

    Returns:
        ``history``, each epoch and network: replica, pair, init, rate_index, rate, epoch,
        train_loss, train_accuracy, train_accuracy_last10 (of the last ten batches), diverged.

        ``measures``, each measured epoch and network: the first six, tau (sum over steps of rate *
        decay / (1 - momentum)), test_loss, test_accuracy, and the measures of `Measuring` on the
        last batch of the epoch.

        ``weights``: entry of the state of a network -> array (kept networks, ...) at the end, and
        `REPLICA`, the numbers of the kept networks.

    Raises:
        ConfigError: settings contradict each other, or the device is not available.
    """
    device = prepare_torch(torch.get_num_threads(), settings.get("device", "cpu"))
    network = Network.from_mapping(settings["network"])
    images = images_of(inputs["data"], settings["images"], device)
    runs = runs_of(settings)
    size = settings["stack"] or len(runs)
    parts = [runs[start : start + size] for start in range(0, len(runs), size)]
    history, measures, kept = [], [], []
    for part in parts:
        stack = _stack(network, images, part, settings["pair"])
        result = _trained(stack, network, images, part, settings, checkpoints)
        history += _named(result.history, part, settings["pair"])
        measures += _named(result.measures, part, settings["pair"])
        kept += [
            {**stack.state(place), REPLICA: torch.tensor(run.replica)}
            for place, run in enumerate(part)
            if run.init in settings["keep"]
        ]
    order = ["epoch", "replica"]
    return {
        "history": pd.DataFrame(history).sort_values(order, ignore_index=True),
        "measures": pd.DataFrame(measures).sort_values(order, ignore_index=True),
        "weights": {
            name: np.stack([state[name].cpu().numpy() for state in kept]) for name in kept[0]
        },
    }


def images_of(data: Dataset, settings: Mapping[str, Any], device: str = "cpu") -> BalancedImages:
    """The images that a pair trains on.

    Args:
        data: the dataset.
        settings: ``per_class`` (training images of each class, null for as many as the smallest
            class has), ``pool`` (images are averaged over squares of so many pixels), ``size`` (to
            which images are resized, null to leave them), ``test`` (number of test images, null for
            all).
        device: where the tensors are stored.

    Raises:
        ConfigError: there are fewer images, or ``pool`` does not fit.
    """
    chosen = {name: settings[name] for name in ("per_class", "pool", "size", "test")}
    return balanced_images(data, **chosen, device=device)


def pixels_of(data: Dataset, settings: Mapping[str, Any]) -> int:
    """Height of the images after `images_of`, in pixels."""
    return settings["size"] or data.train_images.shape[1] // settings["pool"]


def rates_of(settings: Mapping[str, Any]) -> list[tuple[int, float]]:
    """Numbers and values of the learning rates.

    Args:
        settings: ``values``, the rates, numbered from 0; or null for those of ``indices`` on the
            grid, see `grid_rate`.
    """
    if settings["values"] is not None:
        return [(index, float(rate)) for index, rate in enumerate(settings["values"])]
    return [(index, grid_rate(settings, index)) for index in settings["indices"]]


def grid_rate(settings: Mapping[str, Any], index: int) -> float:
    """Rate number ``index`` of the grid 10^(first + (last - first) index / points).

    The rates printed in the captions of ``collapse`` Figures 13 to 20 are on this grid, not on one
    that has both its ends.

    Args:
        settings: ``first``, ``last`` (exponents) and ``points``.
        index: from 0.
    """
    first, last = settings["first"], settings["last"]
    return 10 ** (first + (last - first) * index / settings["points"])


def runs_of(settings: Mapping[str, Any]) -> list[Replica]:
    """All networks of a pair, by initialisation and rate.

    Raises:
        ConfigError: an initialisation in ``keep`` is not trained, or ``stack`` is below one.
    """
    inits, stack = settings["inits"], settings["stack"]
    if not settings["keep"] or not set(settings["keep"]) <= set(inits):
        raise ConfigError(f"keep = {settings['keep']}: name some of the inits, {inits}")
    if stack is not None and stack < 1:
        raise ConfigError(f"stack = {stack}: set at least 1, or null for all networks at once")
    cases = product(inits, rates_of(settings["rates"]))
    return [Replica(number, init, *rate) for number, (init, rate) in enumerate(cases)]


def measured_epochs(epochs: int, every: int) -> tuple[int, ...]:
    """Epochs after which networks are measured: every so many, and the last.

    Raises:
        ConfigError: ``every`` is below one.
    """
    if every < 1:
        raise ConfigError(f"measure_every = {every}: set at least 1")
    return tuple(sorted({*range(every, epochs + 1, every), epochs}))


def _stack(
    network: Network, images: BalancedImages, part: Sequence[Replica], pair: str
) -> StackedNetwork:
    """The networks with their initial weights, on the device of the images."""
    module = build(network, images.shape, images.classes)
    states = {
        init: {
            name: tensor.to(images.train_x.device)
            for name, tensor in initial_state(module, init, f"{NAME}/{pair}/{init}").items()
        }
        for init in {run.init for run in part}
    }
    return StackedNetwork.from_states(
        network, images.shape, images.classes, [states[run.init] for run in part]
    )


def _trained(
    stack: StackedNetwork,
    network: Network,
    images: BalancedImages,
    part: Sequence[Replica],
    settings: Mapping[str, Any],
    checkpoints: Checkpoints | None,
) -> Result:
    """Train the networks of a part in place."""
    epochs = settings["epochs"]
    plan = NormalisedPlan(
        rates=tuple(run.rate for run in part),
        epochs=epochs,
        batch_per_class=settings["batch_per_class"],
        order=f"{NAME}/{settings['pair']}",
        decay=settings["decay"],
        momentum=settings["momentum"],
        decay_rate_at=tuple(settings["decay_rate_at"]),
        loss=settings["loss"],
        measure_at=measured_epochs(epochs, settings["measure_every"]),
    )
    measuring = Measuring(
        network, images.shape, images.classes,
        per_class=settings["kernel_per_class"],
        normalise_columns=settings["normalise_columns"],
        gib=settings["kernel_gib"],
    )  # fmt: skip
    if checkpoints is None:
        return train(stack, images, plan, measuring)
    store = checkpoints.store(f"replicas {part[0].replica} to {part[-1].replica}")
    return train(stack, images, plan, measuring, store, checkpoints.seconds)


def _named(
    rows: Sequence[Mapping[str, Any]], part: Sequence[Replica], pair: str
) -> list[dict[str, Any]]:
    """Rows of a training with the pair, the run, and its number among all runs."""
    named = []
    for row in rows:
        run = part[row["replica"]]
        key = {"replica": run.replica, "pair": pair, "init": run.init,
               "rate_index": run.rate_index, "rate": run.rate, "epoch": row["epoch"]}  # fmt: skip
        named.append(key | {name: value for name, value in row.items() if name not in key})
    return named
