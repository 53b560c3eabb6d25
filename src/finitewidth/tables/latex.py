r"""A typeset table as a LaTeX fragment, to be read with ``\input``.

It needs the packages booktabs and tabularx and fits a line of 345 pt, the width of text of the
class article at 10 pt: long text is broken into lines.
"""

import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from finitewidth.tables.latex_text import escaped
from finitewidth.tables.numbers import MISSING, THIN
from finitewidth.tables.typeset import Typeset, parts_of

WRAPPED = 16  # characters; a column of text with longer cells is broken into lines
LINE = 80  # characters of a line
NUMBER = re.compile(
    rf"(?P<mean>[+−]?[\d{THIN}]+(?:\.\d+)?)(?: ± (?P<spread>\d+(?:\.\d+)?))?(?P<mark> ?[†‡*]*)"
)


def latex(table: Typeset, footer: str, name: str) -> str:
    """Return a ``table`` environment with rules of booktabs and the label ``tab:<name>``.

    The last line below the table is the footer, which says where the table comes from.
    """
    text = table.cells.drop(columns=list(table.spans))
    numbers = range(text.shape[1])  # by position, because two columns may have one name
    columns = [_Column.of(text.iloc[:, number]) for number in numbers]
    headers = [_header(column, table) for column in columns]
    cells = [_cells(table, text, number) for number in numbers]
    if table.formulas is None:
        notes = [_latex_text(note, table) for note in table.notes]
    else:
        notes = list(table.formulas[1])

    specification = "".join(_specification(column, columns) for column in columns)
    if any(column.wrapped for column in columns):
        environment = "tabularx"
        width = r"{\linewidth}"
    else:
        environment = "tabular"
        width = ""
    lines = [
        r"% needs \usepackage{booktabs,tabularx}",
        r"\begin{table}",
        r"\centering",
        r"\setlength{\belowcaptionskip}{6pt}",
        rf"\caption{{{_latex_text(table.title, table)}}}",
        rf"\label{{tab:{name}}}",
        r"\footnotesize",
        r"\setlength{\tabcolsep}{3pt}",
        rf"\begin{{{environment}}}{width}{{@{{}}{specification}@{{}}}}",
        r"\toprule",
        " & ".join(headers) + r" \\",
        r"\midrule",
        *_body(table, cells),
        r"\bottomrule",
        rf"\end{{{environment}}}",
        r"\par\medskip",
        r"\begin{minipage}{\linewidth}",
        r"\raggedright",
        *(rf"{note}\par" for note in notes),
        rf"{escaped(footer)}\par",
        r"\end{minipage}",
        r"\end{table}",
        "",
    ]
    return "\n".join(lines)


@dataclass(frozen=True)
class _Column:
    """How a column is set."""

    title: str
    size: int  # characters of its longest cell
    numeric: bool  # whether it is aligned to the right

    @classmethod
    def of(cls, cells: pd.Series) -> "_Column":
        """The column of these cells, whose name is the title."""
        size = int(cells.map(len).max())
        return cls(title=str(cells.name), size=size, numeric=_numeric(cells))

    @property
    def wrapped(self) -> bool:
        """Whether its cells are broken into lines."""
        return self.size > WRAPPED and not self.numeric


def _specification(column: _Column, columns: Sequence[_Column]) -> str:
    """The letter of a column or, of a wrapped one, its share of the width of all wrapped ones."""
    if not column.wrapped:
        return "r" if column.numeric else "l"
    sizes = [other.size for other in columns if other.wrapped]
    share = column.size * len(sizes) / sum(sizes)  # tabularx wants shares of mean 1
    return rf">{{\hsize={share:.3f}\hsize\raggedright\arraybackslash}}X"


def _latex_text(text: str, table: Typeset) -> str:
    """A text in LaTeX, with the variables of the table in italics."""
    latex = ""
    for number, part in enumerate(parts_of(text, table.variables)):
        latex += f"${part}$" if number % 2 else escaped(part)
    return latex


def _numeric(cells: pd.Series) -> bool:
    """Whether at least half of a column's cells are numbers."""
    filled = [cell for cell in cells if cell not in ("", MISSING)]
    numbers = sum(bool(NUMBER.fullmatch(cell)) for cell in filled)
    return bool(filled) and 2 * numbers >= len(filled)


def _header(column: _Column, table: Typeset) -> str:
    """Return the header of a column, in several lines where it is wider than the cells."""
    cells = LINE if column.wrapped else column.size  # width in characters
    least = (len(column.title) + 1) // 2 if cells > 6 else 6  # at most two lines above long cells
    lines = textwrap.wrap(
        column.title.replace("± ", "±\u00a0"),
        max(cells, least),
        break_long_words=False,
        break_on_hyphens=False,
    )
    if len(lines) < 2:
        return _latex_text(column.title, table)
    alignment = "r" if column.numeric else "l"
    inner = r" \\ ".join(_latex_text(line, table) for line in lines)
    return rf"\begin{{tabular}}[b]{{@{{}}{alignment}@{{}}}}{inner}\end{{tabular}}"


def _cells(table: Typeset, text: pd.DataFrame, column: int) -> list[str]:
    """The cells of a column in LaTeX; a mark takes no width, so that it moves no digit."""
    cells = text.iloc[:, column]
    bold = [False] * len(cells)
    if table.bold is not None:
        bold = table.bold[text.columns[column]].tolist()
    if table.formulas is None:
        in_latex = [_latex_text(cell, table) for cell in cells]
    else:
        formulas = table.formulas[0].drop(columns=list(table.spans))
        in_latex = formulas.iloc[:, column].map(_upright_fractions).tolist()
    lines = []
    for cell, latex_of_cell, is_bold in zip(cells, in_latex, bold, strict=True):
        number = NUMBER.fullmatch(cell)
        if number:
            lines.append(_number(number, is_bold))
        elif is_bold:
            lines.append(rf"\textbf{{{latex_of_cell}}}")
        else:
            lines.append(latex_of_cell)
    return lines


def _number(number: re.Match[str], bold: bool) -> str:
    r"""A number in LaTeX, as in ``$1.5 \pm 0.1$``; its mark takes no width."""
    parts = [number["mean"].replace("−", "-").replace(THIN, r"\,")]
    if number["spread"]:
        parts.append(number["spread"])
    if bold:
        parts = [rf"\mathbf{{{part}}}" for part in parts]
    formula = "$" + r" \pm ".join(parts) + "$"
    mark = number["mark"].strip()
    return formula + rf"\rlap{{{escaped(mark)}}}" if mark else formula


def _upright_fractions(formula: str) -> str:
    """A formula whose fractions are as large as in a display, with room above and below."""
    if r"\frac" not in formula:
        return formula
    high = r"\rule[-1.4em]{0pt}{3.2em}\frac"
    return formula.replace("$", r"$\displaystyle ", 1).replace(r"\frac", high, 1)


def _body(table: Typeset, columns: list[list[str]]) -> list[str]:
    """The rows, with a line across the table above the first of those with equal ``spans``."""
    spans = list(table.spans)
    if table.formulas is None:
        titles = table.cells[spans].map(lambda cell: _latex_text(cell, table))
    else:
        titles = table.formulas[0][spans]
    lines = []
    above = ""
    for number, (label, row) in enumerate(titles.iterrows()):
        title = ", ".join(filter(None, row))
        if title not in ("", above):
            long = len(", ".join(table.cells.loc[label, spans])) > LINE
            alignment = r">{\raggedright\arraybackslash}p{\linewidth}" if long else "l"
            if number:
                lines.append(r"\addlinespace")
            lines.append(rf"\multicolumn{{{len(columns)}}}{{@{{}}{alignment}@{{}}}}{{{title}}} \\")
            above = title
        lines.append(" & ".join(column[number] for column in columns) + r" \\")
    return lines
