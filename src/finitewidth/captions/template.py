"""Templates of captions: text that says what is drawn, with settings of the run.

A template, ``src/finitewidth/papers/<paper>/captions/<artifact>.rst``, is reStructuredText in
paragraphs. ``{{ trust.depth.draws }}`` stands for the value of this setting. There is nothing else
to fill in, and no condition: a caption says nothing about results. Verdicts are added below it
(`finitewidth.captions.job`).
"""

import re
import textwrap
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from finitewidth.common.number_words import listed

LINE = 100  # characters
_SETTING = re.compile(r"\{\{\s+([\w.]+)\s+\}\}")


def settings_of(template: str) -> list[str]:
    """The settings that a template names, such as ``trust.depth.draws``, each once."""
    return list(dict.fromkeys(_SETTING.findall(template)))


def filled(template: str, settings: Mapping[str, Any]) -> str:
    """A template with the values of its settings, its paragraphs wrapped.

    Args:
        template: the text.
        settings: name -> value, for all of `settings_of`.
    """
    return in_lines(_SETTING.sub(lambda name: in_words(settings[name[1]]), template))


def in_words(value: Any) -> str:
    """A setting in words: ``20,000``, ``0.00006``, ``100, 200 and 500``; ``none`` of None."""
    if isinstance(value, list | tuple):
        return listed(map(in_words, value)) or "none"
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"{Decimal(repr(value)).normalize():,f}"
    return "none" if value is None else str(value)


def in_lines(text: str) -> str:
    """Paragraphs wrapped to lines of `LINE` characters, one empty line between them."""
    paragraphs = [" ".join(part.split()) for part in re.split(r"\n\s*\n", text.strip())]
    return "\n\n".join(
        textwrap.fill(part, LINE, break_long_words=False, break_on_hyphens=False)
        for part in paragraphs
    )
