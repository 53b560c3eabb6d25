"""One word for many verdicts and outcomes: how far an artifact or a paper holds.

The word for an artifact is that of the worst of its claims and numbers.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from finitewidth.claims import reported, verdicts

HOLDS, UNDECIDED, NOTHING = "holds", "undecided", "nothing to judge"
_HELD = frozenset({verdicts.SUPPORTED, reported.REPRODUCED})
WORST_FIRST = (verdicts.CONTRADICTED, reported.OFF, verdicts.INCONCLUSIVE, UNDECIDED, HOLDS)


@dataclass(frozen=True, kw_only=True)
class Rollup:
    """One word for all claims and numbers, and how many there are of each kind.

    Attributes:
        status: one of `WORST_FIRST`, or ``nothing to judge`` if there is no claim and no number.
        claims: verdict -> count, in the order of `finitewidth.claims.verdicts.VERDICTS`.
        numbers: outcome -> count, in the order of `finitewidth.claims.reported.OUTCOMES`.
    """

    status: str
    claims: dict[str, int]
    numbers: dict[str, int]


def roll_up(claims: Iterable[str], numbers: Iterable[str] = ()) -> Rollup:
    """The worst of some verdicts and outcomes.

    What was not decided, not comparable or not run counts as undecided. An artifact with an
    undecided claim or number does not hold, and it is contradicted if another claim is.

    Args:
        claims: verdicts.
        numbers: outcomes.

    Raises:
        ValueError: a word is neither a verdict nor an outcome.
    """
    found, compared = list(claims), list(numbers)
    for word, known in (*((v, verdicts.VERDICTS) for v in found),
                        *((o, reported.OUTCOMES) for o in compared)):  # fmt: skip
        if word not in known:
            raise ValueError(f"{word!r} is not one of {', '.join(known)}")
    words = [_kind(word) for word in found + compared]
    return Rollup(
        status=min(words, key=WORST_FIRST.index) if words else NOTHING,
        claims=counted(found, verdicts.VERDICTS),
        numbers=counted(compared, reported.OUTCOMES),
    )


def counted(words: Iterable[str], order: Iterable[str]) -> dict[str, int]:
    """How often each word of ``order`` occurs; words that do not occur are left out."""
    counts = Counter(words)
    return {word: counts[word] for word in order if counts[word]}


def _kind(word: str) -> str:
    if word in _HELD:
        return HOLDS
    return word if word in WORST_FIRST else UNDECIDED
