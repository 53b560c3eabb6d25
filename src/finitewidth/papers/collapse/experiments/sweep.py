"""Networks of one kind at several weight decays, rates and seeds, jobs `collapse_sweep_<network>`.

For each tau, the sum over steps of rate * decay / (1 - momentum), every decay has the rate that
gives it. So NC3 at equal tau can be compared between decays and rates that differ manyfold. Seeds
have their own initial weights and batches; networks of one seed share both.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from torch import Tensor

from finitewidth.common.errors import ConfigError
from finitewidth.common.progress import in_turn
from finitewidth.measures.collapse import class_parts, nc1_ratio, nc2, nc3
from finitewidth.networks.normalised.plain import build, initial_state
from finitewidth.networks.normalised.specs import Network, title
from finitewidth.networks.normalised.stacked import StackedNetwork
from finitewidth.papers.collapse.columns import networks, sweeps
from finitewidth.papers.collapse.experiments.images import chosen_images, shape_of
from finitewidth.papers.collapse.settings.decay import DecayedTraining, Sweep
from finitewidth.records.tables import Table
from finitewidth.training.checkpoints import Checkpoints, CheckpointStore
from finitewidth.training.images import Images
from finitewidth.training.normalised import NormalisedPlan, train
from finitewidth.training.optimisers import Schedule

HEAD = "head.weight"
MEASURED = ("nc1_ratio", "nc2", "nc3", "overlap", "imbalance")
TABLES = {
    "runs": Table(
        sweeps.SWEEP,
        sweeps.DATA,
        networks.NETWORK,
        sweeps.NORMALISED,
        sweeps.SEED,
        sweeps.DECAY,
        networks.RATE,
        sweeps.RATES,
        sweeps.TAU,
        networks.NC1_RATIO,
        networks.NC2,
        networks.NC3,
        sweeps.OVERLAP,
        sweeps.IMBALANCE,
        networks.TRAIN_ACCURACY,
        networks.TEST_ACCURACY,
    ),
}


def measure(
    inputs: Mapping[str, Any], settings: Sweep, checkpoints: Checkpoints | None = None
) -> dict[str, pd.DataFrame]:
    """Train the networks of all seeds on ``data``, and measure them at the end.

    Returns:
        ``runs``: a row for each network, with the values at the end of its training. Those of
        neural collapse are in eval mode on the last batch; see `imbalances`.
    """
    images = chosen_images(inputs["data"], settings.images)
    key = {"sweep": settings.sweep, "data": settings.dataset}
    rows = []
    for seed in in_turn(range(settings.runs), "seeds"):
        stream = f"collapse/sweep/{settings.sweep}/{seed}"
        store = checkpoints.store(stream) if checkpoints else None
        for row in trained(
            images, settings, settings.epochs, stream, store, controls=settings.control_rates
        ):
            rows.append({**row, **key, "seed": seed})
    return {"runs": pd.DataFrame(rows)[TABLES["runs"].names]}


def trained(
    images: Images,
    settings: DecayedTraining,
    epochs: int,
    stream: str,
    store: CheckpointStore | None = None,
    *,
    controls: Sequence[float] = (),
    start_decay: float | None = None,
) -> list[dict[str, Any]]:
    """Train the networks of a seed for ``epochs``, and measure them at the end.

    Initial weights and batches are drawn from ``stream``, whatever the length of the training.
    ``controls`` are the rates of networks without decay, and ``start_decay`` is that of `start_of`.

    Returns:
        A row for each network, as in `measure`, without the name of the sweep, the dataset and the
        seed.
    """
    network = Network.from_mapping(dict(settings.network))
    steps = epochs * (images.per_class // settings.batch_per_class)
    cases = cases_of(settings, steps, controls)
    shape = shape_of(images)
    module = build(network, shape, images.outputs)
    state = initial_state(module, settings.init, stream)
    states = [start_of(network, state, case["decay"], start_decay) for case in cases]
    stack = StackedNetwork(network, shape, images.outputs, states)
    plan = NormalisedPlan(
        rates=tuple(case["rate"] for case in cases),
        order=stream,
        decay=tuple(case["decay"] for case in cases),
        decay_rate_at=tuple(settings.decay_rate_at),
        measure_at=(epochs,),
        epochs=epochs,
        batch_per_class=settings.batch_per_class,
        momentum=settings.momentum,
        loss=settings.loss,
    )
    result = train(stack, images, plan, partial(_ends, network, state), store)
    last_epoch = [row for row in result.history if row["epoch"] == epochs]
    about = {"network": title(network), "normalised": int(network.kind != "fully_connected")}
    rows = []
    for case, end, measures in zip(cases, last_epoch, result.measures, strict=True):
        rows.append(end | measures | about | case)
    return rows


def cases_of(
    settings: DecayedTraining, steps: int, controls: Sequence[float] = ()
) -> list[dict[str, float]]:
    """Weight decay and initial rate of the networks of a seed, and sums over this many steps.

    ``rates`` is the sum of the rate, over 1 - momentum; ``tau`` is ``rates * decay``. Networks that
    would need more than ``largest_rate`` are left out. Those at the rates ``controls`` have no
    decay.

    Raises:
        ConfigError: no network with decay is left.
    """
    schedule = Schedule(settings.decay_rate_at, steps)
    total = schedule.total(steps) / (1 - settings.momentum)  # ``rates`` at the rate 1
    cases = []
    for decay, tau in product(settings.decays, settings.taus):
        rates = tau / decay
        rate = rates / total
        if rate <= settings.largest_rate:
            cases.append({"decay": decay, "rate": rate, "rates": rates, "tau": tau})
    if not cases:
        raise ConfigError(
            f"largest_rate = {settings.largest_rate}: {steps} steps need a larger rate for "
            "every one of taus; set a larger one, or train for longer"
        )
    for rate in controls:
        cases.append({"decay": 0.0, "rate": rate, "rates": rate * total, "tau": 0.0})
    return cases


def start_of(
    network: Network, state: Mapping[str, Tensor], decay: float, start_decay: float | None
) -> dict[str, Tensor]:
    """The initial state of a network with this decay, from the ``state`` as it was drawn.

    Weights before a normalisation have the same path, up to its scale, at (rate, decay, start) and
    at (c rate, decay / c, sqrt(c) start): van Laarhoven (2017), Li and Arora (2019). With a
    ``start_decay`` they start at sqrt(start_decay / decay) times the state, so that networks at
    equal tau differ in gains, biases and the last layer only. Without, or without normalisation or
    decay, they start as drawn.
    """
    if start_decay is None or decay == 0 or network.kind == "fully_connected":
        return dict(state)
    scale = (start_decay / decay) ** 0.5
    start = {}
    for name, tensor in state.items():
        before_normalisation = name.startswith("features.") and tensor.dim() > 1
        start[name] = tensor * scale if before_normalisation else tensor
    return start


def _ends(
    network: Network,
    start: Mapping[str, Tensor],
    stack: StackedNetwork,
    images: Tensor,
    labels: Tensor,
    epoch: int,
) -> list[dict[str, float]]:
    """`MEASURED` of each network of a stack that started from the state ``start``.

    Features are those of ``images``, in eval mode. All are nan if the network diverged.
    """
    features = stack.forward(images, training=False)[0].double().numpy()  # (R, b, n)
    heads = stack.parameters[HEAD].detach().double()  # (R, C, n)
    first_head = start[HEAD].double()  # (C, n)
    overlaps = (heads * first_head).sum(dim=(1, 2)) / first_head.square().sum()
    imbalance = np.full(stack.replicas, np.nan)
    if network.kind == "fully_connected":
        hidden = f"features.dense{len(network.dense)}.weight"
        at_the_end = imbalances(stack.parameters[hidden].detach().double(), heads)  # (R, n)
        at_the_start = imbalances(start[hidden].double(), first_head)  # (n,)
        imbalance = at_the_end.norm(dim=1) / at_the_start.norm()
    rows = []
    for replica, h in enumerate(features):
        if not np.isfinite(h).all():
            rows.append(dict.fromkeys(MEASURED, np.nan))
            continue
        parts = class_parts(h, labels.numpy(), len(first_head))
        row = {
            "nc1_ratio": nc1_ratio(parts),
            "nc2": nc2(parts),
            "nc3": nc3(parts, heads[replica].numpy()),
            "overlap": float(overlaps[replica]),
            "imbalance": float(imbalance[replica]),
        }
        rows.append(row)
    return rows


def imbalances(hidden: Tensor, head: Tensor) -> Tensor:
    """|ingoing weights|^2 - |outgoing weights|^2 of each unit between two layers.

    For units with ReLU and without bias or normalisation, gradient flow conserves it, and weight
    decay shrinks it by exp(-2 tau), exactly. The weights are (..., n, inputs) and (..., C, n).
    """
    return hidden.square().sum(dim=-1) - head.square().sum(dim=-2)
