"""Numbered statements on the pages of the report: the results of their checks in a run."""

from types import SimpleNamespace

import pytest

from finitewidth.claims import verdicts
from finitewidth.declarations.statements import Check, Statement
from finitewidth.report import statements


def statement(*checks):
    return Statement(
        paper="npf",
        place="Theorem 1",
        kind="theorem",
        printed_in="Section 1",
        statement="a.",
        checks=checks,
    )


@pytest.fixture
def rows(monkeypatch):
    listed = [
        statement(Check("claim", "N04"), Check("erratum", "npf-1"), Check("erratum", "npf-2")),
        statement(Check("test", "tests/laws/test_a.py::test_all_is_well")),
        statement(Check("claim", "N04"), Check("missing", "no time")),
    ]
    monkeypatch.setattr(statements, "statements_of", lambda _: listed)
    findings = SimpleNamespace(
        claims=[{"claim": "N04", "verdict": verdicts.SUPPORTED}],
        errata=[{"id": "npf-1", "outcome": "misprint confirmed"}],
    )
    return statements.checked_statements("npf", findings)


def test_claims_and_errata_have_the_results_of_the_run_and_a_link(rows):
    claim, confirmed, not_run = rows[0]["checks"]
    assert (claim["result"], claim["href"]) == (verdicts.SUPPORTED, "claims.html#N04")
    assert confirmed["result"] == "misprint confirmed"
    assert confirmed["href"] == "errata.html#npf-1"
    assert (not_run["result"], not_run["href"]) == ("not made yet", "")


def test_a_test_is_named_by_its_sentence(rows):
    (check,) = rows[1]["checks"]
    assert check["words"] == "all is well"
    assert check["result"] == verdicts.HOLDS


def test_a_missing_check_has_a_reason_and_no_result(rows):
    _, missing = rows[2]["checks"]
    assert (missing["words"], missing["result"]) == ("no time", "")


def test_statements_are_checked_wholly_in_part_or_not_at_all(rows):
    whole, _, part = (row["statement"] for row in rows)
    none = statement(Check("missing", "no time"))
    assert [each.is_checked for each in (whole, part, none)] == [True, True, False]
    assert [each.lacks_a_part for each in (whole, part, none)] == [False, True, False]
