"""The tangent kernel of a network of the user over random initialisations, as tables."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import torch
from torch import nn
from tqdm.auto import tqdm

from finitewidth.common.errors import ConfigError
from finitewidth.kernels.ntk_init.estimators import naive
from finitewidth.kernels.ntk_init.tail_errors import log_normal_error, log_variance
from finitewidth.kernels.trained import kernel_diagonal, traced_kernel
from finitewidth.library.dispersion import enough_draws, with_tail
from finitewidth.library.study_images import Images
from finitewidth.networks import user_network
from finitewidth.records.provenance import seed_for

MEAN = "mean over draws"
DEVIATION = "deviation over draws"
RESAMPLES = 1000  # bootstrap samples of draws


def initialisation_tables(
    make: Callable[[], nn.Module], images: Images, draws: int, seed: int, progress: bool
) -> dict[str, pd.DataFrame]:
    """Compute the tangent kernels of networks with independent random weights.

    Returns:
        ``draws``: draw, image, class, outputs (one output, or sum over outputs), theta, a diagonal
        element of the kernel. ``dispersion``: outputs, and what `dispersion` returns. ``entries``:
        mean and standard deviation over the draws of the traced kernel.
    """
    one_output = []
    kernels = []
    for number in tqdm(range(draws), desc="initialisations", leave=False, disable=not progress):
        weights = seed_for("study", seed, "draw", number)
        network = user_network.draw(make, images.kernel[:2], images.classes, weights)
        one_output.append(kernel_diagonal(network, images.kernel)[0].cpu())
        kernels.append(traced_kernel(network, images.kernel).cpu())
    theta = torch.stack(kernels).numpy()  # (draws, S, S)
    diagonals = {  # (draws, S)
        "one output": torch.stack(one_output).numpy(),
        "sum over outputs": np.diagonal(theta, axis1=1, axis2=2),
    }
    _check_random(diagonals["sum over outputs"])
    rows = []
    summary = []
    for outputs, diagonal in diagonals.items():
        rows.append(_diagonal_rows(outputs, diagonal, images.labels))
        bootstrap = seed_for("study", seed, "bootstrap", outputs)
        summary.append({"outputs": outputs, **dispersion(diagonal, bootstrap)})
    mean = entries(theta.mean(axis=0), images.labels, MEAN, 0)
    deviation = entries(theta.std(axis=0, ddof=1), images.labels, DEVIATION, 0)
    return {
        "draws": pd.concat(rows, ignore_index=True),
        "dispersion": pd.DataFrame(summary),
        "entries": pd.concat([mean, deviation]),
    }


def dispersion(theta: np.ndarray, seed: int) -> dict[str, float]:
    """Return the mean over inputs of r = E[Theta^2] / E[Theta]^2, with its 95 % interval.

    It is 1 for a kernel that does not depend on the random weights, as in the limit of infinite
    width. The diagonal elements of one draw share its weights, so whole draws are resampled for the
    error. The interval allows for rare draws that are missing, as that of
    `finitewidth.library.dispersion.estimated` does.

    Args:
        theta: diagonal elements, (draws, S).
        seed: of the bootstrap.

    Returns:
        r, standard_error, low and high; smallest and largest, the r of single inputs; images (S),
        draws, and enough, the number of draws that would do. If there are too few draws, high is
        infinite and standard_error nan.
    """
    draws = len(theta)
    of_inputs = naive(theta.T)  # (S,)
    r = float(of_inputs.mean())
    stream = np.random.default_rng(seed)
    # how often each draw stands in a bootstrap sample, (RESAMPLES, draws)
    counts = stream.multinomial(draws, np.full(draws, 1 / draws), RESAMPLES)
    resampled = draws * (counts @ theta**2) / (counts @ theta) ** 2  # (RESAMPLES, S)
    error = float(resampled.mean(axis=1).std(ddof=1))
    variances = [log_variance(column) for column in theta.T]
    tails = [log_normal_error(variance, draws) for variance in variances]
    # errors of images that share their weights add up
    tail = float(of_inputs @ tails) / len(tails) / r
    enough = max(enough_draws(variance, draws) for variance in variances)
    estimate = with_tail(r, error, tail, draws, enough)
    return {
        "r": r,
        "standard_error": estimate.standard_error,
        "low": estimate.low,
        "high": estimate.high,
        "smallest": float(of_inputs.min()),
        "largest": float(of_inputs.max()),
        "images": theta.shape[1],
        "draws": draws,
        "enough": estimate.enough,
    }


def _check_random(theta: np.ndarray) -> None:
    """Refuse diagonals (draws, S) that are zero, not finite, or all alike."""
    if not np.isfinite(theta).all() or not (theta.mean(axis=0) > 0).all():
        raise ConfigError(
            "network: its tangent kernel at an image is zero or not finite; change "
            "its initialisation"
        )
    if (theta == theta[0]).all():
        raise ConfigError(
            "network: it has the same weights at every call; make a new module in "
            "the function, with weights from torch's generator, and set no seed "
            "there"
        )


def _diagonal_rows(outputs: str, theta: np.ndarray, labels: np.ndarray) -> pd.DataFrame:
    draw, image = np.indices(theta.shape)
    return pd.DataFrame(
        {
            "draw": draw.ravel(),
            "image": image.ravel(),
            "class": labels[image.ravel()],
            "outputs": outputs,
            "theta": theta.ravel(),
        }
    )


def entries(kernel: np.ndarray, labels: np.ndarray, name: str, step: int) -> pd.DataFrame:
    """Return the entries of a symmetric kernel (S, S) on and above its diagonal, one per row."""
    row, column = np.triu_indices(len(kernel))
    return pd.DataFrame(
        {
            "kernel": name,
            "step": step,
            "row": row,
            "column": column,
            "class_row": labels[row],
            "class_column": labels[column],
            "value": kernel[row, column],
        }
    )
