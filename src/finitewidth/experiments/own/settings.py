"""Checks of the settings ``own`` that a schema cannot express.

This module does not import torch.
"""

from collections.abc import Mapping
from typing import Any

from finitewidth.common.errors import ConfigError
from finitewidth.networks.own_file import own_file
from finitewidth.networks.own_yaml import read_own_yaml


def check(settings: Mapping[str, Any]) -> None:
    """Check the network's file, and the steps at which a training is observed.

    Args:
        settings: the section ``own`` of the configuration, with a ``network``.

    Raises:
        ConfigError: see `own_file` and `read_own_yaml`; or the steps are not ascending from 0, or
            kernels are kept at steps that are not observed.
    """
    own = own_file(settings["network"])
    if not own.function:
        read_own_yaml(own.file)
    times, maps = settings["training"]["times"], settings["training"]["maps"]
    if times[0] != 0 or sorted(set(times)) != list(times):
        raise ConfigError(f"own.training.times: {times} must be ascending steps that begin with 0")
    if unknown := sorted(set(maps) - set(times)):
        raise ConfigError(f"own.training.maps: {unknown} are not among own.training.times; kernels "
                          "can only be kept at observed steps")  # fmt: skip
