"""What a claim is, and a printed number; where they are written: ``papers/<paper>/claims.yaml``.

Snakemake reads these files at every start. Therefore nothing here imports numpy, pandas or scipy,
and the functions that a file names are imported when they are called.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from finitewidth.claims.needs import Need, needs_of
from finitewidth.claims.reported import CONSTANT, MEASURED, Ours
from finitewidth.claims.verdicts import KINDS, Part
from finitewidth.common.paper_files import (
    Quote,
    build,
    function_of,
    modules_of,
    quotes_of,
    read_texts,
    refuse_unknown,
    text_file,
)

if TYPE_CHECKING:
    import pandas as pd

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
        needs: what must have been run for the claim to be decidable: the original data, the paper's
            sizes, the fewest runs. A judge that lacks other rows says so itself.
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
    judge: Callable[[Tables], Iterable[Part]] | None = None

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"{self.id}: {self.kind!r} is not one of {', '.join(KINDS)}")


@dataclass(frozen=True, kw_only=True)
class Numbers:
    """Where our counterparts of the printed numbers of one artifact and quantity come from.

    Attributes:
        artifact, quantity: as in ``config/reported/<paper>.csv``.
        reads: name of a table -> the job that makes it and its name there, ``npf_regimes.runs``.
        find: from the tables read to our numbers.
        scale_free: whether the number depends on no dataset and no size, so that it is comparable
            at every preset.
        constant: whether a constant or a limit is printed rather than a measurement. What is
            ``scale_free`` is always a constant.
        parts: the parts of the tables on which single numbers rest, each the rows of trainings
            (`TrainingRun.row`) separated by blanks, or empty for all. With each, what is smaller
            than in the paper at every preset, in words; empty if nothing is.
    """

    artifact: str
    quantity: str
    reads: Mapping[str, str]
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
    for name, entry in _texts(paper).get("claims", {}).items():
        where, values = f"{text_file(paper, 'claims')}: {name}", dict(entry)
        values["quotes"] = quotes_of(f"{where}: quotes", values.get("quotes", ()))
        values["artifacts"] = tuple(values.get("artifacts", ()))
        values["reads"] = _reads(values.get("reads", {}))
        for key in ("needs", "own_sizes"):
            if key in values:
                values[key] = needs_of(f"{where}: {key}", values[key])
        if "judge" in values:
            values["judge"] = function_of(_judges(paper), "judges", values["judge"])
        claims.append(build(Claim, where, values, id=name, paper=paper))
    return tuple(claims)


@cache
def numbers_of(paper: str) -> tuple[Numbers, ...]:
    """All printed numbers of a paper that have a counterpart, in their order in the file."""
    numbers = []
    for values in map(dict, _texts(paper).get("numbers", ())):
        name = f"{values.get('artifact')}/{values.get('quantity')}"
        where = f"{text_file(paper, 'claims')}: numbers: {name}"
        values["reads"] = _reads(values.get("reads", {}))
        if "find" in values:
            values["find"] = function_of(_judges(paper), "judges", values["find"])
        if isinstance(values.get("parts"), list):
            values["parts"] = dict.fromkeys(values["parts"], "")
        numbers.append(build(Numbers, where, values))
    return tuple(numbers)


def judging_modules(paper: str) -> list[str]:
    """The modules with the judges of a paper."""
    return modules_of(_judges(paper), "judges")


def _texts(paper: str) -> Mapping[str, Any]:
    """The file; ``shared`` holds what several entries of it refer to."""
    content = read_texts(paper, "claims")
    refuse_unknown(str(text_file(paper, "claims")), content,
                   ("shared", "judges", "claims", "numbers"))  # fmt: skip
    return content


def _judges(paper: str) -> str:
    """The paper whose judges a paper uses: its own, unless it is another version of one."""
    return _texts(paper).get("judges", paper)


def _reads(value: Mapping[str, str] | Sequence[Mapping[str, str]]) -> dict[str, str]:
    """Tables by name; several mappings are joined in their order."""
    parts = value if isinstance(value, list) else [value]
    return {name: reference for part in parts for name, reference in part.items()}
