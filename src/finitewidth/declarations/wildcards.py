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
    rows = [row for name, values in wildcards.items() for row in _rows(name, values)]
    every: dict[str, dict[str, Any]] = {}
    for name, entry in entries.items():
        needed = set(_WILDCARD.findall(name))
        fitting = [row for row in rows if needed <= row.keys()] if needed else [{}]
        if not fitting:
            raise ConfigError(
                f"{file}: {name!r}: no wildcard has the words {', '.join(sorted(needed))}"
                f"{nearest(min(needed), {word for row in rows for word in row})}"
            )
        for row in fitting:
            filled = _filled(name, row)
            every[filled] = {**every.get(filled, {}), **_filled(entry, row)}
    return every


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
