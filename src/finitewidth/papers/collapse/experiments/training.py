"""Trainings of ``collapse``, jobs `collapse_training_<pair>` of a kind of network and a dataset.

All initialisations and rates of a pair are trained on the same batches. Networks of one
initialisation start from the same weights at every rate.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from finitewidth.common.errors import ConfigError
from finitewidth.common.progress import in_turn
from finitewidth.common.torch_setup import prepare_torch
from finitewidth.data.select import first_per_class
from finitewidth.kernels.trained import traced_kernel
from finitewidth.kernels.trained.budget import BudgetError
from finitewidth.measures.collapse import KERNELS, collapse_measures, kernel_measures
from finitewidth.networks.normalised.plain import NormalisedNetwork, build, initial_state
from finitewidth.networks.normalised.specs import Network
from finitewidth.networks.normalised.stacked import StackedNetwork
from finitewidth.papers.collapse.columns import networks as columns
from finitewidth.papers.collapse.experiments.images import chosen_images, shape_of
from finitewidth.papers.collapse.settings.pairs import Pair, Rates
from finitewidth.records.tables import Table
from finitewidth.training.checkpoints import Checkpoints
from finitewidth.training.normalised import NormalisedPlan, train

NAME = "collapse"
REPLICA = "replica"  # name of the array with the numbers of the saved networks
GIB = 2**30  # bytes
_RUN = (columns.REPLICA, columns.PAIR, columns.INIT, columns.RATE_INDEX, columns.RATE)
TABLES = {
    "history": Table(
        *_RUN,
        columns.EPOCH,
        columns.TRAIN_LOSS,
        columns.TRAIN_ACCURACY,
        columns.TRAIN_ACCURACY_LAST10,
        columns.DIVERGED,
    ),
    "measures": Table(
        *_RUN,
        columns.EPOCH,
        columns.TAU,
        columns.TEST_LOSS,
        columns.TEST_ACCURACY,
        *columns.COLLAPSE,
        *columns.KERNELS,
    ),
}


def measure(
    inputs: Mapping[str, Any],
    settings: Pair,
    device: str = "cpu",
    checkpoints: Checkpoints | None = None,
) -> dict[str, Any]:
    """Train the networks of a pair on ``data``, and measure them during training.

    The device is ``cpu``, ``cuda`` or ``auto``.

    Returns:
        ``history``: a row for each network and epoch.

        ``measures``: a row for each network and measured epoch, see `measured`.

        ``weights``: entry of the state of a network -> array (saved networks, ...) at the end, and
        `REPLICA`, the numbers of these networks. Saved are those of the initialisations ``keep``.
    """
    device = prepare_torch(torch.get_num_threads(), device)
    images = chosen_images(inputs["data"], settings.images, device)
    network = Network.from_mapping(dict(settings.network))
    shape = shape_of(images)
    module = build(network, shape, images.outputs)
    states = _initial_states(module, settings, device)
    history: list[dict[str, Any]] = []
    measures: list[dict[str, Any]] = []
    saved_states: list[dict[str, Tensor]] = []
    for runs in in_turn(_stacks(settings), "stacks"):
        initial = [states[run["init"]] for run in runs]
        stack = StackedNetwork(network, shape, images.outputs, initial)
        name = f"replicas {runs[0][REPLICA]} to {runs[-1][REPLICA]}"
        store = checkpoints.store(name) if checkpoints else None
        plan = _plan([run["rate"] for run in runs], settings)
        result = train(stack, images, plan, partial(measured, module, settings), store)
        history += _numbered(result.history, runs)
        measures += _numbered(result.measures, runs)
        for replica, run in enumerate(runs):
            if run["init"] in settings.keep:
                number = torch.tensor(run[REPLICA])
                saved_states.append(stack.state(replica) | {REPLICA: number})
    order = ["epoch", "replica"]
    return {
        "history": pd.DataFrame(history).sort_values(order, ignore_index=True),
        "measures": pd.DataFrame(measures).sort_values(order, ignore_index=True),
        "weights": _stacked(saved_states),
    }


def _initial_states(
    module: NormalisedNetwork, settings: Pair, device: str
) -> dict[str, dict[str, Tensor]]:
    """Name of an initialisation -> the state from which all its networks start."""
    states: dict[str, dict[str, Tensor]] = {}
    for init in settings.inits:
        state = initial_state(module, init, f"{NAME}/{settings.pair}/{init}")
        states[init] = {name: tensor.to(device) for name, tensor in state.items()}
    return states


def _stacks(settings: Pair) -> list[list[dict[str, Any]]]:
    """The networks, every initialisation at every rate, divided into those trained together."""
    runs: list[dict[str, Any]] = []
    for init, (index, rate) in product(settings.inits, rates_of(settings.rates)):
        run = {REPLICA: len(runs), "pair": settings.pair, "init": init}
        runs.append(run | {"rate_index": index, "rate": rate})
    size = settings.stack or len(runs)
    return [runs[start : start + size] for start in range(0, len(runs), size)]


def _numbered(
    rows: Sequence[Mapping[str, Any]], runs: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Rows of a stack with the columns of their runs first.

    A row has the number of a network in its stack, and the run that among all networks. The columns
    that both have are those of the run.
    """
    numbered = []
    for row in rows:
        run = runs[row[REPLICA]]
        numbered.append({**run, **row, **run})
    return numbered


def _stacked(states: Sequence[Mapping[str, Tensor]]) -> dict[str, np.ndarray]:
    """Entry of a state -> its values in all states, (states, ...)."""
    stacked = {}
    for name in states[0]:
        values = [state[name].cpu().numpy() for state in states]
        stacked[name] = np.stack(values)
    return stacked


def rates_of(rates: Rates) -> list[tuple[int, float]]:
    """Numbers and values of the learning rates of a pair."""
    if rates.values is not None:
        return [(index, float(rate)) for index, rate in enumerate(rates.values)]
    return [(index, grid_rate(rates, index)) for index in rates.indices]


def grid_rate(rates: Rates, index: int) -> float:
    """Rate number ``index`` of the grid 10^(first + (last - first) index / points).

    The rates printed in the captions of ``collapse`` Figures 13 to 20 are on this grid, not on one
    that has both its ends.
    """
    first = rates.first
    return 10 ** (first + (rates.last - first) * index / rates.points)


def _plan(rates: Iterable[float], settings: Pair) -> NormalisedPlan:
    """A training at these rates, measured every so many epochs and after the last."""
    epochs = settings.epochs
    every = settings.measure_every
    measured_epochs = {*range(every, epochs + 1, every), epochs}
    return NormalisedPlan(
        rates=tuple(rates),
        order=f"{NAME}/{settings.pair}",
        decay_rate_at=tuple(settings.decay_rate_at),
        measure_at=tuple(sorted(measured_epochs)),
        epochs=epochs,
        batch_per_class=settings.batch_per_class,
        decay=settings.decay,
        momentum=settings.momentum,
        loss=settings.loss,
    )


def measured(
    module: NormalisedNetwork,
    settings: Pair,
    stack: StackedNetwork,
    images: Tensor,
    labels: Tensor,
    epoch: int,
) -> list[dict[str, Any]]:
    """Measure all networks of a stack on one batch (b, C, H, W), in eval mode.

    Features and metrics are those of the whole batch. The two traced kernels are of its first
    ``kernel_per_class`` images of each class, because their cost is quadratic in the number of
    images; ``kernel_gib`` is the memory for them. ``normalise_columns`` is for NC2 and NC3, see
    `finitewidth.measures.collapse.nc2`. The weights of one network after the other are put in the
    module.

    Each row has the keys of `finitewidth.measures.collapse.collapse_measures` and
    `finitewidth.measures.collapse.kernel_measures`. All are nan if the network diverged.
    """
    classes = labels.cpu().numpy()  # (b,)
    outputs = module.head.out_features
    chosen = first_per_class(classes, range(outputs), settings.kernel_per_class)
    inputs = images[torch.from_numpy(chosen).to(images.device)]
    with torch.no_grad():
        features = stack.forward(images, training=False)[0].cpu().numpy()  # (R, b, n)
    module.to(images)
    rows = []
    for replica, h in enumerate(features):
        state = stack.state(replica)
        weight = state["head.weight"].cpu().numpy()
        bias = state["head.bias"].cpu().numpy()
        kernels = dict.fromkeys(KERNELS, np.nan)
        if all(torch.isfinite(tensor).all() for tensor in state.values()):
            module.load_state_dict(state)
            theta, theta_h = kernels_of(module, inputs, settings.kernel_gib)
            kernels = kernel_measures(
                theta, theta_h, classes[chosen], outputs=outputs, features=h.shape[1]
            )
        kappa = (kernels["kappa_d"], kernels["kappa_c"], kernels["kappa_n"])
        metrics = collapse_measures(
            h, classes, weight, bias, kappa, normalise_columns=settings.normalise_columns
        )
        rows.append(metrics | kernels)
    return rows


def kernels_of(
    module: NormalisedNetwork, inputs: Tensor, gib: float
) -> tuple[np.ndarray, np.ndarray]:
    """Compute Theta summed over outputs and Theta^h summed over features, (S, S) each, float64.

    The module is put in eval mode; inputs are images (S, C, H, W).
    """
    module.eval()
    # trainings measure without gradients
    with torch.enable_grad(), budget_of(gib) as budget:
        theta = traced_kernel(module, inputs, budget=budget)
        theta_h = traced_kernel(module, inputs, of=module.features, budget=budget)
    return theta.cpu().numpy(), theta_h.cpu().numpy()


@contextmanager
def budget_of(gib: float) -> Iterator[int]:
    """Memory in bytes; a kernel that needs more names the setting, in GiB."""
    try:
        yield int(gib * GIB)
    except BudgetError as error:
        needed = math.ceil(1000 * error.needed / GIB) / 1000
        raise ConfigError(
            f"kernel_gib = {gib}: too little memory for the kernels; set at least {needed}"
        ) from None
