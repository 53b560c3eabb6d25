"""All 91 claims stand in the ledger; each judge tells support from contradiction."""

import re

import pandas as pd
import pytest
from tests.claims.synthetic import beyond, collapse_networks, dgn
from tests.claims.synthetic.memorisation import best_at, errors_and_trend
from tests.helpers.judged_claims import ALL, BY_ID, DECLARED, JUDGED, judged_as, made_up, verdict
from tests.helpers.text_copies import copies, stands_there

from finitewidth.claims import ledger, verdicts
from finitewidth.declarations import paper_files
from finitewidth.declarations.papers import artifacts_of

ARTIFACTS = {entry.artifact: entry for entry in artifacts_of(DECLARED)}
TABLES = {
    f"{experiment.name}.{table}"
    for paper in DECLARED
    for experiment in paper.experiments
    for table in experiment.output
}
KINDS = (
    "Theorem|Lemma|Corollary|Equation|Section|Appendix|Experiment|Table|Figure|Captions of Figure"
)
PLACE = rf"({KINDS})s? ([A-D]?\.?\d|[A-D])"
# copies of the papers that the words of their claims are taken from
TEXTS_OF = {"npf": ("npf", "npf0"), "dgn": ("dgn",), "trust": ("trust",)}


def texts_of(paper):
    return TEXTS_OF.get(paper, ("thesis",))


def bare(**facts):
    """A claim without a judge, but for what is given."""
    common = {
        "id": "X1",
        "paper": "npf",
        "place": "here",
        "kind": verdicts.OBSERVATION,
        "statement": "s.",
        "rule": "r.",
    }
    return ledger.Claim(**common | facts)


def test_all_claims_of_the_papers_are_entered():
    assert len({claim.id for claim in ALL}) == len(ALL) >= 91


@pytest.mark.parametrize("claim", ALL, ids=lambda claim: claim.id)
def test_a_claim_says_where_it_stands_and_when_it_holds(claim):
    assert re.match(PLACE, claim.place)
    assert claim.statement.endswith(".")
    assert claim.rule.endswith(".")
    assert set(claim.artifacts) <= set(ARTIFACTS)
    assert set(claim.reads.values()) <= TABLES
    assert bool(claim.judge) == bool(claim.reads)
    # a claim without a judge waits for an experiment: no artifact shows it yet, or not all do
    assert claim.judge or not claim.artifacts
    # how strong it is: its words in the paper, what limits it, and the sizes that it is about
    assert claim.kind in verdicts.KINDS
    assert claim.quotes
    assert {quote.text for quote in claim.quotes} <= set(texts_of(claim.paper))
    assert claim.sizes
    assert (claim.kind == verdicts.HEDGED) <= bool(claim.hedge)


@pytest.mark.parametrize("claim", ALL, ids=lambda claim: claim.id)
def test_the_words_of_a_claim_stand_in_the_paper(claim):
    lines = copies()
    if not lines:
        pytest.skip(f"{paper_files.COPIES} names no folder with the texts of the papers")
    for quote in claim.quotes:
        if quote.text in lines:
            assert stands_there(quote, lines[quote.text]), quote


@pytest.mark.parametrize("claim", JUDGED, ids=lambda claim: claim.id)
def test_rows_that_support_and_rows_that_contradict_are_told_apart(claim):
    supporting, contradicting = made_up(claim)
    before = judged_as(claim, supporting())
    found = judged_as(claim, contradicting())
    assert before.verdict == verdicts.SUPPORTED
    for row in (*before.parts, *found.parts):  # every threshold is the paper's, or has a reason
        assert (row["threshold_of"] == verdicts.PAPER) != bool(row["reason"]), row["part"]
    ours = (verdicts.OURS, verdicts.PAPER_IN_OUR_RANGE, verdicts.PAPER_CERTAIN)
    binding = [r for r in found.parts if r["threshold_of"] not in ours and not r["outside"]]
    if binding:
        assert found.verdict in (verdicts.CONTRADICTED, verdicts.IN_PART)
    else:
        assert (found.verdict, found.count(verdicts.FAILS) > 0) == (verdicts.NO_THRESHOLD, True)
    assert set(supporting()) == set(contradicting()) == set(claim.reads)


@pytest.mark.parametrize("claim", JUDGED, ids=lambda claim: claim.id)
def test_without_rows_or_with_unmet_needs_nothing_is_decided(claim):
    tables = made_up(claim)[0]()
    empty = {name: rows.iloc[:0] for name, rows in tables.items()}
    assert verdict(claim, empty) == verdicts.NEEDS_MORE
    decided = judged_as(claim, tables)
    shown = judged_as(claim, tables, unmet=["needs a; this run has b", "needs c"])
    assert shown.verdict == verdicts.NEEDS_MORE
    assert shown.reason == "needs a; this run has b; needs c"
    assert list(shown.parts) == [part | {"outcome": "not judged"} for part in decided.parts]


@pytest.mark.parametrize("claim", JUDGED, ids=lambda claim: claim.id)
def test_tables_too_small_for_a_claim_stop_no_judge(claim):
    """As at preset smoke: whatever fails in a comparison, the verdict is the unmet need."""
    tables = made_up(claim)[0]()
    for rows in range(6):
        few = {name: table.iloc[:rows] for name, table in tables.items()}
        found = judged_as(claim, few, unmet=["needs more"])
        assert (found.verdict, found.reason) == (verdicts.NEEDS_MORE, "needs more")
        assert {part["outcome"] for part in found.parts} <= {"not judged"}


def test_a_mistake_in_a_judge_is_not_taken_for_missing_rows():
    def mistaken(tables):
        return tables.nothing

    with pytest.raises(AttributeError):
        judged_as(bare(judge=mistaken), {}, unmet=["needs more"])


@pytest.mark.parametrize(
    ("name", "rows", "reason"),
    [
        ("D16", dgn.mnist(labels=0.6), "random_labels: 0.6 at best within 100 epochs"),
        ("D17", dgn.binary(untrained="soft_galu"), "soft-GaLU is not trained"),
        ("D18", dgn.binary(untrained="frnpf_di"), "frozen ReLU is not trained"),
        ("D19", dgn.binary(untrained="flnpf"), "GaLU with learnt gates is not trained"),
        ("D22", dgn.sweep(fitted=0.97), "relu is not trained: train accuracy of 0.97"),
    ],
)
def test_networks_that_are_not_trained_are_no_evidence(name, rows, reason):
    claim = BY_ID[name]
    judged = judged_as(claim, rows)
    assert judged.verdict == verdicts.NEEDS_MORE
    assert reason in judged.reason


def test_images_that_are_fitted_need_no_more_epochs():
    claim = BY_ID["D16"]
    fitted = dgn.mnist(train=1.0)["runs"].assign(epochs=14)
    not_yet = dgn.mnist(train=0.95)["runs"].assign(epochs=14)
    assert verdict(claim, {"runs": fitted}) == verdicts.SUPPORTED
    found = judged_as(claim, {"runs": not_yet})
    assert found.verdict == verdicts.NEEDS_MORE
    assert found.reason.endswith("0.95 at best within 14 epochs; it needs at least 100")
    # after so many epochs images that are not fitted count
    assert verdict(claim, {"runs": not_yet.assign(epochs=100)}) == verdicts.NO_THRESHOLD


@pytest.mark.parametrize("name", ["N12", "D06"])
def test_claims_on_depth_use_the_networks_that_were_made_for_them_if_there_are_any(name):
    claim = BY_ID[name]
    supporting, contradicting = (made() for made in made_up(claim))
    own = contradicting | {"trend": supporting["trend"]}
    narrow = [row for row in judged_as(claim, own).parts if row["part"].startswith("w = 25")]
    assert narrow
    assert {row["outcome"] for row in narrow} == {verdicts.HOLDS}
    without = contradicting | {"trend": supporting["trend"].iloc[:0]}
    assert judged_as(claim, without).count(verdicts.FAILS)


def test_where_n12_holds_d06_fails_and_neither_contradicts_the_other():
    rows = errors_and_trend(best_at(narrow=8, wide=12))
    n12 = judged_as(BY_ID["N12"], rows)
    d06 = judged_as(BY_ID["D06"], rows)
    assert (n12.verdict, d06.verdict) == (verdicts.SUPPORTED, verdicts.IN_PART)
    failing = {row["part"] for row in d06.parts if row["outcome"] == verdicts.FAILS}
    assert "w = 25: log10 error at d = 12 minus at d = 8" in failing
    assert "w = 25: log10 error at d = 8 minus at d = 6" not in failing


@pytest.mark.parametrize("name", ["B19", "K13"])
def test_what_no_kernel_can_break_is_no_evidence(name):
    claim = BY_ID[name]
    supporting, _ = made_up(claim)
    sure = []
    for row in judged_as(claim, supporting()).parts:
        if row["threshold_of"] == verdicts.PAPER_CERTAIN:
            sure.append(row)
    assert sure
    assert all("can fail" in row["reason"] or "cannot fail" in row["reason"] for row in sure)


def test_what_only_tables_tell_comes_with_the_time_of_the_papers_preset():
    claim = BY_ID["D17"]
    times = {"larger": "preset laptop takes 1 h", "papers": "preset paper takes 2 years"}
    found = judged_as(claim, dgn.binary(untrained="soft_galu"), **times)
    assert found.verdict == verdicts.NEEDS_MORE
    assert found.reason.endswith("; preset paper takes 2 years")
    assert judged_as(claim, dgn.binary(), unmet=["needs a"], **times).reason == (
        "needs a; preset laptop takes 1 h"
    )
    assert "preset" not in judged_as(claim, dgn.binary(), **times).reason


def test_a_claim_without_experiment_is_not_run():
    assert verdict(bare(), {}) == verdicts.NOT_RUN
    assert verdict(bare(), {}, unmet=["needs more"]) == verdicts.NOT_RUN


@pytest.mark.parametrize("name", ["N14", "N19", "D17", "D18", "D21", *collapse_networks.ROWS])
def test_rows_entered_twice_do_not_count_as_more_runs(name):
    claim = BY_ID[name]
    supporting, _ = made_up(claim)
    twice = {name: pd.concat([rows, rows]) for name, rows in supporting().items()}
    assert verdict(claim, twice) == verdicts.NEEDS_MORE


def test_b13_is_not_contradicted_where_the_papers_own_bound_falls_too():
    claim = BY_ID["B13"]
    tables = beyond.ratios(rise=-0.1)
    found = judged_as(claim, tables)
    assert found.count(verdicts.FAILS)
    assert found.verdict == verdicts.NO_THRESHOLD
    assert "in a range of ours" in found.caveat


@pytest.mark.parametrize("wrong", [{"sign": -1.0}, {"ordered": 0.2}])
def test_b16_fails_by_the_sign_alone_and_by_the_ordered_phase_alone(wrong):
    claim = BY_ID["B16"]
    found = judged_as(claim, beyond.steps(**wrong))
    assert found.verdict == verdicts.IN_PART
    failing = [row["part"] for row in found.parts if row["outcome"] == verdicts.FAILS]
    phase = "chaotic, derivative, exact" if "sign" in wrong else "ordered"
    assert failing
    assert all(name.startswith(phase) for name in failing)
