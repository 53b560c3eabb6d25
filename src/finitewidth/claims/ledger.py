"""How a claim is judged, and its verdict as a row of a table.

Snakemake imports the ledger at every start. Therefore no module of ``claims`` except ``job``
imports pandas or scipy at its top.
"""

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from finitewidth.claims.model import Claim, Tables, claims_of
from finitewidth.claims.verdicts import (
    FAILS,
    NOT_DECIDABLE,
    NOT_RUN,
    UNDECIDED,
    CannotDecideError,
    Part,
    Terms,
    Verdict,
    decide,
    origin,
)
from finitewidth.common.references import table_file

__all__ = ["Claim", "Situation", "Tables", "claims_of", "judge", "verdict_row"]

NOT_JUDGED = "not judged"
# columns on the comparison that decided a verdict
DECISIVE = (
    "statistic", "value", "low", "high", "threshold", "threshold_of", "threshold_reason",
    "outcome",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Situation:
    """What a run means for one claim.

    Attributes:
        unmet: why the run cannot decide it (`finitewidth.claims.needs.unmet`); empty if it can.
        sizes: whether its tables were computed at the paper's own sizes.
        stand_in: whether its tables rest on another dataset in place of the paper's.
        grade: what evidence its tables are, one of `finitewidth.claims.grades.GRADES`.
        context: preset, data, and numbers of runs, in words.
    """

    unmet: Sequence[str] = ()
    sizes: bool = True
    stand_in: bool = False
    grade: str = ""
    context: str = ""


def judge(claim: Claim, tables: Tables, situation: Situation) -> Verdict:
    """The verdict on a claim, from the tables that it reads, by the names it gives them.

    If the run cannot decide it, comparisons are made and shown where the tables allow, without a
    verdict.
    """
    if claim.judge is None:
        return Verdict(verdict=NOT_RUN, reason="no experiment yet")
    if situation.unmet:
        return _not_judged(claim.judge, tables, "; ".join(situation.unmet))
    terms = Terms(kind=claim.kind, hedged=bool(claim.hedge), sizes=situation.sizes,
                  stand_in=situation.stand_in)  # fmt: skip
    try:
        return decide(claim.judge(tables), terms)
    except CannotDecideError as missing:
        return Verdict(verdict=NOT_DECIDABLE, reason=str(missing))


def _not_judged(
    compare: Callable[[Tables], Iterable[Part]], tables: Tables, reason: str
) -> Verdict:
    """The comparisons without a verdict.

    Judges may rely on the needs of their claims. In tables that do not meet these they can find
    no row, a division by zero or an interval of no points: then no comparison is shown.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        try:
            judged = decide(compare(tables))
        except (CannotDecideError, ArithmeticError, LookupError, TypeError, ValueError):
            return Verdict(verdict=NOT_DECIDABLE, reason=reason)
    parts = tuple({**row, "outcome": NOT_JUDGED} for row in judged.parts)
    return replace(
        judged, verdict=NOT_DECIDABLE, reason=reason, outcome=NOT_JUDGED, parts=parts, caveat="",
        false_alarm=0.0,
    )  # fmt: skip


def verdict_row(
    claim: Claim, verdict: Verdict, preset: str, situation: Situation
) -> dict[str, Any]:
    """A verdict as a row: the claim, what was decided, and the statistic that decided it.

    The column ``tables`` has the CSV files read, below the folder of the preset's results.
    """
    tables = map(table_file, claim.reads.values())
    row = {
        "claim": claim.id, "paper": claim.paper, "place": claim.place, "kind": claim.kind,
        "statement": claim.statement, "hedge": claim.hedge, "sizes": claim.sizes,
        "rule": claim.rule, "artifacts": " ".join(claim.artifacts), "tables": " ".join(tables),
        "preset": preset, "context": situation.context, "grade": situation.grade,
        "verdict": verdict.verdict, "reason": verdict.reason, "caveat": verdict.caveat,
        "comparisons": len(verdict.parts), "failing": verdict.count(FAILS),
        "undecided": verdict.count(UNDECIDED), "false_alarm": verdict.false_alarm,
    }  # fmt: skip
    part = verdict.decisive
    if part is None:
        return {**row, **dict.fromkeys(DECISIVE)}
    decisive = (part.name, part.value, *part.interval, threshold_text(part), origin(part),
                part.reason, verdict.outcome)  # fmt: skip
    return {**row, **dict(zip(DECISIVE, decisive, strict=True))}


def threshold_text(part: Part) -> str:
    """``at least 2``, ``at most 0.15`` or ``0.79 to 0.84``; ``above 0`` if 0 does not suffice."""
    if part.low == float("-inf"):
        return f"{'below' if part.strict else 'at most'} {part.high:g}"
    if part.high == float("inf"):
        return f"{'above' if part.strict else 'at least'} {part.low:g}"
    return f"{part.low:g} to {part.high:g}"
