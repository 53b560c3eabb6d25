"""What does not hold, each fact counted once.

A misprint, a contradicted claim and a printed number that is off can be the same fact. The errata
name the claims and numbers that state theirs. Whatever is linked, directly or through another
entry, is one fact.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from typing import Any

from finitewidth.claims.reported import OFF
from finitewidth.claims.verdicts import CONTRADICTED, IN_PART

CONFIRMED = "misprint confirmed"
Row = Mapping[str, str]
Entry = tuple[str, str]  # kind and name: ("claims", "N04"), ("numbers", key), ("errata", "npf-1")


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
    groups = [_group_of(erratum, failing, off) for erratum in errata]
    groups += [{("claims", claim)} for claim in failing]
    groups += [{("numbers", key)} for key in off]
    facts = [_fact(group) for group in _joined(groups)]
    return sorted(facts, key=_order)


def _group_of(erratum: Row, failing: Set[str], off: Set[str]) -> set[Entry]:
    """What an erratum links of what does not hold, with itself if it is confirmed."""
    group = {("claims", claim) for claim in erratum["claims"].split() if claim in failing}
    group |= {("numbers", key) for key in erratum["numbers"].split() if key in off}
    if erratum["outcome"] == CONFIRMED:
        group.add(("errata", erratum["id"]))
    return group


def _joined(groups: Iterable[set[Entry]]) -> list[set[Entry]]:
    """The groups without empty ones, those with a common entry put together."""
    joined: list[set[Entry]] = []
    for group in groups:
        if not group:
            continue
        linked = [other for other in joined if other & group]
        joined = [other for other in joined if not other & group]
        joined.append(group.union(*linked))
    return joined


def _fact(group: set[Entry]) -> Fact:
    names: dict[str, list[str]] = {"errata": [], "claims": [], "numbers": []}
    for kind, name in sorted(group):
        names[kind].append(name)
    return Fact(
        errata=tuple(names["errata"]),
        claims=tuple(names["claims"]),
        numbers=tuple(names["numbers"]),
    )


def _order(fact: Fact) -> tuple[Any, ...]:
    """The key of sorting: facts with a claim first, then those with a number."""
    return (not fact.claims, fact.claims, not fact.numbers, fact.numbers, fact.errata)


def counted(words: Iterable[str], order: Iterable[str]) -> dict[str, int]:
    """How often each word of ``order`` occurs; words that do not occur are left out."""
    counts = Counter(words)
    return {word: counts[word] for word in order if counts[word]}
