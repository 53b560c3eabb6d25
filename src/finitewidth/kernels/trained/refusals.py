"""Networks for which the kernel of single inputs is not defined or would come out wrong.

Each check raises a `ConfigError`, whose message says what to do.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.dropout import _DropoutNd
from torch.nn.parameter import is_lazy

from finitewidth.common.errors import ConfigError

# Outputs of one input alone and in a batch differ by less than this share of the largest output.
# In networks that are in use, rounding is a tenth of it or less.
SAME = {torch.float64: 1e-9, torch.float32: 2e-5, torch.float16: 1e-2, torch.bfloat16: 6e-2}
ROUNDINGS = 8  # a network may differ by so many times what rounding its parameters moves it by

# the buffers of a module, the name of one, it itself, and a copy of its values
Held = tuple[dict[str, Tensor | None], str, Tensor, Tensor]


class ChangedBufferError(ConfigError):
    """The network changes its buffers as it computes outputs."""


def check_modules(network: nn.Module, whole_batch: bool = False) -> None:
    """Check that no module is random, uses the statistics of the batch, or is uninitialised.

    The statistics of the batch may be used in the kernel of a whole batch.
    """
    for name, module in network.named_modules():
        reason = "" if whole_batch else _mixes(module)
        if not reason and module.training and _is_random(module):
            remedy = "set its mode by eval()" if whole_batch else "call network.eval()"
            reason = f"is in train mode and draws random numbers; {remedy}"
        if reason:
            raise ConfigError(f"network: module {name or 'itself'!r} ({_kind(module)}) {reason}")
    for name, parameter in network.named_parameters():
        if is_lazy(parameter):
            raise ConfigError(
                f"network: parameter {name!r} has no shape yet; run the network once on an input"
            )


def _mixes(module: nn.Module) -> str:
    """Return why a module mixes inputs or changes with them, or an empty string."""
    if isinstance(module, _BatchNorm) and (module.training or module.running_mean is None):
        where = "in train mode" if module.training else "without running statistics"
        return (
            f"is {where} and normalises with the statistics of the batch, so the output for one "
            "input depends on the others; use running statistics and call network.eval(). The "
            "kernel of the batch as one function is fw.traced_kernel(network, x, whole_batch=True)"
        )
    if isinstance(module, nn.InstanceNorm1d | nn.InstanceNorm2d | nn.InstanceNorm3d) and (
        module.training and module.track_running_stats
    ):
        return "is in train mode and would change its running statistics; call network.eval()"
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


def check_gradient(outputs: Tensor) -> None:
    """Check that outputs depend on some parameter."""
    if outputs.grad_fn is None:
        raise ConfigError(
            "network: its outputs have no gradient, so the kernel would be zero; remove no_grad, "
            "inference_mode and detach from the network, or from of="
        )


def check_counted(counted: Mapping[str, Tensor], name: str) -> None:
    """Check that outputs of a function, given by the argument ``name``, depend on parameters."""
    if not counted:
        raise ConfigError(
            f"{name}: its outputs depend on no counted parameter of the network, so the kernel "
            "would be zero; pass the network whose parameters they depend on, or count others "
            "with parameters="
        )


def without_gradient(error: RuntimeError) -> ConfigError:
    """Return the message for a network that autograd cannot differentiate."""
    reason = str(error)
    in_place = "modified by an inplace operation" in reason
    remedy = "; a tensor is changed in place after it was used, change a copy instead"
    return ConfigError(
        f"network: autograd cannot compute its gradients{remedy if in_place else ''} ({reason})"
    )


def not_apart(names: Sequence[str]) -> ConfigError:
    """Return the message for gradients by some parameters that mix inputs."""
    return ConfigError(
        f"network: gradients of single inputs by {', '.join(names)} do not add up to that of "
        "inputs computed together; the network is random, or mixes inputs"
    )


@contextmanager
def unchanged_buffers(network: nn.Module) -> Iterator[None]:
    """Check that a network leaves its buffers as they are; changed ones get their values back.

    That is also said of a network that is refused for what follows from it.

    Raises:
        ChangedBufferError: it does not.
    """
    names = {id(buffer): name for name, buffer in network.named_buffers()}
    held = _held_buffers(network)
    refused: ConfigError | None = None
    changed: list[str] = []
    try:
        yield
    except ConfigError as error:
        refused = error
    finally:
        changed += [names[id(buffer)] for buffer in _put_back(held)]
    if changed:
        in_training = any(module.training for module in network.modules())
        remedy = "call network.eval()" if in_training else "leave it as it is in eval mode"
        raise ChangedBufferError(
            f"network: it changes its buffer {changed[0]!r} as it computes outputs, as "
            f"spectral norms do in train mode; {remedy}"
        ) from refused
    if refused:
        raise refused


def completes_itself(network: nn.Module, run: Callable[[], object]) -> bool:
    """Tell whether a network changes its buffers in the first of two passes alone, and let it.

    Some networks, such as ConViT, compute a buffer when they see the first input. A network that
    changes its buffers at each pass gets their values back.
    """
    first = _held_buffers(network)
    run()
    second = _held_buffers(network)
    run()
    if not _put_back(second):
        return True
    _put_back(first)
    return False


def _held_buffers(network: nn.Module) -> list[Held]:
    """Return where a network holds its buffers, with copies of their values."""
    held = []
    for module in network.modules():
        for key, buffer in module._buffers.items():
            if buffer is not None:
                held.append((module._buffers, key, buffer, buffer.clone()))
    return held


def _put_back(held: Sequence[Held]) -> list[Tensor]:
    """Give buffers their values back, and return those that had changed."""
    changed = []
    for buffers, key, buffer, before in held:
        if buffers.get(key) is not buffer or not _equal(buffer, before):
            changed.append(buffer)
            buffers[key] = buffer
            with torch.no_grad():
                buffer.copy_(before)
    return changed


def _equal(first: Tensor, second: Tensor) -> bool:
    """Tell whether two tensors have the same shape and elements, where nan equals nan."""
    if torch.equal(first, second):
        return True
    nan = first.shape == second.shape and first.isnan() & second.isnan()
    return nan is not False and bool(((first == second) | nan).all())


def check_apart(
    pairs: Sequence[tuple[Tensor, Tensor]], dtype: torch.dtype, rounding: Callable[[], Tensor]
) -> None:
    """Check that a network computes for some inputs what it computes for them in a batch.

    Each pair holds outputs (n, K) for some inputs alone, or for all in another order, and those for
    these inputs among all. ``rounding`` returns how far outputs move if all parameters are rounded.
    It is called only where outputs differ, such as those of a deep chaotic network, or of a network
    less its initial value. ``dtype`` is the type of the lowest precision in the network.
    """
    if any(alone.shape != together.shape for alone, together in pairs):
        error: float | Tensor = torch.inf
    else:
        apart = [(alone - together).detach().abs().amax() for alone, together in pairs]
        error = torch.stack(apart).amax()  # nan where outputs are not finite
    largest = torch.stack([together.detach().abs().amax() for _, together in pairs]).amax()
    tolerance = SAME[dtype] * largest
    if error <= tolerance or error <= ROUNDINGS * rounding():
        return
    raise ConfigError(
        "network: its output for some inputs alone, or in another order, differs from its output "
        "for the same inputs in the batch; it mixes inputs or is random. The "
        "kernel needs a network that computes each output from one input; call network.eval(), and "
        "remove random functions. If it is rounding, convert network and inputs to float64"
    )


def alike(first: Tensor, second: Tensor) -> bool:
    """Tell whether two tensors have the same shape and are the same to half of their digits."""
    first, second = first.detach(), second.detach()
    if first.shape != second.shape or not first.numel():
        return first.shape == second.shape
    if not first.is_floating_point():
        return bool(torch.equal(first, second))
    tolerance = torch.finfo(second.dtype).eps ** 0.5 * second.abs().amax()
    return bool(((first - second).abs() <= tolerance).all())


def _kind(module: nn.Module) -> str:
    return type(module).__name__
