"""Docstrings as reStructuredText: the bars of |x| are no substitutions."""

import re
from typing import Any

from sphinx.application import Sphinx

LITERAL = re.compile(r"(``.*?``)")


def escaped(line: str) -> str:
    """Escape bars outside literals; lines of examples stay as they are."""
    if line.lstrip().startswith((">>>", "...")):
        return line
    parts = LITERAL.split(line)
    return "".join(p if p.startswith("``") else p.replace("|", r"\|") for p in parts)


def _process(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    lines[:] = [escaped(line) for line in lines]


def setup(app: Sphinx) -> dict[str, bool]:
    """Change docstrings before they are parsed."""
    app.connect("autodoc-process-docstring", _process)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
