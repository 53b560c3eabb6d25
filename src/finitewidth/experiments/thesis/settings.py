"""What no schema can check in the settings of the thesis: values that contradict each other."""

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

from finitewidth.common.errors import ConfigError


def check(thesis: Mapping[str, Any]) -> None:
    """Refuse windows larger than their image, too many coefficients and parts of parameters.

    Raises:
        ConfigError: the message names the key, its value and what is allowed.
    """
    for key, value, allowed in _faults(thesis):
        raise ConfigError(f"thesis.{key}: {value} is refused; {allowed}")


def _faults(thesis: Mapping[str, Any]) -> Iterator[tuple[str, Any, str]]:
    """Key, value and what is allowed instead, for each fault."""
    image, classical, risk = thesis["concepts"]["convolution"], thesis["classical"], thesis["risk"]
    if image["window"] > image["size"]:
        yield ("concepts.convolution.window", image["window"],
               f"it must be at most concepts.convolution.size, {image['size']}")  # fmt: skip
    if classical["largest_degree"] >= classical["samples"]:
        yield ("classical.largest_degree", classical["largest_degree"],
               f"it must be below classical.samples, {classical['samples']}")  # fmt: skip
    if any(b != 2 * a for a, b in itertools.pairwise(risk["doubled"])):
        yield "risk.doubled", risk["doubled"], "each number must be twice the one before"
    if set(risk["ratios"]) == {1}:
        yield ("risk.ratios", risk["ratios"], "one at least must differ from 1, where the mean is "
               "infinite")  # fmt: skip
    for key, ratios in (("ratios", risk["ratios"]), ("descent.ratios", risk["descent"]["ratios"])):
        for ratio in ratios:
            if not _whole(ratio * risk["samples"]) or not _whole(ratio * risk["doubled"][0]):
                sizes = f"{risk['samples']} (samples) and {risk['doubled'][0]} (doubled)"
                yield f"risk.{key}", ratio, f"times {sizes} it must be a whole number of parameters"
    if 1 in risk["descent"]["ratios"]:
        yield ("risk.descent.ratios", 1, "it must differ from 1, where descent takes millions "
               "of steps")  # fmt: skip


def _whole(number: float) -> bool:
    return round(number) >= 1 and abs(number - round(number)) < 1e-6
