"""Alike entries of a declaration file, written as one entry with a wildcard in its name.

The key ``wildcards`` of a file has the values of each wildcard, as a list or, if a value comes with
further words, as a mapping::

    wildcards:
      pair:
        vgg_mnist: {model: VGG11 on MNIST, blocks: fig13}
        vgg_cifar: {model: VGG16 on CIFAR-10, blocks: fig15}

    experiments:
      collapse_training_{pair}: {params: "config.pairs.{pair}"}     # two experiments

    artifacts:
      collapse_{blocks}: {title: "{model}: class blocks"}           # two figures
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from finitewidth.common.errors import ConfigError, nearest

_WILDCARD = re.compile(r"\{(\w+)\}")
Words = dict[str, str]  # wildcard, or another word of it -> what stands in its place


def written_out(
    entries: Mapping[str, Any], wildcards: Mapping[str, Any], file: Path
) -> dict[str, dict[str, Any]]:
    """Return all entries by name; those with a wildcard in their name once for each of its values.

    An entry that is written out by name as well changes single keys of the one with the wildcard.

    Raises:
        ConfigError: the name of an entry has a word in braces that is no wildcard.
    """
    rows: list[Words] = []
    for name, values in wildcards.items():
        rows += _rows(name, values)
    every: dict[str, dict[str, Any]] = {}
    for name, entry in entries.items():
        words_in_name = set(_WILDCARD.findall(name))
        if not words_in_name:
            every[name] = {**every.get(name, {}), **entry}
            continue
        for row in _rows_with(words_in_name, rows, f"{file}: {name!r}"):
            full_name = _filled(name, row)
            every[full_name] = {**_filled(entry, row), **every.get(full_name, {})}
    return every


def _rows_with(words: set[str], rows: list[Words], where: str) -> list[Words]:
    """The rows that have all words of a name."""
    fitting = [row for row in rows if words <= row.keys()]
    if fitting:
        return fitting
    known = {word for row in rows for word in row}
    raise ConfigError(
        f"{where}: no wildcard has the words {', '.join(sorted(words))}{nearest(min(words), known)}"
    )


def _rows(name: str, values: Any) -> list[Words]:
    """The words of each value of a wildcard, with the value itself under its name."""
    if isinstance(values, Mapping):
        return [{name: value, **words} for value, words in values.items()]
    return [{name: value} for value in values]


def _filled(value: Any, words: Words) -> Any:
    """A part of an entry with all words filled in; other braces, such as of settings, stay."""
    if isinstance(value, str):
        return _WILDCARD.sub(lambda match: words.get(match[1], match[0]), value)
    if isinstance(value, Mapping):
        return {_filled(key, words): _filled(part, words) for key, part in value.items()}
    if isinstance(value, list):
        return [_filled(part, words) for part in value]
    return value
