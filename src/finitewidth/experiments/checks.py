"""Checks of settings that several papers share."""

from collections.abc import Mapping
from typing import Any

from finitewidth.common.errors import ConfigError


def refuse_rare_snapshots(key: str, settings: Mapping[str, Any]) -> None:
    """Refuse a training of fewer epochs than lie between two of its snapshots.

    Raises:
        ConfigError: ``every`` is larger than ``epochs``.
    """
    every, epochs = settings["every"], settings["epochs"]
    if every > epochs:
        raise ConfigError(
            f"{key}.every: {every} is refused; it must be at most {key}.epochs, {epochs}"
        )
