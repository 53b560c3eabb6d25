"""The option ``--config`` of ``finitewidth run`` and ``report``: settings of one run, KEY=VALUE.

A key is that of a section, with a mapping in YAML (``npf={nu: {runs: 3}}``), or the name of a
setting as messages have it (``npf.nu.runs=3``).
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from finitewidth.common.errors import ConfigError
from finitewidth.settings.yaml_files import repeated_keys

FORM = "write KEY=VALUE, such as seed=1, npf.nu.runs=3 or 'npf={nu: {runs: 3}}'"
KEY = re.compile(r"[A-Za-z_]\w+(\.[\w-]+)*", re.ASCII)  # Snakemake wants two letters


def read(given: Sequence[str]) -> dict[str, Any]:
    """Return the settings that are given, as nested mappings.

    Raises:
        ConfigError: one has another form, or a setting is given twice.
    """
    settings: dict[str, Any] = {}
    for text in given:
        key, equals, value = text.partition("=")
        if not equals:
            raise ConfigError(f"--config {text}: it has no value; {FORM}")
        if not KEY.fullmatch(key):
            raise ConfigError(f"--config {text}: {key!r} is no name of a setting; {FORM}")
        nested = _value(text, value)
        for name in reversed(key.split(".")):
            nested = {name: nested}
        add(settings, nested)
    return settings


def add(settings: dict[str, Any], others: Mapping[str, Any], above: Sequence[str] = ()) -> None:
    """Add settings to others; refuse one that is there already."""
    for key, value in others.items():
        path = [*above, str(key)]
        if key not in settings:
            settings[key] = value
        elif isinstance(value, Mapping) and isinstance(settings[key], dict):
            add(settings[key], value, path)
        else:
            raise ConfigError(f"--config: {'.'.join(path)} is given twice; keep one KEY=VALUE")


def agree(settings: dict[str, Any], options: Mapping[str, Any]) -> None:
    """Take away what options set as well, such as ``preset``; refuse other values of them."""
    for name, chosen in options.items():
        value = settings.pop(name, chosen)
        if value != chosen:
            raise ConfigError(
                f"--config {name}={value}, but --{name} is {chosen}; write --{name} {value} instead"
            )


def _value(text: str, value: str) -> Any:
    """The value of ``text``, KEY=VALUE, read as YAML."""
    try:
        repeated = list(repeated_keys(yaml.compose(value, Loader=yaml.SafeLoader)))
        parsed = yaml.safe_load(value)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        reason = getattr(error, "problem", None) or str(error)
        raise ConfigError(f"--config {text}: the value is not YAML ({reason}); {FORM}") from error
    if repeated:
        name = repeated[0].value
        raise ConfigError(f"--config {text}: {name} is given twice; keep one KEY=VALUE")
    return parsed
