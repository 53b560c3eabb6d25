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
from finitewidth.tables.typeset import Typeset

LINE = 345.0  # pt, width of text of the class article at 10 pt
# size, width of a digit in pt, half the space between columns in pt, whether text may be wrapped
LAYOUTS = (
    (r"\small", 4.63, 5, False), (r"\footnotesize", 4.25, 4, False), (r"\small", 4.63, 5, True),
    (r"\footnotesize", 4.25, 3, True), (r"\footnotesize", 4.25, 3, False),
    (r"\footnotesize", 4.25, 2, True),
)  # fmt: skip
WIDEST = LAYOUTS[0][1]
WRAPPED = 14  # a column of text with wider cells may be broken into lines; in digits
NARROW, WIDE, UNSEEN, RELATIONS = "iljtfrI.,;:'()[]|! ", "mwMW±→⊙", "{}_^", "=−+·>"
LOWERED = re.compile(r"_\{[^}]*\}+")  # an index in plain text, q_{x,t}
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
    size, gap, wrapped, lines = _layout(text)
    formulas = None if table.formulas is None else table.formulas[0].drop(columns=spans)
    environment, columns = _columns(table, text, formulas, wrapped, lines)
    notes = [escaped(n) for n in table.notes] if table.formulas is None else table.formulas[1]
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
            rf"\caption{{{escaped(table.title)}}}",
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


def _layout(text: pd.DataFrame) -> tuple[str, int, bool, int]:
    """The largest layout that fits: size, space, whether text is wrapped, lines of a header."""
    places = range(text.shape[1])
    for size, digit, gap, wrapped in LAYOUTS:
        room = (LINE - 2 * gap * (len(places) - 1)) / digit
        for lines in (2, 9):
            if sum(_needed(text, place, lines, wrapped) for place in places) <= room:
                return size, gap, wrapped, lines
    size, _, gap, wrapped = LAYOUTS[-1]
    return size, gap, wrapped, 9


def _width(text: str) -> float:
    """About how wide a text is, in digits."""
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
    shown = [cell for cell in cells if cell not in ("", MISSING)]
    numbers = sum(bool(NUMBER.fullmatch(cell)) for cell in shown)
    return bool(shown) and 2 * numbers >= len(shown)


def _columns(
    table: Typeset, text: pd.DataFrame, formulas: pd.DataFrame | None, wrapped: bool, lines: int
) -> tuple[str, list[Column]]:
    natural = [_natural(text, place, lines) for place in range(text.shape[1])]
    # widths of wrapped columns go with the root of their text, so that short ones are not crushed
    shares = {place: width**0.5 for place, width in enumerate(natural)
              if wrapped and _can_wrap(text, place)}  # fmt: skip
    columns = []
    for place, title in enumerate(text.columns):
        shown = text.iloc[:, place]
        bold = [False] * len(text) if table.bold is None else table.bold[title].tolist()
        cells = (shown.map(escaped) if formulas is None else formulas.iloc[:, place]).tolist()
        cells = [rf"\textbf{{{c}}}" if b else c for c, b in zip(cells, bold, strict=True)]
        specification = "c" if _numeric(shown) else "l"
        if specification == "c":
            cells = aligned(shown.tolist(), cells, bold)
        header = _header(str(title), specification, natural[place])
        if place in shares:
            share = len(shares) * shares[place] / sum(shares.values())
            specification = rf">{{\hsize={share:.3f}\hsize\raggedright\arraybackslash}}X"
            header = escaped(str(title))
        columns.append(Column(specification, header, cells))
    return "tabularx" if shares else "tabular", columns


def _header(title: str, side: str, width: float) -> str:
    """Return the header of a column, in several lines where it is wider than the cells."""
    lines = textwrap.wrap(
        _glued(title), math.ceil(width), break_long_words=False, break_on_hyphens=False
    )
    if len(lines) < 2:
        return escaped(title)
    inner = r" \\ ".join(map(escaped, lines))
    return rf"\begin{{tabular}}[b]{{@{{}}{side}@{{}}}}{inner}\end{{tabular}}"


def aligned(cells: list[str], others: list[str], bold: list[bool]) -> list[str]:
    """Return numbers as formulas of equal width, with decimal points and ± below each other.

    Args:
        cells: numbers as `finitewidth.tables.numbers` writes them, with or without a mark, dashes
            and other text.
        others: LaTeX of the cells, which is taken where a cell is no number.
        bold: which of them are bold.
    """
    found = [NUMBER.fullmatch(cell) for cell in cells]
    parts = [match.groupdict("") for match in found if match]
    widest = {key: max((part[key] for part in parts), key=len)
              for key in ("sign", "whole", "part", "spread")}  # fmt: skip
    return [
        _number(match.groupdict(""), widest, strong) if match else other
        for match, other, strong in zip(found, others, bold, strict=True)
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
    # a mark takes no width, so that it moves no digit
    mark = rf"\rlap{{{escaped(part['mark'].strip())}}}" if part["mark"].strip() else ""
    if part["spread"]:
        return f"${before}{mean}{between}{sign}{spread}{mark}{after}$"
    return f"${before}{mean}{mark}{between}{after}$"


def _digits(text: str) -> str:
    return text.replace("−", "-").replace(THIN, r"\,")


def _invisible(text: str) -> str:
    """A space as wide as ``text`` with zeros for its digits."""
    if not text:
        return ""
    zeros = re.sub(r"\d", "0", text)
    return r"\phantom{" + _digits(zeros).replace(" ± ", r"{} \pm ") + "}"


def _body(table: Typeset, columns: list[Column]) -> list[str]:
    texts = table.cells.map(escaped) if table.formulas is None else table.formulas[0]
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
