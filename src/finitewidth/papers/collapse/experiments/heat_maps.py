"""Kernels of one trained network, as the heat maps of ``collapse`` Figures 1 and 13 to 20."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from finitewidth.common.errors import ConfigError
from finitewidth.data.store import Dataset
from finitewidth.kernels.trained import output_norms
from finitewidth.measures.blocks import block_means
from finitewidth.measures.diagonal import over_smaller_diagonal
from finitewidth.networks.normalised.plain import NormalisedNetwork, build
from finitewidth.networks.normalised.specs import Network
from finitewidth.papers.collapse.columns import networks as columns
from finitewidth.papers.collapse.experiments.images import chosen_images
from finitewidth.papers.collapse.experiments.training import REPLICA, budget_of, kernels_of
from finitewidth.papers.collapse.settings.pairs import Images as ChosenImages
from finitewidth.papers.collapse.settings.pairs import NormalisedNetwork as ChosenNetwork
from finitewidth.papers.collapse.settings.pairs import Pair
from finitewidth.records.tables import Table

DIGITS = 6  # significant digits of the entries of kernels in the tables
END = 0.995  # share of the entries of a map that are at most the value where its colours end
KERNELS = {"theta": "alignment_theta", "theta_h": "alignment_theta_h"}
TABLES = {
    "traced": Table(
        columns.KERNEL,
        columns.IMAGE_ROW,
        columns.IMAGE_COLUMN,
        columns.CLASS_ROW,
        columns.CLASS_COLUMN,
        columns.TRACED,
        columns.SHARE,
    ),
    "norms": Table(
        columns.KERNEL,
        columns.UNIT_ROW,
        columns.UNIT_COLUMN,
        columns.UNIT_NORM,
        columns.SHARE,
    ),
    "blocks": Table(
        columns.PAIR,
        columns.KERNEL,
        columns.INIT,
        columns.RATE,
        columns.EPOCH,
        columns.MAP_PER_CLASS,
        columns.DIAGONAL,
        columns.SAME_CLASS,
        columns.OTHER_CLASS,
        columns.BLOCK_RATIO,
        columns.NORM_RATIO,
        columns.NORM_OVER_SMALLER,
        columns.CHOICE,
        columns.NETWORK,
        columns.PIXELS,
    ),
    "alignments": Table(
        columns.PAIR,
        columns.KERNEL,
        columns.EPOCH,
        columns.ALIGNMENT,
    ),
}


def heat_maps(
    inputs: Mapping[str, Any],
    training: Pair,
    per_class: int,
    run: pd.Series,
    facts: Mapping[str, Any],
) -> dict[str, pd.DataFrame]:
    """Compute the maps of one network, and the alignments of its kernels in time.

    Inputs are those of `finitewidth.papers.collapse.experiments.models.measure`. The maps are of
    ``per_class`` images of each class. ``run`` is the network at the last epoch, and ``facts`` are
    further columns of ``blocks``.

    Returns:
        Rows of maps are those from the diagonal on; the rest is symmetric. A share is the value
        over the quantile `END`, so that a few large entries do not dim the others.

        ``traced``: a row for each pair of images.

        ``norms``: |Theta_ks|_F over these images, a row for each pair of outputs or features.

        ``blocks``: a row for each kernel.

        ``alignments``: a row for each kernel and measured epoch.
    """
    images, labels = map_images(inputs["data"], training.images, per_class)
    module = trained_network(training.network, inputs["weights"], run["replica"], images)
    gib = training.kernel_gib
    theta, theta_h = kernels_of(module, images, gib)
    traced = []
    norms = []
    blocks = []
    for kernel, matrix, mapping in (
        ("theta", theta, module),
        ("theta_h", theta_h, module.features),
    ):
        with budget_of(gib) as budget:
            pair_norms = output_norms(module, images, of=mapping, budget=budget).numpy()
        traced.append(_entries(kernel, matrix, labels))
        norms.append(_entries(kernel, pair_norms))
        block = {
            "pair": run["pair"],
            "kernel": kernel,
            "init": run["init"],
            "rate": run["rate"],
            "epoch": run["epoch"],
            "per_class": per_class,
            **_means_of_blocks(matrix / len(pair_norms), labels),
            **_off_over_on_diagonal(pair_norms),
            **facts,
        }
        blocks.append(block)
    return {
        "traced": pd.concat(traced, ignore_index=True),
        "norms": pd.concat(norms, ignore_index=True),
        "blocks": pd.DataFrame(blocks),
        "alignments": _alignments(inputs["measures"], run["replica"]),
    }


def _means_of_blocks(kernel: np.ndarray, labels: np.ndarray) -> dict[str, float]:
    """Means of a kernel (S, S) for an image with itself, and for images of one and two classes."""
    means = block_means(kernel, labels)
    return {
        "diagonal": float(means.diagonal),
        "same_class": float(means.same_class),
        "other_class": float(means.other_class),
        "ratio": float(means.same_class / means.other_class),
    }


def _off_over_on_diagonal(norms: np.ndarray) -> dict[str, float]:
    """Size of norms (K, K) of two outputs or features beside those of one, see `heat_maps`."""
    diagonal = np.eye(len(norms), dtype=bool)
    off = np.median(norms[~diagonal])
    on = np.median(norms[diagonal])
    alive = norms[diagonal] > 0
    shares = over_smaller_diagonal(norms[np.ix_(alive, alive)])
    return {
        "norm_ratio": float(off / on) if on else np.nan,
        "norm_over_smaller": float(np.median(shares)) if len(shares) else np.nan,
    }


def _alignments(measures: pd.DataFrame, replica: int) -> pd.DataFrame:
    """Alignment of each kernel of a network with the labels: pair, kernel, epoch, value."""
    network = measures[measures["replica"] == replica]
    network = network.rename(columns={column: kernel for kernel, column in KERNELS.items()})
    alignments = network.melt(["pair", "epoch"], [*KERNELS], "kernel")
    return alignments[["pair", "kernel", "epoch", "value"]]


def map_images(data: Dataset, chosen: ChosenImages, per_class: int) -> tuple[Tensor, np.ndarray]:
    """The first training images of each class, (S, C, H, W), grouped by class, and their labels."""
    images = chosen_images(data, chosen)
    if per_class > images.per_class:
        raise ConfigError(f"maps.per_class = {per_class}: set at most {images.per_class}")
    index = images.by_class()[:, :per_class].flatten()
    return images.train_x[index], images.train_y[index].numpy()


def trained_network(
    network: ChosenNetwork, weights: Mapping[str, np.ndarray], replica: int, images: Tensor
) -> NormalisedNetwork:
    """A network of a training as a module in eval mode."""
    index = weights[REPLICA].tolist().index(replica)
    state = {}
    for name, array in weights.items():
        if name != REPLICA:
            state[name] = torch.from_numpy(np.asarray(array[index]))
    classes = len(state["head.bias"])
    _, channels, height, width = images.shape
    module = build(Network.from_mapping(dict(network)), (channels, height, width), classes)
    module.load_state_dict(state)
    return module.eval()


def _entries(kernel: str, matrix: np.ndarray, labels: np.ndarray | None = None) -> pd.DataFrame:
    """Entries of a matrix (S, S) on and above its diagonal, one per row."""
    row, column = np.triu_indices(len(matrix))
    table = {"kernel": kernel, "row": row, "column": column}
    if labels is not None:
        table |= {"class_row": labels[row], "class_column": labels[column]}
    value = matrix[row, column]
    end = np.quantile(matrix, END)
    share = value / (end if end > 0 else matrix.max())
    return pd.DataFrame(table | {"value": _rounded(value), "share": _rounded(share)})


def _rounded(values: np.ndarray) -> list[float]:
    """Values with `DIGITS` significant digits, so that tables stay small."""
    return [float(f"{value:.{DIGITS - 1}e}") for value in values]
