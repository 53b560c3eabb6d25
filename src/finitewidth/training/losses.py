"""Losses and accuracies of stacked networks, one number per replica."""

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor


def batch_losses(loss: str, outputs: Tensor, targets: Tensor) -> Tensor:
    """Mean loss of each replica over its batch.

    Args:
        loss: ``cross_entropy`` (targets are classes) or ``squared`` (targets are real), the mean of
            (f - y)² over the batch and the outputs, as ``mse`` of Keras.
        outputs: (R, batch, outputs).
        targets: (R, batch).

    Returns:
        (R,).
    """
    if loss == "cross_entropy":
        flat = F.cross_entropy(outputs.flatten(0, 1), targets.flatten(), reduction="none")
        return flat.view(targets.shape).mean(dim=1)
    return (outputs.squeeze(-1) - targets).square().mean(dim=1)


def correct(loss: str, outputs: Tensor, targets: Tensor) -> Tensor:
    """Whether each output is correct, as booleans (R, batch).

    The prediction is the largest logit for ``cross_entropy`` and the sign for ``squared``.
    """
    if loss == "cross_entropy":
        return outputs.argmax(dim=-1) == targets
    return torch.sign(outputs.squeeze(-1)) == targets
