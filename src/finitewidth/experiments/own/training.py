"""The tangent kernel of a network of the user during training, job `own_training`."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor, nn
from torch.nn import functional

from finitewidth.common.errors import ConfigError
from finitewidth.common.provenance import seed_for
from finitewidth.data.select import stratified_subset
from finitewidth.experiments.own.drawn import NAME, Networks, curves, entries, few, tensor
from finitewidth.kernels.trained import largest_eigenvalue, traced_kernel
from finitewidth.measures.blocks import alignment, block_means
from finitewidth.networks.own import seeded
from finitewidth.training.checkpoints import Checkpoints
from finitewidth.training.pieces import stored_map

CHUNK = 1024  # images of which losses are computed at once
QUANTITIES = (
    "train_loss", "test_loss", "train_accuracy", "test_accuracy", "same_class", "other_class",
    "alignment", "change", "eigenvalue",
)  # fmt: skip
OPTIMISERS = {"adam": torch.optim.Adam, "sgd": torch.optim.SGD}


def measure(
    inputs: Mapping[str, Any],
    settings: Mapping[str, Any],
    checkpoints: Checkpoints | None = None,
) -> dict[str, Any]:
    """Train networks with batches, and follow their losses and tangent kernels.

    The loss is ``squared``, 1/(2B) sum_s |f(x_s) - y_s|^2 with one-hot labels, or
    ``cross_entropy``. Networks are trained in train mode, with batch norms and dropout as usual;
    losses and kernels are computed in eval mode.

    Args:
        inputs: ``data``, the images.
        settings: ``network`` (what the plan tells of it), ``train`` and ``test`` (numbers of
            images, null for all), ``per_class`` (training images of each class in the kernel),
            ``runs``, ``optimiser`` (adam or sgd), ``rate``, ``batch_size``, ``loss``, ``times``
            (numbers of steps, 0 first), ``maps`` (those of ``times`` at which kernels are kept).
        checkpoints: where to store what is found in each run; None for none.

    Returns:
        ``rows``: run, step, losses and accuracies of training and test images, diagonal (mean of
        Theta(x, x)), same_class and other_class (means over pairs of images, over the diagonal),
        alignment (with equal labels), change (|Theta - Theta_0| / |Theta_0|, Frobenius norms),
        eigenvalue (the largest one of the full kernel, over the number of images).
        ``curves``: step, quantity, median, lowest, highest, runs.
        ``kernels``: of run 0 at ``maps``: step, row, column, class_row, class_column, share.
        ``weights``: ``run<k>/step<t>/<name>``, all parameters and buffers at ``times``.

    Raises:
        ConfigError: there are fewer images than wanted, the network cannot be made or has no
            tangent kernel, or its loss is not finite.
        ResultError: a checkpoint cannot be written.
    """
    data = stratified_subset(
        inputs["data"], settings["train"], settings["test"], (NAME, "training")
    )
    networks, images = Networks(settings["network"], data), Images(data, settings["per_class"])
    runs = list(stored_map(
        lambda run: _run(networks.draw("training", run), images, settings, run),
        range(settings["runs"]), checkpoints, "runs",
    ))  # fmt: skip
    table = pd.DataFrame(
        [{"run": run, **row} for run, one in enumerate(runs) for row in one["rows"]]
    )
    kernels = [
        entries(kernel.numpy(), images.labels, step=step)
        for step, kernel in runs[0]["kernels"].items()
    ]
    weights = {f"run{run}/{name}": array.numpy() for run, one in enumerate(runs)
               for name, array in one["weights"].items()}  # fmt: skip
    return {"rows": table, "curves": curves(table, ["step"], QUANTITIES),
            "kernels": pd.concat(kernels, ignore_index=True), "weights": weights}  # fmt: skip


def _run(
    network: nn.Module, images: "Images", settings: Mapping[str, Any], run: int
) -> dict[str, Any]:
    """Train one network; return ``rows``, ``kernels`` at ``maps``, and ``weights`` by name."""
    rows, kernels, weights, first = [], {}, {}, None
    for step in trained(network, images, settings, run):
        losses = images.losses(network, settings["loss"])
        kernel = traced_kernel(network, images.kernel)
        first = kernel if first is None else first
        observed = _observed(network, kernel.numpy(), first.numpy(), images)
        rows.append({"step": step, **losses, **observed})
        if step in settings["maps"]:
            kernels[step] = kernel
        for name, array in network.state_dict().items():
            weights[f"step{step}/{name}"] = array.detach().clone()
    return {"rows": rows, "kernels": kernels, "weights": weights}


class Images:
    """Images and labels of a dataset as tensors.

    Attributes:
        train, test: images (n, C, H, W) and labels (n,).
        classes: number of classes.
        kernel: images of the kernel, grouped by class.
        labels: their classes.
    """

    def __init__(self, data: Any, per_class: int):
        self.train, self.test = (
            (tensor(getattr(data, f"{split}_images")),
             torch.from_numpy(getattr(data, f"{split}_labels")))
            for split in ("train", "test")
        )  # fmt: skip
        self.classes = len(data.class_names)
        self.kernel, self.labels = few(data, per_class)

    def losses(self, network: nn.Module, loss: str) -> dict[str, float]:
        """Return loss and accuracy of the training and of the test images, in eval mode."""
        found = {}
        for split, (x, y) in (("train", self.train), ("test", self.test)):
            with torch.no_grad():
                outputs = torch.cat([network(part) for part in x.split(CHUNK)])
            found[f"{split}_loss"] = float(loss_of(loss, outputs, y))
            found[f"{split}_accuracy"] = float((outputs.argmax(1) == y).double().mean())
        if not np.isfinite(list(found.values())).all():
            raise ConfigError("own.training.rate: the loss is not finite; choose a smaller rate")
        return found


def loss_of(loss: str, outputs: Tensor, labels: Tensor) -> Tensor:
    """Return the mean loss of outputs (N, K): ``squared`` or ``cross_entropy``."""
    if loss == "cross_entropy":
        return functional.cross_entropy(outputs, labels)
    wanted = functional.one_hot(labels, outputs.shape[1]).to(outputs)
    return 0.5 * (outputs - wanted).square().sum(1).mean()


def trained(
    network: nn.Module, images: Images, settings: Mapping[str, Any], run: int
) -> Iterator[int]:
    """Train a network in place; yield each of ``times`` with the network in eval mode."""
    x, y = images.train
    counted = [p for p in network.parameters() if p.requires_grad]
    optimiser = OPTIMISERS[settings["optimiser"]](counted, lr=settings["rate"])
    size = min(settings["batch_size"], len(x))
    generator = torch.Generator().manual_seed(seed_for(NAME, "training", run, "batches"))
    order, now = torch.empty(0, dtype=torch.int64), 0
    with seeded(seed_for(NAME, "training", run, "noise")):  # of dropout
        for step in settings["times"]:
            network.train()
            for _ in range(step - now):
                if len(order) < size:
                    order = torch.cat([order, torch.randperm(len(x), generator=generator)])
                batch, order = order[:size], order[size:]
                optimiser.zero_grad()
                loss_of(settings["loss"], network(x[batch]), y[batch]).backward()
                optimiser.step()
            now = step
            network.eval()
            yield step


def _observed(
    network: nn.Module, kernel: np.ndarray, first: np.ndarray, images: Images
) -> dict[str, float]:
    means = block_means(kernel, images.labels)
    largest = largest_eigenvalue(network, images.kernel, per_input=True)
    return {
        "diagonal": float(means.diagonal),
        "same_class": float(means.same_class / means.diagonal),
        "other_class": float(means.other_class / means.diagonal),
        "alignment": float(alignment(kernel, images.labels)),
        "change": float(np.linalg.norm(kernel - first) / np.linalg.norm(first)),
        "eigenvalue": float(largest.value.max()),
    }
