"""A network of the user: a function in a Python file, and modules with fresh random weights.

This module imports torch inside functions only, because the workflow of tiled kernels imports it
at every start.
"""

import copy
import difflib
import hashlib
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol

from finitewidth.common import torchvision_operators
from finitewidth.common.errors import ConfigError

if TYPE_CHECKING:
    from torch import Tensor, nn

CONTRACT = "a function (input_shape, classes) that returns a torch.nn.Module"
Shape = tuple[int, ...]


class Arguments(Protocol):
    """Inputs of a network that takes several, as `finitewidth.kernels.trained.batches.Batch`."""

    @property
    def tensors(self) -> "tuple[Tensor, ...]":
        """Return one tensor (N, ...) for each argument."""

    def passed_to(self, function: Callable[..., Any]) -> Any:
        """Call a function with these inputs."""


@dataclass(frozen=True)
class UserNetwork:
    """The name of a function that makes a network, and its Python file with the content ``source``.

    The code that is executed is compiled from ``source``, the bytes that ``digest`` describes. No
    cache of bytecode is read or written, since it may belong to another version of the file.
    """

    file: Path
    function: str
    source: bytes

    @property
    def name(self) -> str:
        """``my_net.py:make``, without folders."""
        return f"{self.file.name}:{self.function}"

    @property
    def digest(self) -> str:
        """SHA-256 of the file's content. Modules that the file imports are not looked at."""
        return hashlib.sha256(self.source).hexdigest()

    def factory(self) -> "Callable[..., nn.Module]":
        """Execute the file and return its function; the file may import torchvision.

        The result checks that the function returns a module.

        Raises:
            ConfigError: the file cannot be executed, it calls ``sys.exit``, or it has no such
                function.
        """
        module = ModuleType(f"finitewidth_user_{self.digest[:16]}")
        module.__file__ = str(self.file)
        sys.modules[module.__name__] = module  # dataclasses look their module up
        torchvision_operators.install()
        with self._executing(f"{self.file} cannot be executed"):
            code = compile(self.source, str(self.file), "exec", dont_inherit=True)
            exec(code, vars(module))
        make = self._function_of(module)

        @wraps(make)  # keeps its signature
        def checked(shape: Shape, classes: int, **sizes: int) -> "nn.Module":
            from torch import nn

            with self._executing(f"{self.name}({tuple(shape)}, {classes}) fails"):
                network = make(tuple(shape), classes, **sizes)
            if not isinstance(network, nn.Module):
                raise ConfigError(
                    f"{self.name} returns {type(network).__name__}; it must be {CONTRACT}"
                )
            return network

        return checked

    def _function_of(self, module: ModuleType) -> Callable[..., Any]:
        """Return the function from the module of the executed file."""
        members = vars(module)
        if self.function in members:
            function = members[self.function]
            if callable(function):
                return function
            raise ConfigError(f"{self.name} is {type(function).__name__}; it must be {CONTRACT}")
        public = [name for name in members if not name.startswith("_")]
        functions = [name for name in public if callable(members[name])]
        near = difflib.get_close_matches(self.function, functions, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"it has {', '.join(functions) or 'none'}."
        raise ConfigError(
            f"{self.file} has no function {self.function!r}; {hint} It must be {CONTRACT}"
        )

    @contextmanager
    def _executing(self, failure: str) -> Iterator[None]:
        """Let the user's code import from its own folder; its errors become one message."""
        folder = str(self.file.resolve().parent)
        sys.path.insert(0, folder)
        try:
            yield
        except (Exception, SystemExit) as error:
            raise ConfigError(f"{failure}: {_described(error, self.file)}") from error
        finally:
            sys.path.remove(folder)


def read_user_network(text: str) -> UserNetwork:
    """Read the file of a network, such as ``my_net.py:function``; nothing is executed.

    Raises:
        ConfigError: the text has another form, or the file cannot be read.
    """
    path, colon, function = text.rpartition(":")
    if not (colon and path.endswith(".py") and function.isidentifier()):
        raise ConfigError(
            f"{text!r} names no function in a Python file; write my_net.py:make, "
            f"where make is {CONTRACT}"
        )
    try:
        return UserNetwork(Path(path), function, Path(path).read_bytes())
    except OSError as error:
        raise ConfigError(
            f"{path} cannot be opened ({error.strerror}); give the path of your network's file"
        ) from None


def _described(error: BaseException, file: Path | None = None) -> str:
    """Return an error in one line, with the line of the user's file at which it arose."""
    line = None
    text = str(error)
    if isinstance(error, SyntaxError):
        line = error.lineno
        text = error.msg
    trace = error.__traceback__
    while trace:
        if file and trace.tb_frame.f_code.co_filename == str(file):
            line = trace.tb_lineno
        trace = trace.tb_next
    first, *_ = text.strip().splitlines() or ["no message"]
    location = f" ({file.name}, line {line})" if file and line else ""
    return f"{type(error).__name__}: {first}{location}"


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Let torch draw from a seed within the block; afterwards its numbers go on as before."""
    import torch

    with torch.random.fork_rng():
        torch.manual_seed(seed)
        yield


def draw(
    make: "Callable[[], nn.Module]", x: "Tensor | Arguments", classes: int, seed: int
) -> "nn.Module":
    """Make a network with fresh random weights, in eval mode, see also `placed`.

    ``make`` is called once, after ``torch.manual_seed(seed)``; the random numbers of the caller do
    not change. The outputs, at least ``classes``, are checked on a few inputs x, (N, ...).

    Raises:
        ConfigError: see `check`, or ``make`` returns no module.
    """
    from torch import nn

    with seeded(seed):
        network = make()
    if not isinstance(network, nn.Module):
        raise ConfigError(
            f"network: the function returns {type(network).__name__}, not a torch.nn.Module"
        )
    network = placed(network, x)
    check(network, x, classes)
    return network


def forget(network: "nn.Module") -> None:
    """Let a network drop tensors that it computed in eval mode and stored; modes do not change.

    Networks such as LeViT store tensors that follow from their parameters until ``train()`` is
    called. These have no gradient if they were computed without one, and otherwise they cannot be
    copied.
    """
    modes = [(module, module.training) for module in network.modules()]
    with suppress(NotImplementedError):  # an exported network has no modes
        network.train()
    for module, mode in modes:
        module.training = mode


def copied(network: "nn.Module") -> "nn.Module":
    """Return a copy of a network, see also `forget`.

    Raises:
        ConfigError: it cannot be copied.
    """
    forget(network)
    try:
        return copy.deepcopy(network)
    except Exception as error:
        raise ConfigError(
            f"network: it cannot be copied ({_described(error)}); give a function that makes it"
        ) from error


def placed(network: "nn.Module", x: "Tensor | Arguments") -> "nn.Module":
    """Return a network in eval mode on the device of x, and in its type if that is floating.

    If x has several tensors, the type is that of the first floating one.

    Raises:
        ConfigError: a parameter has no values.
    """
    if any(p.device.type == "meta" for p in network.parameters()):
        raise ConfigError(
            "network: a parameter is on the device 'meta' and has no values; make it on 'cpu'"
        )
    tensors = _tensors_of(x)
    floating = [tensor.dtype for tensor in tensors if tensor.is_floating_point()]
    dtype = floating[0] if floating else None
    return network.to(tensors[0].device, dtype).eval()


def _tensors_of(x: "Tensor | Arguments") -> "tuple[Tensor, ...]":
    """Return the tensors of one input, or of several."""
    import torch

    return (x,) if isinstance(x, torch.Tensor) else x.tensors


def check(network: "nn.Module", x: "Tensor | Arguments", classes: int) -> None:
    """Check that a network has trainable parameters, and outputs (N, K) with K >= ``classes``.

    Raises:
        ConfigError: it has not, or it does not take the inputs.
    """
    import torch

    if not any(p.requires_grad for p in network.parameters()):
        raise ConfigError(
            "network: no parameter is trainable, so there is no tangent kernel; "
            "leave requires_grad of its parameters True"
        )
    tensors = _tensors_of(x)
    shape = ", ".join(str(tuple(tensor.shape)) for tensor in tensors)
    count = len(tensors[0])
    try:
        with torch.no_grad():
            outputs = network(x) if isinstance(x, torch.Tensor) else x.passed_to(network)
    except Exception as error:
        raise ConfigError(
            f"network: it does not take inputs of shape {shape}: {_described(error)}"
        ) from error
    is_tensor = isinstance(outputs, torch.Tensor)
    if not is_tensor or outputs.dim() != 2 or len(outputs) != count:
        result = tuple(outputs.shape) if is_tensor else type(outputs).__name__
        raise ConfigError(
            f"network: it maps inputs of shape {shape} to {result}; the outputs must "
            f"be ({count}, {classes}), one for each class"
        )
    number = outputs.shape[1]
    if number < classes:
        raise ConfigError(
            f"network: it has {number} outputs for {classes} classes; use one for each class"
        )
