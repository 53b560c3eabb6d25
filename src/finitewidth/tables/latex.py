r"""A typeset table as a LaTeX fragment, to be read with ``\input``.

It needs the packages booktabs and tabularx and fits a line of 345 pt, the width of text of the
class article at 10 pt. Numbers are aligned at their decimal points and at ± by invisible digits, so
a column needs no package of its own and may hold dashes and marks.
"""

import math
import re
import textwrap
from dataclasses import dataclass

import pandas as pd

from finitewidth.tables.latex_text import escaped, position
from finitewidth.tables.numbers import MISSING, THIN
from finitewidth.tables.typeset import Typeset, parts_of

LINE = 345.0  # pt, width of text of the class article at 10 pt
# size, width of a digit in pt, half the space between columns in pt, whether text may be wrapped
LAYOUTS = (
    (r"\small", 4.63, 5, False), (r"\footnotesize", 4.25, 4, False), (r"\small", 4.63, 5, True),
    (r"\footnotesize", 4.25, 3, True), (r"\footnotesize", 4.25, 3, False),
    (r"\footnotesize", 4.25, 2, True),
)  # fmt: skip
DIGITS = {(size, digit) for size, digit, *_ in LAYOUTS}
WIDEST = LAYOUTS[0][1]
WRAPPED = 14  # a column of text with wider cells may be broken into lines; in digits
NARROW, WIDE, UNSEEN, RELATIONS = "iljtfrI.,;:'()[]|! ", "mwMW±→⊙", "{}_^", "=−+·>"
LOWERED = re.compile(r"_\{[^}]*\}+")  # an index in plain text, q_{x,t}
ABOVE = re.compile(r"(1|\([^()]*\)) / (?=\()")  # numerator of a fraction, above the denominator
NUMBER = re.compile(
    rf"(?P<sign>[+−]?)(?P<whole>[\d{THIN}]+)(?P<part>\.\d+)?"
    r"(?: ± (?P<spread>\d+(?:\.\d+)?))?(?P<mark> ?[†‡*]*)"
)


@dataclass(frozen=True)
class Column:
    """How a column is set: its specification in LaTeX, its header and its cells."""

    specification: str
    header: str
    cells: list[str]


def latex(table: Typeset, footer: str, name: str) -> str:
    """Return a ``table`` environment with rules of booktabs.

    Args:
        table: what is shown.
        footer: where it comes from; the last line below the table.
        name: name of the artifact; the label is ``tab:<name>``.
    """
    spans = list(table.spans)
    text = table.cells.drop(columns=spans)
    size, gap, wrapped, lines = _layout(text, table.formulas is not None)
    formulas = None if table.formulas is None else table.formulas[0].drop(columns=spans)
    room = (LINE - 2 * gap * (text.shape[1] - 1)) / dict(DIGITS)[size]
    environment, columns = _columns(table, text, formulas, room if wrapped else None, lines)
    notes = [_said(n, table) for n in table.notes] if table.formulas is None else table.formulas[1]
    below = [*notes, escaped(footer)]
    specification = "".join(column.specification for column in columns)
    if environment == "tabular" and size != LAYOUTS[0][0]:
        # a narrow fit: what is left of the line goes between the columns
        environment, specification = "tabular*", r"\extracolsep{\fill}}" + specification
    else:
        specification = "}" + specification
    width = "" if environment == "tabular" else r"{\linewidth}"
    return "\n".join(
        (
            r"% needs \usepackage{booktabs,tabularx}",
            r"\begin{table}",
            r"\centering",
            r"\setlength{\belowcaptionskip}{6pt}",
            rf"\caption{{{_said(table.title, table)}}}",
            rf"\label{{tab:{name}}}",
            size,
            rf"\setlength{{\tabcolsep}}{{{gap}pt}}",
            rf"\begin{{{environment}}}{width}{{@{{{specification}@{{}}}}",
            r"\toprule",
            " & ".join(c.header for c in columns) + r" \\",
            r"\midrule",
            *_body(table, columns),
            r"\bottomrule",
            rf"\end{{{environment}}}",
            r"\par\medskip",
            r"\begin{minipage}{\linewidth}",
            r"\footnotesize\raggedright",
            *(f"{line}\\par" for line in below),
            r"\end{minipage}",
            r"\end{table}",
            "",
        )
    )


def _said(text: str, table: Typeset) -> str:
    """A text in LaTeX, with the variables of the table in italics."""
    parts = parts_of(text, table.variables)
    return "".join(f"${part}$" if number % 2 else escaped(part)
                   for number, part in enumerate(parts))  # fmt: skip


def _layout(text: pd.DataFrame, formulas: bool) -> tuple[str, int, bool, int]:
    """The largest layout that fits: size, space, whether text is wrapped, lines of a header.

    Formulas are set in smaller letters before they are wrapped.
    """
    places = range(text.shape[1])
    for size, digit, gap, wrapped in LAYOUTS:
        if formulas and wrapped and size == LAYOUTS[0][0]:
            continue
        room = (LINE - 2 * gap * (len(places) - 1)) / digit
        for lines in (2, 9):
            if sum(_needed(text, place, lines, wrapped) for place in places) <= room:
                return size, gap, wrapped, lines
    size, _, gap, wrapped = LAYOUTS[-1]
    return size, gap, wrapped, 9


def _width(text: str) -> float:
    """About how wide a text is, in digits."""
    text = ABOVE.sub("", text)
    small = sum(map(len, LOWERED.findall(text))) + sum(bool(position(one)) for one in text)
    upper = sum(character.isupper() for character in text)
    narrow, wide, unseen = (sum(map(text.count, several)) for several in (NARROW, WIDE, UNSEEN))
    signs = sum(map(text.count, RELATIONS))  # with space around them
    return len(text) + 0.4 * upper - 0.4 * narrow + 0.5 * wide - unseen - 0.3 * small + 1.2 * signs


def _natural(text: pd.DataFrame, place: int, lines: int) -> float:
    """Width of the widest cell of a column, or of its header in so many lines."""
    title = _glued(str(text.columns[place]))
    words = max(map(_width, title.split(" ")))
    return max(*map(_width, text.iloc[:, place]), words, _width(title) / lines)


def _needed(text: pd.DataFrame, place: int, lines: int, wrapped: bool) -> float:
    natural = _natural(text, place, lines)
    if wrapped and _can_wrap(text, place):
        return min(natural, max(WRAPPED, natural / 2.5))
    return natural


def _glued(title: str) -> str:
    """A header that is not broken after ±."""
    return title.replace("± ", "±\u00a0")


def _can_wrap(text: pd.DataFrame, place: int) -> bool:
    cells = text.iloc[:, place]
    return not _numeric(cells) and cells.map(_width).max() > WRAPPED


def _numeric(cells: pd.Series) -> bool:
    """Whether at least half of a column's cells are numbers; the others are centred."""
    filled = [cell for cell in cells if cell not in ("", MISSING)]
    numbers = sum(bool(NUMBER.fullmatch(cell)) for cell in filled)
    return bool(filled) and 2 * numbers >= len(filled)


def _columns(
    table: Typeset,
    text: pd.DataFrame,
    formulas: pd.DataFrame | None,
    room: float | None,
    lines: int,
) -> tuple[str, list[Column]]:
    """Set the columns.

    Args:
        table: what is shown.
        text: its cells as plain text, without the columns that span the table.
        formulas: the same in LaTeX, if they are given.
        room: width of the line without the space between columns, in digits, if text is wrapped.
        lines: most lines of a header.
    """
    natural = [_natural(text, place, lines) for place in range(text.shape[1])]
    shares = {} if room is None else _shares(text, natural, room, 0.5 if formulas is None else 1)
    columns = []
    for place, title in enumerate(text.columns):
        column = text.iloc[:, place]
        bold = [False] * len(text) if table.bold is None else table.bold[title].tolist()
        cells = [_said(cell, table) for cell in column]
        if formulas is not None:
            cells = formulas.iloc[:, place].map(_upright_fractions).tolist()
        cells = [rf"\textbf{{{c}}}" if b else c for c, b in zip(cells, bold, strict=True)]
        specification = "c" if _numeric(column) else "l"
        if specification == "c":
            cells = aligned(column.tolist(), cells, bold)
        header = _header(str(title), specification, natural[place], table)
        if place in shares:
            share = len(shares) * shares[place] / sum(shares.values())
            specification = rf">{{\hsize={share:.3f}\hsize\raggedright\arraybackslash}}X"
            header = _said(str(title), table)
        columns.append(Column(specification, header, cells))
    return "tabularx" if shares else "tabular", columns


def _shares(
    text: pd.DataFrame, natural: list[float], room: float, power: float
) -> dict[int, float]:
    """Column that is wrapped -> its share of the room that the others leave.

    Columns that need no more than an equal part of the room keep their width. The others share the
    rest by a power of their text: by the root of words, so that short ones are not crushed.
    """
    wide = sorted(filter(lambda place: _can_wrap(text, place), range(len(natural))),
                  key=natural.__getitem__)  # fmt: skip
    room -= sum(width for place, width in enumerate(natural) if place not in wide)
    while len(wide) > 1 and natural[wide[0]] <= room / len(wide):
        room -= natural[wide.pop(0)]
    return {place: natural[place] ** power for place in wide}


def _upright_fractions(formula: str) -> str:
    """A formula whose fractions are as large as in a display, with room above and below."""
    if r"\frac" not in formula:
        return formula
    high = r"\rule[-1.4em]{0pt}{3.2em}\frac"
    return formula.replace("$", r"$\displaystyle ", 1).replace(r"\frac", high, 1)


def _header(title: str, side: str, width: float, table: Typeset) -> str:
    """Return the header of a column, in several lines where it is wider than the cells."""
    lines = textwrap.wrap(
        _glued(title), math.ceil(width), break_long_words=False, break_on_hyphens=False
    )
    if len(lines) < 2:
        return _said(title, table)
    inner = r" \\ ".join(_said(line, table) for line in lines)
    return rf"\begin{{tabular}}[b]{{@{{}}{side}@{{}}}}{inner}\end{{tabular}}"


def aligned(cells: list[str], others: list[str], bold: list[bool]) -> list[str]:
    """Return numbers as formulas of equal width, with decimal points and ± below each other.

    Args:
        cells: numbers as `finitewidth.tables.numbers` writes them, with or without a mark, dashes
            and other text.
        others: LaTeX of the cells, which is taken where a cell is no number.
        bold: which of them are bold.
    """
    matches = [NUMBER.fullmatch(cell) for cell in cells]
    parts = [match.groupdict("") for match in matches if match]
    widest = {key: max((part[key] for part in parts), key=len)
              for key in ("sign", "whole", "part", "spread", "mark")}  # fmt: skip
    return [
        _number(match.groupdict(""), widest, strong) if match else other
        for match, other, strong in zip(matches, others, bold, strict=True)
    ]


def _number(part: dict[str, str], widest: dict[str, str], bold: bool) -> str:
    before = "" if part["sign"] or not widest["sign"] else _invisible("−")
    before += _invisible(widest["whole"][: len(widest["whole"]) - len(part["whole"])])
    mean = _digits(part["sign"] + part["whole"] + part["part"])
    between = _invisible(widest["part"][len(part["part"]) :])
    if part["spread"]:
        sign, spread = r" \pm ", part["spread"]
        after = _invisible(widest["spread"][len(spread) :])
    else:
        sign, spread = "", ""
        after = _invisible(" ± " + widest["spread"]) if widest["spread"] else ""
    if bold:
        mean, spread = (rf"\mathbf{{{text}}}" if text else "" for text in (mean, spread))
    # a mark takes no width, so that it moves no digit; behind the number there is room for it
    widest_mark = escaped(widest["mark"].strip()).replace("$", "")  # inside of a formula
    room = rf"\phantom{{{widest_mark}}}" if widest_mark else ""
    mark = rf"\rlap{{{escaped(part['mark'].strip())}}}" if part["mark"].strip() else ""
    if part["spread"]:
        return f"${before}{mean}{between}{sign}{spread}{mark}{after}{room}$"
    return f"${before}{mean}{mark}{between}{after}{room}$"


def _digits(text: str) -> str:
    return text.replace("−", "-").replace(THIN, r"\,")


def _invisible(text: str) -> str:
    """A space as wide as ``text`` with zeros for its digits."""
    if not text:
        return ""
    zeros = re.sub(r"\d", "0", text)
    return r"\phantom{" + _digits(zeros).replace(" ± ", r"{} \pm ") + "}"


def _body(table: Typeset, columns: list[Column]) -> list[str]:
    texts = table.formulas[0] if table.formulas else table.cells.map(lambda c: _said(c, table))
    lines, above = [], ""
    for number, (_, row) in enumerate(texts[list(table.spans)].iterrows()):
        title = ", ".join(filter(None, row))
        long = _width(", ".join(table.cells.loc[row.name, list(table.spans)])) * WIDEST > LINE
        side = r">{\raggedright\arraybackslash}p{\linewidth}" if long else "l"
        if title not in ("", above):
            lines += [r"\addlinespace"] * bool(number)
            lines.append(rf"\multicolumn{{{len(columns)}}}{{@{{}}{side}@{{}}}}{{{title}}} \\")
            above = title
        lines.append(" & ".join(column.cells[number] for column in columns) + r" \\")
    return lines
