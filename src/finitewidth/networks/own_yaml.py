"""A network of the user in a few lines of YAML.

Fully connected::

    kind: fully_connected
    widths: [256, 256]          # hidden layers; or hidden: 2 and width: 256
    activation: relu
    init: {sigma_w2: 2.0, sigma_b2: 0.0}

Convolutional, with 3×3 filters::

    kind: convolutional
    channels: [16, 32]
    dense: [64]                 # hidden dense layers after the convolutions; may be []
    padding: same               # or valid
    stride: 1
    global_average_pooling: false
    activation: relu
    init: he_uniform

``activation`` is one of `ACTIVATIONS`, relu by default. ``init`` is ``torch`` (the default of
``torch.nn``), ``he_uniform``, ``glorot_uniform``, or the variances ``sigma_w2`` of a weight times
its fan-in and ``sigma_b2`` of a bias; he_uniform by default. ``bias: false`` leaves out all biases.

This module does not import torch.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import model_validator

from finitewidth.common.errors import ConfigError
from finitewidth.common.refusals import validated
from finitewidth.common.setting_types import (
    Section,
    Width,
    between,
    general,
    positive,
    refused,
    several,
)
from finitewidth.common.settings import read_yaml
from finitewidth.networks.architecture import Architecture

Activation = Literal[
    "relu", "leaky_relu", "elu", "gelu", "silu", "softplus", "tanh", "sigmoid", "linear"
]


class Variances(Section):
    """Gaussian weights and biases."""

    sigma_w2: positive(1000) = general("variance of a weight times its fan-in")
    sigma_b2: between(0, 1000) = general("variance of a bias", default=0.0)


class OwnNetwork(Section):
    """A network of the user."""

    activation: Activation = general("after each hidden layer", default="relu")
    bias: bool = general("whether layers have biases", default=True)
    init: Literal["torch", "he_uniform", "glorot_uniform"] | Variances = general(
        "torch, he_uniform, glorot_uniform, or {sigma_w2: 2.0, sigma_b2: 0.0}", default="he_uniform"
    )


class OwnFullyConnected(OwnNetwork):
    """``widths``, or ``hidden`` layers of one ``width``."""

    kind: Literal["fully_connected"] = general("kind of network")
    widths: several(Width, 1000) = general("units of the hidden layers", default=None)
    hidden: Width = general("hidden layers", default=None)
    width: Width = general("units of a hidden layer", default=None)

    @model_validator(mode="after")
    def _widths(self) -> "OwnFullyConnected":
        equal = self.hidden is not None and self.width is not None
        if (self.widths is not None) == (self.hidden is not None or self.width is not None):
            raise refused("widths", self.widths, "write widths, or hidden and width")
        if self.widths is None and not equal:
            missing = "width" if self.width is None else "hidden"
            raise refused(missing, None, "write hidden and width, or widths")
        return self


class OwnConvolutional(OwnNetwork):
    """Convolutions with kernels of 3×3, and dense layers."""

    kind: Literal["convolutional"] = general("kind of network")
    channels: several(Width, 1000) = general("output channels of the convolutions")
    dense: several(Width, 1000, least=0) = general("units of dense layers", default=[])
    stride: Width = general("of the convolutions", default=1)
    padding: Literal["same", "valid"] = general("of the convolutions", default="same")
    global_average_pooling: bool = general("average over positions", default=False)


KINDS = {"fully_connected": OwnFullyConnected, "convolutional": OwnConvolutional}


def read_own_yaml(file: Path) -> dict[str, Any]:
    """Read the description of a network, and fill in what it leaves out.

    Raises:
        ConfigError: the file is not YAML, or a key is unknown, missing or impossible. The message
            names the file and the key.
    """
    found = read_yaml(file)
    kind = found.get("kind") if isinstance(found, Mapping) else None
    if not isinstance(kind, str) or kind not in KINDS:
        raise ConfigError(f"{file}: kind: {kind!r} must be one of {', '.join(KINDS)}")
    try:
        network = validated(KINDS[kind], found)
    except ConfigError as error:
        raise ConfigError(f"{file}: {error}") from None
    return {key: value for key, value in network.model_dump().items() if value is not None}


def architecture_of(described: Mapping[str, Any]) -> Architecture:
    """Return the layers of a description that `read_own_yaml` returned."""
    layers = {key: value for key, value in described.items() if key != "init"}
    return Architecture.from_mapping(layers)
