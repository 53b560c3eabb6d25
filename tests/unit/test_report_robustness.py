"""The report shows verdicts under other base seeds, and none of another version of the code."""

from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

from finitewidth.claims import robustness as compared
from finitewidth.common import result_files
from finitewidth.common.errors import ResultError
from finitewidth.report.pages import _other_seeds, _rendered
from finitewidth.report.robustness import read_robustness

NOW = {"npf": "new", "dgn": "new"}


def row(claim, seed, verdict, failing="", paper="npf", identity="new", at_zero="supported"):
    return dict.fromkeys(compared.COLUMNS, "") | {
        "claim": claim, "paper": paper, "seed": seed, "verdict": verdict,
        "verdict_at_seed_0": at_zero, "changed": "no" if verdict == at_zero else "yes",
        "comparisons": 3, "failing": len(failing.split("; ")) if failing else 0,
        "failing_comparisons": failing, "statistic": "more <less & none", "value": 0.5, "low": 0.25,
        "high": 0.75, "identity": identity,
    }  # fmt: skip


ROWS = [
    row("N04", 0, "supported"), row("N04", 10, "supported"), row("N04", 2, "supported"),
    row("N05", 0, "supported"), row("N05", 2, "inconclusive"),
    row("N05", 10, "contradicted", "two widths; three depths"),
    row("N06", 0, "supported", "x"), row("N06", 2, "supported", "y"), row("N06", 10, "supported"),
    row("D02", 0, "supported", paper="dgn", identity="old"),
    row("D02", 2, "contradicted", paper="dgn", identity="old"),
]  # fmt: skip


def written(folder, rows):
    file = Path(folder, compared.TABLE)
    file.parent.mkdir(parents=True)
    result_files.write_table(file, pd.DataFrame(rows, columns=compared.COLUMNS))
    return file


@pytest.fixture
def found(tmp_path):
    written(tmp_path, ROWS)
    return read_robustness(tmp_path, NOW)


def html(found):
    """The section of the claims page, without a copy of the table."""
    findings = SimpleNamespace(robustness=found)
    return "".join(s.html for s in _other_seeds(findings, SimpleNamespace(put=lambda file: None)))


def test_without_the_table_there_is_no_section(tmp_path):
    assert read_robustness(tmp_path, NOW) is None
    assert html(None) == ""


def test_seeds_are_in_numerical_order(found):
    assert found.seeds == ("2", "10")
    assert [each["seed"] for each in found.claims["N04"]] == ["0", "2", "10"]


def test_changed_and_moved_claims_are_told_apart(found):
    assert list(found.changed) == ["N05"]
    assert list(found.moved) == ["N06"]
    assert found.told("N04") == "same verdict with base seeds 2, 10"
    assert found.told("N05") == "inconclusive with base seed 2; contradicted with base seed 10"
    assert found.told("N06") == "same verdict with base seeds 2, 10, but other comparisons fail"
    assert found.told("T01") == ""


def test_verdicts_of_another_version_of_the_code_are_left_out(found, tmp_path):
    assert found.outdated == ("D02",)
    assert found.told("D02") == ""
    assert "D02" in html(found)
    assert "make robustness" in html(found)
    assert read_robustness(tmp_path, {**NOW, "dgn": "old"}).outdated == ()
    nothing = read_robustness(tmp_path, {})
    assert (nothing.claims, nothing.seeds) == ({}, ())
    assert "<table" not in html(nothing)


def test_the_section_shows_what_changes_with_every_seed(found):
    text = html(found)
    assert "3 claims" in text
    assert "The verdict on 1 of them changes." in text
    assert 'href="#N05"' in text
    assert "two widths; three depths" in text
    assert "more &lt;less &amp; none" in text
    assert "#N04" not in text
    assert text.count("contradicted") > 0


def test_the_card_of_a_claim_tells_other_seeds(found):
    claim = dict.fromkeys(
        ("claim", "verdict", "place", "kind", "statement", "quotes", "hedge", "sizes", "rule",
         "reason", "caveat", "statistic", "context", "errata", "artifacts", "data", "jobs",
         "needs", "parts", "grade", "comparisons", "failing"), ""
    )  # fmt: skip
    claim |= {"claim": "N05", "verdict": "supported"}
    card = _rendered("claims.html", claims=[claim | {"other_seeds": found.told("N05")}])
    assert "inconclusive with base seed 2; contradicted with base seed 10" in card
    assert "base seed" not in _rendered("claims.html", claims=[claim | {"other_seeds": ""}])


def test_a_damaged_table_is_named(tmp_path):
    file = written(tmp_path, [row("N04", "x", "supported")])
    with pytest.raises(ResultError, match=r"robustness\.csv is damaged.*make robustness"):
        read_robustness(tmp_path, NOW)
    file.write_text("claim,seed\nN04,0\n")
    with pytest.raises(ResultError):
        read_robustness(tmp_path, NOW)
