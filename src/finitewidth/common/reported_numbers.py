"""The numbers that the papers print.

``config/reported/<paper>.csv`` contains the numbers of one paper as they are printed. The files are
checked when they are read, and error messages name file, line and column. This module imports only
the standard library, because the workflow imports it at every start.
"""

import csv
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from finitewidth.common.errors import ConfigError

SPREAD_KINDS = ("", "std_population", "std_sample", "standard_error")
READ_METHODS = ("printed", "read_off_figure")

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
        "reading_error",
        "note",
    ),
)

_KEY = re.compile(r"[a-z0-9]+([._][a-z0-9]+)*")


@dataclass(frozen=True, kw_only=True)
class Reported:
    """One number that a paper prints.

    Attributes:
        artifact: name of the artifact, or ``<paper>_text`` for a number in the text.
        quantity: the quantity.
        row: row of the table or point of the figure.
        column: column of the table or curve of the figure.
        value: the number.
        printed: the number as printed, with trailing zeros.
        spread: the printed spread, or None.
        printed_spread: the spread as printed; empty if there is none.
        spread_kind: one of `SPREAD_KINDS`.
        runs: number of runs, or None.
        unit: unit of ``value``, ``spread`` and ``tolerance``.
        tolerance: largest distance of our number from ``value`` at which both agree. For the
            accuracies of NPF it is twice the printed spread plus one percentage point (claim N25),
            otherwise it is given by the claim. None if there is no rule.
        place: where the paper prints the number.
        read_method: one of `READ_METHODS`.
        reading_error: how far a number that was read off a figure may be from the one drawn, in
            ``unit``; None if it is printed.
        note: misprints and disagreements.
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
    reading_error: float | None
    note: str

    @property
    def key(self) -> tuple[str, str, str, str]:
        """Artifact, quantity, row and column, which identify the number."""
        return self.artifact, self.quantity, self.row, self.column


@dataclass(frozen=True)
class _Line:
    """One line of a file, with its path and line number for error messages."""

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
        word = self.cells[column]
        if word not in allowed:
            raise self.error(column, f"{word!r} is not one of {', '.join(map(repr, allowed))}")
        return word

    def key(self, column: str) -> str:
        key = self.cells[column]
        if not _KEY.fullmatch(key):
            raise self.error(column, f"{key!r} is not a key like gconv_adam or eps0.1")
        return key

    def real(self, column: str) -> float:
        try:
            return float(Fraction(self.cells[column]))
        except (ValueError, ZeroDivisionError, OverflowError):
            cell = self.cells[column]
            message = f"{cell!r} is not a number like 80.32, 2e-4 or 1/4"
            raise self.error(column, message) from None

    def positive(self, column: str) -> float | None:
        """Return a number above zero, or None for an empty cell."""
        if not self.cells[column]:
            return None
        value = self.real(column)
        if value <= 0:
            raise self.error(column, f"{self.cells[column]!r} is not above zero")
        return value

    def count(self, column: str) -> int | None:
        """Return a whole number above zero, or None for an empty cell."""
        value = self.positive(column)
        if value is None:
            return None
        if value != int(value):
            raise self.error(column, f"{self.cells[column]!r} is not a whole number")
        return int(value)


def read_reported(
    folder: str | Path, paper: str, artifacts: Collection[str] | None = None
) -> list[Reported]:
    """Read the numbers of one paper, in the order of the file.

    Args:
        folder: the folder of the files.
        paper: key of the paper; the file is ``<paper>.csv``.
        artifacts: names of the artifacts of the paper. If they are given, numbers of other
            artifacts are refused.

    Raises:
        ConfigError: the file is missing, the header is wrong, a number or key is malformed, an
            artifact does not belong to the paper, or a number is given twice.
    """
    numbers: dict[tuple[str, str, str, str], Reported] = {}
    for line in _lines(Path(folder) / f"{paper}.csv", REPORTED_COLUMNS):
        number = _reported(line, paper, artifacts)
        if number.key in numbers:
            raise line.error("artifact", f"{'/'.join(number.key)} is given twice")
        numbers[number.key] = number
    return list(numbers.values())


def _reported(line: _Line, paper: str, artifacts: Collection[str] | None) -> Reported:
    artifact = line.cells["artifact"]
    known = artifacts is None or artifact in artifacts
    if not artifact.startswith(f"{paper}_") or not (known or artifact == f"{paper}_text"):
        message = (
            f"{artifact!r} is neither declared in workflow/papers/{paper}.yaml nor {paper}_text"
        )
        raise line.error("artifact", message)
    spread_kind = line.one_of("spread_kind", SPREAD_KINDS)
    if bool(line.cells["spread"]) != bool(spread_kind):
        raise line.error("spread_kind", "a spread and its kind go together; give both or neither")
    read_method = line.one_of("read_method", READ_METHODS)
    if (read_method == "printed") == bool(line.cells["reading_error"]):
        raise line.error(
            "reading_error", "goes with read_off_figure; give it there and nowhere else"
        )
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
        read_method=read_method,
        reading_error=line.positive("reading_error"),
        note=line.cells["note"],
    )


def _lines(path: Path, columns: Sequence[str]) -> Iterator[_Line]:
    """Yield the lines below the header."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ConfigError(f"{path} is missing; it is part of the project, restore it") from None
    rows = csv.reader(text.splitlines())
    header = next(rows, [])
    if header != list(columns):
        raise ConfigError(f"{path}, line 1: the columns are {header}; they must be {list(columns)}")
    for row in rows:
        if len(row) != len(columns):
            fault = f"the line has {len(row)} cells; it must have {len(columns)}"
            last = columns[min(len(row), len(columns)) - 1]
            raise ConfigError(f"{path}, line {rows.line_num}, column {last}: {fault}")
        yield _Line(path, rows.line_num, dict(zip(columns, row, strict=True)))
