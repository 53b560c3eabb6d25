"""A result of the papers in Python: a table with the meanings of its columns."""

import html
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from finitewidth.records.tables import Column


@dataclass(frozen=True, kw_only=True, repr=False)
class Loaded:
    """A result of a run: what `finitewidth.library.load` returns.

    Attributes:
        name: by which it was loaded
        title: what it is, in one line
        rows: the table; of a claim its comparisons, of arrays their names and shapes
        columns: name of a column -> its meaning, type and unit, and what a missing value means
        file: that was read
        provenance: of the job that made the file: its settings (``parameters``), ``code``,
            ``versions`` of packages, ``git``, ``machine``, ``wall_seconds`` and what it rests on
        arrays: of weights, name -> array
        verdict: of a claim, column of the table of verdicts -> value, or None if it has none
    """

    name: str
    title: str
    rows: pd.DataFrame
    columns: Mapping[str, Column]
    file: Path
    provenance: Mapping[str, Any]
    arrays: Mapping[str, np.ndarray] = field(default_factory=dict)
    verdict: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        """Title, file and the columns with their meanings."""
        meanings = [
            f"  {column.name} ({column.type}): {_in_words(column)}"
            for column in self.columns.values()
        ]
        return "\n".join([f"{self.name}: {self.title}", *self._facts(), *meanings])

    def _repr_html_(self) -> str:
        """The same and the rows, as a notebook shows them."""
        facts = "<br>".join(html.escape(fact) for fact in self._facts())
        meanings = ""
        for column in self.columns.values():
            cells = (column.name, column.type, _in_words(column))
            meanings += f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in cells)}</tr>"
        rows = self.rows.to_html(max_rows=20, notebook=True)
        return (
            f"<p><b>{html.escape(self.name)}</b>: {html.escape(self.title)}<br>{facts}</p>"
            f"<details><summary>Columns</summary><table>{meanings}</table></details>{rows}"
        )

    def _facts(self) -> list[str]:
        """The verdict of a claim, the footer of a figure or table, and the file."""
        facts = []
        if self.verdict:
            facts.append(f"verdict {self.verdict['verdict']}: {self.verdict['reason']}")
        footer = self.provenance["parameters"].get("footer")
        if footer:
            facts.append(footer)
        return [*facts, f"{len(self.rows)} rows of {self.file}"]


def _in_words(column: Column) -> str:
    """The meaning of a column, its unit, and what a missing value means."""
    words = column.meaning
    if column.unit:
        words += f" [{column.unit}]"
    if column.missing:
        words += f"; missing: {column.missing}"
    return words
