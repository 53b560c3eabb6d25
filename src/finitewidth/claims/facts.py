"""What does not hold, each fact counted once.

A misprint, a contradicted claim and a printed number that is off can be the same fact. The errata
name the claims and numbers that state theirs. Whatever is linked, directly or through another
entry, is one fact.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from finitewidth.claims.reported import OFF
from finitewidth.claims.verdicts import CONTRADICTED, IN_PART

CONFIRMED = "misprint confirmed"
Row = Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Fact:
    """One thing in the papers that does not hold."""

    errata: tuple[str, ...] = ()  # ids, in their order
    claims: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()  # ``artifact/quantity/row``


def number_key(row: Row) -> str:
    """The name of a printed number in the errata: ``artifact/quantity/row``."""
    return f"{row['artifact']}/{row['quantity']}/{row['row']}"


def facts_of(claims: Iterable[Row], numbers: Iterable[Row], errata: Iterable[Row]) -> list[Fact]:
    """Join what is linked, of claims contradicted, in part too, numbers off and errata confirmed.

    The ``claims`` and ``numbers`` of an erratum are ids and keys, separated by blanks. The facts
    with a claim come first, then those with a number, then the rest.
    """
    failing = {row["claim"] for row in claims if row["verdict"] in (CONTRADICTED, IN_PART)}
    off = {number_key(row) for row in numbers if row["outcome"] == OFF}
    groups = [
        (
            {("claims", name) for name in row["claims"].split() if name in failing}
            | {("numbers", key) for key in row["numbers"].split() if key in off}
            | ({("errata", row["id"])} if row["outcome"] == CONFIRMED else set())
        )
        for row in errata
    ]
    groups += [{("claims", name)} for name in failing] + [{("numbers", key)} for key in off]
    joined: list[set[tuple[str, str]]] = []  # the groups, those with a common member put together
    for group in filter(None, groups):
        touching = [other for other in joined if other & group]
        joined = [other for other in joined if not other & group]
        joined.append(group.union(*touching))
    kinds = ("errata", "claims", "numbers")

    def named(group: set[tuple[str, str]], kind: str) -> tuple[str, ...]:
        return tuple(sorted(name for what, name in group if what == kind))

    facts = [Fact(**{kind: named(group, kind) for kind in kinds}) for group in joined]
    return sorted(facts, key=lambda f: (not f.claims, f.claims, not f.numbers, f.numbers, f.errata))


def counted(words: Iterable[str], order: Iterable[str]) -> dict[str, int]:
    """How often each word of ``order`` occurs; words that do not occur are left out."""
    counts = Counter(words)
    return {word: counts[word] for word in order if counts[word]}
