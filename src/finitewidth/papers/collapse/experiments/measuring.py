"""What is measured during the trainings of ``collapse``, for each network of a stack."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from finitewidth.common.errors import ConfigError
from finitewidth.data.select import first_per_class
from finitewidth.kernels.trained import DEFAULT_BUDGET, traced_kernel
from finitewidth.measures.collapse import KERNELS, collapse_measures, kernel_measures
from finitewidth.networks.normalised.plain import build
from finitewidth.networks.normalised.specs import Network
from finitewidth.networks.normalised.stacked import StackedNetwork

GIB = 2**30  # bytes


class Measuring:
    """Measures of all networks of a stack on one batch, in eval mode.

    Features and metrics are those of the whole batch. The two traced kernels are of its first
    ``per_class`` images of each class, because their cost is quadratic in the number of images.
    """

    def __init__(
        self,
        network: Network,
        shape: tuple[int, int, int],
        classes: int,
        *,
        per_class: int,
        normalise_columns: bool = False,
        gib: float = DEFAULT_BUDGET / GIB,
    ):
        """Build the module in which the weights of one network after the other are put.

        Args:
            network: of the stack.
            shape: (C, H, W) of the images.
            classes: number of classes.
            per_class: images of each class in the kernels, at least two.
            normalise_columns: for NC2 and NC3, see `finitewidth.measures.collapse.nc2`.
            gib: memory for the kernels, in GiB.

        Raises:
            ConfigError: ``per_class`` is below two.
        """
        if per_class < 2:
            raise ConfigError(
                f"kernel_per_class = {per_class}: kappa_c is a mean over pairs of images of one "
                "class; set at least 2"
            )
        self.module = build(network, shape, classes)
        self.per_class, self.normalise_columns = per_class, normalise_columns
        self.gib = gib

    def __call__(
        self, stack: StackedNetwork, images: Tensor, labels: Tensor, epoch: int
    ) -> list[dict[str, Any]]:
        """Measure all networks.

        Args:
            stack: the networks; they are not changed.
            images: the last batch, (b, C, H, W).
            labels: its classes, (b,).
            epoch: not needed; training passes it.

        Returns:
            For each network the keys of `finitewidth.measures.collapse.collapse_measures` and
            `finitewidth.measures.collapse.kernel_measures`. All are nan if the network diverged.

        Raises:
            ConfigError: a class has fewer images than the kernels need.
        """
        classes = labels.cpu().numpy()
        chosen = first_per_class(classes, range(self.module.head.out_features), self.per_class)
        inputs = images[torch.from_numpy(chosen).to(images.device)]
        with torch.no_grad():
            features = stack.forward(images, training=False)[0].cpu().numpy()
        self.module.to(images)
        return [
            self._row(stack.state(replica), features[replica], classes, inputs, classes[chosen])
            for replica in range(stack.replicas)
        ]

    def _row(
        self,
        state: dict[str, Tensor],
        features: np.ndarray,
        labels: np.ndarray,
        inputs: Tensor,
        input_labels: np.ndarray,
    ) -> dict[str, float]:
        """Measures of one network from its state and its features."""
        weight, bias = (state[f"head.{name}"].cpu().numpy() for name in ("weight", "bias"))
        kernels = dict.fromkeys(KERNELS, np.nan)
        if all(torch.isfinite(tensor).all() for tensor in state.values()):
            self.module.load_state_dict(state)
            theta, theta_h = kernels_of(self.module, inputs, self.gib)
            kernels = kernel_measures(
                theta, theta_h, input_labels, outputs=len(bias), features=features.shape[1]
            )
        kappa = (kernels["kappa_d"], kernels["kappa_c"], kernels["kappa_n"])
        metrics = collapse_measures(
            features, labels, weight, bias, kappa, normalise_columns=self.normalise_columns
        )
        return metrics | kernels


def kernels_of(
    module: nn.Module, inputs: Tensor, gib: float = DEFAULT_BUDGET / GIB
) -> tuple[np.ndarray, np.ndarray]:
    """Compute the traced kernels of the outputs and of the features.

    Args:
        module: a network with ``features``; it is put in eval mode.
        inputs: images (S, C, H, W).
        gib: memory for the kernels, in GiB.

    Returns:
        Theta summed over outputs and Theta^h summed over features, (S, S) each, float64.

    Raises:
        ConfigError: the memory does not suffice; the message names ``kernel_gib``.
    """
    module.eval()
    # trainings measure without gradients
    with torch.enable_grad(), budget_of(gib) as budget:
        theta = traced_kernel(module, inputs, budget=budget)
        theta_h = traced_kernel(module, inputs, of=module.features, budget=budget)
    return theta.cpu().numpy(), theta_h.cpu().numpy()


@contextmanager
def budget_of(gib: float) -> Iterator[int]:
    """Memory in bytes; a kernel that refuses it names the setting."""
    try:
        yield int(gib * GIB)
    except ConfigError as error:
        raise ConfigError(
            f"kernel_gib = {gib}: too little memory for the kernels: {error}"
        ) from None
