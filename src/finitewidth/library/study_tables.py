"""The tables of a study of one network: kernels over initialisations, and during a training."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor, nn
from tqdm.auto import tqdm

from finitewidth.common.errors import ConfigError
from finitewidth.common.provenance import seed_for
from finitewidth.data.select import first_per_class
from finitewidth.kernels.ntk_init.estimators import naive
from finitewidth.kernels.trained import kernel_diagonal, largest_eigenvalue, traced_kernel
from finitewidth.measures.blocks import block_means, label_alignment
from finitewidth.measures.gates import Gates, gate_kernel, gate_shares, gates_of
from finitewidth.networks.user_network import draw
from finitewidth.training.module import loss_and_accuracy, train_module

TANGENT = "tangent kernel"
MEAN, DEVIATION = "mean over draws", "deviation over draws"
OUTPUTS = ("one output", "sum over outputs")
RESAMPLES = 1000  # bootstrap samples of draws
Pair = tuple[Tensor, Tensor]


@dataclass(frozen=True)
class Images:
    """Labelled inputs as tensors on one device."""

    train: Pair  # inputs (N, ...) and labels (N,)
    test: Pair | None
    kernel: Tensor  # the inputs of the kernels (S, ...), sorted by class
    labels: np.ndarray  # their classes, (S,)

    @property
    def classes(self) -> int:
        """The smallest number of outputs that has one for each class."""
        pairs = (self.train, self.test) if self.test else (self.train,)
        return 1 + max(int(labels.max()) for _, labels in pairs)


def images_of(
    train: tuple[Any, Any], test: tuple[Any, Any] | None, per_class: int, device: str
) -> Images:
    """Check inputs and labels, and choose the first inputs of each class for the kernels."""
    x, y = _tensors("images", train, device)
    labels = y.cpu().numpy()
    index = first_per_class(labels, np.unique(labels).tolist(), per_class)
    return Images(
        train=(x, y), test=_tensors("test", test, device) if test is not None else None,
        kernel=x[torch.from_numpy(index).to(device)], labels=labels[index],
    )  # fmt: skip


def _tensors(name: str, pair: tuple[Any, Any], device: str) -> Pair:
    x, labels = (torch.as_tensor(each) for each in pair)
    if x.dtype in (torch.uint8, torch.bool) or x.is_complex() or not x.isfinite().all():
        raise ConfigError(f"{name}: inputs of type {x.dtype} must be finite real numbers; divide "
                          "pixels by 255")  # fmt: skip
    if x.dim() < 2 or not len(x) or labels.shape != x.shape[:1]:
        raise ConfigError(f"{name}: inputs of shape {tuple(x.shape)} and labels of shape "
                          f"{tuple(labels.shape)} must be (N, ...) and (N,)")  # fmt: skip
    if labels.is_floating_point() or labels.dtype == torch.bool or labels.min() < 0:
        raise ConfigError(f"{name}: labels must be integers from 0, one for each class")
    return x.to(device), labels.to(device, torch.int64)


def initialisation_tables(
    make: Callable[[], nn.Module], images: Images, draws: int, seed: int, progress: bool
) -> dict[str, pd.DataFrame]:
    """Compute the tangent kernels of networks with independent random weights.

    Of each diagonal element theta, ``draws`` has draw, image, class, and outputs (one output, or
    sum over outputs). In ``dispersion`` stand outputs, and what `dispersion` returns. In
    ``entries`` stand mean and standard deviation over the draws of the traced kernel.
    """
    first, kernels = [], []
    for number in tqdm(range(draws), desc="initialisations", leave=False, disable=not progress):
        words = ("study", seed, "draw", number)
        network = draw(make, images.kernel[:2], images.classes, seed_for(*words))
        first.append(kernel_diagonal(network, images.kernel)[0].cpu())
        kernels.append(traced_kernel(network, images.kernel).cpu())
    theta = torch.stack(kernels).numpy()
    diagonals = dict(zip(
        OUTPUTS, (torch.stack(first).numpy(), np.diagonal(theta, axis1=1, axis2=2)), strict=True
    ))  # fmt: skip
    _check_random(diagonals[OUTPUTS[1]])
    rows = [_diagonal_rows(name, values, images.labels) for name, values in diagonals.items()]
    summary = [{"outputs": name, **dispersion(values, seed_for("study", seed, "bootstrap", name))}
               for name, values in diagonals.items()]  # fmt: skip
    return {
        "draws": pd.concat(rows, ignore_index=True), "dispersion": pd.DataFrame(summary),
        "entries": pd.concat([
            entries(theta.mean(axis=0), images.labels, MEAN, 0),
            entries(theta.std(axis=0, ddof=1), images.labels, DEVIATION, 0),
        ]),
    }  # fmt: skip


def dispersion(theta: np.ndarray, seed: int) -> dict[str, float]:
    """Return the mean over inputs of r = E[Theta^2] / E[Theta]^2, with a bootstrap over draws.

    It is 1 for a kernel that does not depend on the random weights, as in the limit of infinite
    width. Of the diagonal elements ``theta``, (draws, S), those of one draw share its weights, so
    whole draws are resampled. The ``smallest`` and ``largest`` are r of single inputs.
    """
    each = naive(theta.T)
    stream = np.random.default_rng(seed)
    counts = stream.multinomial(len(theta), np.full(len(theta), 1 / len(theta)), RESAMPLES)
    # ratios of sums over a bootstrap sample, in which each draw stands ``counts`` times
    squares = len(theta) * (counts @ theta**2) / (counts @ theta) ** 2
    values = squares.mean(axis=1)
    return {
        "r": float(each.mean()), "standard_error": float(values.std(ddof=1)),
        "smallest": float(each.min()), "largest": float(each.max()),
        "images": theta.shape[1], "draws": len(theta),
    }  # fmt: skip


def _check_random(theta: np.ndarray) -> None:
    if not np.isfinite(theta).all() or not (theta.mean(axis=0) > 0).all():
        raise ConfigError("network: its tangent kernel at an image is zero or not finite; change "
                          "its initialisation")  # fmt: skip
    if (theta == theta[0]).all():
        raise ConfigError("network: it has the same weights at every call; make a new module in "
                          "the function, with weights from torch's generator, and set no seed "
                          "there")  # fmt: skip


def _diagonal_rows(outputs: str, theta: np.ndarray, labels: np.ndarray) -> pd.DataFrame:
    number, image = np.indices(theta.shape)
    return pd.DataFrame({
        "draw": number.ravel(), "image": image.ravel(), "class": labels[image.ravel()],
        "outputs": outputs, "theta": theta.ravel(),
    })  # fmt: skip


def entries(kernel: np.ndarray, labels: np.ndarray, name: str, step: int) -> pd.DataFrame:
    """Return the entries of a symmetric kernel (S, S) on and above its diagonal, one per row."""
    row, column = np.triu_indices(len(kernel))
    return pd.DataFrame({
        "kernel": name, "step": step, "row": row, "column": column,
        "class_row": labels[row], "class_column": labels[column], "value": kernel[row, column],
    })  # fmt: skip


def training_tables(
    network: nn.Module, images: Images, settings: Mapping[str, Any], progress: bool
) -> tuple[dict[str, pd.DataFrame], dict[str, str]]:
    """Train a network in place, and compute kernels and gates at some times.

    Returned are tables and what is left out. ``training``: step, losses and accuracies, eigenvalue
    (the largest one of the full kernel over the number of images). ``kernels``: kernel (tangent
    kernel, and neural path kernel or overlap of gates), step, diagonal (its mean), same_class and
    other_class (means over pairs of images, over the mean diagonal), alignment (cosine with the
    matrix of equal labels), change (|K - K_0| / |K_0|, Frobenius norms). ``entries``: of these
    kernels. ``layers``: see `finitewidth.measures.gates.gate_shares`, with the step; missing if the
    network has no gates.
    """
    training, kernels, parts, layers = [], [], [], []
    first: dict[str, np.ndarray] = {}  # kernels at step 0
    first_gates: list[Gates] = []
    left_out: dict[str, str] = {}

    def add(step: int, name: str, kernel: np.ndarray) -> None:
        labels, before = images.labels, first.setdefault(name, kernel)
        kernels.append({"kernel": name, "step": step, **_properties(kernel, before, labels)})
        parts.append(entries(kernel, labels, name, step))

    def observe(step: int) -> None:
        row: dict[str, Any] = {"step": step}
        for split in ("train", "test"):
            if pair := getattr(images, split):
                loss, accuracy = loss_and_accuracy(network, *pair, settings["loss"])
                row |= {f"{split}_loss": loss, f"{split}_accuracy": accuracy}
        largest = largest_eigenvalue(network, images.kernel, per_input=True)
        training.append(row | {"eigenvalue": float(largest.value.max())})
        add(step, TANGENT, traced_kernel(network, images.kernel).cpu().numpy())
        if left_out:
            return
        try:
            gates = gates_of(network, images.kernel)
        except ConfigError as error:
            left_out["gates"] = str(error)
            return
        if not first_gates:
            first_gates.extend(gates)
        shares = gate_shares(gates, first_gates, images.labels)
        layers.extend({"step": step, **share} for share in shares)
        add(step, *gate_kernel(network, gates, images.kernel))

    names = ("loss", "optimiser", "rate", "batch_size", "times")
    with tqdm(total=settings["steps"], desc="training", leave=False, disable=not progress) as bar:
        train_module(
            network, *images.train, observe=observe, stepped=bar.update,
            seed=seed_for("study", settings["seed"], "training"),
            **{name: settings[name] for name in names},
        )  # fmt: skip
    tables = {
        "training": pd.DataFrame(training), "kernels": pd.DataFrame(kernels),
        "entries": pd.concat(parts, ignore_index=True),
    }  # fmt: skip
    return tables | ({"layers": pd.DataFrame(layers)} if layers else {}), left_out


def _properties(kernel: np.ndarray, first: np.ndarray, labels: np.ndarray) -> dict[str, float]:
    """Return what the table ``kernels`` says of a kernel, with ``first`` that of step 0."""
    means = block_means(kernel, labels)
    return {
        "diagonal": float(means.diagonal),
        "same_class": float(means.same_class / means.diagonal),
        "other_class": float(means.other_class / means.diagonal),
        "alignment": float(label_alignment(kernel, labels)),
        "change": float(np.linalg.norm(kernel - first) / np.linalg.norm(first)),
    }
