"""Docstrings as reStructuredText: bars of |x| are no substitutions, attributes_ no references."""

import re
from typing import Any

from sphinx.application import Sphinx

LITERAL = re.compile(r"(``.*?``)")
FITTED = re.compile(r"(:ivar \w+)_:")  # an attribute of an estimator


def escaped(line: str) -> str:
    """Escape bars outside literals, and the last letter of ``x_``; examples stay as they are.

    In types of attributes, stars are those of shapes.
    """
    if line.startswith(":vartype"):
        return line.replace("*", r"\*")
    if line.lstrip().startswith((">>>", "...")):
        return line
    parts = LITERAL.split(FITTED.sub(r"\1\_:", line))
    return "".join(p if p.startswith("``") else p.replace("|", r"\|") for p in parts)


def _process(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    lines[:] = [escaped(line) for line in lines]


def setup(app: Sphinx) -> dict[str, bool]:
    """Change docstrings before they are parsed."""
    app.connect("autodoc-process-docstring", _process)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
