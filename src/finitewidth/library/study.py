"""The tangent kernel and the gates of a network of the user, at initialisation and in training."""

import copy
import json
import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from finitewidth.common.errors import ConfigError
from finitewidth.common.provenance import seed_for

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure
    from torch import nn

PACKAGES = ("finitewidth", "torch", "numpy", "pandas", "matplotlib")


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

    tables: "dict[str, pd.DataFrame]"
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

        from finitewidth.figures.job import save
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
        versions = {name: version(name) for name in PACKAGES}
        content = {**about, "settings": self.settings, "left_out": self.left_out,
                   "versions": {"python": platform.python_version(), **versions}}  # fmt: skip
        text = json.dumps(content, indent=2) + "\n"
        (folder / "study.json").write_text(text, encoding="utf-8")
        return folder


def study(
    network: "nn.Module | Callable[[], nn.Module]",
    images: tuple[Any, Any],
    *,
    test: tuple[Any, Any] | None = None,
    draws: int = 50,
    steps: int = 1000,
    times: Sequence[int] | None = None,
    per_class: int = 5,
    optimiser: str = "adam",
    rate: float = 0.001,
    batch_size: int = 32,
    loss: str = "squared",
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
    import pandas as pd
    import torch

    from finitewidth.library.study_tables import images_of, initialisation_tables, training_tables
    from finitewidth.networks.user_network import check, draw, placed

    settings = {
        "draws": draws, "steps": steps, "times": _times(steps, times), "per_class": per_class,
        "optimiser": optimiser, "rate": rate, "batch_size": batch_size, "loss": loss, "seed": seed,
    }  # fmt: skip
    device = _checked(settings, device)
    initial, left_out = {}, {}
    # on a GPU, convolutions are as exact as on a CPU
    with torch.backends.cudnn.flags(enabled=True, deterministic=True, allow_tf32=False):
        data = images_of(images, test, per_class, device)
        few = data.kernel[:2]
        if isinstance(network, torch.nn.Module):
            left_out["dispersion"] = "the network is a module; give a function that makes one"
            trained = placed(copy.deepcopy(network), few)
            check(trained, few, data.classes)
        else:
            weights = seed_for("study", seed, "training", "weights")
            trained = draw(network, few, data.classes, weights)
            if draws:
                initial = initialisation_tables(network, data, draws, seed, progress)
            else:
                left_out["dispersion"] = "draws = 0"
        during, missing = training_tables(trained, data, settings, progress)
    kernels = [tables["entries"] for tables in (initial, during) if tables]
    tables = initial | during | {"entries": pd.concat(kernels, ignore_index=True)}
    sizes = {"device": device, "images": len(data.train[0]),
             "test_images": len(data.test[0]) if data.test else 0}  # fmt: skip
    return Study(tables, settings | sizes, left_out | missing)


def _times(steps: int, times: Sequence[int] | None) -> list[int]:
    """The times given, or 0, 1, 3, 10, 30 and so on, and the last step."""
    if times is not None:
        return [int(time) for time in times]
    powers = (first * 10**power for power in range(12) for first in (1, 3))
    return [0, *(time for time in powers if time < steps), steps]


def _checked(settings: dict[str, Any], device: str) -> str:
    """Return the device that is meant; refuse arguments of `study` that are out of range."""
    import torch

    from finitewidth.kernels.ntk_init import initialisation as checks
    from finitewidth.training.module import LOSSES, OPTIMISERS

    least = {"draws": 0, "steps": 1, "per_class": 2, "batch_size": 1, "seed": 0}
    for name, smallest in least.items():
        checks.checked_count(name, settings[name], smallest)
    if settings["draws"] == 1:
        raise ConfigError("draws: 1 network has no dispersion; set at least 2, or 0 for none")
    checks.checked_number("rate", settings["rate"], above=0)
    checks.checked_choice("optimiser", settings["optimiser"], tuple(OPTIMISERS))
    checks.checked_choice("loss", settings["loss"], LOSSES)
    times, steps = settings["times"], settings["steps"]
    if times[:1] != [0] or sorted(set(times)) != times or times[-1] > steps or len(times) < 2:
        raise ConfigError(f"times: {times} must ascend from 0 to at most steps = {steps}")
    cuda = torch.cuda.is_available()
    if device not in ("cpu", "auto") and not (device.startswith("cuda") and cuda):
        raise ConfigError(f"device: {device!r} is not here; use cpu, auto, or cuda with a GPU")
    return device if device != "auto" else "cuda" if cuda else "cpu"
