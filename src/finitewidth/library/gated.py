"""Training of a stack of gated networks on arrays."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from finitewidth.common.errors import ConfigError
from finitewidth.kernels.ntk_init import initialisation as checks
from finitewidth.networks.architecture import Architecture
from finitewidth.training.run import Replica, TrainingRun

if TYPE_CHECKING:
    import pandas as pd
    import torch

    from finitewidth.common.arrays import Array
    from finitewidth.training.images import Images


def train_gated(
    train: "tuple[Array, Array]",
    test: "tuple[Array, Array]",
    *,
    architecture: Architecture,
    regime: str = "relu",
    seeds: Sequence[int] = (0, 1, 2),
    step_size: float = 0.001,
    optimiser: Literal["adam", "sgd", "rmsprop"] = "adam",
    epochs: int = 10,
    batch_size: int = 32,
    beta: float | None = None,
    eps: float = 0.0,
    device: str = "cpu",
) -> "tuple[pd.DataFrame, dict[str, np.ndarray]]":
    """Train networks with separated gates in one stack, one for each seed.

    Args:
        train: inputs and labels. Inputs are (n, features) for a fully connected architecture,
            (n, channels, height, width) for a convolutional one; labels (n,) are 0 .. K - 1.
        test: the same for testing.
        architecture: of the value and of the feature network.
        regime: "relu", "frnpf_ii", "frnpf_di", "dlnpf", "galu", "soft_galu", "soft_relu", "linear",
            "gates_only" or "gates_and_output"; see the glossary.
        seeds: one network each; a seed decides initial weights and the order of the images.
        step_size: of the optimiser.
        optimiser: "sgd", "adam" or "rmsprop".
        epochs: passes over the training inputs.
        batch_size: inputs per step.
        beta: slope of soft gates; None for hard gates.
        eps: overshoot of soft gates.
        device: "cpu" or a CUDA device.

    Returns:
        The history, one row per epoch and seed with losses and accuracies, and the last weights,
        ``value/0.weight`` and so on -> (len(seeds), fan_in, fan_out) for dense layers.

    Raises:
        ConfigError: an argument is out of range, or the regime needs weights of another training.

    Examples:
        >>> import numpy as np
        >>> import finitewidth as fw
        >>> x = np.random.default_rng(0).standard_normal((64, 8)).astype("float32")
        >>> y = (x[:, 0] > 0).astype("int64")
        >>> history, weights = fw.train_gated(
        ...     (x, y), (x, y), architecture=fw.Architecture(dense=(16, 16)), regime="dlnpf",
        ...     beta=4.0, epochs=2)
        >>> sorted(history["epoch"].unique().tolist())
        [1, 2]
        >>> weights["value/0.weight"].shape
        (3, 8, 16)
    """
    import pandas as pd

    from finitewidth.training.gated import train as carry_out

    checks.checked_choice("optimiser", optimiser, ("sgd", "adam", "rmsprop"))
    checks.checked_number("step_size", step_size, above=0)
    checks.checked_number("eps", eps)
    if beta is not None:
        checks.checked_number("beta", beta, above=0)
    checks.checked_count("epochs", epochs)
    checks.checked_count("batch_size", batch_size)

    replicas = []
    for seed in seeds:
        replica = Replica(
            name=f"library/{regime}/{seed}",
            regime=regime,
            seed=int(seed),
            step_size=step_size,
            beta=beta,
            eps=eps,
        )
        replicas.append(replica)
    run = TrainingRun(
        row=regime,
        replicas=tuple(replicas),
        architecture=architecture,
        optimiser=optimiser,
        batch_size=batch_size,
        epochs=epochs,
        keep=("last",),
    )
    trained = carry_out(run, _images(train, test, architecture, device))
    weights = {name.removeprefix("last/"): array for name, array in trained.weights.items()}
    return pd.DataFrame(trained.history), weights


def _images(
    train: "tuple[Array, Array]",
    test: "tuple[Array, Array]",
    architecture: Architecture,
    device: str,
) -> "Images":
    """Arrays as `Images`, after checks of their shapes."""
    from finitewidth.training.images import Images

    axes = 4 if architecture.channels else 2
    train_x, train_y = _tensors("train", train, axes, device)
    test_x, test_y = _tensors("test", test, axes, device)
    outputs = int(max(train_y.max(), test_y.max())) + 1
    return Images(train_x, train_y, test_x, test_y, outputs=outputs)


def _tensors(
    name: str, pair: "tuple[Array, Array]", axes: int, device: str
) -> "tuple[torch.Tensor, torch.Tensor]":
    """Inputs with so many axes, and labels, as tensors on the device.

    Raises:
        ConfigError: their shapes do not match, or their values are out of range.
    """
    import torch

    x = np.asarray(pair[0], dtype=np.float32)
    y = np.asarray(pair[1])
    if x.ndim != axes or y.shape != (len(x),) or not len(x):
        raise ConfigError(
            f"{name}: inputs of shape {x.shape} and labels of shape {y.shape}; this "
            f"architecture needs inputs with {axes} axes and one label for each"
        )
    if not np.isfinite(x).all() or not np.issubdtype(y.dtype, np.integer) or y.min() < 0:
        raise ConfigError(f"{name}: inputs must be finite, and labels integers from 0")
    return torch.from_numpy(x).to(device), torch.from_numpy(y.astype(np.int64)).to(device)
