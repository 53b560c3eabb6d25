"""The settings: defaults, settings of the papers, preset and overrides, and their check.

Later parts override earlier ones. All settings are checked before a job runs. This module does not
import torch.
"""

import copy
import difflib
import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import yaml

from finitewidth.common.errors import ConfigError

PRESETS = ("smoke", "quick", "laptop", "paper")
LARGEST_SEED = 2**31 - 1
LONGEST_SHOWN = 200
LARGEST = 10**8  # number in a section without a schema
LONGEST_NUMBER = 100  # characters; longer strings are not parsed as numbers
_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # CSafeLoader is ten times as fast


def preset_file(config: Mapping[str, Any], folder: str | Path) -> str:
    """Return the path of the file of the chosen preset.

    Args:
        config: settings with the key ``preset``.
        folder: the folder ``config``.

    Raises:
        ConfigError: the preset is unknown.
    """
    preset = config.get("preset")
    if preset not in PRESETS:
        raise ConfigError(
            f"preset: {preset!r} is unknown{nearest(preset, PRESETS)}; {one_of(PRESETS)}"
        )
    return str(Path(folder) / "preset" / f"{preset}.yaml")


def results_folder(preset: str, seed: int = 0, images: Sequence[str] = ()) -> str:
    """Return the folder of the results of a preset, a base seed and images of the user.

    It is ``results/<preset>`` for base seed 0 and ``results/<preset>-seed<k>`` for any other, so
    that runs with different base seeds keep their results side by side. With images of the user it
    is ``results/<preset>-<name>``, followed by the base seed likewise.

    Args:
        preset: of the run.
        seed: base seed.
        images: names of the sources that are folders of images of the user.
    """
    return "-".join([f"results/{preset}", *images, *([f"seed{seed}"] if seed else [])])


def preset_only(preset: str, folder: str | Path) -> dict[str, Any]:
    """Return the settings of a preset without overrides."""
    return {**_defaults(folder, preset), "preset": preset}


def completed(config: Mapping[str, Any], folder: str | Path) -> dict[str, Any]:
    """Return settings in which those that are missing are those of the preset.

    Args:
        config: settings with the key ``preset``.
        folder: the folder ``config``.
    """
    return merged(preset_only(config["preset"], folder), config)


def overrides(config: Mapping[str, Any], folder: str | Path) -> list[str]:
    """Return the settings that differ from those of the preset, as for Snakemake's ``--config``.

    Args:
        config: settings with the key ``preset``.
        folder: the folder ``config``.

    Returns:
        For example ``["npf={nu: {runs: 2}}"]``; empty if nothing differs.
    """
    changed = _changed(_plain(config), _plain(preset_only(config["preset"], folder)))
    flow = {"default_flow_style": True, "width": 10**6, "sort_keys": False}
    return [
        f"{key}={yaml.safe_dump(value, **flow).removesuffix('...' + chr(10)).strip()}"
        for key, value in changed.items()
    ]


def _changed(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entries of ``ours`` that differ in ``theirs``, at every depth."""
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
    """Return the mapping in a YAML file; an empty file gives an empty mapping."""
    return yaml.load(path.read_text(encoding="utf-8"), _Loader) or {}


def merged(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``base`` with the values of ``over``, merged at every depth, as a new mapping."""
    result = copy.deepcopy(dict(base))
    for key, value in over.items():
        both = isinstance(value, Mapping) and isinstance(result.get(key), Mapping)
        result[key] = merged(result[key], value) if both else copy.deepcopy(value)
    return result


def leaves(config: Mapping[str, Any]) -> dict[tuple[str, ...], Any]:
    """Return path -> value for every setting that is not a mapping."""
    found: dict[tuple[str, ...], Any] = {}
    for key, value in config.items():
        if isinstance(value, Mapping):
            found |= {(key, *rest): leaf for rest, leaf in leaves(value).items()}
        else:
            found[(key,)] = value
    return found


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


def typed(config: Mapping[str, Any]) -> dict[str, Any]:
    """Convert strings that YAML reads as numbers, booleans or null.

    Snakemake passes all values inside ``--config 'npf={nu: {runs: 2}}'`` as strings. Under the key
    ``data``, whose values are paths and names, numbers are not converted.
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
    except (yaml.YAMLError, ValueError):  # ValueError for 2001-13-45, which is not a date
        return value
    kinds = (bool, type(None)) if names else (bool, type(None), int, float)
    return meant if isinstance(meant, kinds) else value


# JSON Schema accepts 2.0 as an integer, but widths and numbers of runs must be of type int
_Validator = jsonschema.validators.extend(
    jsonschema.Draft202012Validator,
    type_checker=jsonschema.Draft202012Validator.TYPE_CHECKER.redefine(
        "integer", lambda _, value: isinstance(value, int) and not isinstance(value, bool)
    ),
)


@cache
def schema(folder: str | Path) -> dict[str, Any]:
    """Return the schema of all settings: ``config.schema.yaml`` and the schemas of the papers.

    If a paper has no schema file, its schema is derived from the types of the values in
    ``config/papers/<paper>.yaml`` by `schema_like`.

    Args:
        folder: the folder of the schemas, ``workflow/schemas``.
    """
    whole = read_yaml(Path(folder) / "config.schema.yaml")
    parts = [read_yaml(path) for path in sorted(Path(folder).glob("*.schema.yaml"))
             if path.name != "config.schema.yaml"]  # fmt: skip
    described = {name for part in parts for name in part["properties"]}
    for path in sorted((Path(folder).parents[1] / "config/papers").glob("*.yaml")):
        own = {name: schema_like(v) for name, v in read_yaml(path).items() if name not in described}
        parts.append({"properties": own, "required": list(own)})
    for part in parts:
        whole = {**merged(whole, part), "required": whole["required"] + part["required"]}
    return whole


def schema_like(value: Any) -> dict[str, Any]:
    """Return a JSON schema that allows values of the same kind as ``value``.

    Mappings must have exactly the same keys. Numbers are bounded by `LARGEST` and may be negative
    only if ``value`` is. Lists have at least one entry, and all entries are of the kind of the
    first.
    """
    if isinstance(value, Mapping):
        properties = {key: schema_like(entry) for key, entry in value.items()}
        return {"type": "object", "additionalProperties": False, "required": list(value),
                "properties": properties}  # fmt: skip
    if isinstance(value, list):
        return {"type": "array", "minItems": 1, "maxItems": 1000, "items": schema_like(value[0])}
    if isinstance(value, str):
        return {"type": "string", "maxLength": 100, "pattern": r"^[A-Za-z0-9_.-]+(?![\s\S])"}
    if isinstance(value, bool):
        return {"type": "boolean"}
    if value is None:
        return {"type": ["null", "integer"], "minimum": 1, "maximum": LARGEST}
    kind = "integer" if isinstance(value, int) else "number"
    return {"type": kind, "minimum": -LARGEST if value < 0 else 0, "maximum": LARGEST}


def check(config: Mapping[str, Any], schemas: str | Path) -> None:
    """Check settings against the schemas.

    Args:
        config: the settings.
        schemas: the folder of the schemas.

    Raises:
        ConfigError: the schemas do not allow a setting. The message has one line per mistake, with
            the key, its value and what is allowed.
    """
    validator = _Validator(schema(schemas))
    mistakes = [line for error in validator.iter_errors(_plain(config)) for line in _lines(error)]
    if mistakes:
        raise ConfigError("the configuration is refused:\n  " + "\n  ".join(sorted(set(mistakes))))


def _plain(value: Any) -> Any:
    """Convert a value to the types of JSON; Snakemake passes ordered dictionaries."""
    try:
        return json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise ConfigError(
            f"the configuration contains a value that JSON cannot represent: {error}; use finite "
            "numbers, strings, booleans, null, lists and mappings"
        ) from error


def _lines(error: jsonschema.ValidationError) -> Iterator[str]:
    """Yield the message of one mistake."""
    key = ".".join(str(part) for part in error.absolute_path) or "configuration"
    if error.validator == "additionalProperties":
        known = list(error.schema.get("properties", {}))
        for name in set(error.instance) - set(known):
            where = _readable(name if key == "configuration" else f"{key}.{name}")
            yield f"{where}: unknown key{nearest(name, known)}; known keys are {', '.join(known)}"
    elif error.validator == "required":
        missing = set(error.validator_value) - set(error.instance)
        yield f"{key}: {', '.join(sorted(missing))} is missing"
    elif error.validator in ("anyOf", "oneOf", "const") and "description" in error.schema:
        yield f"{key}: {_shown(error.instance)} is refused; allowed: {error.schema['description']}"
    else:
        yield f"{key}: {_shown(error.instance)} is refused; {_allowed(error)}"


def _shown(value: Any) -> str:
    """Return the value as code, cut after `LONGEST_SHOWN` characters."""
    text = repr(value)
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…"


def _readable(key: str) -> str:
    """Return the key, as code if it is long or contains characters that cannot be printed."""
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
        "const": f"it must be {value}",
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
    """Return ``it must be one of …`` with all values."""
    return "it must be one of " + ", ".join(str(value) for value in values)


def nearest(word: Any, known: Any) -> str:
    """Return `` (did you mean …?)`` with the known word closest to ``word``.

    The result is empty if no known word is close.
    """
    close = difflib.get_close_matches(str(word), [str(k) for k in known], n=1)
    return f" (did you mean {close[0]}?)" if close else ""
