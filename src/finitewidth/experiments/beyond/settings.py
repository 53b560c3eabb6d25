"""What no schema can check in the settings of beyond: values that contradict each other."""

from collections.abc import Mapping
from typing import Any

from finitewidth.common.errors import ConfigError

MAPS = 4  # heat maps beside each other


def check(beyond: Mapping[str, Any]) -> None:
    """Refuse lines with bands that are not among all lines, one width, an empty map, odd times.

    Raises:
        ConfigError: the message names the key, its value and what is allowed.
    """
    diagonal, ratio = beyond["diagonal"], beyond["off_diagonal"]["ratio"]
    pairs = {
        f"diagonal.{group}.banded": (diagonal[group]["banded"], diagonal[group]["sigma_w2"])
        for group in ("phases", "near")
    } | {
        f"off_diagonal.ratio.banded.{key}": (ratio["banded"][key], ratio[key])
        for key in ("sigma_w2", "cosines")
    }
    for key, (chosen, known) in pairs.items():
        if not set(chosen) <= set(known):
            among = f"beyond.{key.replace('.banded', '')}" + ".sigma_w2" * key.endswith("banded")
            raise ConfigError(f"beyond.{key}: {chosen} is refused; all of it must be in {among}, "
                              f"{known}")  # fmt: skip
    name = "beyond.theory.architectures"
    narrow, wide = (beyond["theory"]["architectures"][key] for key in ("narrow", "wide"))
    if narrow >= wide:
        raise ConfigError(f"{name}.narrow: {narrow} is refused; it must be below "
                          f"{name}.wide, {wide}")  # fmt: skip
    name = "beyond.shapes.maps.sigma_w2"
    first, last = (beyond["shapes"]["maps"]["sigma_w2"][key] for key in ("first", "last"))
    if first >= last:
        raise ConfigError(f"{name}.first: {first} is refused; it must be below "
                          f"{name}.last, {last}")  # fmt: skip
    _check_map(beyond["shapes"]["maps"]["max_lambda"], beyond["theory"]["architectures"])
    _check_depths("beyond.theorem31.doubled", "lambdas", beyond["theorem31"]["doubled"])
    products = beyond["lemmas"]["products"]
    _check_depths("beyond.lemmas.products", "ratio", products | {"ratio": [products["ratio"]]})
    _check_times(beyond["training"])


def _check_map(largest: float, architectures: Mapping[str, Any]) -> None:
    """Refuse maps of a single depth; depths start at 2."""
    mean = (architectures["narrow"] + architectures["wide"]) // 2
    if round(largest * mean) < 3:
        raise ConfigError(f"beyond.shapes.maps.max_lambda: {largest:g} is refused; times {mean}, "
                          "the mean of the widths in beyond.theory.architectures, it must give 3 "
                          "layers at least")  # fmt: skip


def _check_depths(name: str, ratio: str, section: Mapping[str, Any]) -> None:
    """Refuse networks without layers: ratios of depth to width times widths below one half."""
    least, narrowest = min(section[ratio]), min(section["widths"])
    if round(least * narrowest) < 1:
        raise ConfigError(f"{name}.widths: {narrowest} is refused; times {name}.{ratio}, "
                          f"{least:g}, it must give one layer at least")  # fmt: skip


def _check_times(training: Mapping[str, Any]) -> None:
    """Refuse times that do not rise from 0, or maps of other times or of more than four."""
    times, maps = training["times"], training["maps"]
    name = "beyond.training"
    if times != sorted(times) or times[0] != 0 or len(times) < 2:
        raise ConfigError(f"{name}.times: {times} is refused; it must rise from 0")
    if not set(maps) <= set(times) or maps != sorted(maps) or len(maps) > MAPS:
        raise ConfigError(f"{name}.maps: {maps} is refused; write at most {MAPS} of {name}.times, "
                          f"{times}, in their order")  # fmt: skip
