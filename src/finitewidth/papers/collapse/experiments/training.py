"""Trainings of ``collapse``, jobs `collapse_training_<pair>` of a kind of network and a dataset.

All initialisations and rates of a pair are trained on the same batches. Networks of one
initialisation start from the same weights at every rate.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import torch
from torch import Tensor, nn

from finitewidth.common.errors import ConfigError
from finitewidth.common.torch_setup import prepare_torch
from finitewidth.data.select import first_per_class
from finitewidth.data.store import Dataset
from finitewidth.kernels.trained import DEFAULT_BUDGET, traced_kernel
from finitewidth.measures.collapse import KERNELS, collapse_measures, kernel_measures
from finitewidth.networks.normalised.plain import build, initial_state
from finitewidth.networks.normalised.specs import Network
from finitewidth.networks.normalised.stacked import StackedNetwork
from finitewidth.training.checkpoints import Checkpoints
from finitewidth.training.images import Images, balanced_images
from finitewidth.training.normalised import NormalisedPlan, Result, train

NAME = "collapse"
REPLICA = "replica"  # name of the array with the numbers of the kept replicas
GIB = 2**30  # bytes


class Replica(NamedTuple):
    """One network of a pair: its number, its initialisation, and its rate at the start."""

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
        settings: of `finitewidth.papers.collapse.settings.Pair`, and ``device`` (``cpu``, ``cuda``
            or ``auto``; ``cpu`` if it is left out).
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
        ConfigError: there are too few images, or the device is not available.
    """
    device = prepare_torch(torch.get_num_threads(), settings.get("device", "cpu"))
    network = Network.from_mapping(settings["network"])
    images = balanced_images(inputs["data"], **settings["images"], device=device)
    cases = product(settings["inits"], rates_of(settings["rates"]))
    runs = [Replica(number, init, *rate) for number, (init, rate) in enumerate(cases)]
    size = settings["stack"] or len(runs)
    parts = [runs[start : start + size] for start in range(0, len(runs), size)]
    history, measures, kept = [], [], []
    about, pair = (network, images.shape, images.outputs), settings["pair"]
    module = build(*about)
    states = {
        init: {name: tensor.to(device)
               for name, tensor in initial_state(module, init, f"{NAME}/{pair}/{init}").items()}
        for init in settings["inits"]
    }  # fmt: skip
    for part in parts:
        stack = StackedNetwork(*about, [states[run.init] for run in part])
        result = _trained(stack, network, images, part, settings, checkpoints)
        history += _named(result.history, part, pair)
        measures += _named(result.measures, part, pair)
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


def pixels_of(data: Dataset, settings: Mapping[str, Any]) -> int:
    """Height of the images of `finitewidth.papers.collapse.settings.Images`, in pixels."""
    return settings["size"] or data.train_images.shape[1] // settings["pool"]


def rates_of(settings: Mapping[str, Any]) -> list[tuple[int, float]]:
    """Numbers and values of the learning rates of `finitewidth.papers.collapse.settings.Rates`."""
    if settings["values"] is not None:
        return [(index, float(rate)) for index, rate in enumerate(settings["values"])]
    return [(index, grid_rate(settings, index)) for index in settings["indices"]]


def grid_rate(settings: Mapping[str, Any], index: int) -> float:
    """Rate number ``index`` of the grid 10^(first + (last - first) index / points).

    The rates printed in the captions of ``collapse`` Figures 13 to 20 are on this grid, not on one
    that has both its ends.
    """
    first, last = settings["first"], settings["last"]
    return 10 ** (first + (last - first) * index / settings["points"])


def _trained(
    stack: StackedNetwork,
    network: Network,
    images: Images,
    part: Sequence[Replica],
    settings: Mapping[str, Any],
    checkpoints: Checkpoints | None,
) -> Result:
    """Train the networks of a part in place; measure every so many epochs, and after the last."""
    epochs, every = settings["epochs"], settings["measure_every"]
    chosen = ("epochs", "batch_per_class", "decay", "momentum", "loss")
    plan = NormalisedPlan(
        rates=tuple(run.rate for run in part),
        order=f"{NAME}/{settings['pair']}",
        decay_rate_at=tuple(settings["decay_rate_at"]),
        measure_at=tuple(sorted({*range(every, epochs + 1, every), epochs})),
        **{name: settings[name] for name in chosen},
    )
    measuring = Measuring(
        network, images.shape, images.outputs,
        per_class=settings["kernel_per_class"],
        normalise_columns=settings["normalise_columns"],
        gib=settings["kernel_gib"],
    )  # fmt: skip
    name = f"replicas {part[0].replica} to {part[-1].replica}"
    store = checkpoints.store(name) if checkpoints else None
    return train(stack, images, plan, measuring, store)


def _named(
    rows: Sequence[Mapping[str, Any]], part: Sequence[Replica], pair: str
) -> list[dict[str, Any]]:
    """Rows of a training with the pair, the run, and its number among all runs."""
    named = []
    for row in rows:
        run = part[row["replica"]]
        about = run._asdict()
        key = {"replica": about.pop("replica"), "pair": pair, **about, "epoch": row["epoch"]}
        named.append(key | {name: value for name, value in row.items() if name not in key})
    return named


class Measuring:
    """Measures of all networks of a stack on one batch, in eval mode.

    Features and metrics are those of the whole batch. The two traced kernels are of its first
    ``per_class`` images of each class, because their cost is quadratic in the number of images.
    """

    def __init__(
        self,
        network: Network,
        shape: tuple[int, int, int],
        classes: int,
        *,
        per_class: int,
        normalise_columns: bool = False,
        gib: float = DEFAULT_BUDGET / GIB,
    ):
        """Build the module in which the weights of one network after the other are put.

        ``normalise_columns`` is for NC2 and NC3, see `finitewidth.measures.collapse.nc2`. ``gib``
        is the memory for the kernels.
        """
        self.module = build(network, shape, classes)
        self.per_class, self.normalise_columns = per_class, normalise_columns
        self.gib = gib

    def __call__(
        self, stack: StackedNetwork, images: Tensor, labels: Tensor, epoch: int
    ) -> list[dict[str, Any]]:
        """Measure all networks on the last batch (b, C, H, W).

        Each has the keys of `finitewidth.measures.collapse.collapse_measures` and
        `finitewidth.measures.collapse.kernel_measures`. All are nan if the network diverged.
        """
        classes = labels.cpu().numpy()
        chosen = first_per_class(classes, range(self.module.head.out_features), self.per_class)
        inputs = images[torch.from_numpy(chosen).to(images.device)]
        with torch.no_grad():
            features = stack.forward(images, training=False)[0].cpu().numpy()
        self.module.to(images)
        rows = []
        for replica, own in enumerate(features):
            state = stack.state(replica)
            weight, bias = (state[f"head.{name}"].cpu().numpy() for name in ("weight", "bias"))
            kernels = dict.fromkeys(KERNELS, np.nan)
            if all(torch.isfinite(tensor).all() for tensor in state.values()):
                self.module.load_state_dict(state)
                theta, theta_h = kernels_of(self.module, inputs, self.gib)
                kernels = kernel_measures(theta, theta_h, classes[chosen], outputs=len(bias),
                                          features=own.shape[1])  # fmt: skip
            kappa = tuple(kernels[f"kappa_{kind}"] for kind in "dcn")
            metrics = collapse_measures(
                own, classes, weight, bias, kappa, normalise_columns=self.normalise_columns
            )
            rows.append(metrics | kernels)
        return rows


def kernels_of(module: nn.Module, inputs: Tensor, gib: float) -> tuple[np.ndarray, np.ndarray]:
    """Compute the traced kernels of the outputs and of the features.

    Args:
        module: a network with ``features``; it is put in eval mode.
        inputs: images (S, C, H, W).
        gib: memory for the kernels, in GiB.

    Returns:
        Theta summed over outputs and Theta^h summed over features, (S, S) each, float64.

    Raises:
        ConfigError: the memory does not suffice; the message names ``kernel_gib``.
    """
    module.eval()
    # trainings measure without gradients
    with torch.enable_grad(), budget_of(gib) as budget:
        theta = traced_kernel(module, inputs, budget=budget)
        theta_h = traced_kernel(module, inputs, of=module.features, budget=budget)
    return theta.cpu().numpy(), theta_h.cpu().numpy()


@contextmanager
def budget_of(gib: float) -> Iterator[int]:
    """Memory in bytes; a kernel that refuses it names the setting."""
    try:
        yield int(gib * GIB)
    except ConfigError as error:
        raise ConfigError(
            f"kernel_gib = {gib}: too little memory for the kernels: {error}"
        ) from None
