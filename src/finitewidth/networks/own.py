"""Networks of the user as torch modules: made from YAML or by a factory, and drawn at random."""

import itertools
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch import Tensor, nn

from finitewidth.common import torchvision_operators
from finitewidth.common.errors import ConfigError
from finitewidth.networks.architecture import layers_of
from finitewidth.networks.own_file import CONTRACT, KEY, OwnFile
from finitewidth.networks.own_yaml import architecture_of, read_own_yaml

Shape = tuple[int, int, int]
Factory = Callable[[Shape, int], nn.Module]
LAYERS: dict[str, Callable[[], nn.Module]] = {
    "relu": nn.ReLU, "leaky_relu": nn.LeakyReLU, "elu": nn.ELU, "gelu": nn.GELU, "silu": nn.SiLU,
    "softplus": nn.Softplus, "tanh": nn.Tanh, "sigmoid": nn.Sigmoid, "linear": nn.Identity,
}  # fmt: skip
_numbers = itertools.count()


def factory_of(own: OwnFile) -> Factory:
    """Return the function that makes the network.

    Args:
        own: as `finitewidth.networks.own_file.own_file` returned it.

    Raises:
        ConfigError: the file cannot be executed or has no such function, or the YAML is refused.
    """
    if not own.function:
        described = read_own_yaml(own.file)
        return lambda shape, classes: from_yaml(described, shape, classes)
    module = _executed(own.file)
    factory = getattr(module, own.function, None)
    if not callable(factory):
        raise ConfigError(f"{KEY}: {own.name} is {type(factory).__name__}; it must be {CONTRACT}")
    return factory


def _executed(file: Path) -> Any:
    """Execute a Python file; it may import modules from its own folder."""
    # a name of its own, so that two files of one name are two modules
    name = f"finitewidth_own_{next(_numbers)}"
    module = ModuleType(name)
    module.__file__ = str(file)
    sys.modules[name] = module  # dataclasses look their module up
    folder = str(file.resolve().parent)
    sys.path.insert(0, folder)
    torchvision_operators.install()  # the file may import torchvision
    try:
        # not by an import, which would take bytecode of a file of equal size and date
        exec(compile(file.read_bytes(), file, "exec", dont_inherit=True), module.__dict__)
    except (Exception, SystemExit) as error:
        raise ConfigError(f"{KEY}: {file} cannot be executed: {_told(error, file)}") from error
    finally:
        sys.path.remove(folder)
    return module


def draw(own: OwnFile, factory: Factory, shape: Shape, classes: int, seed: int) -> nn.Module:
    """Make the network with fresh random weights, in eval mode.

    The factory is called after ``torch.manual_seed(seed)``; the random numbers of the caller do not
    change.

    Args:
        own: for messages.
        factory: from `factory_of`.
        shape: (channels, height, width) of the images.
        classes: number of outputs.
        seed: of all weights.

    Raises:
        ConfigError: the factory fails, returns no module, or the module has no trainable
            parameters or does not map (N, channels, height, width) to (N, classes).
    """
    with seeded(seed):
        try:
            network = factory(shape, classes)
        except (Exception, SystemExit) as error:
            raise ConfigError(f"{KEY}: {own.name}({shape}, {classes}) fails: "
                              f"{_told(error, own.file)}") from error  # fmt: skip
        if not isinstance(network, nn.Module):
            raise ConfigError(f"{KEY}: {own.name} returns {type(network).__name__}, not a "
                              f"torch.nn.Module; it must be {CONTRACT}")  # fmt: skip
        network.eval()
        _check_outputs(own, network, shape, classes)
    if not any(p.requires_grad for p in network.parameters()):
        raise ConfigError(f"{KEY}: {own.name} has no trainable parameter, so it has no tangent "
                          "kernel; leave requires_grad of its parameters True")  # fmt: skip
    return network


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Let torch draw from a seed within the block; afterwards its numbers go on as before."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        yield


def _check_outputs(own: OwnFile, network: nn.Module, shape: Shape, classes: int) -> None:
    try:
        with torch.no_grad():
            outputs = network(torch.zeros(2, *shape))
    except (Exception, SystemExit) as error:
        raise ConfigError(f"{KEY}: {own.name} does not take images of shape (N, {_sizes(shape)}): "
                          f"{_told(error, own.file)}") from error  # fmt: skip
    found = tuple(outputs.shape) if isinstance(outputs, Tensor) else type(outputs).__name__
    if found != (2, classes):
        raise ConfigError(f"{KEY}: {own.name} maps images of shape (2, {_sizes(shape)}) to {found};"
                          f" the outputs must be (2, {classes}), one for each class: use the "
                          "argument classes for the last layer")  # fmt: skip


def _sizes(shape: Shape) -> str:
    return ", ".join(str(size) for size in shape)


def _told(error: BaseException, file: Path) -> str:
    """The error in one line, with the line of the user's file at which it arose."""
    place, trace = "", error.__traceback__
    while trace:
        if Path(trace.tb_frame.f_code.co_filename) == file:
            place = f" ({file.name}, line {trace.tb_lineno})"
        trace = trace.tb_next
    text = str(error).strip().splitlines()
    return f"{type(error).__name__}: {text[0] if text else 'no message'}{place}"


def from_yaml(described: Mapping[str, Any], shape: Shape, classes: int) -> nn.Sequential:
    """Make a network that YAML describes, with weights drawn from torch's own generator.

    Args:
        described: from `finitewidth.networks.own_yaml.read_own_yaml`.
        shape: (channels, height, width).
        classes: number of outputs.

    Raises:
        ConfigError: the images are too small for the convolutions.
    """
    channels, height, width = shape
    layers = layers_of(architecture_of(described), (height, width, channels), classes)
    modules: list[nn.Module] = []
    for place, layer in enumerate(layers):
        if layer.kind == "conv":
            if any(layer.pad):
                modules.append(nn.ZeroPad2d(layer.pad))
            made: nn.Module = nn.Conv2d(
                layer.fan_in, layer.fan_out, 3, stride=layer.stride, bias=layer.bias
            )
        else:
            if layer.reduce == "average":
                modules.append(nn.AdaptiveAvgPool2d(1))
            if layer.reduce:
                modules.append(nn.Flatten())
            made = nn.Linear(layer.fan_in, layer.fan_out, bias=layer.bias)
        _initialise(made, described["init"])
        modules.append(made)
        if place < len(layers) - 1:
            modules.append(LAYERS[described["activation"]]())
    return nn.Sequential(*modules)


def _initialise(layer: Any, init: str | Mapping[str, float]) -> None:
    if init == "torch":
        return
    fan_in = layer.weight[0].numel()
    with torch.no_grad():
        if init == "glorot_uniform":
            nn.init.xavier_uniform_(layer.weight)
        elif init == "he_uniform":
            nn.init.kaiming_uniform_(layer.weight, nonlinearity="relu")
        else:
            layer.weight.normal_(0.0, (init["sigma_w2"] / fan_in) ** 0.5)
        if layer.bias is not None:
            layer.bias.normal_().mul_((0.0 if isinstance(init, str) else
                                       init.get("sigma_b2", 0.0)) ** 0.5)  # fmt: skip
