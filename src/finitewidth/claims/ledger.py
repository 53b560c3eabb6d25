"""What a claim is, how it is judged, and where the claims of each paper are listed.

Snakemake imports the ledger at every start. Therefore no module of ``claims`` except ``job``
imports pandas or scipy at its top.
"""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from finitewidth.claims.needs import Need
from finitewidth.claims.verdicts import (
    FAILS,
    KINDS,
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
from finitewidth.common.texts import Quote

if TYPE_CHECKING:
    import pandas as pd

NOT_JUDGED = "not judged"
# columns on the comparison that decided a verdict
DECISIVE = (
    "statistic", "value", "low", "high", "threshold", "threshold_of", "threshold_reason",
    "outcome",
)  # fmt: skip

Tables = Mapping[str, "pd.DataFrame"]


@dataclass(frozen=True, kw_only=True)
class Claim:
    """One statement of a paper that rows can support or contradict.

    Attributes:
        id: ``N04``, ``D06``, … as in the ledger of all claims.
        paper: the paper that makes the claim.
        place: section, theorem or figure where it makes it.
        kind: ``theorem``, ``bound``, ``observation`` or ``hedged observation``.
        statement: the claim, in our words.
        quotes: the words of the paper that the statement rests on, few and verbatim.
        hedge: the words by which the paper limits the statement, such as "sufficiently wide".
        sizes: the sizes that the paper speaks about, in words.
        rule: when it counts as supported: statistic and threshold, in words.
        artifacts: ids of the artifacts that show it; may be empty.
        reads: name of a table -> the job that makes it and its name there, ``npf_regimes.runs``.
        needs: what must have been run for the claim to be decidable.
        own_sizes: what must have been run for comparisons to count as made at the paper's own
            sizes. If it is None, all sizes that the tables rest on must be the paper's; numbers of
            runs and draws do not count as sizes.
        judge: from the tables read to the comparisons that the claim makes; None as long as no
            experiment makes these tables. Raises `CannotDecideError` if rows are missing.
    """

    id: str
    paper: str
    place: str
    kind: str
    statement: str
    rule: str
    quotes: tuple[Quote, ...] = ()
    hedge: str = ""
    sizes: str = ""
    artifacts: tuple[str, ...] = ()
    reads: Mapping[str, str] = field(default_factory=dict)
    needs: tuple[Need, ...] = ()
    own_sizes: tuple[Need, ...] | None = None
    judge: Callable[[Tables], Sequence[Part]] | None = None

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"{self.id}: {self.kind!r} is not one of {', '.join(KINDS)}")


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


def module_of(paper: str) -> str | None:
    """The module with the claims and numbers of a paper; None if it has neither."""
    name = f"finitewidth.claims.{paper}"
    return name if find_spec(name) else None


def claims_of(paper: str) -> tuple[Claim, ...]:
    """All claims of a paper, in their order (``CLAIMS`` of its module)."""
    module = module_of(paper)
    return import_module(module).CLAIMS if module else ()


def judge(claim: Claim, tables: Tables, situation: Situation) -> Verdict:
    """The verdict on a claim.

    Args:
        claim: the claim.
        tables: the tables that it reads, by the names it gives them.
        situation: what the run means for it. If the run cannot decide it, comparisons are made and
            shown where the tables allow, without a verdict.
    """
    if claim.judge is None:
        return Verdict(verdict=NOT_RUN, reason="no experiment yet")
    terms = Terms(
        kind=claim.kind,
        hedged=bool(claim.hedge),
        sizes=situation.sizes,
        stand_in=situation.stand_in,
    )
    if situation.unmet:
        return _not_judged(claim.judge, tables, "; ".join(situation.unmet))
    try:
        return decide(claim.judge(tables), terms)
    except CannotDecideError as missing:
        return Verdict(verdict=NOT_DECIDABLE, reason=str(missing))


def _not_judged(
    compare: Callable[[Tables], Sequence[Part]], tables: Tables, reason: str
) -> Verdict:
    """The comparisons without a verdict.

    Judges may rely on the needs of their claims. In tables that do not meet these they can find
    no row, a division by zero or an interval of no points: then no comparison is shown.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        try:
            found = decide(compare(tables))
        except (CannotDecideError, ArithmeticError, LookupError, TypeError, ValueError):
            return Verdict(verdict=NOT_DECIDABLE, reason=reason)
    parts = tuple({**row, "outcome": NOT_JUDGED} for row in found.parts)
    return replace(
        found, verdict=NOT_DECIDABLE, reason=reason, outcome=NOT_JUDGED, parts=parts, caveat="",
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
    low, high = part.interval
    told = (
        part.name,
        part.value,
        low,
        high,
        threshold_text(part),
        origin(part),
        part.reason,
        verdict.outcome,
    )
    return {**row, **dict(zip(DECISIVE, told, strict=True))}


def threshold_text(part: Part) -> str:
    """``at least 2``, ``at most 0.15`` or ``0.79 to 0.84``; ``above 0`` if 0 does not suffice."""
    if part.low == float("-inf"):
        return f"{'below' if part.strict else 'at most'} {part.high:g}"
    if part.high == float("inf"):
        return f"{'above' if part.strict else 'at least'} {part.low:g}"
    return f"{part.low:g} to {part.high:g}"
