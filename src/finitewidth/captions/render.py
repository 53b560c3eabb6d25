"""Captions from templates: Jinja text and the facts of a run in, reStructuredText out.

A template is plain text in paragraphs, without lists or literal blocks. It knows

- ``fact``: named values that `finitewidth.captions.facts` computes from the artifact's tables;
- ``verdict("B01")``: the verdict on a claim in this run, in the ledger's words, for conditions;
- ``judged("B01")``: the same with the number of comparisons that fail, for the text;
- ``paper(value, "place")``: a constant that a paper states, and where it states it;
- ``of(3, 5)``: how many of all: ``3 of 5``, ``all 5``, ``none of 5``;
- ``footer``: the line below the artifact: preset, data, runs.

It has no other number in it. A sentence about what is to be seen stands in ``{% if fact.… %}``.
"""

import math
import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from finitewidth.claims.verdicts import NOT_RUN
from finitewidth.common.errors import ResultError

LINE = 100  # characters
UNBROKEN = "\N{NO-BREAK SPACE}"


@dataclass(frozen=True)
class Judged:
    """The verdict on a claim.

    Attributes:
        verdict: in the words of the ledger.
        comparisons, failing: how many comparisons there are, and how many of them fail.
    """

    verdict: str = NOT_RUN
    comparisons: int = 0
    failing: int = 0

    def __str__(self) -> str:
        if not self.comparisons:
            return self.verdict
        verb = "fails" if self.failing == 1 else "fail"
        count = part_of(self.failing, self.comparisons)
        return f"{self.verdict} ({count} comparisons {verb})"


@dataclass(frozen=True)
class Context:
    """What a template may print.

    Attributes:
        facts: name -> number, text, truth value, list of numbers, or None where the tables lack
            the rows. A pair of numbers is a range for the filters of numbers.
        verdicts: claim -> verdict in this run; a claim without one was not run.
        footer: the line below the artifact, without a full stop.
    """

    facts: Mapping[str, Any] = field(default_factory=dict)
    verdicts: Mapping[str, Judged] = field(default_factory=dict)
    footer: str = ""


def render(template: str, artifact: str, context: Context) -> str:
    """The caption of an artifact.

    Args:
        template: the text of ``workflow/report/<artifact>.rst``.
        artifact: its name, for messages.
        context: facts, verdicts and footer.

    Returns:
        reStructuredText: paragraphs, wrapped, with a line break at the end.

    Raises:
        ResultError: the template is not valid, or it prints something that is not known.
    """
    import jinja2

    try:
        text = environment().from_string(template).render(
            fact=SimpleNamespace(**context.facts),
            verdict=lambda claim: context.verdicts.get(claim, Judged()).verdict,
            judged=lambda claim: str(context.verdicts.get(claim, Judged())),
            paper=constant,
            of=part_of,
            footer=context.footer,
        )  # fmt: skip
    except (jinja2.TemplateError, TypeError, ValueError) as error:
        raise ResultError(f"caption of {artifact}: {error}") from error
    return in_lines(text)


def environment() -> Any:
    """Jinja with the filters of captions; a name that is not known is an error."""
    import jinja2

    found = jinja2.Environment(
        undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=False
    )
    found.filters |= {
        "number": number, "significant": significant, "percent": percent, "whole": whole,
        "listed": listed,
    }  # fmt: skip
    return found


def constant(value: Any, place: str) -> str:
    """A constant that a paper states, as text.

    Raises:
        ValueError: ``place``, where the paper states it, is empty.
    """
    if not place.strip():
        raise ValueError(f"{value} has no place in a paper")
    return str(value)


def part_of(count: int, total: int) -> str:
    """``all 5``, ``both``, ``3 of 5`` or ``none of 5``."""
    if count == total > 1:
        return f"all {total:,}" if total > 2 else "both"
    return f"{count:,} of {total:,}" if count else f"none of {total:,}"


def number(value: float | Sequence[float], digits: int = 0) -> str:
    """``1,234.57`` with ``digits`` decimals; ``1.2 to 1.5`` of a pair, once if both are alike."""
    return _ranged(value, lambda one: f"{_plain(one, digits):,.{digits}f}")


def significant(value: float | Sequence[float], digits: int = 2) -> str:
    """``0.0012`` or ``3.1e-06``: a number to ``digits`` significant digits, or a pair of them."""
    return _ranged(value, lambda one: f"{one:.{digits}g}")


def percent(value: float | Sequence[float], digits: int = 0) -> str:
    """``7 %`` of 0.07; ``8 to 9 %`` of a pair."""
    return f"{number(_scaled(value), digits)}{UNBROKEN}%"


def whole(value: float) -> str:
    """``200,000``: a count."""
    return f"{round(value):,}"


def listed(values: Sequence[Any]) -> str:
    """``100, 200 and 500``: numbers in the shortest form, or texts."""
    words = [f"{value:,g}" if not isinstance(value, str) else value for value in values]
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"


def in_lines(text: str) -> str:
    """Paragraphs wrapped to lines; one empty line between them."""
    paragraphs = [
        " ".join(re.split(r"[ \t\n]+", part.strip())) for part in re.split(r"\n\s*\n", text)
    ]
    wrapped = [
        textwrap.fill(part, LINE, break_long_words=False, break_on_hyphens=False)
        for part in paragraphs
        if part
    ]
    return "\n\n".join(wrapped) + "\n"


def _plain(value: float, digits: int) -> float:
    """No ``-0.0``."""
    if not math.isfinite(value):
        raise ValueError(f"{value} is no number to print")
    return round(value, digits) + 0.0


def _scaled(value: float | Sequence[float]) -> float | list[float]:
    return [100 * one for one in value] if isinstance(value, Sequence) else 100 * value


def _ranged(value: float | Sequence[float], show: Any) -> str:
    str(value)  # a fact that is not known raises here, with its name
    if value is None:
        raise ValueError("a number is missing: guard the sentence with a condition")
    if not isinstance(value, Sequence):
        return show(value)
    low, high = (show(one) for one in value)
    return low if low == high else f"{low} to {high}"
