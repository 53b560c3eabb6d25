"""The parameters of a network that are counted."""

import difflib
from collections.abc import Callable, Sequence
from typing import TypeAlias

from torch import nn
from torch.nn.parameter import is_lazy

from finitewidth.common.errors import ConfigError
from finitewidth.kernels.trained.inputs import check_tensor

# tells by its name whether a parameter is counted; or its name, that of a module, or several
Chosen: TypeAlias = Callable[[str], bool] | str | Sequence[str]


def counted_parameters(network: nn.Module, chosen: Chosen | None) -> dict[str, nn.Parameter]:
    """Return the parameters of the kernel by name."""
    trainable = {name: p for name, p in network.named_parameters() if p.requires_grad}
    if chosen is None:
        counted = trainable
    else:
        counts = chosen if callable(chosen) else _named(network, chosen)
        counted = {name: p for name, p in trainable.items() if counts(name)}
    strange = [name for name, parameter in counted.items() if parameter.is_complex()]
    if strange:
        raise ConfigError(
            f"network: parameter {strange[0]!r} is complex; kernels are those of real parameters. "
            "Hold real and imaginary parts, or leave it out with parameters="
        )
    for name, parameter in counted.items():
        if not is_lazy(parameter):  # refused with the modules
            check_tensor(parameter, f"network: parameter {name!r}")
    if not counted:
        raise ConfigError(
            "network: no parameter is counted; they need requires_grad=True, and parameters= must "
            "accept some names"
        )
    return counted


def _named(network: nn.Module, chosen: str | Sequence[str]) -> Callable[[str], bool]:
    """Return the function that accepts parameters by their names, or by those of their modules.

    Raises:
        ConfigError: there is no such parameter or module.
    """
    names = [chosen] if isinstance(chosen, str) else list(chosen)
    known = {name for name, _ in network.named_parameters()}
    modules = {name for name, _ in network.named_modules()}
    for name in names:
        has_parameters = name in modules and any(_within(one, name) for one in known)
        if name not in known and not has_parameters:
            near = difflib.get_close_matches(str(name), known | modules, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise ConfigError(
                f"parameters: {name!r} is no parameter of the network, and no module that has some"
                f"{hint}"
            )
    return lambda name: any(name == one or _within(name, one) for one in names)


def _within(name: str, module: str) -> bool:
    return name.startswith(f"{module}.")
