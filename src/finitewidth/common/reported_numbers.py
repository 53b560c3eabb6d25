"""The numbers that the papers print.

``config/reported/<paper>.csv`` contains the numbers of one paper as they are printed. The files are
checked when they are read, and error messages name file, line and column.
"""

import csv
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from finitewidth.common.errors import ConfigError


def _number(cell: Any) -> Any:
    """A number such as 80.32, 2e-4 or 1/4; None for an empty cell."""
    if not isinstance(cell, str):
        return cell
    try:
        return float(Fraction(cell)) if cell else None
    except (ValueError, ZeroDivisionError, OverflowError):
        raise ValueError(f"{cell!r} is not a number like 80.32, 2e-4 or 1/4") from None


Number = Annotated[float, BeforeValidator(_number)]
Positive = Annotated[float | None, Field(gt=0), BeforeValidator(_number)]
Count = Annotated[int | None, Field(gt=0), BeforeValidator(_number)]
Key = Annotated[str, Field(pattern=r"^[a-z0-9]+([._][a-z0-9]+)*$")]  # such as gconv_adam or eps0.1


class Reported(BaseModel):
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
        spread_kind: what the spread is; empty if there is none.
        runs: number of runs, or None.
        unit: unit of ``value``, ``spread`` and ``tolerance``.
        tolerance: largest distance of our number from ``value`` at which both agree. For the
            accuracies of NPF it is twice the printed spread plus one percentage point (claim N25),
            otherwise it is given by the claim. None if there is no rule.
        place: where the paper prints the number.
        read_method: ``printed`` or ``read_off_figure``.
        reading_error: how far a number that was read off a figure may be from the one drawn, in
            ``unit``; None if it is printed.
        note: misprints and disagreements.
    """

    model_config = ConfigDict(frozen=True)

    artifact: str
    quantity: Key
    row: Key
    column: Key
    value: Number
    printed: str
    spread: Positive
    printed_spread: str
    spread_kind: Literal["", "std_population", "std_sample", "standard_error"]
    runs: Count
    unit: Key
    tolerance: Positive
    place: Annotated[str, Field(min_length=1)]
    read_method: Literal["printed", "read_off_figure"]
    reading_error: Positive
    note: str

    @model_validator(mode="after")
    def _belong_together(self) -> Self:
        if (self.spread is None) == bool(self.spread_kind):
            raise ValueError("a spread and its kind go together; give both or neither")
        if (self.read_method == "printed") == (self.reading_error is not None):
            raise ValueError("reading_error goes with read_off_figure; give both or neither")
        return self

    @property
    def key(self) -> tuple[str, str, str, str]:
        """Artifact, quantity, row and column, which identify the number."""
        return self.artifact, self.quantity, self.row, self.column


# the columns of a file are the fields that are not said twice
REPORTED_COLUMNS = tuple(
    name for name in Reported.model_fields if name not in ("printed", "printed_spread")
)


def read_reported(folder: str | Path, paper: str) -> list[Reported]:
    """Read the numbers of one paper, in the order of its file ``<paper>.csv``.

    Raises:
        ConfigError: the file is missing, the header is wrong, a number or key is malformed, or a
            number is given twice.
    """
    path = Path(folder) / f"{paper}.csv"
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        raise ConfigError(f"{path} is missing; it is part of the project, restore it") from None
    reader = csv.DictReader(lines)
    if tuple(reader.fieldnames or ()) != REPORTED_COLUMNS:
        raise ConfigError(f"{path}, line 1: the columns must be {', '.join(REPORTED_COLUMNS)}")
    numbers: dict[tuple[str, str, str, str], Reported] = {}
    for cells in reader:
        where = f"{path}, line {reader.line_num}"
        if None in cells or None in cells.values():
            raise ConfigError(f"{where}: it must have {len(REPORTED_COLUMNS)} cells")
        try:
            number = Reported(**cells, printed=cells["value"], printed_spread=cells["spread"])
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            column = f", column {first['loc'][0]}" if first["loc"] else ""
            raise ConfigError(f"{where}{column}: {first['msg']}, not {first['input']!r}") from None
        if number.key in numbers:
            raise ConfigError(f"{where}: {'/'.join(number.key)} is given twice")
        numbers[number.key] = number
    return list(numbers.values())
