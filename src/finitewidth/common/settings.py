"""Settings: preset over papers over defaults, checked before anything runs. Imports no torch."""

import copy
import difflib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import jsonschema
import yaml

from finitewidth.common.errors import ConfigError

PRESETS = ("smoke", "quick", "laptop", "paper")
MAX_SIGNED_WEIGHTS = 8
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
            f"preset: {preset!r} is unknown{_hint(preset, PRESETS)}; {_one_of(PRESETS)}"
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
        result = merged(result, _read(part))
    return result


def _read(path: Path) -> dict[str, Any]:
    return yaml.load(path.read_text(encoding="utf-8"), _Loader) or {}


def merged(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """``base`` with the values of ``over``, key by key at every depth; neither is changed."""
    result = copy.deepcopy(dict(base))
    for key, value in over.items():
        both = isinstance(value, Mapping) and isinstance(result.get(key), Mapping)
        result[key] = merged(result[key], value) if both else copy.deepcopy(value)
    return result


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


def schema(folder: str | Path) -> dict[str, Any]:
    """What a configuration may say: ``config.schema.yaml`` with the schema of every paper."""
    whole = _read(Path(folder) / "config.schema.yaml")
    for path in sorted(Path(folder).glob("*.schema.yaml")):
        if path.name != "config.schema.yaml":
            part = _read(path)
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
    _check_across(config)


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
            yield f"{where}: unknown key{_hint(name, known)}; known are {', '.join(known)}"
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
        "enum": _one_of(value) if error.validator == "enum" else "",
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


def _one_of(values: Any) -> str:
    return "it must be one of " + ", ".join(str(value) for value in values)


def _hint(word: Any, known: Any) -> str:
    close = difflib.get_close_matches(str(word), [str(k) for k in known], n=1)
    return f" (did you mean {close[0]}?)" if close else ""


def _check_across(config: Mapping[str, Any]) -> None:
    """What no schema can say: values that contradict each other."""
    npf = config["npf"]
    networks = npf["regimes"]["networks"]
    named = {f"npf.regimes.rows.{k}.network": r["network"] for k, r in npf["regimes"]["rows"].items()}
    for key, network in {**named, "npf.stages.network": npf["stages"]["network"]}.items():
        if network not in networks:
            raise ConfigError(f"{key}: {network!r} is unknown{_hint(network, networks)}; "
                              + _one_of(networks))  # fmt: skip
    for paper, name in (("npf", "nu"), ("npf", "kvf"), ("dgn", "binary")):
        every, epochs = (config[paper][name][key] for key in ("every", "epochs"))
        if every > epochs:
            raise ConfigError(
                f"{paper}.{name}.every: {every} is refused; it must be at most "
                f"{paper}.{name}.epochs, {epochs}"
            )
    _check_text_gate(config["dgn"]["sweep"])
    _check_beyond(config["beyond"])
    _check_concepts(npf["concepts"]["toy"], config["dgn"]["concepts"]["convolution"])


def _check_text_gate(table4: Mapping[str, Any]) -> None:
    """The network that the text speaks of is one of the table's."""
    for name, value in table4["in_text"].items():
        if value not in table4[name]:
            raise ConfigError(
                f"dgn.sweep.in_text.{name}: {value} is refused; "
                f"{_one_of(table4[name])}, as dgn.sweep.{name}"
            )


def _check_beyond(beyond: Mapping[str, Any]) -> None:
    """Lines shown with bands are among all lines, and architectures do change their width."""
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
            raise ConfigError(f"beyond.{key}: {chosen} is refused; all of it must be in {known}")
    narrow, wide = (beyond["theory"]["architectures"][key] for key in ("narrow", "wide"))
    if narrow >= wide:
        raise ConfigError(
            f"beyond.theory.architectures.narrow: {narrow} is refused; it must be below "
            f"beyond.theory.architectures.wide, {wide}"
        )


def _check_concepts(toy: Mapping[str, Any], convolution: Mapping[str, Any]) -> None:
    """A gate for every unit, inputs as long as the network is wide, signs few enough to list."""
    for example in toy["gates"]:
        for gates in example:
            if len(gates) != toy["width"]:
                raise ConfigError(
                    f"npf.concepts.toy.gates: {gates} is refused; every layer needs as many gates "
                    f"as npf.concepts.toy.width, {toy['width']}"
                )
    name, inputs = "dgn.concepts.convolution", convolution["inputs"]
    for example in convolution["examples"]:
        if len(example) != inputs:
            raise ConfigError(f"{name}.examples: {example} is refused; it needs as many entries as "
                              f"{name}.inputs, {inputs}")  # fmt: skip
    if convolution["kernel"] > inputs:
        raise ConfigError(f"{name}.kernel: {convolution['kernel']} is refused; it must be at most "
                          f"{name}.inputs, {inputs}")  # fmt: skip
    weights = convolution["kernel"] * convolution["layers"]
    if weights > MAX_SIGNED_WEIGHTS:
        raise ConfigError(f"{name}: kernel times layers is {weights}; it must be at most "
                          f"{MAX_SIGNED_WEIGHTS}, as all their signs are listed")  # fmt: skip
