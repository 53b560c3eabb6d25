"""Tables that are typeset in Markdown, as HTML."""

import re
from pathlib import Path

from markdown_it import MarkdownIt
from markupsafe import Markup

from finitewidth.report.formulas import FORMULA, in_html

PLACE = "\ue000"  # where a formula stands


def markdown_in_html(file: str | Path) -> Markup:
    """A table as `finitewidth.tables.typeset.markdown` writes it as HTML, formulas as MathML."""
    text = Path(file).read_text(encoding="utf-8")
    formulas = FORMULA.findall(text)
    text = FORMULA.sub(PLACE, text)  # Markdown would change signs of LaTeX
    html = MarkdownIt("commonmark", {"html": False}).enable("table").render(text)
    html = re.sub(r"<th([^>]*)></th>", r"<td\1></td>", html)  # a header has a text
    html = html.replace(" ± ", "\u00a0±\u00a0").replace(" SE<", "\u00a0SE<")
    for formula in formulas:
        html = html.replace(PLACE, in_html(f"${formula}$"), 1)
    return Markup(html.replace("<table>", '<table class="table table-sm fw-typeset">'))
