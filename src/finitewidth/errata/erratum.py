"""An erratum as an object: the printed formula, the corrected one, and a computation of both.

Formulas are Unicode text, so that every reader displays them. A check computes one number in three
ways: by a route that uses neither formula (enumeration, quadrature, exact moments, an integrated
differential equation, or random networks), by the printed formula and by the corrected one.
"""

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from finitewidth.common.paper_files import Quote, known_texts

Kind = Literal["misprint", "wrong result", "imprecise remark", "convention"]
KINDS: tuple[Kind, ...] = get_args(Kind)
Outcome = Literal["misprint confirmed", "not confirmed", "not computed"]

AGREES = 1e-8  # relative
DIFFERS = 1e-3
AGREES_ERRORS = 4  # standard errors
DIFFERS_ERRORS = 6


@dataclass(frozen=True)
class Evidence:
    """One number, computed in three ways.

    Attributes:
        quantity: its name, with its arguments.
        truth: by a route that uses neither formula.
        truth_error: its standard error if it is sampled, its numerical error if it is an
            extrapolated limit, otherwise 0.
        printed: by the printed formula.
        corrected: by the corrected formula.
    """

    quantity: str
    truth: float
    truth_error: float
    printed: float
    corrected: float

    @property
    def confirms(self) -> bool:
        """Whether the corrected value agrees with the truth and the printed one does not.

        Two values agree if they differ by at most 1e-8 of the largest of the three numbers, or by
        at most 4 errors. They disagree if they differ by more than 1e-3 of it and by more than 6
        errors.
        """
        values = self.truth, self.printed, self.corrected
        if not np.isfinite([*values, self.truth_error]).all():
            return False
        scale = max(map(abs, values))
        right, wrong = abs(self.corrected - self.truth), abs(self.printed - self.truth)
        agrees = right <= max(AGREES * scale, AGREES_ERRORS * self.truth_error)
        return agrees and wrong > max(DIFFERS * scale, DIFFERS_ERRORS * self.truth_error)


@dataclass(frozen=True)
class Erratum:
    """Something that a paper prints and that is wrong, imprecise or a matter of convention.

    Attributes:
        id: the paper and a number, e.g. ``beyond-3``.
        paper: its short name.
        place: equation, lemma or table.
        printed: the printed text, in Unicode.
        corrected: the correct text.
        kind: ``misprint`` (the symbols differ from what the paper itself derives or uses),
            ``wrong result`` (the statement follows from a mistake in the derivation),
            ``imprecise remark`` (true with a condition that it does not state) or ``convention``
            (two definitions that differ, in one paper or between papers).
        evidence: one sentence on what is computed or, without a check, why nothing is.
        check: computes the evidence; None if there is nothing to compute.
        drawn: whether ``check`` takes the number of random networks.
        quotes: the printed words in every copy of the paper that has them.
        claims: ids of the claims that state the same fact.
        numbers: printed numbers that are the same fact, ``artifact/quantity/row`` of
            ``config/reported``.
    """

    id: str
    paper: str
    place: str
    printed: str
    corrected: str
    kind: Kind
    evidence: str
    check: Callable[..., Evidence] | None = None
    drawn: bool = False
    quotes: tuple[Quote, ...] = ()
    claims: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"{self.kind!r} is not one of {', '.join(KINDS)}")

    @property
    def transcribed(self) -> bool:
        """Whether every copy with the printed words was read from pictures of pages."""
        texts = {quote.text for quote in self.quotes}
        return bool(texts) and all(known_texts()[text].transcribed for text in texts)

    def computed(self, networks: int) -> Evidence | None:
        """Run the check with ``networks`` random networks; None without a check."""
        if self.check is None:
            return None
        return self.check(networks) if self.drawn else self.check()


def outcome(evidence: Evidence | None) -> Outcome:
    """Say whether an erratum is confirmed, not confirmed or not computed."""
    if evidence is None:
        return "not computed"
    return "misprint confirmed" if evidence.confirms else "not confirmed"


def exactly(quantity: str, truth: float, printed: float, corrected: float) -> Evidence:
    """Evidence from a truth without error, apart from rounding."""
    return Evidence(quantity, float(truth), 0.0, float(printed), float(corrected))


def on_average(quantity: str, sample: np.ndarray, printed: float, corrected: float) -> Evidence:
    """Evidence from the mean of independent draws, with its standard error."""
    mean, count = float(np.mean(sample)), len(sample)
    error = float(np.std(sample, ddof=1)) / count**0.5 if count > 1 else float("inf")
    return Evidence(quantity, mean, error, float(printed), float(corrected))


def extrapolated(values: list[float]) -> tuple[float, float]:
    """Limit of a sequence at M, 2 M, 4 M, … that is smooth in 1/M.

    Richardson extrapolation: each column of the table removes one more power of 1/M. The second
    number is the numerical error: the change in the last step, but at least 1e-12 of the value.
    """
    column, earlier = list(values), values[-1]
    for power in range(1, len(values)):
        earlier = column[-1]
        column = [
            (2**power * fine - coarse) / (2**power - 1)
            for coarse, fine in itertools.pairwise(column)
        ]
    return column[-1], max(abs(column[-1] - earlier), 1e-12 * abs(column[-1]))
