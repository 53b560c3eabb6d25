"""Settings: preset over papers over defaults, checked before anything runs. Imports no torch."""

import copy
import difflib
import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import yaml

from finitewidth.common.errors import ConfigError

PRESETS = ("smoke", "quick", "laptop", "paper")
LONGEST_SHOWN = 200
LONGEST_NUMBER = 100  # characters; YAML need not be asked about longer texts
_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the former is ten times as fast


def preset_file(config: Mapping[str, Any], folder: str | Path) -> str:
    """Path of the chosen preset's file below the folder ``config``.

    Raises:
        ConfigError: there is no such preset.
    """
    preset = config.get("preset")
    if preset not in PRESETS:
        raise ConfigError(
            f"preset: {preset!r} is unknown{nearest(preset, PRESETS)}; {one_of(PRESETS)}"
        )
    return str(Path(folder) / "preset" / f"{preset}.yaml")


def preset_only(preset: str, folder: str | Path) -> dict[str, Any]:
    """The settings of a preset with nothing overridden."""
    return {**_defaults(folder, preset), "preset": preset}


def overrides(config: Mapping[str, Any], folder: str | Path) -> list[str]:
    """What a configuration changes of its preset, as Snakemake's ``--config`` takes it.

    ``["npf={nu: {runs: 2}}"]``; empty where nothing was changed.
    """
    changed = _changed(_plain(config), _plain(preset_only(config["preset"], folder)))
    flow = {"default_flow_style": True, "width": 10**6, "sort_keys": False}
    return [
        f"{key}={yaml.safe_dump(value, **flow).removesuffix('...' + chr(10)).strip()}"
        for key, value in changed.items()
    ]


def _changed(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> dict[str, Any]:
    """The keys of ``ours`` with another value in ``theirs``, at every depth."""
    changed = {}
    for key, value in ours.items():
        other = theirs.get(key)
        if isinstance(value, Mapping) and isinstance(other, Mapping):
            value = _changed(value, other)
            if value:
                changed[key] = value
        elif value != other:
            changed[key] = value
    return changed


def _defaults(folder: str | Path, preset: str) -> dict[str, Any]:
    folder = Path(folder)
    parts = [folder / "config.yaml", *sorted((folder / "papers").glob("*.yaml"))]
    result: dict[str, Any] = {}
    for part in (*parts, folder / "preset" / f"{preset}.yaml"):
        result = merged(result, read_yaml(part))
    return result


def read_yaml(path: Path) -> dict[str, Any]:
    """The mapping that a YAML file holds; empty for an empty file."""
    return yaml.load(path.read_text(encoding="utf-8"), _Loader) or {}


def merged(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """``base`` with the values of ``over``, key by key at every depth; neither is changed."""
    result = copy.deepcopy(dict(base))
    for key, value in over.items():
        both = isinstance(value, Mapping) and isinstance(result.get(key), Mapping)
        result[key] = merged(result[key], value) if both else copy.deepcopy(value)
    return result


def leaves(config: Mapping[str, Any]) -> dict[tuple[str, ...], Any]:
    """Path -> value of every setting that is no mapping."""
    found: dict[tuple[str, ...], Any] = {}
    for key, value in config.items():
        if isinstance(value, Mapping):
            found |= {(key, *rest): leaf for rest, leaf in leaves(value).items()}
        else:
            found[(key,)] = value
    return found


def replaced(config: Mapping[str, Any], values: Mapping[tuple[str, ...], Any]) -> dict[str, Any]:
    """``config`` with other values at some paths; nothing is changed in place."""
    result = dict(config)
    below: dict[str, dict[tuple[str, ...], Any]] = {}
    for (key, *rest), value in values.items():
        if rest:
            below.setdefault(key, {})[tuple(rest)] = value
        else:
            result[key] = value
    return result | {key: replaced(result[key], inner) for key, inner in below.items()}


def typed(config: Mapping[str, Any]) -> dict[str, Any]:
    """The settings with every text that YAML reads as a number, truth value or null read so.

    Snakemake hands over the inside of ``--config 'npf={nu: {runs: 2}}'`` as text throughout. Paths
    and names, all under ``data``, stay text unless they are truth values or null.
    """
    return {key: _typed(value, key == "data") for key, value in config.items()}


def _typed(value: Any, names: bool) -> Any:
    if isinstance(value, Mapping):
        return {key: _typed(entry, names) for key, entry in value.items()}
    if isinstance(value, list):
        return [_typed(entry, names) for entry in value]
    if not isinstance(value, str) or len(value) > LONGEST_NUMBER:
        return value
    try:
        meant = yaml.safe_load(value)
    except (yaml.YAMLError, ValueError):  # the latter: 2001-13-45, which is no date
        return value
    kinds = (bool, type(None)) if names else (bool, type(None), int, float)
    return meant if isinstance(meant, kinds) else value


# JSON Schema takes 2.0 for an integer; a width or a count of runs must be one
_Validator = jsonschema.validators.extend(
    jsonschema.Draft202012Validator,
    type_checker=jsonschema.Draft202012Validator.TYPE_CHECKER.redefine(
        "integer", lambda _, value: isinstance(value, int) and not isinstance(value, bool)
    ),
)


@cache
def schema(folder: str | Path) -> dict[str, Any]:
    """What a configuration may say: ``config.schema.yaml`` with the schema of every paper."""
    whole = read_yaml(Path(folder) / "config.schema.yaml")
    for path in sorted(Path(folder).glob("*.schema.yaml")):
        if path.name != "config.schema.yaml":
            part = read_yaml(path)
            required = whole["required"] + part["required"]
            whole = {**merged(whole, part), "required": required}
    return whole


def check(config: Mapping[str, Any], schemas: str | Path) -> None:
    """Refuse settings that the schemas of the folder ``schemas`` do not allow.

    Raises:
        ConfigError: one line per mistake, each naming the key, its value and what is allowed.
    """
    validator = _Validator(schema(schemas))
    mistakes = [line for error in validator.iter_errors(_plain(config)) for line in _lines(error)]
    if mistakes:
        raise ConfigError("the configuration is refused:\n  " + "\n  ".join(sorted(set(mistakes))))


def _plain(value: Any) -> Any:
    """The same value in JSON's own types (Snakemake hands over ordered dictionaries)."""
    try:
        return json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise ConfigError(
            f"the configuration holds a value that JSON cannot say: {error}"
        ) from error


def _lines(error: jsonschema.ValidationError) -> Iterator[str]:
    """One mistake in words."""
    key = ".".join(str(part) for part in error.absolute_path) or "configuration"
    if error.validator == "additionalProperties":
        known = list(error.schema.get("properties", {}))
        for name in set(error.instance) - set(known):
            where = _readable(name if key == "configuration" else f"{key}.{name}")
            yield f"{where}: unknown key{nearest(name, known)}; known are {', '.join(known)}"
    elif error.validator == "required":
        missing = set(error.validator_value) - set(error.instance)
        yield f"{key}: {', '.join(sorted(missing))} is missing"
    elif error.validator in ("anyOf", "oneOf") and "description" in error.schema:
        yield f"{key}: {_shown(error.instance)} is refused; allowed: {error.schema['description']}"
    else:
        yield f"{key}: {_shown(error.instance)} is refused; {_allowed(error)}"


def _shown(value: Any) -> str:
    """The value as code, cut where nobody would read on."""
    text = repr(value)
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…"


def _readable(key: str) -> str:
    """The key, in quotes if it would garble the message."""
    return key if key.isprintable() and len(key) <= LONGEST_SHOWN else _shown(key)


def _allowed(error: jsonschema.ValidationError) -> str:
    value = error.validator_value
    words = {
        "minimum": f"it must be at least {value}",
        "exclusiveMinimum": f"it must be greater than {value}",
        "maximum": f"it must be at most {value}",
        "enum": one_of(value) if error.validator == "enum" else "",
        "type": f"it must be of type {value}" + _type_hint(error),
        "exclusiveMaximum": f"it must be less than {value}",
        "multipleOf": f"it must be a multiple of {value}",
        "minLength": f"it needs at least {value} characters",
        "maxLength": f"it may have at most {value} characters",
        "minItems": f"it needs at least {value} entries",
        "maxItems": f"it may have at most {value} entries",
        "uniqueItems": "its entries must differ",
        "pattern": f"it must match {value}",
    }
    return words.get(error.validator, error.message)


def _type_hint(error: jsonschema.ValidationError) -> str:
    wanted = error.validator_value
    if isinstance(error.instance, str) and wanted in ("number", "integer"):
        return " (in YAML write 0.001, not 1e-3, which is text)"
    return ""


def one_of(values: Any) -> str:
    """``it must be one of …``."""
    return "it must be one of " + ", ".join(str(value) for value in values)


def nearest(word: Any, known: Any) -> str:
    """`` (did you mean …?)`` with the known word closest to ``word``; nothing if none is close."""
    close = difflib.get_close_matches(str(word), [str(k) for k in known], n=1)
    return f" (did you mean {close[0]}?)" if close else ""
