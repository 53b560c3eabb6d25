"""Kernels of drawn networks: distance to the limit by width, and change in training."""

import numpy as np
import pandas as pd
import torch
from torch import nn

from finitewidth.common.arrays import Array
from finitewidth.common.errors import ConfigError
from finitewidth.kernels.ntk_init.initialisation import checked_number
from finitewidth.kernels.trained import largest_eigenvalue
from finitewidth.kernels.wide.law import Variance
from finitewidth.library.drawn_networks import Draws, Make, first_output_kernel, with_width
from finitewidth.library.intervals import FEWEST, Interval, median_interval, slope_interval
from finitewidth.library.modules import kernel_over_training
from finitewidth.library.targets import as_targets, check_columns
from finitewidth.records.provenance import seed_for

GROWTH_DRAWS = 20  # networks of each width
TRAINED = FEWEST  # networks


def distances_of(kernels: np.ndarray, limit: np.ndarray) -> np.ndarray:
    """Return |Theta - limit| / |limit| of kernels (draws, N, N)."""
    return np.linalg.norm(kernels - limit, axis=(1, 2)) / np.linalg.norm(limit)


def growth_of(
    make: Make,
    argument: str,
    width: int,
    first: Draws,
    sigma_w2: Variance,
    sigma_b2: Variance,
    distances: np.ndarray,
) -> tuple[pd.DataFrame, Interval]:
    """Return the distance at half of the width, the width, twice and four times, and its slope.

    Args:
        make: a function of the user that takes a width.
        argument: the name of this argument.
        width: the width itself.
        first: the networks of this width.
        sigma_w2: variance of the weights in the limit.
        sigma_b2: variance of the biases in the limit.
        distances: from the limit, of the networks of this width, (draws,).
    """
    widths = [width // 2, width, 2 * width, 4 * width]
    groups = []  # distances at each width
    for number, other in enumerate(widths):
        if other == width:
            groups.append(distances)
            continue
        seed = seed_for("network trust", first.seed, "width", number)
        draws = Draws(with_width(make, argument, other), first.x.given(), seed)
        limit, reason = draws.limit(sigma_w2, sigma_b2)
        if limit is None:
            raise ConfigError(f"width: at {other} there is no limit: {reason}")
        groups.append(distances_of(draws.kernels(GROWTH_DRAWS).kernels, limit))
    rows = []
    for other, group in zip(widths, groups, strict=True):
        median = median_interval(group)
        row = {
            "width": other,
            "distance": median.value,
            "low": median.low,
            "high": median.high,
            "draws": len(group),
        }
        rows.append(row)
    return pd.DataFrame(rows), slope_interval(widths, groups)


def training_of(draws: Draws, y: Array | None, steps: int, rate: float | None) -> pd.DataFrame:
    """Return how far kernels move by gradient descent on (1/2N) sum |f - y|^2.

    The step is ``rate``, or half of the largest stable one of each network.
    """
    if y is None:
        return pd.DataFrame(columns=["step", "change", "low", "high"])
    targets = as_targets(y, len(draws.x))
    powers = [10**power for power in range(12)]
    times = sorted({0, *(time for time in powers if time < steps), steps})
    changes = []
    for network in draws.networks(TRAINED):
        changes.append(_changes(network, draws, targets, times, rate))
    rows = []
    for time, values in zip(times, np.stack(changes, axis=1), strict=True):
        median = median_interval(values)
        row = {"step": time, "change": median.value, "low": median.low, "high": median.high}
        rows.append(row)
    return pd.DataFrame(rows)


def _changes(
    network: nn.Module, draws: Draws, y: torch.Tensor, times: list[int], rate: float | None
) -> np.ndarray:
    """Return the change of the kernel of one network, at the times."""
    with torch.no_grad():
        outputs = draws.x.passed_to(network)
    check_columns(y, outputs.shape[1], "training")
    targets = y.to(outputs).reshape(outputs.shape)
    if rate is None:
        largest = largest_eigenvalue(network, draws.x, per_input=True, check=False)
        rate = 1 / float(largest.value)
    checked_number("rate", rate, above=0)
    parameters = [p for p in network.parameters() if p.requires_grad]
    descent = torch.optim.SGD(parameters, lr=rate)

    def step() -> None:
        descent.zero_grad()
        with torch.enable_grad():
            error = draws.x.passed_to(network) - targets
            loss = error.square().sum() / (2 * len(targets))
            if not bool(loss.isfinite()):
                raise ConfigError(f"rate: the training diverges at {rate:g}; give a smaller one")
            loss.backward()
        descent.step()

    network.train()
    kernels = kernel_over_training(
        network, draws.x, step, times, kernel=first_output_kernel, check=False
    )
    theta = kernels.cpu().numpy()  # (times, N, N)
    return distances_of(theta, theta[0])
