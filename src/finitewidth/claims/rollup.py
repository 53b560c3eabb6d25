"""How many claims and printed numbers of an artifact or a paper have which verdict or outcome."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from finitewidth.claims import reported, verdicts


@dataclass(frozen=True, kw_only=True)
class Rollup:
    """The counts of verdicts and outcomes.

    Attributes:
        claims: verdict -> count, in the order of `finitewidth.claims.verdicts.VERDICTS`.
        numbers: outcome -> count, in the order of `finitewidth.claims.reported.OUTCOMES`.
    """

    claims: dict[str, int]
    numbers: dict[str, int]


def roll_up(claims: Iterable[str], numbers: Iterable[str] = ()) -> Rollup:
    """Count verdicts and outcomes.

    Args:
        claims: verdicts.
        numbers: outcomes.

    Raises:
        ValueError: a word is neither a verdict nor an outcome.
    """
    judged, compared = list(claims), list(numbers)
    for word, known in (*((v, verdicts.VERDICTS) for v in judged),
                        *((o, reported.OUTCOMES) for o in compared)):  # fmt: skip
        if word not in known:
            raise ValueError(f"{word!r} is not one of {', '.join(known)}")
    return Rollup(
        claims=counted(judged, verdicts.VERDICTS), numbers=counted(compared, reported.OUTCOMES)
    )


def counted(words: Iterable[str], order: Iterable[str]) -> dict[str, int]:
    """How often each word of ``order`` occurs; words that do not occur are left out."""
    counts = Counter(words)
    return {word: counts[word] for word in order if counts[word]}
