"""All errata of the papers, each with its printed, corrected and true value."""

from collections.abc import Iterable, Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import pandas as pd

from finitewidth.common.texts import Quote
from finitewidth.errata.erratum import Erratum, outcome

UNUSED: Mapping[str, str] = {
    "thesis-5": "a missing power, |w*| = r² for |w*|² = r², which the transcription may have lost",
}
"""Ids that are not given to another erratum, and what they were."""


def modules_of(papers: Iterable[str]) -> list[str]:
    """The modules with the errata of some papers, those left out that have none."""
    names = [f"finitewidth.errata.{paper}" for paper in papers]
    return [name for name in names if find_spec(name)]


def errata_of(papers: Iterable[str]) -> tuple[Erratum, ...]:
    """All errata of some papers (``ERRATA`` of their modules), paper by paper and by number."""
    modules = (import_module(name) for name in modules_of(papers))
    return tuple(e for module in modules for e in sorted(module.ERRATA, key=number_of))


def number_of(erratum: Erratum) -> int:
    """The number in the id of an erratum."""
    return int(erratum.id.rsplit("-", 1)[1])


def measure(inputs: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, pd.DataFrame]:
    """Compute every erratum.

    Args:
        inputs: none.
        settings: ``papers``, their keys; ``networks``, the number of small networks that a check
            draws. Checks with wide networks draw fewer.

    Returns:
        ``errata``: id, paper, place, kind, printed, corrected, evidence; quantity, truth,
        truth_error, printed_value, corrected_value (empty if nothing is computed); outcome;
        transcribed, whether only transcribed copies have the words; sources, the quotes, each as
        ``text: line, "words"``, separated by semicolons; claims and numbers that state the same
        fact, separated by blanks.
    """
    errata = errata_of(settings["papers"])
    return {"errata": pd.DataFrame([row(erratum, settings["networks"]) for erratum in errata])}


def row(erratum: Erratum, networks: int) -> dict[str, Any]:
    """One row of the table; ``networks`` is the number of random networks of a check."""
    found = erratum.computed(networks)
    names = ("id", "paper", "place", "kind", "printed", "corrected", "evidence")
    numbers = (
        (None,) * 5
        if found is None
        else (found.quantity, found.truth, found.truth_error, found.printed, found.corrected)
    )
    values = ("quantity", "truth", "truth_error", "printed_value", "corrected_value")
    return (
        {name: getattr(erratum, name) for name in names}
        | dict(zip(values, numbers, strict=True))
        | {"outcome": outcome(found), "transcribed": erratum.transcribed}
        | {"sources": sources(erratum.quotes)}
        | {"claims": " ".join(erratum.claims), "numbers": " ".join(erratum.numbers)}
    )


def sources(quotes: Iterable[Quote]) -> str:
    """Quotes as one string, ``text: line, "words"; ...``."""
    return "; ".join(f'{quote.text}: {quote.line}, "{quote.words}"' for quote in quotes)
