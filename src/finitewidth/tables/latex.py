r"""A typeset table as a LaTeX fragment, to be read with ``\input``.

It needs the packages booktabs and tabularx and fits a line of 345 pt, the width of text of the
class article at 10 pt: long text is broken into lines.
"""

import re
import textwrap

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

    The last line below the table is the footer, which tells where it comes from.
    """
    text = table.cells.drop(columns=list(table.spans))
    longest = [int(text.iloc[:, place].map(len).max()) for place in range(text.shape[1])]
    numeric = [_numeric(text.iloc[:, place]) for place in range(text.shape[1])]
    wide = [
        size for size, right in zip(longest, numeric, strict=True) if size > WRAPPED and not right
    ]
    specifications, headers, columns = [], [], []
    for place, (size, right) in enumerate(zip(longest, numeric, strict=True)):
        wrapped = size > WRAPPED and not right
        share = size * len(wide) / sum(wide) if wrapped else 0.0
        wraps = rf">{{\hsize={share:.3f}\hsize\raggedright\arraybackslash}}X"
        specifications.append(wraps if wrapped else "r" if right else "l")
        headers.append(_header(str(text.columns[place]), LINE if wrapped else size, right, table))
        columns.append(_cells(table, text, place))
    notes = [_said(n, table) for n in table.notes] if table.formulas is None else table.formulas[1]
    environment, width = ("tabularx", r"{\linewidth}") if wide else ("tabular", "")
    return "\n".join(
        (
            r"% needs \usepackage{booktabs,tabularx}",
            r"\begin{table}",
            r"\centering",
            r"\setlength{\belowcaptionskip}{6pt}",
            rf"\caption{{{_said(table.title, table)}}}",
            rf"\label{{tab:{name}}}",
            r"\footnotesize",
            r"\setlength{\tabcolsep}{3pt}",
            rf"\begin{{{environment}}}{width}{{@{{}}{''.join(specifications)}@{{}}}}",
            r"\toprule",
            " & ".join(headers) + r" \\",
            r"\midrule",
            *_body(table, columns),
            r"\bottomrule",
            rf"\end{{{environment}}}",
            r"\par\medskip",
            r"\begin{minipage}{\linewidth}",
            r"\raggedright",
            *(f"{line}\\par" for line in (*notes, escaped(footer))),
            r"\end{minipage}",
            r"\end{table}",
            "",
        )
    )


def _said(text: str, table: Typeset) -> str:
    """A text in LaTeX, with the variables of the table in italics."""
    parts = parts_of(text, table.variables)
    return "".join(
        f"${part}$" if number % 2 else escaped(part) for number, part in enumerate(parts)
    )


def _numeric(cells: pd.Series) -> bool:
    """Whether at least half of a column's cells are numbers."""
    filled = [cell for cell in cells if cell not in ("", MISSING)]
    numbers = sum(bool(NUMBER.fullmatch(cell)) for cell in filled)
    return bool(filled) and 2 * numbers >= len(filled)


def _header(title: str, cells: int, right: bool, table: Typeset) -> str:
    """Return the header of a column, in several lines where it is wider than the cells."""
    width = max(cells, (len(title) + 1) // 2 if cells > 6 else 6)
    lines = textwrap.wrap(
        title.replace("± ", "±\u00a0"), width, break_long_words=False, break_on_hyphens=False
    )
    if len(lines) < 2:
        return _said(title, table)
    inner = r" \\ ".join(_said(line, table) for line in lines)
    return rf"\begin{{tabular}}[b]{{@{{}}{'r' if right else 'l'}@{{}}}}{inner}\end{{tabular}}"


def _cells(table: Typeset, text: pd.DataFrame, place: int) -> list[str]:
    """The cells of a column in LaTeX; a mark takes no width, so that it moves no digit."""
    title = text.columns[place]
    bold = [False] * len(text) if table.bold is None else table.bold[title].tolist()
    if table.formulas is not None:
        given = table.formulas[0].drop(columns=list(table.spans)).iloc[:, place]
        said = given.map(_upright_fractions).tolist()
    else:
        said = [_said(cell, table) for cell in text.iloc[:, place]]
    cells = []
    for cell, other, strong in zip(text.iloc[:, place], said, bold, strict=True):
        number = NUMBER.fullmatch(cell)
        if number:
            mean, spread = number["mean"].replace("−", "-").replace(THIN, r"\,"), number["spread"]
            parts = [mean, spread] if spread else [mean]
            parts = [rf"\mathbf{{{part}}}" for part in parts] if strong else parts
            mark = number["mark"].strip()
            cells.append(
                "$" + r" \pm ".join(parts) + "$" + (rf"\rlap{{{escaped(mark)}}}" * bool(mark))
            )
        else:
            cells.append(rf"\textbf{{{other}}}" if strong else other)
    return cells


def _upright_fractions(formula: str) -> str:
    """A formula whose fractions are as large as in a display, with room above and below."""
    if r"\frac" not in formula:
        return formula
    high = r"\rule[-1.4em]{0pt}{3.2em}\frac"
    return formula.replace("$", r"$\displaystyle ", 1).replace(r"\frac", high, 1)


def _body(table: Typeset, columns: list[list[str]]) -> list[str]:
    texts = table.formulas[0] if table.formulas else table.cells.map(lambda c: _said(c, table))
    lines, above = [], ""
    for number, (_, row) in enumerate(texts[list(table.spans)].iterrows()):
        title = ", ".join(filter(None, row))
        long = len(", ".join(table.cells.loc[row.name, list(table.spans)])) > LINE
        side = r">{\raggedright\arraybackslash}p{\linewidth}" if long else "l"
        if title not in ("", above):
            lines += [r"\addlinespace"] * bool(number)
            lines.append(rf"\multicolumn{{{len(columns)}}}{{@{{}}{side}@{{}}}}{{{title}}} \\")
            above = title
        lines.append(" & ".join(column[number] for column in columns) + r" \\")
    return lines
