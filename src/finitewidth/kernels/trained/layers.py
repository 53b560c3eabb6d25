"""Modules whose parameter gradients follow from their inputs and the signals at their outputs.

The output of such a module is seen as (N, C, P): N inputs, C channels, P positions at which the
same parameters act. With the signal g (N, C, P), the derivative of an output of the network by the
output of the module, the gradients for one input are

    Linear, Conv     weight: sum_p g_p a_p^T, where the patch a_p is what the weights see at p
    norm layers      scale: sum_p g_p o xhat_p, where xhat is the normalised input
    all              bias, shift: sum_p g_p
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import prod

import torch
from torch import Tensor, nn
from torch.nn import functional

LINEAR = (nn.Linear,)
CONVOLUTIONS = (nn.Conv1d, nn.Conv2d, nn.Conv3d)
BATCH_NORMS = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)
INSTANCE_NORMS = (nn.InstanceNorm1d, nn.InstanceNorm2d, nn.InstanceNorm3d)
TRAILING_NORMS = (nn.LayerNorm, nn.RMSNorm)  # over the last axes
NORMS = (*BATCH_NORMS, *INSTANCE_NORMS, *TRAILING_NORMS, nn.GroupNorm)
PRODUCTS = (*LINEAR, *CONVOLUTIONS)


@dataclass(eq=False)
class Call:
    """One call of a module during a forward pass.

    Attributes:
        module: the module.
        input: its input, without history.
        version: version of the input at the call; a later change in place raises it.
        output: its output, a node of the graph.
    """

    module: nn.Module
    input: Tensor
    version: int
    output: Tensor

    @property
    def size(self) -> tuple[int, int, int]:
        """Return N, C and P of the output."""
        N, shape = len(self.output), self.output.shape
        C = channels(self.module)
        return N, C, prod(shape[1:]) // C


def supported(module: nn.Module) -> bool:
    """Tell whether the formulas hold for a module: its type is known and its forward unchanged."""
    for known in (*PRODUCTS, *NORMS):
        if isinstance(module, known) and type(module).forward is known.forward:
            changed = known in CONVOLUTIONS and (
                type(module)._conv_forward is not known._conv_forward
            )
            return not changed and set(module._parameters) <= {"weight", "bias"}
    return False


def channels(module: nn.Module) -> int:
    """Return C, the size of the channel axis of a module's output."""
    if isinstance(module, LINEAR):
        return module.out_features
    if isinstance(module, CONVOLUTIONS):
        return module.out_channels
    if isinstance(module, TRAILING_NORMS):
        return prod(module.normalized_shape)
    return module.num_channels if isinstance(module, nn.GroupNorm) else module.num_features


def by_channel(module: nn.Module, tensor: Tensor) -> Tensor:
    """Return a tensor in the shape of a module's output as (N, C, P)."""
    if isinstance(module, (*LINEAR, *TRAILING_NORMS)):  # channels last
        return tensor.reshape(len(tensor), -1, channels(module)).mT
    return tensor.reshape(len(tensor), channels(module), -1)


def patch_shape(module: nn.Module) -> tuple[int, int]:
    """Return the number of groups G and the fan-in D of a linear or convolutional module."""
    if isinstance(module, LINEAR):
        return 1, module.in_features
    per_group = module.in_channels // module.groups
    return module.groups, per_group * prod(module.kernel_size)


def patches(module: nn.Module, x: Tensor) -> Tensor:
    """Return what the weights of a module see at each position, (N, G, D, P).

    Args:
        module: a linear or convolutional module.
        x: its input, (N, ..., fan-in) or (N, channels, ...).
    """
    if isinstance(module, LINEAR):
        return x.reshape(len(x), 1, -1, module.in_features).mT
    axes = len(module.kernel_size)
    x = _padded(module, x)
    for axis, (size, stride, dilation) in enumerate(
        zip(module.kernel_size, module.stride, module.dilation, strict=True), start=2
    ):
        x = x.unfold(axis, dilation * (size - 1) + 1, stride)[..., ::dilation]
    # (N, channels, positions..., taps...) -> (N, channels, taps..., positions...)
    x = x.permute(0, 1, *range(2 + axes, 2 + 2 * axes), *range(2, 2 + axes))
    return x.reshape(len(x), *patch_shape(module), -1)


def _padded(module: nn.Module, x: Tensor) -> Tensor:
    """Return the input of a convolution with its padding; torch allows ``same`` and ``valid``."""
    sides: list[int] = []  # the last axis first, as in torch.nn.functional.pad
    for axis in reversed(range(len(module.kernel_size))):
        if module.padding == "valid":
            sides += [0, 0]
        elif module.padding == "same":
            total = module.dilation[axis] * (module.kernel_size[axis] - 1)
            sides += [total // 2, total - total // 2]
        else:
            sides += [module.padding[axis]] * 2
    mode = "constant" if module.padding_mode == "zeros" else module.padding_mode
    return functional.pad(x, sides, mode=mode) if any(sides) else x


def normalised(module: nn.Module, x: Tensor) -> Tensor:
    """Return the normalised input of a norm layer before scale and shift, (N, C, P)."""
    if isinstance(module, BATCH_NORMS):
        x = functional.batch_norm(x, module.running_mean, module.running_var, eps=module.eps)
    elif isinstance(module, INSTANCE_NORMS):
        own = not module.track_running_stats or module.running_mean is None
        x = functional.instance_norm(
            x, module.running_mean, module.running_var, use_input_stats=own, eps=module.eps
        )
    elif isinstance(module, nn.GroupNorm):
        x = functional.group_norm(x, module.num_groups, eps=module.eps)
    elif isinstance(module, nn.LayerNorm):
        x = functional.layer_norm(x, module.normalized_shape, eps=module.eps)
    else:
        x = functional.rms_norm(x, module.normalized_shape, eps=module.eps)
    return by_channel(module, x)


@dataclass(frozen=True)
class Unit:
    """Parameters whose part of the kernel is computed together.

    Attributes:
        name: the module, or the parameter if it is not reached through calls.
        kind: "product" (weights of linear and convolutional modules), "scale" (weights of norm
            layers) or "shift" (biases).
        calls: the calls that use these parameters. Gradients of several calls add up.
        bias: whether the biases of the same calls are part of a product, as weights of a further
            input that is 1.
    """

    name: str
    kind: str
    calls: tuple[Call, ...]
    bias: bool = False

    @property
    def shape(self) -> tuple[int, int, int, int, int]:
        """Return N, G, c, D and P: channels per group c, fan-in D, positions of all calls P."""
        N, C, _ = self.calls[0].size
        G, D = patch_shape(self.calls[0].module) if self.kind == "product" else (1, 1)
        return N, G, C // G, D + self.bias, sum(call.size[2] for call in self.calls)

    def patches(self, samples: slice = slice(None)) -> Tensor:
        """Return the patches of all calls for some inputs, (n, G, D, P)."""
        a = _joined(patches(call.module, call.input[samples]) for call in self.calls)
        return torch.cat([a, torch.ones_like(a[:, :, :1])], dim=2) if self.bias else a

    def signals(self, of_call: Callable[[Call], Tensor]) -> Tensor:
        """Return the signals of all calls, (N, k, C, P), from those of single calls."""
        return _joined(of_call(call) for call in self.calls)

    def rows(self, of_call: Callable[[Call], Tensor]) -> Tensor:
        """Return the gradients by scales or shifts, (N, k, C)."""
        total = 0
        for call in self.calls:
            g = of_call(call)
            if self.kind == "shift":
                total = total + g.sum(-1)
            else:
                xhat = normalised(call.module, call.input)
                total = total + torch.einsum("nkcp,ncp->nkc", g, xhat)
        return total


def _joined(parts: Iterable[Tensor]) -> Tensor:
    parts = list(parts)
    return parts[0] if len(parts) == 1 else torch.cat(parts, dim=-1)
