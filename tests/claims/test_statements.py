"""Numbered statements of the papers: every check exists, and every claim and erratum has a row."""

import ast
import re
from pathlib import Path

import pytest

from finitewidth.claims import ledger
from finitewidth.common.errors import ConfigError
from finitewidth.declarations import paper_files
from finitewidth.declarations.papers import paper_names
from finitewidth.declarations.statements import (
    CLAIM,
    ERRATUM,
    TEST,
    statements_of,
)
from finitewidth.errata.table import errata_of

PAPERS = [paper for paper in paper_names() if statements_of(paper)]
STATEMENTS = [statement for paper in PAPERS for statement in statements_of(paper)]
# "Theorem 3.1", "Lemmas A.1, A.2", "(2.46)", "(NC2)", "Equations 66 and 68"
NUMBERED = re.compile(
    r"(Theorem|Lemma|Proposition|Corollary|Definition|Assumption|Remark|Equation)s? [A-Z]?\d"
    r"|\([A-Z]*\d[\d.]*\)"
)
# claims of these kinds state what holds in general, wherever the paper says it; claims of other
# kinds are about experiments, and have a row only where they name a numbered statement
GENERAL = ("theorem", "bound")
# `Section 6.2 (3)` is the third item of a list
ITEM = re.compile(r"Section [\d.]+ \(\d+\)")


def values_of(paper, kind):
    values = set()
    for statement in statements_of(paper):
        values.update(statement.checks_of(kind))
    return values


def is_numbered(place):
    return bool(NUMBERED.search(ITEM.sub("", place)))


def functions_of(file):
    tree = ast.parse(Path(file).read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_every_paper_with_claims_or_errata_has_statements():
    with_errata = {erratum.paper for erratum in errata_of(paper_names())}
    with_claims = {paper for paper in paper_names() if ledger.claims_of(paper)}
    assert with_claims | with_errata == set(PAPERS)


@pytest.mark.parametrize("paper", PAPERS)
def test_every_claim_on_a_statement_has_a_row(paper):
    expected = set()
    for claim in ledger.claims_of(paper):
        if claim.kind in GENERAL or is_numbered(claim.place):
            expected.add(claim.id)
    assert not expected - values_of(paper, CLAIM)


@pytest.mark.parametrize("paper", PAPERS)
def test_every_erratum_of_a_statement_has_a_row(paper):
    expected = {erratum.id for erratum in errata_of([paper]) if is_numbered(erratum.place)}
    assert not expected - values_of(paper, ERRATUM)


@pytest.mark.parametrize("paper", PAPERS)
def test_claims_and_errata_of_the_rows_exist(paper):
    claims = {claim.id for name in PAPERS for claim in ledger.claims_of(name)}
    errata = {erratum.id for erratum in errata_of([paper])}
    assert values_of(paper, CLAIM) <= claims
    assert values_of(paper, ERRATUM) <= errata


def test_tests_of_the_rows_exist():
    named = {test for paper in PAPERS for test in values_of(paper, TEST)}
    known = set()
    for file in {test.split("::")[0] for test in named}:
        known |= {f"{file}::{name}" for name in functions_of(file)}
    assert not named - known


@pytest.mark.parametrize("statement", STATEMENTS, ids=lambda each: f"{each.paper}: {each.place}")
def test_formulas_are_closed_and_checks_are_named_once(statement):
    texts = [statement.place, statement.printed_in, statement.statement]
    texts += [check.value for check in statement.checks]
    assert all(text.count("$") % 2 == 0 for text in texts)
    assert len(set(statement.checks)) == len(statement.checks)


ROW = """
statements:
  - place: Theorem 1
    kind: theorem
    printed_in: Section 1
    statement: a.
    checks: [{test: "tests/laws/test_paths.py::test_a"}]
"""


@pytest.fixture
def written(tmp_path, monkeypatch):
    """Write the statements of a paper; what was read before is forgotten, before and after."""
    (tmp_path / "npf").mkdir()
    monkeypatch.setattr(paper_files, "FOLDER", tmp_path)
    stored = (paper_files.read_texts, statements_of)
    for each in stored:
        each.cache_clear()
    yield lambda text: (tmp_path / "npf/statements.yaml").write_text(text, encoding="utf-8")
    for each in stored:
        each.cache_clear()


def test_a_row_is_read(written):
    written(ROW)
    (statement,) = statements_of("npf")
    assert statement.place == "Theorem 1"
    assert statement.checks_of(TEST) == ["tests/laws/test_paths.py::test_a"]
    assert statements_of("dgn") == ()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("kind: theorem", "kind: hope", "'hope' is not one of theorem"),
        ("statement: a.", "statement: ''", "statement is empty"),
        ("    statement: a.\n", "", "statement"),
        ("statement: a.", "said: a.", "unknown key said"),
        ("tests/laws/test_paths.py::test_a", "test_paths", "is no test; write"),
        ("{test:", "{proof:", "'proof' is not one of claim"),
        ("[{test:", "[{missing: '', test:", "is no check"),
        ('[{test: "tests/laws/test_paths.py::test_a"}]', "[{missing: ''}]", "missing is empty"),
        ('[{test: "tests/laws/test_paths.py::test_a"}]', "[]", "there are no checks"),
    ],
)
def test_a_mistake_is_named(written, old, new, message):
    assert old in ROW
    written(ROW.replace(old, new))
    with pytest.raises(ConfigError, match=r"statements\.yaml: Theorem 1.*" + re.escape(message)):
        statements_of("npf")


def test_two_rows_of_one_place_are_refused(written):
    written(ROW + ROW.replace("\nstatements:\n", ""))
    with pytest.raises(ConfigError, match="Theorem 1: two statements have this place"):
        statements_of("npf")
