"""All errata of the papers, each with its printed, corrected and true value.

Formulas are LaTeX between dollar signs, and Unicode text in the name of a quantity.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import pandas as pd

from finitewidth.declarations import paper_files
from finitewidth.errata.evidence import Evidence
from finitewidth.records.tables import Table, flag, number, text
from finitewidth.settings.sections import Section

# docs/errata.md says what they are
KINDS = ("misprint", "wrong result", "imprecise remark", "convention")
NOT_COMPUTED = "nothing is computed"
NOT_GIVEN = "it is not given"
TABLES = {
    "errata": Table(
        text("id", "the paper and a number, such as beyond-3"),
        text("paper", "name of the paper"),
        text("place", "equation, lemma, table or section of the paper", missing=NOT_GIVEN),
        text("kind", f"one of: {', '.join(KINDS)}"),
        text("printed", "what the paper prints", missing=NOT_GIVEN),
        text("corrected", "what it should read", missing=NOT_GIVEN),
        text("evidence", "what is computed, or why nothing is", missing=NOT_GIVEN),
        text("quantity", "the number that is computed", missing=NOT_COMPUTED),
        number("truth", "its value by a route that uses neither formula", missing=NOT_COMPUTED),
        number(
            "truth_error",
            "standard error of a sample, numerical error of an extrapolated limit, otherwise 0",
            missing=NOT_COMPUTED,
        ),
        number("printed_value", "its value by the printed formula", missing=NOT_COMPUTED),
        number("corrected_value", "its value by the corrected formula", missing=NOT_COMPUTED),
        text("outcome", "misprint confirmed, not confirmed or not computed"),
        flag("transcribed", "whether only copies read from pictures have the words"),
        text(
            "sources",
            'quotes of the words, each as text: line, "words", separated by semicolons',
            missing="no words are quoted",
        ),
        text(
            "claims",
            "claims that state the same fact, separated by blanks",
            missing="there are none",
        ),
        text(
            "numbers",
            "printed numbers that are the same fact, separated by blanks",
            missing="there are none",
        ),
    ),
}


class Checked(Section):
    """Which errata are checked, and how, in job `errata`."""

    papers: list[str]  # in the order of the report
    networks: int  # small networks that a check draws; wide ones are fewer


@dataclass(frozen=True)
class Erratum:
    """Something that a paper prints and that is wrong, imprecise or a matter of convention."""

    id: str  # the paper and a number, such as beyond-3
    paper: str
    place: str  # equation, lemma or table
    printed: str
    corrected: str
    kind: str  # one of `KINDS`
    evidence: str  # what is computed or, without a check, why nothing is
    check: Callable[..., Evidence] | None = None
    quantity: str = ""  # name of the number that the check computes, with its arguments
    drawn: bool = False  # whether the check takes the number of random networks
    quotes: tuple[paper_files.Quote, ...] = ()  # printed words, in every copy that has them
    claims: tuple[str, ...] = ()  # ids of the claims that state the same fact
    numbers: tuple[str, ...] = ()  # the same fact in config/reported, artifact/quantity/row

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"{self.kind!r} is not one of {', '.join(KINDS)}")

    @property
    def transcribed(self) -> bool:
        """Whether every copy with the printed words was read from pictures of pages."""
        texts = {quote.text for quote in self.quotes}
        return bool(texts) and all(paper_files.known_texts()[text].transcribed for text in texts)

    def computed(self, networks: int) -> Evidence | None:
        """Run the check with ``networks`` random networks; None without a check."""
        if self.check is None:
            return None
        return self.check(networks) if self.drawn else self.check()


def outcome(evidence: Evidence | None) -> str:
    """Say whether an erratum is confirmed, not confirmed or not computed."""
    if evidence is None:
        return "not computed"
    return "misprint confirmed" if evidence.confirms else "not confirmed"


def errata_of(papers: Iterable[str]) -> tuple[Erratum, ...]:
    """All errata of some papers, paper by paper and by number."""
    return tuple(erratum for paper in papers for erratum in _errata(paper))


@cache
def _errata(paper: str) -> tuple[Erratum, ...]:
    errata = []
    content = paper_files.read_texts(paper, "errata")
    file = paper_files.text_file(paper, "errata")
    paper_files.refuse_unknown(str(file), content, ("errata",))
    for name, entry in content.get("errata", {}).items():
        where = f"{file}: {name}"
        values = dict(entry)
        values["quotes"] = paper_files.quotes_of(f"{where}: quotes", values.get("quotes", ()))
        for key in ("claims", "numbers"):
            values[key] = tuple(values.get(key, ()))
        if "check" in values:
            values["check"] = paper_files.function_of(paper, "errata", values["check"])
        errata.append(paper_files.build(Erratum, where, values, id=name, paper=paper))
    return tuple(errata)


def measure(inputs: Mapping[str, Any], settings: Checked) -> dict[str, pd.DataFrame]:
    """Compute every erratum of the papers."""
    errata = errata_of(settings.papers)
    return {"errata": pd.DataFrame([row(erratum, settings.networks) for erratum in errata])}


def row(erratum: Erratum, networks: int) -> dict[str, Any]:
    """One row of the table; ``networks`` is the number of random networks of a check."""
    evidence = erratum.computed(networks)
    sources = [f'{quote.text}: {quote.line}, "{quote.words}"' for quote in erratum.quotes]
    return {
        "id": erratum.id,
        "paper": erratum.paper,
        "place": erratum.place or None,
        "kind": erratum.kind,
        "printed": erratum.printed or None,
        "corrected": erratum.corrected or None,
        "evidence": erratum.evidence or None,
        "quantity": erratum.quantity or None,
        "truth": evidence.truth if evidence else None,
        "truth_error": evidence.truth_error if evidence else None,
        "printed_value": evidence.printed if evidence else None,
        "corrected_value": evidence.corrected if evidence else None,
        "outcome": outcome(evidence),
        "transcribed": erratum.transcribed,
        "sources": "; ".join(sources) or None,
        "claims": " ".join(erratum.claims) or None,
        "numbers": " ".join(erratum.numbers) or None,
    }
