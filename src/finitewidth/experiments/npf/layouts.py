"""How four paths can pass through one layer, and what may follow (npf appendix B, Lemma B.2).

A weight drawn as ±sigma leaves the mean of a product of four paths only where an even number of
them takes it. All ways in which four paths take weights are listed and sorted by what they share.
"""

import itertools
from collections import Counter
from dataclasses import dataclass

import numpy as np
import pandas as pd

PATHS = 4
NODES = 4  # of a layer: with four paths more would only rename


@dataclass(frozen=True)
class Layout:
    """A way to pass, up to the names of nodes and paths: how many nodes and weights are shared.

    Attributes:
        starts, ends, weights: how many different ones there are.
    """

    starts: int
    ends: int
    weights: int


def ways() -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """All (start nodes, end nodes) of four paths that take every weight an even number of times."""
    weights = list(itertools.product(range(NODES), repeat=2))
    return [
        tuple(zip(*taken, strict=True))
        for taken in itertools.product(weights, repeat=PATHS)
        if all(count % 2 == 0 for count in Counter(taken).values())
    ]


def layout(starts: tuple[int, ...], ends: tuple[int, ...]) -> Layout:
    """The layout of one way."""
    return Layout(len(set(starts)), len(set(ends)), len(set(zip(starts, ends, strict=True))))


def listed() -> tuple[pd.DataFrame, pd.DataFrame]:
    """The layouts, each with a first example path by path, and which may follow which.

    Returns:
        ``layouts``: letter, nodes and weights used, number of ways among `NODES` nodes, path, start
        and end node of the first way; ``successors``: letter, next letter, number of pairs of ways.
    """
    found = ways()
    kinds = [layout(*way) for way in found]
    # (a) shares all; then fewer start nodes first: a split, then a merger, then two apart
    order = sorted(set(kinds), key=lambda kind: (kind.weights, kind.starts, kind.ends))
    letters = {kind: chr(ord("a") + number) for number, kind in enumerate(order)}
    rows = []
    for kind, letter in letters.items():
        same = [way for way, other in zip(found, kinds, strict=True) if other == kind]
        common = {"layout": letter, "starts": kind.starts, "ends": kind.ends,
                  "weights": kind.weights, "ways": len(same), "nodes": NODES}  # fmt: skip
        for path, (start, end) in enumerate(zip(*min(same), strict=True), start=1):
            rows.append({**common, "path": path, "start": start + 1, "end": end + 1})
    return pd.DataFrame(rows), _successors(found, [letters[kind] for kind in kinds])


def _successors(
    found: list[tuple[tuple[int, ...], tuple[int, ...]]], letters: list[str]
) -> pd.DataFrame:
    """Pairs of layers: every path starts where it ended in the layer before."""
    starting: dict[tuple[int, ...], Counter] = {}
    for (starts, _), letter in zip(found, letters, strict=True):
        starting.setdefault(starts, Counter())[letter] += 1
    pairs: Counter = Counter()
    for (_, ends), letter in zip(found, letters, strict=True):
        for following, count in starting.get(ends, Counter()).items():
            pairs[letter, following] += count
    rows = [{"layout": a, "next": b, "pairs": pairs[a, b]} for a, b in sorted(pairs)]
    return pd.DataFrame(rows, columns=["layout", "next", "pairs"]).astype({"pairs": np.int64})
