"""All errata of the papers, each with its printed, corrected and true value."""

from collections.abc import Iterable, Mapping
from dataclasses import astuple
from functools import cache
from typing import Any

import pandas as pd

from finitewidth.common.paper_files import (
    build,
    function_of,
    quotes_of,
    read_texts,
    refuse_unknown,
    text_file,
)
from finitewidth.errata.erratum import Erratum, outcome


def errata_of(papers: Iterable[str]) -> tuple[Erratum, ...]:
    """All errata of some papers, paper by paper and by number."""
    return tuple(erratum for paper in papers for erratum in _errata(paper))


@cache
def _errata(paper: str) -> tuple[Erratum, ...]:
    errata, content = [], read_texts(paper, "errata")
    refuse_unknown(str(text_file(paper, "errata")), content, ("errata",))
    for name, entry in content.get("errata", {}).items():
        where, values = f"{text_file(paper, 'errata')}: {name}", dict(entry)
        values["quotes"] = quotes_of(f"{where}: quotes", values.get("quotes", ()))
        for key in ("claims", "numbers"):
            values[key] = tuple(values.get(key, ()))
        if "check" in values:
            values["check"] = function_of(paper, "errata", values["check"])
        errata.append(build(Erratum, where, values, id=name, paper=paper))
    return tuple(errata)


def measure(inputs: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, pd.DataFrame]:
    """Compute every erratum of ``papers`` with that many small ``networks``, or fewer wide ones.

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
    evidence = erratum.computed(networks)
    names = ("id", "paper", "place", "kind", "printed", "corrected", "evidence")
    numbers = astuple(evidence) if evidence else (None,) * 5
    values = ("quantity", "truth", "truth_error", "printed_value", "corrected_value")
    return (
        {name: getattr(erratum, name) for name in names}
        | dict(zip(values, numbers, strict=True))
        | {"outcome": outcome(evidence), "transcribed": erratum.transcribed}
        | {"sources": "; ".join(f'{q.text}: {q.line}, "{q.words}"' for q in erratum.quotes)}
        | {"claims": " ".join(erratum.claims), "numbers": " ".join(erratum.numbers)}
    )
