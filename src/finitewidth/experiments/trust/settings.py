"""What no schema can check in the settings of trust: values that contradict each other."""

from collections.abc import Iterator, Mapping
from typing import Any

from finitewidth.common.errors import ConfigError

SECTIONS = {
    "descent_tanh": "tanh", "descent_relu": "relu",
    "descent_scaled_tanh": "tanh", "descent_scaled_relu": "relu",
}  # fmt: skip


RULES = ("common", "scaled")


def check(trust: Mapping[str, Any]) -> None:
    """Refuse descents of another activation, times after the end, and a width that is not there.

    Raises:
        ConfigError: the message names the key, its value and what is allowed.
    """
    for section, activation in SECTIONS.items():
        for key, value, allowed in _faults(section, trust[section], activation):
            raise ConfigError(f"trust.{section}.{key}: {value} is refused; {allowed}")


def _faults(
    section: str, descent: Mapping[str, Any], activation: str
) -> Iterator[tuple[str, Any, str]]:
    """Key, value and what is allowed instead, for each fault."""
    if descent["activation"] != activation:
        yield "activation", descent["activation"], f"it must be {activation}"
    if descent["width"] not in descent["widths"]:
        yield "width", descent["width"], f"it must be among the widths, {descent['widths']}"
    if max(descent["times"]) > descent["steps"]:
        yield "times", descent["times"], f"they must be at most steps, {descent['steps']}"
    rule = RULES[section.startswith("descent_scaled")]
    if descent["rate_rule"] != rule:
        yield "rate_rule", descent["rate_rule"], f"it must be {rule}"
    if descent["mode"] == "flow" and activation != "tanh":
        yield "mode", "flow", "it is accurate for tanh only"
