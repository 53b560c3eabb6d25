"""The tangent kernel and the gates of a network of the user, at initialisation and in training."""

import json
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
import torch
from torch import nn
from tqdm.auto import tqdm

from finitewidth.common.arrays import Array
from finitewidth.common.errors import ConfigError
from finitewidth.kernels.ntk_init import initialisation as checks
from finitewidth.kernels.trained import largest_eigenvalue, traced_kernel
from finitewidth.kernels.trained.batches import Inputs
from finitewidth.kernels.trained.surroundings import unchanged_surroundings
from finitewidth.library.study_draws import entries, initialisation_tables
from finitewidth.library.study_images import Images, images_of
from finitewidth.measures.blocks import block_means, label_alignment
from finitewidth.measures.gates import Gates, gate_kernel, gate_shares, gates_of
from finitewidth.networks import user_network
from finitewidth.records.provenance import seed_for
from finitewidth.training.module import (
    LOSSES,
    OPTIMISERS,
    ModulePlan,
    loss_and_accuracy,
    train_module,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PACKAGES = ("finitewidth", "torch", "numpy", "pandas", "matplotlib")
TANGENT = "tangent kernel"


@dataclass(frozen=True)
class Study:
    """What `study` computed.

    Attributes:
        tables: name -> table. ``training``: losses, accuracies, and the largest eigenvalue of the
            full kernel over the number of images, at each time. ``kernels``: means of the traced
            kernel and of the kernel of the gates over their blocks, alignment with the labels, and
            distance from the kernel at step 0. ``entries``: the kernels themselves. ``layers``:
            shares of gates of each layer. ``draws`` and ``dispersion``: the diagonal of the tangent
            kernel over random initialisations.
        settings: the arguments of the call.
        left_out: part of the study -> why it was not computed.
    """

    tables: dict[str, pd.DataFrame]
    settings: dict[str, Any]
    left_out: dict[str, str] = field(default_factory=dict)

    def figures(self) -> "dict[str, Figure]":
        """Draw ``training`` and, where they were computed, ``dispersion`` and ``gates``."""
        import matplotlib as mpl

        from finitewidth.figures import study as renderers
        from finitewidth.figures.style import apply

        with mpl.rc_context():  # the settings of the user come back
            apply()
            drawn = {"training": renderers.training(self.tables)}
            if "dispersion" in self.tables:
                drawn["dispersion"] = renderers.dispersion(self.tables)
            if "layers" in self.tables:
                drawn["gates"] = renderers.gates(self.tables)
        return drawn

    def write(self, folder: str | Path, **about: Any) -> Path:
        """Write the tables as CSV, the figures as PNG and PDF, and ``study.json``.

        Files of an earlier study in the folder are overwritten.

        Args:
            folder: made if there is none.
            **about: further entries of ``study.json``, which has settings and versions.

        Returns:
            The folder.

        Raises:
            OSError: a file cannot be written.
        """
        import matplotlib as mpl

        from finitewidth.figures.picture_files import save
        from finitewidth.figures.style import apply

        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        for name, table in self.tables.items():
            table.to_csv(folder / f"{name}.csv", index=False, float_format="%.8g")
        with mpl.rc_context():
            apply()
            for name, figure in self.figures().items():
                for kind in ("png", "pdf"):
                    save(figure, folder / f"{name}.{kind}", f"study, {self.settings}")
        versions = {"python": platform.python_version()}
        for package in PACKAGES:
            versions[package] = version(package)
        content = {
            **about,
            "settings": self.settings,
            "left_out": self.left_out,
            "versions": versions,
        }
        text = json.dumps(content, indent=2) + "\n"
        (folder / "study.json").write_text(text, encoding="utf-8")
        return folder


def study(
    network: nn.Module | Callable[[], nn.Module],
    images: tuple[Inputs, Array],
    *,
    test: tuple[Inputs, Array] | None = None,
    draws: int = 50,
    steps: int = 1000,
    times: Sequence[int] | None = None,
    per_class: int = 5,
    optimiser: Literal["adam", "sgd"] = "adam",
    rate: float = 0.001,
    batch_size: int = 32,
    loss: Literal["squared", "cross_entropy"] = "squared",
    seed: int = 0,
    device: str = "auto",
    progress: bool = True,
) -> Study:
    """Compute the tangent kernel of a network over initialisations and during its training.

    The network is trained with batches, in train mode. Kernels, losses and gates are computed in
    eval mode, on a few images of each class. The kernel is the traced one, the sum over outputs.

    Args:
        network: a function without arguments that returns a new torch module with weights from
            torch's own generator; or a module, which is copied and trained from its present
            weights. A module has no dispersion over initialisations; that part is left out.
        images: inputs (N, ...) and labels (N,), integers from 0, for training and for the kernels.
            Networks take the type of the inputs if it is a floating one; pixels are not scaled.
            The inputs of a network with several arguments are a mapping or a tuple of tensors or
            arrays, passed as ``network(**x)`` or ``network(*x)``.
        test: the same for test losses; None for none.
        draws: networks of which the kernel at initialisation is computed; 0 for none.
        steps: length of the training, one batch each.
        times: steps at which kernels are computed, ascending from 0; by default 0, 1, 3, 10, 30
            and so on, and ``steps``.
        per_class: images of each class in the kernels.
        optimiser: "adam" or "sgd".
        rate: step size of the optimiser.
        batch_size: images per step.
        loss: "squared", 1/(2N) sum |f(x) - y|^2 with one-hot y, or "cross_entropy".
        seed: of weights, order of images, dropout and bootstrap. On a CPU, equal seeds and numbers
            of threads give equal tables.
        device: "cpu", "cuda", or "auto" for a GPU where there is one.
        progress: whether bars are shown.

    Returns:
        The tables; its ``write`` makes a folder of CSV files and figures.

    Raises:
        ConfigError: an argument is out of range, the network has no tangent kernel, or it has the
            same weights at every call.

    Examples:
        >>> import torch
        >>> import finitewidth as fw
        >>> from torch.nn import Linear, ReLU, Sequential
        >>> images, labels = torch.randn(40, 8), torch.arange(40) % 2
        >>> result = fw.study(
        ...     lambda: Sequential(Linear(8, 32), ReLU(), Linear(32, 2)), (images, labels),
        ...     draws=10, steps=30, progress=False)
        >>> result.tables["training"]["step"].tolist()
        [0, 1, 3, 10, 30]
        >>> sorted(result.tables)
        ['dispersion', 'draws', 'entries', 'kernels', 'layers', 'training']
    """
    settings = {
        "draws": draws,
        "steps": steps,
        "times": _times(steps, times),
        "per_class": per_class,
        "optimiser": optimiser,
        "rate": rate,
        "batch_size": batch_size,
        "loss": loss,
        "seed": seed,
    }
    device = _checked(settings, device)
    # on a GPU, convolutions give the same numbers at every call, as exact as on a CPU
    cudnn = torch.backends.cudnn.flags(enabled=True, deterministic=True, allow_tf32=False)
    with cudnn, unchanged_surroundings():
        data = images_of(images, test, per_class, device)
        trained, initial, left_out = _initialised(network, data, draws, seed, progress)
        during, missing = training_tables(trained, data, settings, progress)
    entries = [tables["entries"] for tables in (initial, during) if tables]
    tables = {**initial, **during, "entries": pd.concat(entries, ignore_index=True)}
    context = {
        "device": device,
        "images": len(data.train[0]),
        "test_images": len(data.test[0]) if data.test else 0,
    }
    return Study(tables=tables, settings=settings | context, left_out=left_out | missing)


def _initialised(
    network: nn.Module | Callable[[], nn.Module],
    images: Images,
    draws: int,
    seed: int,
    progress: bool,
) -> tuple[nn.Module, dict[str, pd.DataFrame], dict[str, str]]:
    """Return the network to train, the tables of its random initialisations, and what is left out.

    What is left out is part of the study -> why, as in `Study`.

    Raises:
        ConfigError: the network has no tangent kernel, or it has the same weights at every call.
    """
    pair = images.kernel[:2]
    if isinstance(network, nn.Module):
        trained = user_network.placed(user_network.copied(network), pair)
        user_network.check(trained, pair, images.classes)
        reason = "the network is a module; give a function that makes one"
        return trained, {}, {"dispersion": reason}
    weights = seed_for("study", seed, "training", "weights")
    trained = user_network.draw(network, pair, images.classes, weights)
    if not draws:
        return trained, {}, {"dispersion": "draws = 0"}
    return trained, initialisation_tables(network, images, draws, seed, progress), {}


def _times(steps: int, times: Sequence[int] | None) -> list[int]:
    """The times given, or 0, 1, 3, 10, 30 and so on, and the last step."""
    if times is not None:
        return [int(time) for time in times]
    chosen = [0]
    power = 1
    while power < steps:
        chosen += [time for time in (power, 3 * power) if time < steps]
        power *= 10
    return [*chosen, steps]


def _checked(settings: dict[str, Any], device: str) -> str:
    """Return the device to use; refuse arguments of `study` that are out of range."""
    least = {"draws": 0, "steps": 1, "per_class": 2, "batch_size": 1, "seed": 0}
    for name, smallest in least.items():
        checks.checked_count(name, settings[name], smallest)
    if settings["draws"] == 1:
        raise ConfigError("draws: 1 network has no dispersion; set at least 2, or 0 for none")
    checks.checked_number("rate", settings["rate"], above=0)
    checks.checked_choice("optimiser", settings["optimiser"], tuple(OPTIMISERS))
    checks.checked_choice("loss", settings["loss"], LOSSES)
    _check_times(settings["times"], settings["steps"])
    has_cuda = torch.cuda.is_available()
    if device == "auto":
        return "cuda" if has_cuda else "cpu"
    if device != "cpu" and not (device.startswith("cuda") and has_cuda):
        raise ConfigError(f"device: {device!r} is not here; use cpu, auto, or cuda with a GPU")
    return device


def _check_times(times: list[int], steps: int) -> None:
    from_zero = times[:1] == [0]
    ascending = sorted(set(times)) == times
    if not from_zero or not ascending or len(times) < 2 or times[-1] > steps:
        raise ConfigError(f"times: {times} must ascend from 0 to at most steps = {steps}")


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
    record = _TrainingRecord(network, images, settings["loss"])
    plan = ModulePlan(
        loss=settings["loss"],
        optimiser=settings["optimiser"],
        rate=settings["rate"],
        batch_size=settings["batch_size"],
        seed=seed_for("study", settings["seed"], "training"),
    )
    with tqdm(total=settings["steps"], desc="training", leave=False, disable=not progress) as bar:
        train_module(
            network,
            *images.train,
            plan,
            times=settings["times"],
            observe=record.observe,
            stepped=bar.update,
        )
    return record.tables(), record.left_out


@dataclass
class _TrainingRecord:
    """The rows of the tables of `training_tables`, which grow while a network is trained."""

    network: nn.Module
    images: Images
    loss: str
    training: list[dict[str, Any]] = field(default_factory=list)
    kernels: list[dict[str, Any]] = field(default_factory=list)
    entry_tables: list[pd.DataFrame] = field(default_factory=list)  # one table for each kernel
    layers: list[dict[str, Any]] = field(default_factory=list)
    first_kernels: dict[str, np.ndarray] = field(default_factory=dict)  # at step 0, by name
    first_gates: list[Gates] = field(default_factory=list)  # at step 0
    left_out: dict[str, str] = field(default_factory=dict)  # part -> why

    def observe(self, step: int) -> None:
        """Add losses, the tangent kernel and, where the network has any, its gates at a step."""
        self._add_losses(step)
        kernel = traced_kernel(self.network, self.images.kernel).cpu().numpy()
        self._add_kernel(step, TANGENT, kernel)
        if not self.left_out:
            self._add_gates(step)

    def _add_losses(self, step: int) -> None:
        row: dict[str, Any] = {"step": step}
        for split, pair in (("train", self.images.train), ("test", self.images.test)):
            if pair:
                x, labels = pair
                loss, accuracy = loss_and_accuracy(self.network, x, labels, self.loss)
                row[f"{split}_loss"] = loss
                row[f"{split}_accuracy"] = accuracy
        user_network.forget(self.network)  # losses are computed without gradients
        largest = largest_eigenvalue(self.network, self.images.kernel, per_input=True)
        row["eigenvalue"] = float(largest.value.max())
        self.training.append(row)

    def _add_kernel(self, step: int, name: str, kernel: np.ndarray) -> None:
        """Add a kernel (S, S)."""
        labels = self.images.labels
        first = self.first_kernels.setdefault(name, kernel)
        self.kernels.append({"kernel": name, "step": step, **_properties(kernel, first, labels)})
        self.entry_tables.append(entries(kernel, labels, name, step))

    def _add_gates(self, step: int) -> None:
        try:
            gates = gates_of(self.network, self.images.kernel)
        except ConfigError as error:
            self.left_out["gates"] = str(error)
            return
        if not self.first_gates:
            self.first_gates.extend(gates)
        shares = gate_shares(gates, self.first_gates, self.images.labels)
        self.layers.extend({"step": step, **share} for share in shares)
        name, kernel = gate_kernel(self.network, gates, self.images.kernel)
        self._add_kernel(step, name, kernel)

    def tables(self) -> dict[str, pd.DataFrame]:
        """The tables of all steps so far."""
        tables = {
            "training": pd.DataFrame(self.training),
            "kernels": pd.DataFrame(self.kernels),
            "entries": pd.concat(self.entry_tables, ignore_index=True),
        }
        if self.layers:
            tables["layers"] = pd.DataFrame(self.layers)
        return tables


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
