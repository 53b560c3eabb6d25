"""Tables that are typeset in Markdown, as HTML."""

import re
from pathlib import Path

from markdown_it import MarkdownIt
from markupsafe import Markup

from finitewidth.report.formulas import in_markup


def markdown_in_html(file: str | Path) -> Markup:
    """A table of a run as HTML, its formulas as MathML.

    Args:
        file: Markdown, as `finitewidth.tables.typeset.markdown` writes it.
    """
    text = Path(file).read_text(encoding="utf-8")
    html = MarkdownIt("commonmark", {"html": False}).enable("table").render(text)
    html = re.sub(r"<th([^>]*)></th>", r"<td\1></td>", html)  # a header has a text
    html = html.replace(" ± ", "\u00a0±\u00a0").replace(" SE<", "\u00a0SE<")
    return in_markup(html.replace("<table>", '<table class="table table-sm fw-typeset">'))
