"""The settings: defaults, settings of the papers, preset and overrides.

Later parts override earlier ones. `finitewidth.pipeline.configuration` checks them before a job
runs. This module does not import torch.
"""

import copy
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from finitewidth.common.errors import ConfigError, nearest, one_of

PRESETS = ("smoke", "quick", "laptop", "paper")
LARGEST_SEED = 2**31 - 1
LONGEST_SHOWN = 200
_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # CSafeLoader is ten times as fast


def results_folder(
    preset: str, seed: int = 0, images: Sequence[str] = (), name: str | None = None
) -> str:
    """Return the folder of the results of a run: ``results/<name>`` if the run has a name.

    Otherwise it is ``results/<preset>``, with ``-<name>`` of sources that are images of the user,
    and with ``-seed<k>`` for a base seed other than 0.
    """
    if name is not None:
        return f"results/{name}"
    return "-".join([f"results/{preset}", *images, *([f"seed{seed}"] if seed else [])])


def preset_names(folder: str | Path) -> list[str]:
    """Return the presets: ours, and those of the user, from the folder ``config``."""
    files = sorted(Path(folder, "preset").glob("*.yaml"))
    return list(dict.fromkeys([*PRESETS, *(file.stem for file in files)]))


def preset_only(preset: str, folder: str | Path) -> dict[str, Any]:
    """Return the settings of a preset without overrides, from the folder ``config``.

    A preset of the user, ``config/preset/mine.yaml``, says which preset it changes: its key
    ``preset`` has the name.

    Raises:
        ConfigError: there is no such preset, or one of the user does not lead to one of ours.
    """
    known = preset_names(folder)
    if preset not in known:
        raise ConfigError(f"preset: {preset!r} is unknown{nearest(preset, known)}; {one_of(known)}")
    folder, changes, name = Path(folder), [], preset
    while name not in PRESETS:
        file = folder / "preset" / f"{name}.yaml"
        changes.append(read_yaml(file))
        name = changes[-1].pop("preset", None)
        if name not in known or len(changes) > len(known):
            raise ConfigError(
                f"{file}: preset: {name!r} is refused; it names the preset that this "
                f"one changes: {one_of(PRESETS)}"
            )
    result: dict[str, Any] = {}
    parts = [folder / "config.yaml", *sorted((folder / "papers").glob("*.yaml"))]
    for part in (*parts, folder / "preset" / f"{name}.yaml"):
        result = merged(result, read_yaml(part))
    for change in reversed(changes):
        result = merged(result, change)
    return {**result, "preset": preset}


def completed(config: Mapping[str, Any], folder: str | Path) -> dict[str, Any]:
    """Return the settings of a run: those given, as by Snakemake, over those of its preset."""
    preset = config.get("preset", read_yaml(Path(folder, "config.yaml"))["preset"])
    return merged(preset_only(preset, folder), typed(config))


def overrides(config: Mapping[str, Any], folder: str | Path) -> list[str]:
    """Return what differs from the preset, as for ``--config``: ``["npf={nu: {runs: 2}}"]``."""
    return assignments(_changed(config, preset_only(config["preset"], folder)))


def assignments(config: Mapping[str, Any]) -> list[str]:
    """Return settings as Snakemake's ``--config`` takes them: ``["npf={nu: {runs: 2}}"]``."""
    flow = {"default_flow_style": True, "width": 10**6, "sort_keys": False, "allow_unicode": True}
    return [
        f"{key}={yaml.safe_dump(value, **flow).removesuffix('...' + chr(10)).strip()}"
        for key, value in config.items()
    ]


def _changed(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entries of ``ours`` that differ in ``theirs``, at every depth."""
    changed = {}
    for key, value in ours.items():
        other = theirs.get(key)
        if isinstance(value, Mapping):
            value = _changed(value, other if isinstance(other, Mapping) else {})
            if value or not isinstance(other, Mapping):
                changed[key] = value
        elif value != other:
            changed[key] = value
    return changed


def read_yaml(path: Path) -> dict[str, Any]:
    """Return the mapping in a YAML file; an empty file gives an empty mapping."""
    try:
        loader = _Loader(path.read_text(encoding="utf-8"))
        node = loader.get_single_node()
        for key in repeated_keys(node):
            line = key.start_mark.line + 1
            raise ConfigError(f"{path}, line {line}: the key {key.value} is given twice; keep one")
        return (loader.construct_document(node) if node else None) or {}
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ConfigError(f"{path}: cannot be read as YAML: {error}") from error


def repeated_keys(node: yaml.Node | None) -> Iterator[yaml.Node]:
    """Yield the keys of YAML mappings, at every depth, that are given twice."""
    keys: set[str] = set()
    for entry in node.value if isinstance(node, yaml.CollectionNode) else ():
        key, value = entry if isinstance(node, yaml.MappingNode) else (None, entry)
        if key is not None:
            if str(key.value) in keys:
                yield key
            keys.add(str(key.value))
        yield from repeated_keys(value)


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


def typed(config: Mapping[str, Any]) -> dict[str, Any]:
    """Convert strings that YAML reads as numbers, booleans or null, as Snakemake passes them.

    Under the key ``data``, whose values are paths and names, numbers are not converted.
    """
    return {key: _typed(value, key == "data") for key, value in config.items()}


def _typed(value: Any, names: bool) -> Any:
    if isinstance(value, Mapping):
        return {key: _typed(entry, names) for key, entry in value.items()}
    if isinstance(value, list):
        return [_typed(entry, names) for entry in value]
    if not isinstance(value, str):
        return value
    try:
        meant = yaml.safe_load(value)
    except (yaml.YAMLError, ValueError):  # ValueError for 2001-13-45, which is not a date
        return value
    kinds = (bool, type(None)) if names else (bool, type(None), int, float)
    return meant if isinstance(meant, kinds) else value
