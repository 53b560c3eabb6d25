"""Tensors that no kernel can be computed of, and what to pass in their place."""

import torch
from torch import Tensor

from finitewidth.common.errors import ConfigError


def check_tensor(x: Tensor, name: str) -> None:
    """Check that a tensor has values that can be looked at, in rows, on a device with float64.

    Args:
        x: the tensor.
        name: of the argument, for error messages.

    Raises:
        ConfigError: it is sparse, nested, quantised or of 8-bit numbers, or on ``meta`` or ``mps``.
    """
    kind = x.device.type
    if kind == "meta":
        raise ConfigError(f"{name}: it is on the device 'meta' and has no values; make it on 'cpu'")
    if kind == "mps":
        raise ConfigError(
            f"{name}: it is on the device 'mps', which has no float64, in which kernels are added "
            "up; move network and inputs to 'cpu'"
        )
    if x.is_nested:
        raise ConfigError(f"{name}: it is nested; pad its rows to one length and pass one tensor")
    if x.layout != torch.strided:
        layout = str(x.layout).removeprefix("torch._").removeprefix("torch.")
        raise ConfigError(f"{name}: its layout is {layout}; convert it with to_dense()")
    if x.is_quantized:
        raise ConfigError(f"{name}: its numbers are quantised; convert it with dequantize()")
    if x.is_floating_point() and x.element_size() < 2:
        raise ConfigError(f"{name}: its type {x.dtype} has too few digits; convert it with float()")
