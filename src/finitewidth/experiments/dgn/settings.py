"""What no schema can check in the settings of dgn: values that contradict each other."""

from collections.abc import Mapping
from typing import Any

from finitewidth.common.errors import ConfigError
from finitewidth.common.settings import one_of
from finitewidth.experiments.checks import refuse_rare_snapshots

MAX_SIGNED_WEIGHTS = 8  # all signs of so many weights are listed


def check(dgn: Mapping[str, Any]) -> None:
    """Refuse settings of dgn that contradict each other.

    Raises:
        ConfigError: the message names the key, its value and what is allowed.
    """
    refuse_rare_snapshots("dgn.binary", dgn["binary"])
    sweep = dgn["sweep"]
    for name, value in sweep["in_text"].items():
        if value not in sweep[name]:
            raise ConfigError(f"dgn.sweep.in_text.{name}: {value} is refused; "
                              f"{one_of(sweep[name])}, as dgn.sweep.{name}")  # fmt: skip
    _check_convolution(dgn["concepts"]["convolution"])


def _check_convolution(convolution: Mapping[str, Any]) -> None:
    """Inputs as long as the network is wide, and few enough signs to list."""
    name, inputs = "dgn.concepts.convolution", convolution["inputs"]
    for example in convolution["examples"]:
        if len(example) != inputs:
            raise ConfigError(f"{name}.examples: {example} is refused; it needs as many entries as "
                              f"{name}.inputs, {inputs}")  # fmt: skip
    if convolution["kernel"] > inputs:
        raise ConfigError(f"{name}.kernel: {convolution['kernel']} is refused; it must be at most "
                          f"{name}.inputs, {inputs}")  # fmt: skip
    weights = convolution["kernel"] * convolution["layers"]
    if weights > MAX_SIGNED_WEIGHTS:
        raise ConfigError(f"{name}: kernel times layers is {weights}; it must be at most "
                          f"{MAX_SIGNED_WEIGHTS}, as all their signs are listed")  # fmt: skip
