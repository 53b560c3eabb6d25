"""Read YAML files of settings and declarations; a key that is given twice is refused."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from finitewidth.common.errors import ConfigError

_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # CSafeLoader is ten times as fast


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
    if isinstance(node, yaml.SequenceNode):
        for entry in node.value:
            yield from repeated_keys(entry)
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if str(key.value) in keys:
                yield key
            keys.add(str(key.value))
            yield from repeated_keys(value)
