"""Captions, which are reStructuredText, as HTML and as plain text."""

import re

from markupsafe import Markup

from finitewidth.report.formulas import in_markup, plain

MATH = re.compile(r'<tt class="math">(.*?)</tt>', re.DOTALL)
SENTENCE = re.compile(r"((?:[^\n]|\n(?!\n)){30,}?[.:])\s+(?=[A-Z(]|[a-z]['′]?\))")


def first_sentence(caption: str) -> tuple[str, str]:
    """Cut a caption behind its first sentence, if this is not within markup."""
    found = SENTENCE.match(caption)
    if not found or found[1].count("*") % 2 or found[1].count("`") % 2:
        return caption, ""
    return found[1], caption[found.end() :]


def as_html(caption: str) -> Markup:
    """Return the caption as HTML paragraphs."""
    from docutils.core import publish_parts

    settings = {"report_level": 5, "file_insertion_enabled": False, "raw_enabled": False,
                "math_output": "LaTeX"}  # fmt: skip
    body = publish_parts(caption, writer="html5", settings_overrides=settings)["body"]
    body = MATH.sub(r"$\1$", body)
    return in_markup(re.sub(r'href="(?!https?:|#)[^"]*"', "", body))  # no address is a program


def as_text(caption: str) -> str:
    """Return the caption as one line of plain text, the alternative text of the figure."""
    text = plain(re.sub(r":math:`([^`]*)`", r"$\1$", caption))
    return " ".join(text.replace("``", "").replace("*", "").split())
