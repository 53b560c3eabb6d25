"""Nested mappings of settings: merge, look up by path, flatten, replace."""

import copy
from collections.abc import Mapping
from typing import Any

from finitewidth.common.errors import ConfigError


def merged(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``base`` with the values of ``over``, merged at every depth, as a new mapping."""
    result = copy.deepcopy(dict(base))
    for key, value in over.items():
        both = isinstance(value, Mapping) and isinstance(result.get(key), Mapping)
        result[key] = merged(result[key], value) if both else copy.deepcopy(value)
    return result


def at(settings: Mapping[str, Any], path: str) -> Any:
    """Return the setting at a path such as ``nu.runs``."""
    value: Any = settings
    for key in path.split("."):
        if not isinstance(value, Mapping) or key not in value:
            raise ConfigError(f"there is no setting {path!r}")
        value = value[key]
    return value


def leaves(config: Mapping[str, Any]) -> dict[tuple[str, ...], Any]:
    """Return path -> value for every setting that is not a mapping."""
    flat: dict[tuple[str, ...], Any] = {}
    for key, value in config.items():
        if isinstance(value, Mapping):
            flat |= {(key, *rest): leaf for rest, leaf in leaves(value).items()}
        else:
            flat[(key,)] = value
    return flat


def replaced(config: Mapping[str, Any], values: Mapping[tuple[str, ...], Any]) -> dict[str, Any]:
    """Return ``config`` with other values at some paths, as a new mapping."""
    result = dict(config)
    below: dict[str, dict[tuple[str, ...], Any]] = {}
    for (key, *rest), value in values.items():
        if rest:
            below.setdefault(key, {})[tuple(rest)] = value
        else:
            result[key] = value
    return result | {key: replaced(result[key], inner) for key, inner in below.items()}
