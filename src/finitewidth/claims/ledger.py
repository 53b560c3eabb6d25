"""Claims and printed numbers of ``papers/<paper>/claims.yaml``, and how a claim is judged.

Snakemake reads these files at every start. Therefore no module of ``claims`` except ``job`` imports
pandas or scipy at its top, and the functions that a file names are imported when they are called.
"""

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from finitewidth.claims import verdicts
from finitewidth.claims.needs import Need, needs_of
from finitewidth.claims.reported import CONSTANT, MEASURED, Ours
from finitewidth.claims.verdicts import CannotDecideError, Part, Terms, Verdict
from finitewidth.declarations import paper_files
from finitewidth.declarations.references import table_file

if TYPE_CHECKING:
    import pandas as pd

Tables = Mapping[str, "pd.DataFrame"]
NOT_JUDGED = "not judged"
# columns on the comparison that decided a verdict
DECISIVE = (
    "statistic",
    "value",
    "low",
    "high",
    "threshold",
    "threshold_of",
    "threshold_reason",
    "outcome",
    "shown_in",
)


@dataclass(frozen=True, kw_only=True)
class Claim:
    """One statement of a paper that rows can support or contradict.

    The ``needs`` say what must have been run for the claim to be decidable: the original data, the
    paper's sizes, the fewest runs. What must have been run for comparisons to count as made at the
    paper's own sizes is in ``own_sizes``. If it is None, all sizes that the tables rest on must be
    the paper's; numbers of runs and draws do not count as sizes. With fewer than ``own_runs`` its
    grade is that of a reduced scale all the same.
    """

    id: str  # such as N04 or D06
    paper: str
    place: str  # section, theorem or figure
    kind: str  # one of `verdicts.KINDS`
    statement: str  # in our words
    rule: str  # when it counts as supported: statistic and threshold, in words
    quotes: tuple[paper_files.Quote, ...] = ()  # that the statement rests on
    hedge: str = ""  # words that limit the statement, such as "sufficiently wide"
    sizes: str = ""  # that the paper speaks about, in words
    artifacts: tuple[str, ...] = ()  # that show it
    reads: Mapping[str, str] = field(default_factory=dict)  # name of a table -> its reference
    needs: tuple[Need, ...] = ()
    own_sizes: tuple[Need, ...] | None = None
    own_runs: tuple[Need, ...] = ()  # numbers of runs of the paper
    judge: Callable[[Tables], Iterable[Part]] | None = None  # None: no experiment makes the tables

    def __post_init__(self) -> None:
        if self.kind not in verdicts.KINDS:
            raise ValueError(f"{self.id}: {self.kind!r} is not one of {', '.join(verdicts.KINDS)}")


@dataclass(frozen=True, kw_only=True)
class Numbers:
    """Where our counterparts of the printed numbers of one artifact and quantity come from.

    A number that is ``scale_free`` depends on no dataset and no size, so that it is comparable at
    every preset. It is a constant, as is a limit or whatever else is not measured. The ``parts`` of
    the tables on which single numbers rest are each the rows of trainings (`TrainingRun.row`)
    separated by blanks, or empty for all. With each stands what is smaller than in the paper at
    every preset, in words; empty if nothing is.
    """

    artifact: str
    quantity: str
    reads: Mapping[str, str]  # name of a table -> its reference
    find: Callable[[Tables], Iterable[Ours]]
    scale_free: bool = False
    constant: bool = False
    parts: Mapping[str, str] = field(default_factory=lambda: {"": ""})

    @property
    def kind(self) -> str:
        """``constant`` or ``measured``."""
        return CONSTANT if self.constant or self.scale_free else MEASURED


@cache
def claims_of(paper: str) -> tuple[Claim, ...]:
    """All claims of a paper, in the order of its ``claims.yaml``; none if it has no such file."""
    claims = []
    file = paper_files.text_file(paper, "claims")
    for name, entry in _texts(paper).get("claims", {}).items():
        where = f"{file}: {name}"
        values = dict(entry)
        values["quotes"] = paper_files.quotes_of(f"{where}: quotes", values.get("quotes", ()))
        values["artifacts"] = tuple(values.get("artifacts", ()))
        values["reads"] = _reads(values.get("reads", {}))
        for key in ("needs", "own_sizes", "own_runs"):
            if key in values:
                values[key] = needs_of(f"{where}: {key}", values[key])
        if "judge" in values:
            values["judge"] = paper_files.function_of(_judges(paper), "judges", values["judge"])
        claims.append(paper_files.build(Claim, where, values, id=name, paper=paper))
    return tuple(claims)


@cache
def numbers_of(paper: str) -> tuple[Numbers, ...]:
    """All printed numbers of a paper that have a counterpart, in their order in the file."""
    numbers = []
    for entry in _texts(paper).get("numbers", ()):
        values = dict(entry)
        name = f"{values.get('artifact')}/{values.get('quantity')}"
        where = f"{paper_files.text_file(paper, 'claims')}: numbers: {name}"
        values["reads"] = _reads(values.get("reads", {}))
        if "find" in values:
            values["find"] = paper_files.function_of(_judges(paper), "judges", values["find"])
        if isinstance(values.get("parts"), list):
            values["parts"] = dict.fromkeys(values["parts"], "")
        numbers.append(paper_files.build(Numbers, where, values))
    return tuple(numbers)


def judging_modules(paper: str) -> list[str]:
    """The modules with the judges of a paper."""
    return paper_files.modules_of(_judges(paper), "judges")


def _texts(paper: str) -> Mapping[str, Any]:
    """The file; ``shared`` holds what several entries of it refer to."""
    content = paper_files.read_texts(paper, "claims")
    file = paper_files.text_file(paper, "claims")
    paper_files.refuse_unknown(str(file), content, ("shared", "judges", "claims", "numbers"))
    return content


def _judges(paper: str) -> str:
    """The paper whose judges a paper uses: its own, unless it is another version of one."""
    return _texts(paper).get("judges", paper)


def _reads(value: Mapping[str, str] | Sequence[Mapping[str, str]]) -> dict[str, str]:
    """Tables by name; several mappings are joined in their order."""
    if isinstance(value, Mapping):
        return dict(value)
    tables: dict[str, str] = {}
    for part in value:
        tables |= part
    return tables


@dataclass(frozen=True, kw_only=True)
class Situation:
    """What a run means for one claim."""

    unmet: Sequence[str] = ()  # why the run cannot decide it (`needs.unmet`)
    sizes: bool = True  # whether its tables were computed at the paper's own sizes
    stand_in: bool = False  # whether its tables rest on another dataset in place of the paper's
    grade: str = ""  # what evidence its tables are, one of `grades.GRADES`
    context: str = ""  # preset, data, and numbers of runs, in words
    larger: str = ""  # which preset meets the needs, and how long it takes; empty if none does
    papers: str = ""  # the same of preset paper, for what only tables tell


def judge(claim: Claim, tables: Tables, situation: Situation) -> Verdict:
    """The verdict on a claim, from the tables that it reads, by the names it gives them.

    If the run cannot decide it, comparisons are made and shown where the tables allow, without a
    verdict.
    """
    if claim.judge is None:
        return Verdict(verdict=verdicts.NOT_RUN, reason="no experiment yet")
    if situation.unmet:
        reason = _joined([*situation.unmet, situation.larger])
        return _not_judged(claim.judge, tables, reason)
    terms = Terms(
        kind=claim.kind,
        hedged=bool(claim.hedge),
        sizes=situation.sizes,
        stand_in=situation.stand_in,
    )
    try:
        verdict = verdicts.decide(claim.judge(tables), terms)
    except CannotDecideError as missing:
        verdict = Verdict(verdict=verdicts.NEEDS_MORE, reason=str(missing))
    if verdict.verdict != verdicts.NEEDS_MORE:
        return verdict
    return replace(verdict, reason=_joined([verdict.reason, situation.papers]))


def _joined(phrases: Iterable[str]) -> str:
    return "; ".join(filter(None, phrases))


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
            judged = verdicts.decide(compare(tables))
        except (CannotDecideError, ArithmeticError, LookupError, TypeError, ValueError):
            return Verdict(verdict=verdicts.NEEDS_MORE, reason=reason)
    parts = tuple({**row, "outcome": NOT_JUDGED} for row in judged.parts)
    return Verdict(
        verdict=verdicts.NEEDS_MORE,
        reason=reason,
        decisive=judged.decisive,
        outcome=NOT_JUDGED,
        parts=parts,
    )


def verdict_row(
    claim: Claim, verdict: Verdict, preset: str, situation: Situation
) -> dict[str, Any]:
    """A verdict as a row: the claim, what was decided, and the statistic that decided it.

    The column ``tables`` has the CSV files read, below the folder of the preset's results.
    """
    tables = [table_file(reference) for reference in claim.reads.values()]
    row = {
        "claim": claim.id,
        "paper": claim.paper,
        "place": claim.place,
        "kind": claim.kind,
        "statement": claim.statement,
        "hedge": claim.hedge,
        "sizes": claim.sizes,
        "rule": claim.rule,
        "artifacts": " ".join(claim.artifacts),
        "tables": " ".join(tables),
        "preset": preset,
        "context": situation.context,
        "grade": situation.grade,
        "verdict": verdict.verdict,
        "reason": verdict.reason,
        "caveat": verdict.caveat,
        "comparisons": len(verdict.parts),
        "failing": verdict.count(verdicts.FAILS),
        "undecided": verdict.count(verdicts.UNDECIDED),
        "false_alarm": verdict.false_alarm,
    }
    return row | _decisive_columns(verdict)


def _decisive_columns(verdict: Verdict) -> dict[str, Any]:
    """The columns `DECISIVE` of a verdict; empty if no comparison decided it."""
    part = verdict.decisive
    if part is None:
        return dict.fromkeys(DECISIVE)
    low, high = part.interval
    return {
        "statistic": part.name,
        "value": part.value,
        "low": low,
        "high": high,
        "threshold": threshold_text(part),
        "threshold_of": part.origin,
        "threshold_reason": part.reason,
        "outcome": verdict.outcome,
        "shown_in": " ".join(part.artifacts),
    }


def threshold_text(part: Part) -> str:
    """``at least 2``, ``at most 0.15`` or ``0.79 to 0.84``; ``above 0`` if 0 does not suffice."""
    if part.low == float("-inf"):
        return f"{'below' if part.strict else 'at most'} {part.high:g}"
    if part.high == float("inf"):
        return f"{'above' if part.strict else 'at least'} {part.low:g}"
    return f"{part.low:g} to {part.high:g}"
