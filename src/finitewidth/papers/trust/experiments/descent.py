"""Change of the tangent kernel in gradient descent: `trust_descent_tanh`, `trust_descent_relu`.

``trust`` Figures 3, 4 and 8 to 11 show these networks: at the end of training, after fewer steps,
and by width. `trust_descent_scaled_tanh` and `trust_descent_scaled_relu` train the same networks at
a rate of their own each, for `trust_extra_scaled`.
"""

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from finitewidth.common.progress import in_turn
from finitewidth.common.torch_setup import prepare_torch
from finitewidth.data.select import scaled, stratified_subset
from finitewidth.data.store import Dataset
from finitewidth.declarations.columns import DEPTH, SIGMA_B2, SIGMA_W2, WIDTH
from finitewidth.kernels.ntk_init.phases import border, clear_phase
from finitewidth.kernels.trained import FullyConnected
from finitewidth.papers.trust import columns
from finitewidth.papers.trust.settings import Descent as DescentSettings
from finitewidth.records.tables import Table
from finitewidth.training.checkpoints import Checkpoints
from finitewidth.training.descent import Descent, descend, largest_eigenvalues
from finitewidth.training.descent_state import DescentPlan
from finitewidth.training.fully_connected import Draw, in_span_of_inputs, initial_stack

NAME = "trust/descent"
CELL = ["sigma_b2", "sigma_w2", "depth", "width"]
NETWORK = [*CELL, "seed"]
WHICH = Table(columns.ACTIVATION, columns.MAP, SIGMA_B2, SIGMA_W2, DEPTH, WIDTH, columns.SEED)
END = Table(  # of `Descent.ends`
    columns.RATE,
    columns.STEPS_TAKEN,
    columns.METHOD,
    columns.GRADIENTS,
    columns.FIRST_LOSS,
    columns.LOWEST_LOSS,
    columns.STOP_WINDOW,
    columns.STOP_EACH,
    columns.DIVERGED,
)
TABLES = {
    "changes": Table(
        *WHICH,
        columns.TIME,
        columns.REACHED,
        columns.CHANGE,
        columns.LOSS,
        columns.ETA_LAMBDA,
    ),
    "networks": Table(
        *WHICH,
        *END,
        columns.CONSTANT_LOSS,
        columns.ETA_LAMBDA_AT_START,
        columns.EXCEEDS,
    ),
    "borders": Table(columns.ACTIVATION, SIGMA_B2, columns.BORDER),
    "cells": Table(
        columns.ACTIVATION,
        SIGMA_B2,
        SIGMA_W2,
        DEPTH,
        WIDTH,
        columns.TIME,
        columns.VALUE,
        columns.LOWEST,
        columns.HIGHEST,
        columns.SEEDS,
        columns.SEEDS_DIVERGED,
        columns.SEEDS_STOPPED,
        columns.MEAN_ETA_LAMBDA,
        columns.CONSTANT_LOSS,
        columns.QUANTITY,
        columns.CLEAR_PHASE,
        columns.MEAN_LOWEST_LOSS,
    ),
}


def measure(
    inputs: Mapping[str, Any],
    settings: DescentSettings,
    device: str = "cpu",
    checkpoints: Checkpoints | None = None,
) -> dict[str, pd.DataFrame]:
    """Descend in every cell (sigma_w^2, L) of every map, and record the traced kernel.

    The loss is 1/(2S) sum_s |f(x_s) - y_s|^2 over S images with one output per class. Networks of
    one seed share their standard normal numbers over sigma_w^2, and have the same initial weights
    whatever the rates are. Checkpoints store each stack, which are the networks of one map and one
    depth, and its result.

    Returns:
        ``changes``: a row per network and each of ``times`` and ``steps``.
        ``networks``: a row per network at the end.
        ``borders``: a row per bias variance.
        ``cells``: see `cells_of`.
    """
    device = prepare_torch(torch.get_num_threads(), device)
    x, y = images(inputs["data"], settings.samples)  # (S, n_0), (S, K)
    best_constant = constant_loss(y)
    changes: list[dict[str, Any]] = []
    networks: list[dict[str, Any]] = []
    stacks = list(product(_maps(settings), settings.depths))
    costs = [depth**2 * width for (_, width), depth in stacks]  # about the time of each
    for (sigma_b2, width), depth in in_turn(stacks, "stacks", costs):
        draws = _draws(settings, sigma_b2, width)
        descent = _descended(settings, draws, width, depth, x, y.to(device), checkpoints)
        for replica, (draw, end) in enumerate(zip(draws, descent.ends, strict=True)):
            cell = _cell(settings, draw, width, depth)
            networks.append(cell | _at_the_end(end, best_constant))
            snapshots = [row for row in descent.snapshots if row["replica"] == replica]
            for row in _at_times(snapshots, end, settings):
                changes.append(cell | row)
    tables = {
        "changes": pd.DataFrame(changes),
        "networks": pd.DataFrame(networks),
        "borders": pd.DataFrame(_borders(settings)),
    }
    return tables | {"cells": cells_of(**tables)}


def _maps(settings: DescentSettings) -> list[tuple[float, int]]:
    """Bias variance and width of each map: all widths at the first one, one width at the others."""
    first, *others = settings.sigma_b2
    maps = [(first, width) for width in settings.widths]
    maps += [(sigma_b2, settings.width) for sigma_b2 in others]
    return maps


def _draws(settings: DescentSettings, sigma_b2: float, width: int) -> list[Draw]:
    """The networks of a map at one depth: each seed at each sigma_w^2.

    The widest networks have a number of seeds of their own, unless theirs is the width shown.
    """
    runs = settings.runs
    if width == max(settings.widths) and width != settings.width:
        runs = settings.widest.runs
    draws = product(range(runs), settings.sigma_w2)
    return [Draw(sigma_w2, sigma_b2, seed) for seed, sigma_w2 in draws]


def _cell(settings: DescentSettings, draw: Draw, width: int, depth: int) -> dict[str, Any]:
    """The columns `WHICH` of a network."""
    return {
        "activation": settings.activation,
        "map": "shown" if width == settings.width else "width",
        "sigma_b2": draw.sigma_b2,
        "sigma_w2": draw.sigma_w2,
        "depth": depth,
        "width": width,
        "seed": draw.seed,
    }


def _at_the_end(end: Mapping[str, Any], best_constant: float) -> dict[str, Any]:
    """The other columns of ``networks`` of one network, from its row of `Descent.ends`."""
    row = {name: end[name] for name in END.names}
    row["constant_loss"] = best_constant
    row["eta_lambda"] = end["eta_lambda_start"]
    row["exceeds"] = int(end["eta_lambda_start"] > 2)
    return row


def _borders(settings: DescentSettings) -> list[dict[str, Any]]:
    """The critical weight variance at each bias variance."""
    activation = settings.activation
    return [
        {"activation": activation, "sigma_b2": bias, "sigma_w2": border(activation, bias)}
        for bias in settings.sigma_b2
    ]


def cells_of(changes: pd.DataFrame, networks: pd.DataFrame, borders: pd.DataFrame) -> pd.DataFrame:
    """Mean and range over the seeds of every cell, of the change and of the lowest loss.

    The change is there at every time, the lowest loss at the largest one.
    """
    shares = networks["lowest_loss"] / networks["constant_loss"]
    shares = shares.where(networks["diverged"] == 0)
    lowest = networks.assign(time=changes["time"].max(), lowest_loss=shares)
    facts = networks[[*NETWORK, "eta_lambda", "steps_taken", "diverged", "constant_loss"]]
    edges = borders.set_index(["activation", "sigma_b2"])["sigma_w2"]
    parts = []
    for quantity, seeds in (("change", changes), ("lowest_loss", lowest)):
        rows = seeds[["activation", *NETWORK, "time", quantity]].merge(facts, on=NETWORK)
        # a network that reached this number of steps has not stopped before
        rows["stopped"] = (rows["steps_taken"] < rows["time"]) & (rows["diverged"] == 0)
        keys = ["activation", *CELL, "time"]
        means = rows.groupby(keys, as_index=False, sort=False).agg(
            value=(quantity, "mean"),
            lowest=(quantity, "min"),
            highest=(quantity, "max"),
            seeds=("seed", "size"),
            diverged=("diverged", "sum"),
            stopped=("stopped", "sum"),
            eta_lambda=("eta_lambda", "mean"),
            constant_loss=("constant_loss", "first"),
        )
        parts.append(means.assign(quantity=quantity))
    cells = pd.concat(parts, ignore_index=True)
    phases = []
    for row in cells.itertuples():
        edge = edges[row.activation, row.sigma_b2]
        phases.append(clear_phase(row.sigma_w2, edge))
    losses = cells["value"] * cells["constant_loss"]
    losses = losses.where(cells["quantity"] == "lowest_loss")
    return cells.assign(phase=phases, loss=losses)


def images(data: Dataset, samples: int) -> tuple[Tensor, Tensor]:
    """Images (S, n_0) in [0, 1] with the class shares of the data, and one-hot targets (S, K)."""
    chosen = stratified_subset(data, samples, None, (NAME, data.name))
    x = torch.from_numpy(scaled(chosen.train_images)).flatten(1)
    labels = torch.from_numpy(chosen.train_labels).long()
    return x, torch.nn.functional.one_hot(labels, len(data.class_names)).float()


def constant_loss(y: Tensor) -> float:
    """Loss 1/(2S) sum_s |c - y_s|^2 of the best constant output c, the mean of the targets."""
    y = y.double()
    residuals = y - y.mean(dim=0)
    return float(residuals.square().sum()) / (2 * len(y))


def _descended(
    settings: DescentSettings,
    draws: list[Draw],
    width: int,
    depth: int,
    x: Tensor,
    y: Tensor,
    checkpoints: Checkpoints | None,
) -> Descent:
    """Train the networks of one map and depth on x (S, n_0) and y (S, K), on the device of y."""
    title = f"width {width}, depth {depth}, sigma_b2 {draws[0].sigma_b2}"
    store = checkpoints.store(title) if checkpoints else None
    activation = settings.activation
    widths = [x.shape[1], *[width] * (depth - 1), y.shape[1]]
    stack = initial_stack((NAME, activation), draws, widths, activation)
    stack, x = in_span_of_inputs(stack, x)
    stack = stack.with_parameters([tensor.to(y.device) for tensor in stack.parameters])
    x = x.to(y.device)
    plan = DescentPlan(
        rates=_rates(settings, stack, x, y),
        times=tuple(settings.times),
        steps=settings.steps,
        mode=settings.mode,
        cap=settings.cap,
        share=settings.share,
        stop=settings.stop,
        fall=settings.fall,
        patience=settings.patience,
    )
    return descend(stack, x, y, plan, store, title=title)


def _rates(
    settings: DescentSettings, stack: FullyConnected, x: Tensor, y: Tensor
) -> tuple[float, ...]:
    """The rate of each network: a common one, or one in units of 1/lambda_max of the network."""
    rate = settings.rate
    if settings.rate_rule == "scaled":
        return tuple((rate / largest_eigenvalues(stack, x, y)).tolist())
    return (rate,) * stack.count


def _at_times(
    rows: list[dict[str, Any]], end: Mapping[str, Any], settings: DescentSettings
) -> Iterator[dict[str, Any]]:
    """Rows of ``changes`` of one network: the last of its snapshots up to each time.

    A network whose loss is not finite at the start has no snapshot: nothing is known of it.
    """
    names = ("change", "loss", "eta_lambda")
    reached = np.array([row["time"] for row in rows])
    for time in sorted({*settings.times, settings.steps}):
        count = int(np.searchsorted(reached, time, "right"))
        last = rows[count - 1] if count else {"time": 0}
        diverged = end["diverged"] and time >= end["steps_taken"]
        known = count and not diverged
        measured = {name: last[name] if known else np.nan for name in names}
        yield {"time": time, "reached": last["time"], **measured}
