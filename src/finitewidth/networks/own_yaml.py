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
from typing import Any

import jsonschema
import yaml

from finitewidth.common.errors import ConfigError
from finitewidth.networks.architecture import Architecture

ACTIVATIONS = (
    "relu", "leaky_relu", "elu", "gelu", "silu", "softplus", "tanh", "sigmoid", "linear",
)  # fmt: skip
INITS = ("torch", "he_uniform", "glorot_uniform")

_SIZE = {"type": "integer", "minimum": 1, "maximum": 100000}
_SIZES = {"type": "array", "maxItems": 1000, "items": _SIZE}
_COMMON = {
    "activation": {"enum": list(ACTIVATIONS)},
    "bias": {"type": "boolean"},
    "init": {"anyOf": [
        {"enum": list(INITS)},
        {"type": "object", "additionalProperties": False, "required": ["sigma_w2"], "properties": {
            "sigma_w2": {"type": "number", "exclusiveMinimum": 0, "maximum": 1000},
            "sigma_b2": {"type": "number", "minimum": 0, "maximum": 1000}}},
    ]},
}  # fmt: skip
KINDS: dict[str, dict[str, Any]] = {
    "fully_connected": {"widths": {**_SIZES, "minItems": 1}, "hidden": _SIZE, "width": _SIZE},
    "convolutional": {
        "channels": {**_SIZES, "minItems": 1}, "dense": _SIZES, "stride": _SIZE,
        "padding": {"enum": ["same", "valid"]}, "global_average_pooling": {"type": "boolean"},
    },
}  # fmt: skip
DEFAULTS = {
    "fully_connected": {},
    "convolutional": {
        "dense": [], "stride": 1, "padding": "same", "global_average_pooling": False,
    },
}  # fmt: skip


def read_own_yaml(file: Path) -> dict[str, Any]:
    """Read the description of a network, and fill in what it leaves out.

    Raises:
        ConfigError: the file is not YAML, or a key is unknown, missing or impossible. The message
            names the file and the key.
    """
    try:
        found = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ConfigError(f"{file}: cannot be read as YAML: {error}") from None
    kind = found.get("kind") if isinstance(found, Mapping) else None
    if kind not in KINDS:
        raise ConfigError(f"{file}: kind: {kind!r} must be one of {', '.join(KINDS)}")
    _check(file, found, kind)
    return {"activation": "relu", "bias": True, "init": "he_uniform", **DEFAULTS[kind], **found}


def _check(file: Path, found: Mapping[str, Any], kind: str) -> None:
    known = {"kind": {}, **_COMMON, **KINDS[kind]}
    if unknown := sorted(set(map(str, found)) - set(known)):
        raise ConfigError(f"{file}: unknown key {', '.join(unknown)}; a network of kind {kind} has "
                          f"{', '.join(known)}")  # fmt: skip
    validator = jsonschema.Draft202012Validator({"type": "object", "properties": known})
    for error in validator.iter_errors(found):
        key = ".".join(str(part) for part in error.absolute_path)
        wanted = error.message
        if key.startswith("init"):
            wanted = f"it must be one of {', '.join(INITS)}, or {{sigma_w2: 2.0, sigma_b2: 0.0}}"
        raise ConfigError(f"{file}: {key}: {error.instance!r} is refused: {wanted}")
    needed = ("channels",) if kind == "convolutional" else ("widths",)
    if kind == "fully_connected" and "widths" not in found:
        needed = ("hidden", "width")
    if missing := [key for key in needed if key not in found]:
        raise ConfigError(f"{file}: {' and '.join(missing)} is missing; a network of kind {kind} "
                          "needs " + ("channels" if kind == "convolutional" else
                                      "widths, or hidden and width"))  # fmt: skip


def architecture_of(described: Mapping[str, Any]) -> Architecture:
    """Return the layers of a description that `read_own_yaml` returned."""
    layers = {key: value for key, value in described.items() if key != "init"}
    return Architecture.from_mapping(layers)
