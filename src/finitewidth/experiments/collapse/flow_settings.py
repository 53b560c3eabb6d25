"""What no schema can check in the settings of the flow and of Table 1 of ``collapse``."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from finitewidth.common.errors import ConfigError


def check(collapse: Mapping[str, Any]) -> None:
    """Refuse kernels that are no block kernels, too few features, and steps that do not fit.

    Args:
        collapse: the section of that name, with ``flow`` and ``block_kernel``.

    Raises:
        ConfigError: the message names the key, its value and what is allowed.
    """
    for key, value, allowed in _faults(collapse["flow"], collapse["block_kernel"]):
        raise ConfigError(f"collapse.{key}: {value} is refused; {allowed}")


def _faults(flow: Mapping[str, Any], table: Mapping[str, Any]) -> Iterator[tuple[str, Any, str]]:
    """Key, value and what is allowed instead, for each fault."""
    if flow["features"] < flow["classes"]:
        yield ("flow.features", flow["features"],
               f"it must be at least flow.classes, {flow['classes']}")  # fmt: skip
    kernel = [flow["kernel"][name] for name in ("diagonal", "same_class", "other_class")]
    kernels = [("flow.kernel", kernel), ("block_kernel.kernel", table["kernel"])]
    kernels += [("flow.residuals.kernels", values) for values in flow["residuals"]["kernels"]]
    kernels += [("flow.frozen.other_class", [*kernel[:2], other])
                for other in flow["frozen"]["other_class"]]  # fmt: skip
    for key, values in kernels:
        if not _descending(values):
            allowed = "the values must fall from a sample with itself to two samples of a class "
            yield key, values, f"{allowed}to two of different classes, which is at least 0"
    steps = flow["steps"]
    for step in steps["steps"]:
        if abs(steps["time"] / step - round(steps["time"] / step)) > 1e-6:
            yield ("flow.steps.steps", step,
                   f"flow.steps.time, {steps['time']}, must be a multiple of it")  # fmt: skip


def _descending(values: Sequence[float]) -> bool:
    """Whether they are three values as in Definition 3.1."""
    return len(values) == 3 and values[0] > values[1] > values[2] >= 0
