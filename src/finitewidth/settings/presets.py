"""The settings of a run: defaults, settings of the papers, preset and overrides.

Later parts override earlier ones. `finitewidth.pipeline.configuration` checks them before a job
runs. This module does not import torch.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from finitewidth.common.errors import ConfigError, nearest, one_of
from finitewidth.settings.nested import merged
from finitewidth.settings.yaml_files import read_yaml

PRESETS = ("smoke", "quick", "laptop", "paper")
LARGEST_SEED = 2**31 - 1
LONGEST_SHOWN = 200


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
    folder = Path(folder)
    changes = []
    name = preset
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
    words = []
    for key, value in config.items():
        text = yaml.safe_dump(
            value, default_flow_style=True, width=10**6, sort_keys=False, allow_unicode=True
        )
        words.append(f"{key}={text.removesuffix('...' + chr(10)).strip()}")
    return words


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
