"""Checks of the settings of ``collapse`` that depend on several values. Imports no torch."""

from collections.abc import Mapping
from typing import Any

from finitewidth.common.errors import ConfigError
from finitewidth.experiments.collapse import flow_settings
from finitewidth.networks.normalised.specs import Network


def check(collapse: Mapping[str, Any]) -> None:
    """Refuse settings of ``collapse`` that contradict each other.

    Args:
        collapse: the section of that name.

    Raises:
        ConfigError: names the setting and the remedy.
    """
    flow_settings.check(collapse)
    for name, pair in collapse["pairs"].items():
        place = f"collapse.pairs.{name}"
        if pair["pair"] != name:
            raise ConfigError(f"{place}.pair: {pair['pair']!r} must be {name!r}, its key")
        try:
            Network.from_mapping(pair["network"])
        except ConfigError as error:
            raise ConfigError(f"{place}.network.{error}") from None
        _check_pair(place, pair)
    for name, shown in collapse["maps"].items():
        if shown and shown["init"] not in collapse["pairs"][name]["keep"]:
            raise ConfigError(
                f"collapse.maps.{name}.init: the weights of {shown['init']} are not kept; add it "
                f"to collapse.pairs.{name}.keep"
            )
    smoothing = collapse["models"]["smoothing"]
    if smoothing["window"] % 2 == 0 or smoothing["fewest"] < smoothing["window"]:
        raise ConfigError(
            f"collapse.models.smoothing: window = {smoothing['window']} must be odd, and fewest = "
            f"{smoothing['fewest']} at least as large"
        )


def _check_pair(place: str, pair: Mapping[str, Any]) -> None:
    """Check one training, see `check`."""
    rates, images = pair["rates"], pair["images"]
    if rates["values"] is None and max(rates["indices"]) >= rates["points"]:
        raise ConfigError(f"{place}.rates.indices: must be below points = {rates['points']}")
    if not set(pair["keep"]) <= set(pair["inits"]):
        raise ConfigError(f"{place}.keep: {pair['keep']} must be among inits, {pair['inits']}")
    if pair["measure_every"] > pair["epochs"]:
        raise ConfigError(
            f"{place}.measure_every: {pair['measure_every']} is above epochs = {pair['epochs']}"
        )
    if pair["kernel_per_class"] > pair["batch_per_class"]:
        raise ConfigError(
            f"{place}.kernel_per_class: kernels are of images of the last batch; at most "
            f"batch_per_class = {pair['batch_per_class']}"
        )
    if images["per_class"] is not None and images["per_class"] < pair["batch_per_class"]:
        raise ConfigError(
            f"{place}.images.per_class: {images['per_class']} images of each class make no batch "
            f"of batch_per_class = {pair['batch_per_class']}"
        )
