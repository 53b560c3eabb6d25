"""What a claim is, how it is judged, and where the claims of each paper are listed.

Snakemake imports the ledger at every start. Therefore no module of ``claims`` except ``job``
imports pandas or scipy at its top.
"""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from finitewidth.claims.needs import Need
from finitewidth.claims.verdicts import (
    NOT_DECIDABLE,
    NOT_RUN,
    CannotDecideError,
    Part,
    Verdict,
    decide,
)
from finitewidth.common.references import table_file

if TYPE_CHECKING:
    import pandas as pd

NOT_JUDGED = "not judged"

Tables = Mapping[str, "pd.DataFrame"]


@dataclass(frozen=True, kw_only=True)
class Claim:
    """One statement of a paper that rows can support or contradict.

    Attributes:
        id: ``N04``, ``D06``, … as in the ledger of all claims.
        paper: the paper that makes the claim.
        place: section, theorem or figure where it makes it.
        statement: the claim, in our words.
        rule: when it counts as supported: statistic and threshold, in words.
        artifacts: ids of the artifacts that show it; may be empty.
        reads: name of a table -> the job that makes it and its name there, ``npf_regimes.runs``.
        needs: what must have been run for the claim to be decidable.
        judge: from the tables read to the comparisons that the claim makes; None as long as no
            experiment makes these tables. Raises `CannotDecideError` if rows are missing.
    """

    id: str
    paper: str
    place: str
    statement: str
    rule: str
    artifacts: tuple[str, ...] = ()
    reads: Mapping[str, str] = field(default_factory=dict)
    needs: tuple[Need, ...] = ()
    judge: Callable[[Tables], Sequence[Part]] | None = None


def module_of(paper: str) -> str | None:
    """The module with the claims and numbers of a paper; None if it has neither."""
    name = f"finitewidth.claims.{paper}"
    return name if find_spec(name) else None


def claims_of(paper: str) -> tuple[Claim, ...]:
    """All claims of a paper, in their order (``CLAIMS`` of its module)."""
    module = module_of(paper)
    return import_module(module).CLAIMS if module else ()


def judge(claim: Claim, tables: Tables, unmet: Sequence[str]) -> Verdict:
    """The verdict on a claim.

    Args:
        claim: the claim.
        tables: the tables that it reads, by the names it gives them.
        unmet: why the run cannot decide it (`finitewidth.claims.needs.unmet`). If there is a
            reason, comparisons are made and shown where the tables allow, without a verdict.
    """
    if claim.judge is None:
        return Verdict(verdict=NOT_RUN, reason="no experiment yet", decisive=None, parts=())
    if unmet:
        return _not_judged(claim.judge, tables, "; ".join(unmet))
    try:
        return decide(claim.judge(tables))
    except CannotDecideError as missing:
        return Verdict(verdict=NOT_DECIDABLE, reason=str(missing), decisive=None, parts=())


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
            return Verdict(verdict=NOT_DECIDABLE, reason=reason, decisive=None, parts=())
    parts = tuple({**row, "verdict": NOT_JUDGED} for row in found.parts)
    return Verdict(verdict=NOT_DECIDABLE, reason=reason, decisive=found.decisive, parts=parts)


def verdict_row(claim: Claim, verdict: Verdict, preset: str, context: str) -> dict[str, Any]:
    """A verdict as a row: the claim, what was decided, and the statistic that decided it.

    The column ``tables`` has the CSV files read, below the folder of the preset's results.
    """
    tables = map(table_file, claim.reads.values())
    row = {
        "claim": claim.id, "paper": claim.paper, "place": claim.place,
        "statement": claim.statement, "rule": claim.rule,
        "artifacts": " ".join(claim.artifacts), "tables": " ".join(tables),
        "preset": preset, "context": context,
        "verdict": verdict.verdict, "reason": verdict.reason,
    }  # fmt: skip
    part = verdict.decisive
    if part is None:
        return {**row, **dict.fromkeys(("statistic", "value", "low", "high", "threshold"))}
    low, high = part.interval
    return {**row, "statistic": part.name, "value": part.value, "low": low, "high": high,
            "threshold": threshold_text(part)}  # fmt: skip


def threshold_text(part: Part) -> str:
    """``at least 2``, ``at most 0.15`` or ``0.79 to 0.84``; ``above 0`` if 0 does not suffice."""
    if part.low == float("-inf"):
        return f"{'below' if part.strict else 'at most'} {part.high:g}"
    if part.high == float("inf"):
        return f"{'above' if part.strict else 'at least'} {part.low:g}"
    return f"{part.low:g} to {part.high:g}"
