"""Configurations with one thing wrong: every node of the valid one, replaced, renamed or hidden.

FINITEWIDTH_FUZZ=<seed> repeats what was drawn with a seed.
"""

import copy
import os
from dataclasses import dataclass
from functools import reduce
from typing import Any

from hypothesis import strategies as st

SEED = int(os.environ.get("FINITEWIDTH_FUZZ", 0))  # --full sets another one, see tests/conftest.py
HUGE = [10**9 + 1, 10**18, -(10**18), 10**400, 1e308, -1e308, 5e-324]
ODD = [0, -1, 0.5, True, None, "", [], {}, [[]], {"a": 1}, float("nan"), float("inf")]
OUTSIDE = ["../../outside", "..", "/etc/passwd", "results/../../outside", "~root/x", "a/../../b"]
SHELL = ["$(touch canary)", "`touch canary`", "; touch canary", "x | touch canary", "x && y",
         "'\"; touch canary #", "{preset}", "{config[preset]}", "a\nb", "a\0b", "-n", "*",
         "%s"]  # fmt: skip
YAML = ["1e-3", "2001-13-45", "9" * 5000, "!!python/object/apply:os.system [touch canary]",
        "&a [*a]", "[" * 3000, "0o777", "1:60", "x" * 100_000]  # fmt: skip
NAMES = ["digts", "mnist\n", "mnist "]
HOSTILE = [*OUTSIDE, *SHELL, *YAML, *NAMES]


def deep(levels: int = 50) -> list:
    """A list in a list, and so on."""
    return reduce(lambda inner, _: [inner], range(levels), [])


@dataclass(frozen=True)
class Mutation:
    """What was done to a configuration: at ``path`` a value, a key or nothing put in place.

    Attributes:
        kind: value, unknown, misspelt or missing.
        path: keys and indices down to what was changed.
        value: the value put there, or the new name of the key.
    """

    kind: str
    path: tuple
    value: Any

    @property
    def name(self) -> str:
        """The key a refusal must name: the innermost that is no index."""
        named = self.value if self.kind in ("unknown", "misspelt") else self.path[-1]
        keys = [key for key in (*self.path[:-1], named) if isinstance(key, str)]
        return keys[-1]

    def __call__(self, config: dict) -> dict:
        """A changed copy."""
        config = copy.deepcopy(config)
        parent = reduce(lambda node, key: node[key], self.path[:-1], config)
        key = self.path[-1]
        if self.kind == "value":
            parent[key] = self.value
        elif self.kind == "unknown":
            parent[self.value] = 1
        elif self.kind == "misspelt":
            parent[self.value] = parent.pop(key)
        else:
            del parent[key]
        return config


def paths(node: Any, path: tuple = ()) -> list[tuple]:
    """Paths of all nodes below the root, those in lists included."""
    items = (
        node.items()
        if isinstance(node, dict)
        else enumerate(node)
        if isinstance(node, list)
        else ()
    )
    return [found for key, child in items
            for found in ((*path, key), *paths(child, (*path, key)))]  # fmt: skip


@st.composite
def misspelt(draw, word: str) -> str:
    """The word with a letter dropped, doubled or exchanged with the next."""
    place = draw(st.integers(0, len(word) - 2))
    before, a, b, after = word[:place], word[place], word[place + 1], word[place + 2 :]
    ways = {before + b + after, before + a + a + b + after, before + b + a + after} - {word}
    return draw(st.sampled_from(sorted(ways)))


@st.composite
def mutations(draw, config: dict) -> Mutation:
    """Any one change of ``config``; the data's part, where names become files, more often."""
    every = paths(config)
    keys = [path for path in every if isinstance(path[-1], str)]
    chosen = st.sampled_from
    kind = draw(chosen(["value", "value", "value", "data", "unknown", "misspelt", "missing"]))
    if kind == "data":
        path = draw(chosen([path for path in every if path[0] == "data"]))
        return Mutation("value", path, draw(chosen(HOSTILE)))
    if kind == "value":
        values = chosen(ODD) | chosen(HUGE) | chosen(HOSTILE) | st.just(deep())
        return Mutation(kind, draw(chosen(every)), draw(values))
    if kind == "misspelt":
        # of the preset's name another function complains, before the schema is read
        long = [path for path in keys if len(path[-1]) > 3 and path != ("preset",)]
        path = draw(chosen(long))
        return Mutation(kind, path, draw(misspelt(path[-1])))
    path = draw(chosen(keys))
    name = draw(chosen([*SHELL, *OUTSIDE, "zzz"])) if kind == "unknown" else None
    return Mutation(kind, path, name)
