"""The tangent kernel of a network of the user over random initialisations, job `own_dispersion`.

The measure is that of ``beyond``: r = E[Theta^2] / E[Theta]^2 of a diagonal element. It is 1 for a
kernel that does not depend on the random weights, as in the limit of infinite width.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor, nn

from finitewidth.common.errors import ConfigError
from finitewidth.common.provenance import seed_for
from finitewidth.experiments.own.drawn import NAME, Networks, entries, few
from finitewidth.kernels.ntk_init.estimators import naive
from finitewidth.kernels.trained import diagonal, traced_kernel
from finitewidth.measures.blocks import block_means
from finitewidth.training.checkpoints import Checkpoints
from finitewidth.training.pieces import stored_map

OUTPUTS = ("one output", "sum over outputs")


def measure(
    inputs: Mapping[str, Any],
    settings: Mapping[str, Any],
    checkpoints: Checkpoints | None = None,
) -> dict[str, pd.DataFrame]:
    """Draw networks, and compare their tangent kernels on a few images.

    Args:
        inputs: ``data``, the images.
        settings: ``network`` (what the plan tells of it), ``per_class`` (images of each class),
            ``draws`` (networks), ``resamples`` (bootstrap samples of draws).
        checkpoints: where to store the kernels of each draw; None for none.

    Returns:
        ``draws``: draw, outputs (one output, or sum over outputs), image, ratio: Theta(x, x) over
        its mean over the draws.
        ``summary``: outputs, r (the mean over the images), standard_error (from a bootstrap over
        draws), smallest and largest (r of single images), images, draws, parameters (trainable
        numbers of the network).
        ``kernels``: of the sum over outputs, entries on and above the diagonal: quantity (mean:
        over the draws; deviation: standard deviation over the draws), row, column, class_row,
        class_column, share (over the mean diagonal of the mean kernel).
        ``blocks``: of the mean kernel over its mean diagonal: quantity (same_class, other_class),
        value, and deviation: the standard deviation over the draws, root mean square of the pairs.

    Raises:
        ConfigError: the network cannot be made, has no tangent kernel, or is not random.
        ResultError: a checkpoint cannot be written.
    """
    networks = Networks(settings["network"], inputs["data"])
    x, labels = few(inputs["data"], settings["per_class"])
    drawn = list(stored_map(
        lambda draw: _observed(networks.draw("dispersion", draw), x),
        range(settings["draws"]), checkpoints, "draws",
    ))  # fmt: skip
    theta = torch.stack([kernel for _, kernel, _ in drawn]).numpy()
    diagonals = {
        OUTPUTS[0]: torch.stack([first for first, _, _ in drawn]).numpy(),
        OUTPUTS[1]: np.diagonal(theta, axis1=1, axis2=2),
    }
    _check_random(networks.name, diagonals[OUTPUTS[1]])
    rows = [_rows(name, values) for name, values in diagonals.items()]
    summary = [
        {"outputs": name, **dispersion(values, settings["resamples"], name),
         "parameters": drawn[0][2]}
        for name, values in diagonals.items()
    ]  # fmt: skip
    return {
        "draws": pd.concat(rows, ignore_index=True), "summary": pd.DataFrame(summary),
        **_kernels(theta, labels),
    }  # fmt: skip


def dispersion(theta: np.ndarray, resamples: int, stream: str) -> dict[str, float]:
    """Return the mean over inputs of r = E[Theta^2] / E[Theta]^2, with a bootstrap over draws.

    Args:
        theta: (draws, S), diagonal elements; inputs of one draw share its weights, so whole draws
            are resampled.
        resamples: number of bootstrap samples.
        stream: name of the random numbers of the bootstrap.

    Returns:
        r, standard_error, smallest, largest, images, draws.
    """
    each = naive(theta.T)
    generator = np.random.default_rng(seed_for(NAME, "bootstrap", stream))
    counts = generator.multinomial(len(theta), np.full(len(theta), 1 / len(theta)), resamples)
    # ratios of sums over a bootstrap sample, in which each draw stands ``counts`` times
    squares = len(theta) * (counts @ theta**2) / (counts @ theta) ** 2
    values = squares.mean(axis=1)
    return {
        "r": float(each.mean()), "standard_error": float(values.std(ddof=1)),
        "smallest": float(each.min()), "largest": float(each.max()),
        "images": theta.shape[1], "draws": len(theta),
    }  # fmt: skip


def _observed(network: nn.Module, x: Tensor) -> tuple[Tensor, Tensor, int]:
    """Theta(x, x) of the first output (S,), the traced kernel (S, S), number of parameters."""
    count = sum(p.numel() for p in network.parameters() if p.requires_grad)
    return diagonal(network, x)[0], traced_kernel(network, x), count


def _check_random(name: str, theta: np.ndarray) -> None:
    if not np.isfinite(theta).all() or not (theta.mean(axis=0) > 0).all():
        raise ConfigError(f"own.network: the tangent kernel of {name} at an image is zero or not "
                          "finite; change its initialisation")  # fmt: skip
    if (theta == theta[0]).all():
        raise ConfigError(f"own.network: {name} has the same weights at every call; draw them in "
                          "the function from torch's generator, as torch.nn does, and set no seed "
                          "there")  # fmt: skip


def _rows(outputs: str, theta: np.ndarray) -> pd.DataFrame:
    ratio = theta / theta.mean(axis=0)
    draw, image = np.indices(ratio.shape)
    return pd.DataFrame({"draw": draw.ravel(), "outputs": outputs, "image": image.ravel(),
                         "ratio": ratio.ravel()})  # fmt: skip


def _kernels(theta: np.ndarray, labels: np.ndarray) -> dict[str, pd.DataFrame]:
    """Mean and deviation over the draws of all entries, and their means over blocks."""
    mean, deviation = theta.mean(axis=0), theta.std(axis=0, ddof=1)
    scale = np.diag(mean).mean()
    spread = entries(deviation, labels, quantity="deviation")
    spread["share"] *= np.diag(deviation).mean() / scale
    maps = [entries(mean, labels, quantity="mean"), spread]
    means, squares = block_means(mean, labels), block_means(deviation**2, labels)
    blocks = [
        {"quantity": name, "value": float(getattr(means, name) / scale),
         "deviation": float(getattr(squares, name) ** 0.5 / scale)}
        for name in ("diagonal", "same_class", "other_class")
    ]  # fmt: skip
    return {"kernels": pd.concat(maps, ignore_index=True), "blocks": pd.DataFrame(blocks)}
