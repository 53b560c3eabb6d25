"""Configurations at the edge of what the schema allows, small enough to be executed."""

import math
import random
from collections.abc import Iterator, Mapping
from typing import Any

from finitewidth.common.errors import ConfigError
from finitewidth.common.settings import leaves, merged

TINY = 1e-12  # for a number that must be greater than a bound
MOST_IMAGES = 60
# numbers whose largest value makes nothing but work, and may not grow far above that of the base
SIZES = (int,)
PAPERS = ("npf", "dgn", "trust", "thesis", "beyond", "collapse")


class Schema:
    """A JSON schema whose references are looked up.

    Args:
        whole: with ``$defs``.
    """

    def __init__(self, whole: Mapping[str, Any]):
        self.whole = whole

    def resolved(self, part: Mapping[str, Any]) -> Mapping[str, Any]:
        """A part of the schema without ``$ref``."""
        while "$ref" in part:
            name = part["$ref"].removeprefix("#/$defs/")
            part = merged(self.whole["$defs"][name], {k: v for k, v in part.items() if k != "$ref"})
        return part

    def children(self, part: Mapping[str, Any]) -> Mapping[str, Any]:
        """Key -> schema, of a mapping; of ``anyOf``, all of them."""
        part = self.resolved(part)
        found = dict(part.get("properties", {}))
        for choice in part.get("anyOf", part.get("oneOf", ())):
            found = {**self.children(choice), **found}
        return found

    def of(self, path: tuple[str, ...]) -> Mapping[str, Any]:
        """The schema of a setting."""
        part: Mapping[str, Any] = self.whole
        for key in path:
            part = self.resolved(self.children(part).get(key, {}))
        return self.resolved(part)


def values(schema: Schema, part: Mapping[str, Any], now: Any) -> Iterator[Any]:
    """Every boundary value of a setting whose value is ``now``."""
    part = schema.resolved(part)
    if "const" in part:
        yield part["const"]
    yield from part.get("enum", ())
    for choice in (*part.get("anyOf", ()), *part.get("oneOf", ())):
        yield from values(schema, choice, now)
    kinds = part.get("type", ())
    for kind in (kinds,) if isinstance(kinds, str) else kinds:
        if kind == "null":
            yield None
        elif kind == "boolean":
            yield from (False, True)
        elif kind == "integer":
            yield from _integers(part, now)
        elif kind == "number":
            yield from _numbers(part)
        elif kind == "array":
            yield from _arrays(schema, part, now)


def _integers(part: Mapping[str, Any], now: Any) -> Iterator[int]:
    least, step = int(part.get("minimum", 0)), int(part.get("multipleOf", 1))
    usual = now if isinstance(now, int) else least
    most = min(int(part.get("maximum", 10**9)), max(2 * usual, least + 3 * step))
    yield from dict.fromkeys((least, least + step, least + 2 * step, most))


def _numbers(part: Mapping[str, Any]) -> Iterator[float]:
    above, below = part.get("exclusiveMinimum"), part.get("exclusiveMaximum")
    least = part.get("minimum", -1e3) if above is None else above + TINY
    most = part.get("maximum", 1e3) if below is None else math.nextafter(below, -math.inf)
    yield from dict.fromkeys((float(least), float(most)))
    yield from (value for value in (0.0, 1.0) if least <= value <= most)


def _arrays(schema: Schema, part: Mapping[str, Any], now: Any) -> Iterator[list[Any]]:
    now = now if isinstance(now, list) else []
    least, most = part.get("minItems", 0), part.get("maxItems", 3)
    if now:
        yield from ([now[0]], [now[-1]], now[::-1], now[: max(least, 1)])
        if len(now) < most:
            yield [*now, now[0]]
    kinds = part.get("prefixItems") or [part.get("items", {})] * max(least, 1)
    options = [list(values(schema, kind, now[place] if place < len(now) else None))
               for place, kind in enumerate(kinds)]  # fmt: skip
    for choice in range(max(map(len, options), default=0)):
        yield [option[choice % len(option)] for option in options if option]
    if now and not part.get("prefixItems"):
        for value in options[0]:
            yield [*now[1:], value]


def nested(path: tuple[str, ...], value: Any) -> dict[str, Any]:
    """The override that sets one setting."""
    for key in reversed(path):
        value = {key: value}
    return value


def drawn(
    stream: random.Random, schema: Schema, base: Mapping[str, Any], papers: tuple[str, ...] = PAPERS
) -> dict[str, Any]:
    """Overrides of one to three settings of one section, each at an edge of the schema."""
    paper = stream.choice(papers)
    section = stream.choice(sorted(base[paper]))
    there = base[paper][section]
    inner = leaves(there) if isinstance(there, Mapping) else {(): there}
    paths = [(paper, section, *path) for path in inner]
    overrides: dict[str, Any] = {}
    for path in stream.sample(paths, min(len(paths), stream.choice((1, 1, 2, 3)))):
        choices = list(values(schema, schema.of(path), inner[path[2:]]))
        if choices:
            overrides = merged(overrides, nested(path, stream.choice(choices)))
    return overrides or drawn(stream, schema, base, papers)


def names_a_key(error: ConfigError, overrides: Mapping[str, Any]) -> bool:
    """Whether a refusal names one of the settings that were overridden, or what contains it."""
    said = str(error)
    return any(path[-1] in said or ".".join(path[:-1]) in said for path in leaves(overrides))
