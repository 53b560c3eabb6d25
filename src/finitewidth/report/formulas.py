r"""Texts in HTML: captions, and formulas between dollar signs, as in ``of $\sigma_w^2$``.

They become MathML, which browsers draw without a network or a script, in the report as in the
documentation. The conversion to MathML is that of docutils.
It lacks a few commands of LaTeX, which are rewritten first.
"""

import html
import re
import unicodedata
from functools import cache
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.utils.math import MathError, latex2mathml
from markdown_it import MarkdownIt
from markupsafe import Markup
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

PLACE = "\ue000"  # where a formula stands
FORMULA = re.compile(r"\$([^$]+)\$")
SPECIAL = re.compile(r"([\\`*_|<>$\[\]#~])")  # signs of Markdown
REWRITTEN = (  # LaTeX that docutils does not know -> the same in other words
    (re.compile(r"\\[bB]igg?l?(?=[(\[]|\\\{)"), r"\\left"),
    (re.compile(r"\\[bB]igg?r?(?=[)\]]|\\\})"), r"\\right"),
    (re.compile(r"\\dots(?![a-zA-Z])"), r"\\ldots"),
    (re.compile(r"\\(?:textstyle|allowbreak)(?![a-zA-Z])"), ""),
    (re.compile(r"\\([td]?frac)\s*(\d)\s*(\d)"), r"\\\1{\2}{\3}"),
    (re.compile(r"\\([td]?frac)\s*(\d)(?=[\\{])"), r"\\\1{\2}"),
    (re.compile(r"'"), r"^\\prime "),
    (re.compile(r"^(?=[_^])"), "{}"),
)
CLOSE = (  # as TeX sets them: angle brackets of the size of the text, no space around | and /
    (re.compile(r"<mo>([⟨⟩])</mo>"), r'<mo stretchy="false">\1</mo>'),
    (
        re.compile(r'<mo stretchy="false">([|/])</mo>'),
        r'<mo stretchy="false" lspace="0" rspace="0">\1</mo>',
    ),
    # Chromium draws the smallest sign of a root below its line
    (re.compile(r"</msqrt>"), '<mspace width="0" height=".85em" depth=".15em"></mspace></msqrt>'),
)
MATH = re.compile(r'<tt class="math">(.*?)</tt>', re.DOTALL)
SENTENCE = re.compile(r"((?:[^\n]|\n(?!\n)){30,}?\.)\s+(?=[A-Z(]|[a-z]['′]?\))")
FRACTION = re.compile(
    r"\\[td]?frac\{([^{}]*(?:\{[^{}]*\}[^{}]*)*)\}\{([^{}]*(?:\{[^{}]*\}[^{}]*)*)\}"
)
FONT = re.compile(
    r"\\(?:math(?:bb|bf|cal|rm|sf)|text(?:rm|bf)?|operatorname|hat|tilde|bar)\{([^{}]*)\}"
)
TAG = re.compile(r"\\tag\{(.*?)\}")
NAMES = "alpha|beta|gamma|delta|epsilon|eta|theta|kappa|lambda|mu|nu|rho|sigma|tau|phi|chi"


def mathml(latex: str, block: bool = False) -> str:
    """Convert LaTeX without dollar signs to MathML; a ``block`` stands on a line of its own."""
    for pattern, replacement in REWRITTEN:
        latex = pattern.sub(replacement, latex)
    text = latex2mathml.tex2mathml(latex, as_block=block)
    for pattern, replacement in CLOSE:
        text = pattern.sub(replacement, text)
    return text


@cache
def in_html(text: str) -> Markup:
    """A text as HTML, its formulas as MathML."""
    parts = FORMULA.split(str(text))  # every second one is a formula
    converted = [html.escape(parts[0], quote=False)]
    for formula, after in zip(parts[1::2], parts[2::2], strict=True):
        rest = after.lstrip(",.;:)”")
        sign = after[: len(after) - len(rest)]  # stays with the formula: no line begins with it
        converted.append(_inline(formula, sign))
        converted.append(html.escape(rest, quote=False))
    return Markup("".join(converted))


def in_markdown(text: Any) -> str:
    """A text on one line, such that Markdown shows it as it is, but for its formulas."""
    one_line = " ".join(str(text).split())
    parts = FORMULA.split(one_line)  # every second one is a formula
    for number, part in enumerate(parts):
        if number % 2:
            bars = part.replace("|", r"\vert ")  # a bar would end the cell of a table
            parts[number] = f"${bars}$"
        else:
            parts[number] = SPECIAL.sub(r"\\\1", part)
    return "".join(parts)


def in_markup(markup: str) -> Markup:
    """HTML with its formulas as MathML."""

    def converted(formula: re.Match[str]) -> str:
        return _inline(html.unescape(formula[1]), "")

    return Markup(FORMULA.sub(converted, markup))


def _inline(latex: str, sign: str) -> str:
    """A formula within a line; the ``sign`` behind it stays on its line."""
    math = mathml(latex)
    if r"\frac" in latex:
        math = math.replace("<math ", '<math displaystyle="true" ', 1)
    math = re.sub(r">\s+<", "><", math)
    return f'<span class="fw-whole">{math}{sign}</span>' if sign else math


def markdown_in_html(file: str | Path) -> Markup:
    """A table as `finitewidth.tables.typeset.markdown` writes it as HTML, formulas as MathML."""
    text = Path(file).read_text(encoding="utf-8")
    formulas = FORMULA.findall(text)
    text = FORMULA.sub(PLACE, text)  # Markdown would change signs of LaTeX
    table = MarkdownIt("commonmark", {"html": False}).enable("table").render(text)
    table = re.sub(r"<th([^>]*)></th>", r"<td\1></td>", table)  # a header has a text
    table = table.replace(" ± ", "\u00a0±\u00a0").replace(" SE<", "\u00a0SE<")
    for formula in formulas:
        table = table.replace(PLACE, in_html(f"${formula}$"), 1)
    return Markup(table.replace("<table>", '<table class="table table-sm fw-typeset">'))


def label_in_html(text: object) -> Markup:
    """The name of a comparison as HTML: ``sigma_w^2`` with its letter, its index and its power.

    Such names stand in tables of results, in plain text.
    """

    def greek(name: re.Match[str]) -> str:
        return _letter(name[1])

    def lowered(index: re.Match[str]) -> str:
        return f"{index[1]}<sub>{index[2].strip('{}')}</sub>"

    def raised(power: re.Match[str]) -> str:
        return f"<sup>{power[1].strip('{}')}</sup>"

    script = r"(\{[^{}]*\}|\([^()]*\)|-?\w+)"  # what follows _ or ^
    label = html.escape(str(text), quote=False)
    label = re.sub(rf"(?<![\w\\])({NAMES})(?![a-z])", greek, label)
    label = re.sub(rf"(?<![\w.])([^\W\d_])_{script}", lowered, label)
    label = re.sub(rf"\^{script}", raised, label)
    return Markup(label)


def first_sentence(caption: str) -> tuple[str, str]:
    """Cut a caption behind its first sentence, if this is not within markup."""
    match = SENTENCE.match(caption)
    if not match or match[1].count("*") % 2 or match[1].count("`") % 2:
        return caption, ""
    return match[1], caption[match.end() :]


def as_html(caption: str) -> Markup:
    """Return the caption as HTML paragraphs."""
    from docutils.core import publish_parts

    settings = {
        "report_level": 5,
        "file_insertion_enabled": False,
        "raw_enabled": False,
        "math_output": "LaTeX",
    }
    body = publish_parts(caption, writer="html5", settings_overrides=settings)["body"]
    body = MATH.sub(r"$\1$", body)
    return in_markup(re.sub(r'href="(?!https?:|#)[^"]*"', "", body))  # no address is a program


def as_text(caption: str) -> str:
    """Return the caption as one line of plain text, without the commands of its formulas."""

    def spoken(formula: re.Match[str]) -> str:
        text = FRACTION.sub(r"\1/\2", formula[1])
        text = FONT.sub(r"\1", text)
        text = re.sub(r"\\([A-Za-z]+)", lambda name: _letter(name[1]), text)
        return re.sub(r"[{}\\]", "", text)

    text = re.sub(r":math:`([^`]*)`", r"$\1$", caption)
    text = FORMULA.sub(spoken, text)
    text = text.replace("``", "").replace("*", "")
    return " ".join(text.split())


def _letter(name: str) -> str:
    """The Greek letter of a name; other names stay."""
    case = "CAPITAL" if name[0].isupper() else "SMALL"
    letter = name.upper().replace("LAMBDA", "LAMDA")
    try:
        return unicodedata.lookup(f"GREEK {case} LETTER {letter}")
    except KeyError:
        return name


def visit(self: Any, node: nodes.math | nodes.math_block) -> None:
    r"""Write a formula; on a line of its own with the number of its ``\tag`` at the right."""
    text = node.astext()
    block = isinstance(node, nodes.math_block)
    latex = TAG.sub("", text).strip() if block else text
    try:
        formula = mathml(latex, block)
    except MathError as error:
        raise ExtensionError(f"formula {text!r}: {error}") from error
    if block:
        tags = TAG.findall(text)
        number = f'<span class="fw-eqno">({tags[0]})</span>' if tags else ""
        formula = f'<div class="fw-formula" tabindex="0"><div>{formula}</div>{number}</div>'
    self.body.append(formula)
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the renderer of formulas with Sphinx."""
    app.add_html_math_renderer("mathml", (visit, None), (visit, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
