"""Networks for which the kernel of single inputs is not defined or would come out wrong."""

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.dropout import _DropoutNd
from torch.nn.parameter import UninitializedTensorMixin

from finitewidth.common.errors import ConfigError


def check_modules(network: nn.Module) -> None:
    """Check that no module is random, uses the statistics of the batch, or is uninitialised.

    Raises:
        ConfigError: a module does. The message names it.
    """
    for name, module in network.named_modules():
        reason = _reason(module)
        if reason:
            raise ConfigError(f"network: module {name or 'itself'!r} ({_kind(module)}) {reason}")
    for name, parameter in network.named_parameters():
        if isinstance(parameter, UninitializedTensorMixin):
            raise ConfigError(
                f"network: parameter {name!r} has no shape yet; run the network once on an input"
            )


def _reason(module: nn.Module) -> str:
    """Return why a module makes the kernel wrong, or an empty string."""
    if isinstance(module, _BatchNorm) and (module.training or module.running_mean is None):
        where = "in train mode" if module.training else "without running statistics"
        return (
            f"is {where} and normalises with the statistics of the batch, so the output for one "
            "input depends on the others; use running statistics and call network.eval()"
        )
    if isinstance(module, nn.InstanceNorm1d | nn.InstanceNorm2d | nn.InstanceNorm3d) and (
        module.training and module.track_running_stats
    ):
        return "is in train mode and would change its running statistics; call network.eval()"
    if module.training and _is_random(module):
        return "is in train mode and draws random numbers; call network.eval()"
    return ""


def _is_random(module: nn.Module) -> bool:
    if isinstance(module, _DropoutNd):
        return module.p > 0
    if isinstance(module, nn.RReLU):
        return True
    name = _kind(module).lower()
    if "stochastic" in name or "droppath" in name:  # such as torchvision.ops.StochasticDepth
        return True
    return isinstance(module, nn.MultiheadAttention | nn.RNNBase) and module.dropout > 0


def check_outputs(outputs: Tensor, samples: int) -> None:
    """Check that the outputs are numbers (N, K) that depend on parameters.

    Raises:
        ConfigError: they are not.
    """
    if not isinstance(outputs, Tensor) or outputs.dim() != 2 or len(outputs) != samples:
        found = tuple(outputs.shape) if isinstance(outputs, Tensor) else type(outputs).__name__
        raise ConfigError(
            f"of: the outputs are {found}; they must be a tensor ({samples}, K), one row for each "
            "input. Pass of=lambda x: network(x).flatten(1) or the like"
        )
    if not outputs.is_floating_point():
        raise ConfigError(f"of: the outputs are {outputs.dtype}; they must be real numbers")


def check_single_input(alone: Tensor, together: Tensor) -> None:
    """Check that a network computes for one input alone what it computes for it in a batch.

    Args:
        alone: outputs (1, K) for the first input alone.
        together: outputs (N, K) for all inputs.

    Raises:
        ConfigError: they differ by more than rounding.
    """
    if alike(alone, together.detach()[:1]):
        return
    raise ConfigError(
        "network: its output for the first input alone differs from its output for the same input "
        "in the batch; it mixes inputs, is random, or is not finite. The kernel needs a network "
        "that computes each output from one input; call network.eval(), and remove random functions"
    )


def alike(first: Tensor, second: Tensor) -> bool:
    """Tell whether two tensors have the same shape and differ by no more than rounding."""
    if first.shape != second.shape:
        return False
    tolerance = torch.finfo(second.dtype).eps ** 0.5 * second.abs().amax() if len(second) else 0
    return bool(((first - second).abs() <= tolerance).all())


def _kind(module: nn.Module) -> str:
    return type(module).__name__
