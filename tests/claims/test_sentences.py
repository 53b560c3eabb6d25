"""The sentence that tells what decided a verdict."""

import itertools
from dataclasses import replace

import pytest
from tests.helpers.judged_claims import JUDGED, made_up

from finitewidth.claims import ledger
from finitewidth.claims.sentences import decisive_sentence
from finitewidth.claims.verdicts import Part, decide

OURS = {"ours": "a reason"}


def told(*parts):
    """The sentence on a claim with these comparisons, its row as the file has it."""
    return decisive_sentence(as_read(JUDGED[0], decide(parts)))


def as_read(claim, verdict, situation=None):
    row = ledger.verdict_row(claim, verdict, "quick", situation or ledger.Situation())
    return {key: "" if value is None else str(value) for key, value in row.items()}


def test_an_estimate_has_its_interval_and_its_threshold():
    part = Part(name="M = 100: rise of r", value=1.2, low=1, standard_error=0.05, paper=True)
    assert told(part, Part(name="other", value=9, low=0, **OURS)) == (
        "All 2 comparisons hold; the decisive one is “M = 100: rise of r”, which is 1.2 (95 % "
        "interval 1.1 to 1.3); the paper says that it is at least 1."
    )


def test_an_exact_value_has_no_interval_and_one_end_of_equal_thresholds_suffices():
    part = Part(name="number of paths", value=24, low=24, high=24, paper=True)
    assert told(part) == (
        "The comparison holds: “number of paths”, which is 24; the paper says that it is 24."
    )


def test_a_claim_without_a_threshold_of_the_paper_says_so():
    fails = Part(name="rate", value=-1, low=0, **OURS)
    assert told(fails) == (
        "The comparison fails; the paper sets no threshold: “rate”, which is −1; our threshold is "
        "at least 0."
    )


def test_a_failure_at_other_sizes_says_what_a_run_would_need():
    part = Part(name="rate", value=-1, low=0, paper=True)
    claim = JUDGED[0]
    verdict = ledger.judge(
        replace(claim, kind="observation", judge=lambda tables: [part]),
        {},
        ledger.Situation(sizes=False, papers="preset paper takes 2 h"),
    )
    assert decisive_sentence(as_read(claim, verdict)).startswith(
        "This run does not decide the claim (the comparison fails, but not at the paper's own "
        "sizes; preset paper takes 2 h); its only comparison is"
    )


@pytest.mark.parametrize("claim", JUDGED, ids=lambda claim: claim.id)
def test_every_claim_gets_one_sentence(claim):
    for tables, unmet in itertools.product(made_up(claim), ((), ("needs more runs",))):
        situation = ledger.Situation(unmet=unmet)
        row = as_read(claim, ledger.judge(claim, tables(), situation), situation)
        sentence = decisive_sentence(row)
        assert sentence.count("which is") + sentence.count("which has no value") == 1
        assert row["statistic"] in sentence
        assert ("does not decide the claim (needs more runs)" in sentence) == bool(unmet)
        assert "nan" not in sentence.replace(row["statistic"], "")
