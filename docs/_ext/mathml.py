"""Formulas as MathML, which browsers draw without a network or a script.

The conversion is that of docutils. It lacks a few commands of LaTeX, which are rewritten first.
"""

import re
from typing import Any

from docutils import nodes
from docutils.utils.math import MathError, latex2mathml
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

REWRITTEN = (  # LaTeX that docutils does not know -> the same in other words
    (re.compile(r"\\[bB]igg?l?(?=[(\[]|\\\{)"), r"\\left"),
    (re.compile(r"\\[bB]igg?r?(?=[)\]]|\\\})"), r"\\right"),
    (re.compile(r"\\dots(?![a-zA-Z])"), r"\\ldots"),
    (re.compile(r"\\textstyle(?![a-zA-Z])"), ""),
    (re.compile(r"\\([td]?frac)\s*(\d)\s*(\d)"), r"\\\1{\2}{\3}"),
    (re.compile(r"\\([td]?frac)\s*(\d)(?=[\\{])"), r"\\\1{\2}"),
)
CLOSE = (  # as TeX sets them: angle brackets of the size of the text, no space around | and /
    (re.compile(r"<mo>([⟨⟩])</mo>"), r'<mo stretchy="false">\1</mo>'),
    (re.compile(r'<mo stretchy="false">([|/])</mo>'),
     r'<mo stretchy="false" lspace="0" rspace="0">\1</mo>'),
)  # fmt: skip
TAG = re.compile(r"\\tag\{(.*?)\}")


def mathml(formula: str, block: bool) -> str:
    """Convert a formula.

    Args:
        formula: LaTeX without dollar signs.
        block: whether it stands on a line of its own.

    Raises:
        MathError: the formula has a command that docutils does not know.
    """
    for pattern, replacement in REWRITTEN:
        formula = pattern.sub(replacement, formula)
    text = latex2mathml.tex2mathml(formula, as_block=block)
    for pattern, replacement in CLOSE:
        text = pattern.sub(replacement, text)
    return text


def _converted(formula: str, block: bool) -> str:
    try:
        return mathml(formula, block)
    except MathError as error:
        raise ExtensionError(f"formula {formula!r}: {error}") from error


def visit_inline(self: Any, node: nodes.math) -> None:
    """Write a formula within a line."""
    self.body.append(_converted(node.astext(), block=False))
    raise nodes.SkipNode


def visit_block(self: Any, node: nodes.math_block) -> None:
    r"""Write a formula on a line of its own, with the number of its ``\tag`` at the right."""
    text = node.astext()
    numbers = TAG.findall(text)
    formula = _converted(TAG.sub("", text).strip(), block=True)
    number = f'<span class="fw-eqno">({numbers[0]})</span>' if numbers else ""
    self.body.append(f'<div class="fw-formula" tabindex="0"><div>{formula}</div>{number}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the renderer."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
