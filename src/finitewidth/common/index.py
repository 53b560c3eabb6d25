"""What there is to regenerate, and what the papers print: the index and the reported numbers.

``config/artifacts.tsv`` lists all 80 numbered tables and figures, ``config/extras.tsv`` what is
made beside them. ``config/reported/<paper>.csv`` holds the numbers of one paper as it prints them.
All are read strictly: every error names file, line and column. Standard library only, since the
workflow reads the lists at every start.
"""

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from finitewidth.common.errors import ConfigError

PAPERS = ("npf", "npf0", "dgn", "trust", "thesis", "beyond", "collapse")
KINDS = {"figure": "fig", "table": "table"}
STATUSES = ("planned", "done")
SPREAD_KINDS = ("", "std_population", "std_sample", "standard_error")
READ_METHODS = ("printed", "read_off_figure")

INDEX_COLUMNS = ("artifact", "paper", "number", "kind", "title", "status")
KEY_COLUMNS = ("artifact", "quantity", "row", "column")
REPORTED_COLUMNS = (
    *KEY_COLUMNS,
    *(
        "value",
        "spread",
        "spread_kind",
        "runs",
        "unit",
        "tolerance",
        "place",
        "read_method",
        "note",
    ),
)

_NUMBER_IN_PAPER = re.compile(r"[1-9]\d*(\.[1-9]\d*)?")
_NAME = re.compile(r"[a-z][a-z0-9]*")
_KEY = re.compile(r"[a-z0-9]+([._][a-z0-9]+)*")


@dataclass(frozen=True, kw_only=True)
class Artifact:
    """One numbered table or figure; its id names the rule, the target, the files and the caption.

    ``artifact`` is ``<paper>_fig<number>`` or ``<paper>_table<number>`` with ``.`` as ``_``:
    number 2.5 of the thesis is ``thesis_fig2_5``. ``status`` is ``done`` once a rule makes it.
    """

    artifact: str
    paper: str
    number: str
    kind: str
    title: str
    status: str


@dataclass(frozen=True, kw_only=True)
class Reported:
    """One number of a paper. ``printed`` and ``printed_spread`` keep the text, zeros and all.

    ``artifact`` is an id of the index, or ``<paper>_text`` for a number of the prose.
    ``tolerance`` says, in the same unit, how far ours may lie from ``value`` and still agree:
    twice the printed spread and one point for the accuracies of NPF (claim N25), else as the claim
    says; None where no rule was set. ``note`` tells misprints and disagreements.
    """

    artifact: str
    quantity: str
    row: str
    column: str
    value: float
    printed: str
    spread: float | None
    printed_spread: str
    spread_kind: str
    runs: int | None
    unit: str
    tolerance: float | None
    place: str
    read_method: str
    note: str

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What tells this number from all others: artifact, quantity, row, column."""
        return self.artifact, self.quantity, self.row, self.column


@dataclass(frozen=True)
class _Line:
    """One line of a file, able to say where it stands."""

    path: Path
    number: int
    cells: dict[str, str]

    def error(self, column: str, message: str) -> ConfigError:
        return ConfigError(f"{self.path}, line {self.number}, column {column}: {message}")

    def filled(self, column: str) -> str:
        if not self.cells[column].strip():
            raise self.error(column, "is empty; fill it in")
        return self.cells[column]

    def one_of(self, column: str, allowed: Sequence[str]) -> str:
        found = self.cells[column]
        if found not in allowed:
            raise self.error(column, f"{found!r} is not one of {', '.join(map(repr, allowed))}")
        return found

    def key(self, column: str) -> str:
        found = self.cells[column]
        if not _KEY.fullmatch(found):
            raise self.error(column, f"{found!r} is not a key like gconv_adam or eps0.1")
        return found

    def real(self, column: str) -> float:
        try:
            return float(Fraction(self.cells[column]))
        except (ValueError, ZeroDivisionError, OverflowError):
            found = self.cells[column]
            message = f"{found!r} is not a number like 80.32, 2e-4 or 1/4"
            raise self.error(column, message) from None

    def positive(self, column: str) -> float | None:
        """A number above zero; None for an empty cell."""
        if not self.cells[column]:
            return None
        found = self.real(column)
        if found <= 0:
            raise self.error(column, f"{self.cells[column]!r} is not above zero")
        return found

    def count(self, column: str) -> int | None:
        """A whole number above zero; None for an empty cell."""
        found = self.positive(column)
        if found is None:
            return None
        if found != int(found):
            raise self.error(column, f"{self.cells[column]!r} is not a whole number")
        return int(found)


def read_index(path: str | Path) -> list[Artifact]:
    """Read ``config/artifacts.tsv``, in its order.

    Raises:
        ConfigError: no such file, a wrong header, an unknown paper, kind or status, a malformed
            number, an id that does not follow from them, or an id given twice.
    """
    return _entries(path, _NUMBER_IN_PAPER, "a number like 3 or 2.5", KINDS)


def read_extras(path: str | Path) -> list[Artifact]:
    """Read ``config/extras.tsv``: what is made beside the papers' own tables and figures.

    Columns as in the index, with a name in place of the number; ids are ``<paper>_extra_<name>``.

    Raises:
        ConfigError: as `read_index`.
    """
    return _entries(path, _NAME, "a name like theorem31", dict.fromkeys(KINDS, "extra_"))


def _entries(
    path: str | Path, pattern: re.Pattern[str], wanted: str, kinds: Mapping[str, str]
) -> list[Artifact]:
    index: dict[str, Artifact] = {}
    for line in _lines(Path(path), INDEX_COLUMNS, delimiter="\t"):
        artifact = _artifact(line, pattern, wanted, kinds)
        if artifact.artifact in index:
            raise line.error("artifact", f"{artifact.artifact} stands in the index twice")
        index[artifact.artifact] = artifact
    return list(index.values())


def done(index: Sequence[Artifact], paper: str | None = None) -> list[Artifact]:
    """The artifacts that a rule makes, of one paper or of all.

    Raises:
        ConfigError: no such paper.
    """
    if paper is not None and paper not in PAPERS:
        raise ConfigError(f"paper {paper!r} is not one of {', '.join(PAPERS)}")
    return [entry for entry in index if entry.status == "done" and paper in (None, entry.paper)]


def read_reported(
    folder: str | Path, paper: str, index: Sequence[Artifact] | None = None
) -> list[Reported]:
    """Read ``<folder>/<paper>.csv``, in its order.

    Without ``index``, the one beside the folder is read: ``config/artifacts.tsv``.

    Raises:
        ConfigError: no such paper or file, a wrong header, a malformed number or key, an artifact
            that is not of this paper, or the same number given twice.
    """
    if paper not in PAPERS:
        raise ConfigError(f"paper {paper!r} is not one of {', '.join(PAPERS)}")
    if index is None:
        index = read_index(Path(folder).parent / "artifacts.tsv")
    known = {f"{paper}_text"} | {entry.artifact for entry in index if entry.paper == paper}
    numbers: dict[tuple[str, str, str, str], Reported] = {}
    for line in _lines(Path(folder) / f"{paper}.csv", REPORTED_COLUMNS, delimiter=","):
        number = _reported(line, known)
        if number.key in numbers:
            raise line.error("artifact", f"{'/'.join(number.key)} stands in the file twice")
        numbers[number.key] = number
    return list(numbers.values())


def _artifact(
    line: _Line, pattern: re.Pattern[str], wanted: str, kinds: Mapping[str, str]
) -> Artifact:
    paper = line.one_of("paper", PAPERS)
    kind = line.one_of("kind", tuple(KINDS))
    number = line.cells["number"]
    if not pattern.fullmatch(number):
        raise line.error("number", f"{number!r} is not {wanted}")
    expected = f"{paper}_{kinds[kind]}{number.replace('.', '_')}"
    if line.cells["artifact"] != expected:
        found = line.cells["artifact"]
        raise line.error("artifact", f"{found!r} must be {expected!r} by its paper, kind, number")
    title, status = line.filled("title"), line.one_of("status", STATUSES)
    return Artifact(
        artifact=expected, paper=paper, number=number, kind=kind, title=title, status=status
    )


def _reported(line: _Line, known: set[str]) -> Reported:
    artifact = line.cells["artifact"]
    if artifact not in known:
        message = f"{artifact!r} is neither in the index for this paper nor its text"
        raise line.error("artifact", message)
    spread_kind = line.one_of("spread_kind", SPREAD_KINDS)
    if bool(line.cells["spread"]) != bool(spread_kind):
        raise line.error("spread_kind", "a spread and its kind go together; give both or neither")
    return Reported(
        artifact=artifact,
        quantity=line.key("quantity"),
        row=line.key("row"),
        column=line.key("column"),
        value=line.real("value"),
        printed=line.cells["value"],
        spread=line.positive("spread"),
        printed_spread=line.cells["spread"],
        spread_kind=spread_kind,
        runs=line.count("runs"),
        unit=line.key("unit"),
        tolerance=line.positive("tolerance"),
        place=line.filled("place"),
        read_method=line.one_of("read_method", READ_METHODS),
        note=line.cells["note"],
    )


def _lines(path: Path, columns: Sequence[str], delimiter: str) -> Iterator[_Line]:
    """The lines below the header; a tab-separated file knows no quotes."""
    quoting = csv.QUOTE_NONE if delimiter == "\t" else csv.QUOTE_MINIMAL
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ConfigError(f"{path} is missing; it belongs to the project, restore it") from None
    rows = csv.reader(text.splitlines(), delimiter=delimiter, quoting=quoting)
    header = next(rows, [])
    if header != list(columns):
        raise ConfigError(f"{path}, line 1: columns are {header}, wanted {list(columns)}")
    for row in rows:
        if len(row) != len(columns):
            found = f"{len(row)} cells, wanted {len(columns)}"
            last = columns[min(len(row), len(columns)) - 1]
            raise ConfigError(f"{path}, line {rows.line_num}, column {last}: {found}")
        yield _Line(path, rows.line_num, dict(zip(columns, row, strict=True)))
