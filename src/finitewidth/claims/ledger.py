"""What a claim is, how it is judged, and where all claims stand.

Snakemake imports the ledger at every start: no module below ``claims`` imports pandas or scipy at
its top.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

from finitewidth.claims.verdicts import (
    NOT_DECIDABLE,
    NOT_RUN,
    CannotDecideError,
    Part,
    Verdict,
    decide,
)

if TYPE_CHECKING:
    import pandas as pd

PAPERS = ("npf", "dgn", "trust", "thesis", "beyond", "collapse")
QUICK = ("quick", "laptop", "paper")
LAPTOP = ("laptop", "paper")
PAPER = ("paper",)

Tables = Mapping[str, "pd.DataFrame"]


@dataclass(frozen=True, kw_only=True)
class Claim:
    """One statement of a paper that rows can support or contradict.

    Attributes:
        id: ``N04``, ``D06``, … as in the ledger of all claims.
        paper: whose claim it is.
        place: section, theorem, figure.
        statement: the claim, in our words.
        rule: when it counts as supported: statistic and threshold, in words.
        artifacts: ids of the artifacts that show it; may be empty.
        presets: those whose sizes and data can decide it.
        otherwise: why the others cannot.
        reads: name of a table -> its CSV below ``results/<preset>``.
        sections: of the configuration, ``("npf", "table2")``: what the rows were computed with.
        roles: the papers' datasets whose parts sources play in these rows.
        judge: from the tables read to the comparisons the claim makes; None as long as no
            experiment makes these tables. Raises `CannotDecideError` where rows are missing.
    """

    id: str
    paper: str
    place: str
    statement: str
    rule: str
    artifacts: tuple[str, ...] = ()
    presets: tuple[str, ...] = QUICK
    otherwise: str = ""
    reads: Mapping[str, str] = field(default_factory=dict)
    sections: tuple[tuple[str, str], ...] = ()
    roles: tuple[str, ...] = ()
    judge: Callable[[Tables], Sequence[Part]] | None = None


def claims_of(paper: str) -> tuple[Claim, ...]:
    """All claims of a paper (``CLAIMS`` of ``finitewidth.claims.<paper>``), in their order."""
    return import_module(f"finitewidth.claims.{paper}").CLAIMS


def judge(claim: Claim, tables: Tables, preset: str) -> Verdict:
    """The verdict on a claim at a preset.

    Where the preset cannot decide it, the comparisons are still made and shown, without a verdict;
    at ``smoke`` nothing is meant to hold and nothing is compared.
    """
    if claim.judge is None:
        return Verdict(verdict=NOT_RUN, reason="no experiment yet", decisive=None, parts=())
    decidable = preset in claim.presets
    reason = claim.otherwise or f"decided at {' and '.join(claim.presets)} only"
    if preset == "smoke":
        reason = "preset smoke only shows that everything runs"
        return Verdict(verdict=NOT_DECIDABLE, reason=reason, decisive=None, parts=())
    try:
        found = decide(claim.judge(tables))
    except CannotDecideError as missing:
        return Verdict(verdict=NOT_DECIDABLE, reason=str(missing), decisive=None, parts=())
    if decidable:
        return found
    parts = tuple({**row, "verdict": "not judged"} for row in found.parts)
    return Verdict(verdict=NOT_DECIDABLE, reason=reason, decisive=found.decisive, parts=parts)


def verdict_row(claim: Claim, verdict: Verdict, preset: str, context: str) -> dict[str, Any]:
    """A verdict as a row: the claim, what was decided, and the statistic that decided it."""
    row = {
        "claim": claim.id, "paper": claim.paper, "place": claim.place,
        "statement": claim.statement, "rule": claim.rule,
        "artifacts": " ".join(claim.artifacts), "tables": " ".join(claim.reads.values()),
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
    """``at least 2``, ``at most 0.15`` or ``0.79 to 0.84``; ``above 0`` where 0 is not enough."""
    if part.low == float("-inf"):
        return f"{'below' if part.strict else 'at most'} {part.high:g}"
    if part.high == float("inf"):
        return f"{'above' if part.strict else 'at least'} {part.low:g}"
    return f"{part.low:g} to {part.high:g}"
