"""All 90 claims stand in the ledger; each judge tells support from contradiction."""

import importlib
import re
from pathlib import Path

import pandas as pd
import pytest
from tests.claims.synthetic import dgn_training

from finitewidth.claims import ledger, verdicts
from finitewidth.common.index import read_extras, read_index

ROOT = Path(__file__).parents[2]
ARTIFACTS = {
    entry.artifact
    for entry in read_index(ROOT / "config/artifacts.tsv") + read_extras(ROOT / "config/extras.tsv")
}
ALL = [claim for paper in ledger.PAPERS for claim in ledger.claims_of(paper)]
JUDGED = [claim for claim in ALL if claim.judge]
KINDS = (
    "Theorem|Lemma|Corollary|Equation|Section|Appendix|Experiment|Table|Figure|Captions of Figure"
)
PLACE = rf"({KINDS})s? ([A-D]?\.?\d|[A-D])"
COUNTS = {"npf": 17, "dgn": 21, "trust": 19, "beyond": 18, "collapse": 14, "thesis": 1}


def made_up(claim):
    """Supporting and contradicting tables of a claim."""
    module = importlib.import_module(f"tests.claims.synthetic.{claim.paper}")
    assert claim.id in module.ROWS, f"{claim.id} has no made-up rows that support and contradict it"
    return module.ROWS[claim.id]


def verdict(claim, tables, preset=None):
    return ledger.judge(claim, tables, preset or claim.presets[0]).verdict


def test_all_claims_of_the_papers_are_entered():
    assert {paper: len(ledger.claims_of(paper)) for paper in ledger.PAPERS} == COUNTS
    assert len({claim.id for claim in ALL}) == 90


@pytest.mark.parametrize("claim", ALL, ids=lambda claim: claim.id)
def test_a_claim_says_where_it_stands_and_when_it_holds(claim):
    assert re.match(PLACE, claim.place)
    assert claim.statement.endswith(".")
    assert claim.rule.endswith(".")
    assert set(claim.artifacts) <= ARTIFACTS
    assert claim.presets in (ledger.QUICK, ledger.LAPTOP, ledger.PAPER)
    assert (claim.presets == ledger.QUICK) == (not claim.otherwise)
    if claim.judge:
        assert claim.reads
        assert claim.sections


@pytest.mark.parametrize("claim", JUDGED, ids=lambda claim: claim.id)
def test_rows_that_support_and_rows_that_contradict_are_told_apart(claim):
    supporting, contradicting = made_up(claim)
    assert verdict(claim, supporting()) == verdicts.SUPPORTED
    assert verdict(claim, contradicting()) == verdicts.CONTRADICTED
    assert set(supporting()) == set(contradicting()) == set(claim.reads)


@pytest.mark.parametrize("claim", JUDGED, ids=lambda claim: claim.id)
def test_without_rows_nothing_is_decided(claim):
    supporting, _ = made_up(claim)
    empty = {name: rows.iloc[:0] for name, rows in supporting().items()}
    assert verdict(claim, empty) == verdicts.NOT_DECIDABLE


@pytest.mark.parametrize("claim", JUDGED, ids=lambda claim: claim.id)
def test_a_preset_that_cannot_decide_says_why(claim):
    supporting, _ = made_up(claim)
    smoke = ledger.judge(claim, supporting(), "smoke")
    assert (smoke.verdict, smoke.parts) == (verdicts.NOT_DECIDABLE, ())
    if "quick" not in claim.presets:
        quick = ledger.judge(claim, supporting(), "quick")
        assert quick.verdict == verdicts.NOT_DECIDABLE
        assert quick.reason == claim.otherwise
        assert {part["verdict"] for part in quick.parts} == {"not judged"}


def test_random_labels_not_yet_fitted_leave_d16_open():
    claim = next(claim for claim in JUDGED if claim.id == "D16")
    judged = ledger.judge(claim, dgn_training.mnist(labels=0.6), "paper")
    assert judged.verdict == verdicts.NOT_DECIDABLE
    assert "random_labels: 0.6 at best within 100 epochs" in judged.reason


def test_a_claim_without_experiment_is_not_run():
    bare = ledger.Claim(id="X1", paper="npf", place="here", statement="s.", rule="r.")
    assert ledger.judge(bare, {}, "paper").verdict == verdicts.NOT_RUN


def test_the_ledger_imports_neither_pandas_nor_scipy():
    import subprocess
    import sys

    program = (
        "import sys\nfrom finitewidth.claims import ledger, reported\n"
        "for p in ledger.PAPERS: ledger.claims_of(p)\n"
        "print({'pandas', 'scipy', 'torch'} & set(sys.modules))"
    )
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                            check=True)  # fmt: skip
    assert answer.stdout.strip() == "set()"


def test_verdict_rows_name_the_statistic_that_decided():
    claim = next(claim for claim in JUDGED if claim.id == "N14")
    _, contradicting = made_up(claim)
    judged = ledger.judge(claim, contradicting(), "paper")
    row = ledger.verdict_row(claim, judged, "paper", "5 runs")
    assert row["verdict"] == "contradicted"
    assert row["threshold"] == "-1 to 1"
    assert row["high"] < -1
    assert isinstance(pd.DataFrame([row]), pd.DataFrame)


@pytest.mark.parametrize("name", ["N14", "N19", "D17", "D18", "D21"])
def test_rows_entered_twice_do_not_count_as_more_runs(name):
    claim = next(claim for claim in JUDGED if claim.id == name)
    supporting, _ = made_up(claim)
    twice = {name: pd.concat([rows, rows]) for name, rows in supporting().items()}
    assert verdict(claim, twice) == verdicts.NOT_DECIDABLE
