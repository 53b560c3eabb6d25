"""Compile LaTeX and read the cells of tables back from the page."""

import html
import itertools
import re
import shutil
import subprocess
import unicodedata
from dataclasses import dataclass
from pathlib import Path

# pdfTeX names the glyphs of mathematics, so that they can be read; LuaTeX does not name all
ENGINE = "pdflatex"
MISSING = (
    "no pdflatex or no pdftotext on PATH, so tables are not compiled; on Debian, run apt-get "
    "install texlive-latex-recommended texlive-fonts-recommended poppler-utils"
)
ARTICLE = r"""\documentclass{article}
\usepackage{booktabs,tabularx}
\begin{document}
%s
\end{document}
"""
# a page so wide and rows so far apart that cells are found by distance, with marks at the rules
SPREAD = r"""\documentclass{article}
\input{glyphtounicode} \pdfglyphtounicode{summationtext}{2211} \pdfgentounicode=1
\usepackage{booktabs,tabularx}
\paperwidth=3500pt \paperheight=9000pt \textwidth=3000pt \textheight=8500pt
\pdfpagewidth=\paperwidth \pdfpageheight=\paperheight
\topmargin=0pt \oddsidemargin=0pt \pagestyle{empty}
\renewcommand{\arraystretch}{6}
\newcommand{\marked}[2]{\multicolumn{1}{@{}l}{#1}\\#2}
\let\first\toprule \let\second\midrule \let\third\bottomrule
\renewcommand{\toprule}{\marked{ruleone}{\first}}
\renewcommand{\midrule}{\marked{ruletwo}{\second}}
\renewcommand{\bottomrule}{\marked{rulethree}{\third}}
\begin{document}
%s
\end{document}
"""
RULES = ("ruleone", "ruletwo", "rulethree")
BETWEEN_ROWS, BETWEEN_COLUMNS = 25.0, 40.0  # pt
WORD = re.compile(
    r'<word xMin="([\d.]+)" yMin="([\d.]+)" xMax="([\d.]+)" yMax="([\d.]+)">(.*?)</word>'
)
# glyphs that mean the same
SAME = str.maketrans({"−": "-", "–": "-", "—": "-", "∗": "*", "∆": "Δ", "∑": "Σ", "⊤": "T",
                      "ˆ": "^", "˜": "~", "∼": "~", "’": "'", "‘": "'", "”": '"', "“": '"',
                      "⋅": "·", "◦": "°", "∣": "|", "ϵ": "ε", "ϕ": "φ", "ˋ": "`"})  # fmt: skip
DRAWN = str.maketrans("", "", "{}_^/()")  # of a formula in a line of text; drawn on a page


def installed() -> bool:
    """Whether tables can be compiled and read back."""
    return all(map(shutil.which, (ENGINE, "pdftotext")))


def compiled(folder: Path, name: str, document: str) -> str:
    """Compile a document once and return its log; `AssertionError` with the log if it fails."""
    (folder / f"{name}.tex").write_text(document, encoding="utf-8")
    options = ["-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape"]
    done = subprocess.run([ENGINE, *options, f"{name}.tex"], cwd=folder, capture_output=True,
                          timeout=300, check=False, stdin=subprocess.DEVNULL)  # fmt: skip
    assert done.returncode == 0, done.stdout.decode(errors="replace")[-3000:]
    return (folder / f"{name}.log").read_text(encoding="utf-8", errors="replace")


@dataclass(frozen=True)
class Word:
    """A word on a page; its place in pt from the top left."""

    left: float
    top: float
    right: float
    bottom: float
    text: str

    @property
    def middle(self) -> float:
        return (self.top + self.bottom) / 2


def pages(pdf: Path) -> list[list[Word]]:
    """The words of each page in the order of reading."""
    text = subprocess.run(["pdftotext", "-bbox", pdf, "-"], capture_output=True, check=True,
                          timeout=120).stdout.decode()  # fmt: skip
    return [[Word(*map(float, found[:4]), html.unescape(found[4])) for found in WORD.findall(page)]
            for page in text.split("<page ")[1:]]  # fmt: skip


@dataclass(frozen=True)
class Page:
    """A table read from a page: header, lines of words, and the text above and below."""

    above: str
    header: list[Word]
    lines: list[list[Word]]
    below: str

    def columns(self, spans: set[int]) -> list[tuple[float, float]]:
        """Left and right edges of the columns, from all lines but those across the table."""
        lines = (line for number, line in enumerate(self.lines) if number not in spans)
        words = sorted([*self.header, *itertools.chain(*lines)], key=lambda word: word.left)
        found: list[tuple[float, float]] = []
        for word in words:
            if found and word.left - found[-1][1] < BETWEEN_COLUMNS:
                found[-1] = (found[-1][0], max(found[-1][1], word.right))
            else:
                found.append((word.left, word.right))
        return found


def table_on(words: list[Word]) -> Page:
    """Divide the words of a page at the marks of the rules."""
    places = {word.text: word.middle for word in words if word.text in RULES}
    top, middle, bottom = (places[name] for name in RULES)
    inside = [w for w in words if top < w.middle < bottom and w.text not in RULES]
    body = sorted((w for w in inside if w.middle > middle), key=lambda word: word.middle)
    lines: list[list[Word]] = []
    for word in body:
        if not lines or word.middle - lines[-1][-1].middle > BETWEEN_ROWS:
            lines.append([])
        lines[-1].append(word)
    return Page(
        joined([w for w in words if w.middle < top]),
        [w for w in inside if w.middle < middle],
        [sorted(line, key=lambda word: word.left) for line in lines],
        joined([w for w in words if w.middle > bottom]),
    )


def joined(words: list[Word]) -> str:
    return "".join(word.text for word in words)


def within(words: list[Word], column: tuple[float, float]) -> list[Word]:
    """The words of a column."""
    return [w for w in words if column[0] <= (w.left + w.right) / 2 <= column[1]]


def same(text: str, formula: bool = False) -> str:
    """Text without spaces and without differences of glyphs.

    Of a formula only the characters count, not their order, since indices and fractions are read
    in another order from a page; and not the signs that stand for raising, lowering and dividing.
    """
    text = unicodedata.normalize("NFKC", text.translate(SAME)).translate(SAME)
    text = "".join(text.split())
    if not formula:
        return text
    letters = unicodedata.normalize("NFKD", text).translate(DRAWN)
    return "".join(sorted(c for c in letters if not unicodedata.combining(c)))
