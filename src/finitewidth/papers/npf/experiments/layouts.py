"""Ways in which four paths pass through a layer, and their successors (npf appendix B, Lemma B.2).

For weights ±sigma the mean of a product over four paths is not zero only if every weight is used by
an even number of paths. All ways to use the weights of a layer are enumerated and classified.
"""

import itertools
from collections import Counter
from dataclasses import dataclass

import numpy as np
import pandas as pd

PATHS = 4
NODES = 4  # per layer; four paths use at most four


@dataclass(frozen=True)
class Layout:
    """A class of ways that differ only by the names of nodes and paths.

    Attributes:
        starts, ends, weights: numbers of different start nodes, end nodes and weights.
    """

    starts: int
    ends: int
    weights: int


def ways() -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """All (start nodes, end nodes) of four paths that use every weight an even number of times."""
    weights = list(itertools.product(range(NODES), repeat=2))
    return [
        tuple(zip(*taken, strict=True))
        for taken in itertools.product(weights, repeat=PATHS)
        if all(count % 2 == 0 for count in Counter(taken).values())
    ]


def layout(starts: tuple[int, ...], ends: tuple[int, ...]) -> Layout:
    """Return the layout of one way."""
    return Layout(len(set(starts)), len(set(ends)), len(set(zip(starts, ends, strict=True))))


def listed() -> tuple[pd.DataFrame, pd.DataFrame]:
    """List the layouts and their possible successors.

    Returns:
        ``layouts``: letter, numbers of nodes and weights used, number of ways among `NODES` nodes,
        and, for the first way, path, start and end node.
        ``successors``: letter, next letter, number of pairs of ways.
    """
    found = ways()
    kinds = [layout(*way) for way in found]
    # (a) one weight; then by the number of start nodes: paths that split, merge, stay apart
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
    """Pairs of ways in consecutive layers: every path starts where it ended in the layer before."""
    starting: dict[tuple[int, ...], Counter] = {}
    for (starts, _), letter in zip(found, letters, strict=True):
        starting.setdefault(starts, Counter())[letter] += 1
    pairs: Counter = Counter()
    for (_, ends), letter in zip(found, letters, strict=True):
        for following, count in starting.get(ends, Counter()).items():
            pairs[letter, following] += count
    rows = [{"layout": a, "next": b, "pairs": pairs[a, b]} for a, b in sorted(pairs)]
    return pd.DataFrame(rows, columns=["layout", "next", "pairs"]).astype({"pairs": np.int64})
