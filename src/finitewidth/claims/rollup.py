"""How many claims and printed numbers of an artifact or a paper have which verdict or outcome."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Rollup:
    """The counts of verdicts and outcomes.

    Attributes:
        claims: verdict -> count, in the order of `finitewidth.claims.verdicts.VERDICTS`.
        numbers: outcome -> count, in the order of `finitewidth.claims.reported.OUTCOMES`.
    """

    claims: dict[str, int]
    numbers: dict[str, int]


def counted(words: Iterable[str], order: Iterable[str]) -> dict[str, int]:
    """How often each word of ``order`` occurs; words that do not occur are left out."""
    counts = Counter(words)
    return {word: counts[word] for word in order if counts[word]}
