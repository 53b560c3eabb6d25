"""The YAML files of a paper: what is wrong in them is named by file and key."""

from types import SimpleNamespace

import pytest

from finitewidth.claims import ledger
from finitewidth.common.errors import ConfigError
from finitewidth.declarations import paper_files
from finitewidth.errata import table

CLAIM = """
claims:
  X1:
    place: Section 1
    kind: theorem
    statement: a.
    rule: [b, c.]
    quotes: [{thesis 3: some words}]
    reads: [{one: a.b}, {two: c.d}]
    needs: {original: [mnist]}
    judge: nu.n21
"""
ERRATUM = """
errata:
  npf-1:
    place: (1)
    printed: a
    corrected: b
    kind: misprint
    evidence: c
    check: output_layer
"""
PARTS = {"claims": (CLAIM, ledger.claims_of), "errata": (ERRATUM, lambda p: table.errata_of([p]))}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder of papers; what was read before is forgotten, and so is what the test reads."""
    (tmp_path / "npf").mkdir()
    paper_files.known_texts()  # those of the project
    monkeypatch.setattr(paper_files, "FOLDER", tmp_path)
    stored = (paper_files.read_texts, ledger.claims_of, ledger.numbers_of, table._errata)
    for each in stored:
        each.cache_clear()
    yield SimpleNamespace(write=lambda name, text: (tmp_path / f"npf/{name}.yaml").write_text(text))
    for each in stored:
        each.cache_clear()


def test_a_claim_is_read(folder):
    folder.write("claims", CLAIM)
    (claim,) = ledger.claims_of("npf")
    assert (claim.id, claim.paper, claim.rule) == ("X1", "npf", "b c.")
    assert claim.reads == {"one": "a.b", "two": "c.d"}
    assert claim.judge.module == "finitewidth.papers.npf.judges.nu"
    assert (claim.quotes[0].line, claim.quotes[0].words) == (3, "some words")


def test_a_paper_without_files_claims_nothing():
    assert ledger.claims_of("npf") == ledger.numbers_of("npf") == table.errata_of(["npf"]) == ()


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("claims", "rule:", "rules:", r"claims.yaml: X1: unknown key rules; known keys are .*rule"),
        ("claims", "    place: Section 1\n", "", "claims.yaml: X1: .*missing .*'place'"),
        ("claims", "Section 1", "3.1", "X1: place is 3.1; write a text, in quotes"),
        ("claims", "kind: theorem", "kind: guess", "X1: .*'guess' is not one of theorem"),
        ("claims", "thesis 3: ", "thesis: ", "X1: quotes: .* is no quote"),
        ("claims", "[mnist]", "[digit]", "X1: needs: original: .*digit"),
        ("claims", "claims:", "claim:", "claims.yaml: unknown key claim"),
        ("claims", "reads: [", "reads: [[", "cannot be read as YAML"),
        ("errata", "evidence:", "why:", "errata.yaml: npf-1: unknown key why"),
        ("errata", "misprint", "slip", "errata.yaml: npf-1: 'slip' is not one of misprint"),
    ],
)
def test_a_mistake_is_named_by_file_and_key(folder, name, old, new, message):
    text, read = PARTS[name]
    assert old in text
    folder.write(name, text.replace(old, new))
    with pytest.raises(ConfigError, match=message):
        read("npf")
