"""The numbers that the papers print.

``config/reported/<paper>.csv`` contains the numbers of one paper as they are printed.
"""

import csv
from collections.abc import Callable, Iterator, Sequence
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
    """One number that a paper prints."""

    model_config = ConfigDict(frozen=True)

    artifact: str  # or `<paper>_text` for a number in the text
    quantity: Key
    row: Key  # of the table, or point of the figure
    column: Key  # of the table, or curve of the figure
    value: Number
    printed: str  # the number as printed, with trailing zeros
    spread: Positive
    printed_spread: str
    spread_kind: Literal["", "std_population", "std_sample", "standard_error"]
    runs: Count
    unit: Key  # of the value, the spread, the tolerance and the reading error
    # Largest distance of our number from `value` at which both agree. For the accuracies of NPF it
    # is twice the printed spread plus one percentage point (claim N25), otherwise it is given by
    # the claim. None if there is no rule.
    tolerance: Positive
    place: Annotated[str, Field(min_length=1)]  # where the paper prints the number
    read_method: Literal["printed", "read_off_figure"]
    reading_error: Positive  # how far a number read off a figure may be from the one drawn
    note: str  # misprints and disagreements

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
        ConfigError: as of `read_rows`, or a number is given twice.
    """

    def made(**cells: Any) -> Reported:
        return Reported(**cells, printed=cells["value"], printed_spread=cells["spread"])

    numbers: dict[tuple[str, str, str, str], Reported] = {}
    for where, number in read_rows(Path(folder) / f"{paper}.csv", REPORTED_COLUMNS, made):
        if number.key in numbers:
            raise ConfigError(f"{where}: {'/'.join(number.key)} is given twice")
        numbers[number.key] = number
    return list(numbers.values())


def read_rows(
    path: str | Path, columns: Sequence[str], make: Callable[..., Any], delimiter: str = ","
) -> Iterator[tuple[str, Any]]:
    """Yield file and line, and what ``make`` makes of the cells, for every row of a file.

    Raises:
        ConfigError: the file is missing, its columns are others, or a row is not complete or is
            refused by a pydantic model.
    """
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        raise ConfigError(f"{path} is missing; it is part of the project, restore it") from None
    reader = csv.DictReader(lines, delimiter=delimiter)
    if tuple(reader.fieldnames or ()) != tuple(columns):
        raise ConfigError(f"{path}, line 1: the columns must be {', '.join(columns)}")
    for cells in reader:
        where = f"{path}, line {reader.line_num}"
        if None in cells or None in cells.values():
            raise ConfigError(f"{where}: it must have {len(columns)} cells")
        try:
            yield where, make(**cells)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            column = f", column {first['loc'][0]}" if first["loc"] else ""
            raise ConfigError(f"{where}{column}: {first['msg']}, not {first['input']!r}") from None
