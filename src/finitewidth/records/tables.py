"""Columns and tables: what every column of a CSV file means, and the checks that a table passes.

A column is defined once, in ``columns.py`` of a paper, and in `finitewidth.declarations.columns` if
several papers have it. A table is a sequence of columns::

    RISK = number("risk", "squared error on new samples, the noise included")
    RISKS = Table(DEGREE, RISK)

An experiment names its tables in ``TABLES``, and a renderer of a figure or a table its data file
``TABLE``. Every table is checked when it is written.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from finitewidth.common.errors import ResultError
from finitewidth.records import result_files

if TYPE_CHECKING:
    import pandas as pd

MISSING = "NaN"  # how the data file of a figure or table has a missing number
VALUES: dict[str, tuple[type, ...]] = {
    "text": (str,),
    "integer": (int,),
    "number": (int, float),
    "flag": (bool,),
}
TYPES = {"text": "string", "integer": "integer", "number": "number", "flag": "boolean"}


@dataclass(frozen=True)
class Column:
    """One column of a table.

    Attributes:
        name: its heading in the CSV file
        meaning: what it contains, in one sentence without a full stop
        type: ``number``; ``integer``, a whole number; ``text``; or ``flag``, True or False
        unit: of a number, such as ``step`` or ``percent``; empty if it has none
        missing: what a missing value means; empty if none may be missing
    """

    name: str
    meaning: str
    type: Literal["text", "integer", "number", "flag"]
    unit: str = ""
    missing: str = ""

    def schema(self) -> dict[str, Any]:
        """The field of a Table Schema, https://specs.frictionlessdata.io/table-schema.

        The properties ``unit`` and ``missing`` are our own.
        """
        unit_if_none = "1" if self.type in ("number", "integer") else "none"
        field: dict[str, Any] = {
            "name": self.name,
            "type": TYPES[self.type],
            "description": self.meaning,
            "unit": self.unit or unit_if_none,
        }
        if self.missing:
            field["missing"] = self.missing
        else:
            field["constraints"] = {"required": True}
        return field


def text(name: str, meaning: str, *, missing: str = "") -> Column:
    """A column of words."""
    return Column(name, meaning, "text", missing=missing)


def integer(name: str, meaning: str, unit: str = "") -> Column:
    """A column of whole numbers, none of them missing."""
    return Column(name, meaning, "integer", unit)


def number(name: str, meaning: str, unit: str = "", *, missing: str = "") -> Column:
    """A column of numbers. With ``missing``, some of them may be NaN, which has this meaning."""
    return Column(name, meaning, "number", unit, missing)


def flag(name: str, meaning: str) -> Column:
    """A column of True and False; the meaning is that of True."""
    return Column(name, meaning, "flag")


class Table:
    """The columns of a table, in their order.

    The ``optional`` ones come last; a table of an experiment has as many of them as its settings
    ask for, such as one per layer.
    """

    def __init__(self, *columns: Column, optional: Sequence[Column] = ()):
        everything = (*columns, *optional)
        self.columns = {column.name: column for column in everything}
        self.optional = {column.name for column in optional}
        if len(self.columns) < len(everything):
            raise ValueError("two columns of a table have one name")

    def __iter__(self) -> Iterator[Column]:
        return iter(self.columns.values())

    def __contains__(self, name: object) -> bool:
        """Whether a column has this name."""
        return name in self.columns

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return list(self.columns)

    def without(self, *names: str) -> "Table":
        """Return this table without some of its columns."""
        return Table(*(column for column in self if column.name not in names))

    def with_columns_of(self, header: Collection[str]) -> "Table":
        """Return this table without the optional columns that a header does not name."""
        return self.without(*(name for name in self.optional if name not in header))

    def checked(self, rows: "pd.DataFrame") -> "pd.DataFrame":
        """Return the columns of the table in their order, with their types.

        Raises:
            ResultError: a column is lacking, or has a value of another type or a missing one.
        """
        import pandas as pd

        columns = {}
        for column in self:
            if column.name not in rows.columns:
                names = list(rows.columns)
                raise ResultError(f"the rows lack the column {column.name!r}; they have {names}")
            columns[column.name] = _converted(rows[column.name], column)
        return pd.DataFrame(columns).reset_index(drop=True)

    def checked_all(self, rows: "pd.DataFrame") -> "pd.DataFrame":
        """Return `checked` rows, which may lack optional columns and must have no further ones.

        A column of numbers that are all integers stays one: variances 1 and 2 are written as they
        are in the settings.
        """
        unknown = [name for name in rows.columns if name not in self.columns]
        if unknown:
            raise ResultError(f"the rows have columns that the table does not define: {unknown}")
        table = self.with_columns_of(rows.columns)
        checked = table.checked(rows)
        for column in table:
            if column.type == "number" and rows[column.name].dtype == int:
                checked[column.name] = rows[column.name].to_numpy()
        return checked

    def check_rows(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Refuse rows as `checked_all` does, without pandas, whose import takes time.

        Raises:
            ResultError: a row has other columns, or a value of another type or a missing one.
        """
        for row in rows:
            if list(row) != self.names:
                raise ResultError(f"a row has the columns {list(row)}, not {self.names}")
            for column in self:
                value = row[column.name]
                is_missing = value is None or value != value
                if not (column.missing if is_missing else isinstance(value, VALUES[column.type])):
                    raise ResultError(f"column {column.name!r} has the value {value!r}")

    def schema(self, missing: str = "") -> dict[str, Any]:
        """The Table Schema of a CSV file that has ``missing`` in place of missing values."""
        return {"fields": [column.schema() for column in self], "missingValues": [missing]}


def _converted(values: Any, column: Column) -> Any:
    """The values of a column with its type.

    Raises:
        ResultError: there is a value of another type, or a missing one.
    """
    missing = values.isna()
    if missing.any() and not column.missing:
        raise ResultError(
            f"column {column.name!r} has a missing value; its definition does not say what that "
            "means"
        )
    if column.type == "text":
        if not all(isinstance(value, str) and value for value in values[~missing]):
            raise ResultError(
                f"column {column.name!r} has an empty word or a value that is no text; "
                "write 'none' or such"
            )
        return values.astype(object)
    if column.type == "flag":
        if not values.isin([True, False]).all():
            raise ResultError(f"column {column.name!r} has a value that is neither True nor False")
        return values.astype(bool)
    try:
        numbers = values.astype(float)
    except (TypeError, ValueError) as error:
        raise ResultError(
            f"column {column.name!r} has a value that is not a number: {error}"
        ) from None
    if column.type == "number":
        return numbers
    if not (numbers == numbers.round()).all():
        raise ResultError(f"column {column.name!r} has a value that is no whole number")
    return numbers.astype(int)


def write(path: str | Path, rows: "pd.DataFrame", table: Table) -> None:
    """Write the data file of a figure or table as CSV; a missing number is written as ``NaN``."""
    result_files.write_table(path, table.checked(rows), missing=MISSING)


def read(path: str | Path, table: Table, missing: str = MISSING) -> "pd.DataFrame":
    """Read what `write` wrote; the values are equal, and so are their types.

    The tables of experiments and claims have an empty cell for what is ``missing``.
    """
    types = {}
    missing_words = {}
    for column in table:
        if column.type == "text":
            types[column.name] = str
        if column.type != "text" or column.missing:
            missing_words[column.name] = [missing]
    rows = result_files.read_table(
        path, table.names, dtype=types, keep_default_na=False, na_values=missing_words
    )
    return table.checked(rows)
