"""The columns of the data file of a figure or table, and the checks that they pass.

A renderer states its columns as ``FIELDS``. The data file then has these columns in this order, and
a reader knows the type, the meaning and the unit of each.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from finitewidth.common.errors import ResultError
from finitewidth.records import result_files

if TYPE_CHECKING:
    import pandas as pd

MISSING = "NaN"  # how a missing number is written


@dataclass(frozen=True)
class Field:
    """One column of a data file."""

    meaning: str  # what it contains, in one sentence without a full stop
    unit: str = ""  # of a number, such as `step` or `percent`
    # `number` (missing ones are written as `NaN`), `integer` or `string` (none missing or empty)
    type: str = "number"


def text(meaning: str) -> Field:
    """A column of words."""
    return Field(meaning, type="string")


def integer(meaning: str, unit: str = "") -> Field:
    """A column of whole numbers, none of them missing."""
    return Field(meaning, unit, "integer")


def number(meaning: str, unit: str = "") -> Field:
    """A column of numbers; missing ones are NaN."""
    return Field(meaning, unit)


def checked(rows: "pd.DataFrame", fields: Mapping[str, Field]) -> "pd.DataFrame":
    """Return the columns of ``fields`` in their order, with the types that they state."""
    columns = {}
    for name, field in fields.items():
        if name not in rows.columns:
            raise ResultError(f"the rows lack the column {name!r}; they have {list(rows.columns)}")
        columns[name] = _converted(rows[name], name, field)
    import pandas as pd

    return pd.DataFrame(columns).reset_index(drop=True)


def _converted(column: Any, name: str, field: Field) -> Any:
    if field.type == "string":
        if not all(isinstance(value, str) and value for value in column):
            raise ResultError(f"column {name!r} has a missing or empty word; write 'none' or such")
        return column.astype(object)
    try:
        numbers = column.astype(float)
    except (TypeError, ValueError) as error:
        raise ResultError(f"column {name!r} has a value that is not a number: {error}") from None
    if field.type == "number":
        return numbers
    if not (numbers == numbers.round()).all():
        raise ResultError(f"column {name!r} has a value that is no whole number or is missing")
    return numbers.astype(int)


def write(path: str | Path, rows: "pd.DataFrame", fields: Mapping[str, Field]) -> None:
    """Write the columns of ``fields`` as CSV; a missing number is written as ``NaN``."""
    result_files.write_table(path, checked(rows, fields), missing=MISSING)


def read(path: str | Path, fields: Mapping[str, Field]) -> "pd.DataFrame":
    """Read what `write` wrote; the values are equal, and so are their types."""
    types = {name: str for name, field in fields.items() if field.type == "string"}
    numbers = [name for name in fields if name not in types]
    missing = {name: [MISSING] for name in numbers}
    rows = result_files.read_table(
        path, tuple(fields), dtype=types, keep_default_na=False, na_values=missing
    )
    return checked(rows, fields)
