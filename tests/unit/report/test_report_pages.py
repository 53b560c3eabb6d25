"""The whole report, built from a few made-up results."""

import json
import threading
from dataclasses import replace

import pandas as pd
import pytest
from tests.helpers import report_crawler
from tests.helpers.made_up_provenance import provenance, write_provenance
from tests.helpers.project import ROOT

from finitewidth.claims import grades, ledger, verdicts
from finitewidth.common.errors import ResultError
from finitewidth.pipeline.plan import Plan
from finitewidth.records import result_files
from finitewidth.report.findings import OTHER_RUN, OTHER_SETTINGS, read_findings
from finitewidth.report.job import build_report
from finitewidth.report.lock import alone
from finitewidth.settings.presets import preset_only

ERRATUM = {
    "id": "beyond-1",
    "paper": "beyond",
    "place": "Theorem 3.1",
    "kind": "wrong result",
    "printed": "$a < b$ & c",
    "corrected": "$a > b$",
    "evidence": "Exact.",
    "quantity": "at 1",
    "truth": 77.0,
    "truth_error": 0.0,
    "printed_value": 56.0,
    "corrected_value": 77.0,
    "outcome": "misprint confirmed",
    "transcribed": True,
    "sources": 'thesis: 3, "a < b"',
    "claims": "B01",
    "numbers": "beyond_text/dispersion/ordered",
}


def settings_in(results):
    """The settings that the workflow would pass, with all results below ``results``."""
    plan = Plan(preset_only("quick", ROOT / "config"), ROOT)
    told = {
        **plan.report_input.settings(),
        "jobs": {},
        "overrides": [],
        "outdated": {},
        "results": str(results),
    }
    return {**told, "errata": str(results / "errata.csv")}


@pytest.fixture(scope="module")
def partial(tmp_path_factory):
    """A report on one verdict and one erratum."""
    results = tmp_path_factory.mktemp("partial")
    claim = ledger.claims_of("beyond")[0]
    claim = replace(claim, statement="$a < b$ & c.", rule="r is at least 1.")
    part = verdicts.Part(name="slope", value=0.5, standard_error=0.05, low=1, paper=True)
    judged = verdicts.decide([part], verdicts.Terms(kind=verdicts.THEOREM))
    situation = ledger.Situation(context="10 draws", grade=grades.PAPER)
    row = ledger.verdict_row(claim, judged, "quick", situation)
    row |= {"artifacts": "beyond_fig1 thesis_fig2_5", "tables": "beyond/experiments/x.csv"}
    parts = [{"claim": claim.id, **each} for each in judged.parts]
    (results / "claims").mkdir()
    (results / "beyond/experiments").mkdir(parents=True)
    result_files.write_table(results / "claims/beyond_verdicts.csv", pd.DataFrame([row]))
    result_files.write_table(results / "claims/beyond_parts.csv", pd.DataFrame(parts))
    result_files.write_table(results / "beyond/experiments/x.csv", pd.DataFrame({"x": [1]}))
    result_files.write_table(results / "errata.csv", pd.DataFrame([ERRATUM]))
    write_provenance(results)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        build_report(results / "report", settings_in(results))
    return results / "report"


def test_every_link_leads_somewhere_and_nothing_is_loaded_from_elsewhere(partial):
    assert report_crawler.faults(partial) == []


def test_the_crawler_finds_what_is_broken(tmp_path):
    (tmp_path / "a.html").write_text(
        '<p id="here"><a href="#there"></a><a href="b.html"></a><a href="../c.html"></a>'
        '<script src="https://x.org/y.js"></script><img src="a.html">'
        '<a href="a.html?paper=npf#here"></a><a href="https://x.org"></a>'
    )
    assert len(report_crawler.faults(tmp_path)) == 5


def test_a_verdict_is_one_click_from_statistic_rows_and_figure(partial):
    claim = ledger.claims_of("beyond")[0].id
    page = report_crawler.soup(partial / "claims.html")
    assert len(page.select("article.fw-claim")) == 91  # though only one was judged
    card = page.find(id=claim)
    links = {link["href"] for link in card.find_all("a")}
    assert {"files/beyond/experiments/x.csv", "beyond.html#beyond-fig1"} <= links
    words = " ".join(card.get_text().split())
    for said in (
        "contradicted",
        "slope",
        "0.5",
        "[0.402, 0.598]",
        "1 of 1 fails",
        "the paper's scale",
        "at least 1",
        "10 draws",
        "& c",
    ):
        assert said in words
    assert card.find("math")
    news = report_crawler.soup(partial / "index.html").find(id="news").parent.get_text()
    assert claim in news
    assert "1 of 1 comparisons fails" in " ".join(news.split())
    # the erratum is linked to the claim: one fact
    assert "wrong result: beyond-1" in " ".join(news.split())
    assert "more errat" not in news
    assert report_crawler.soup(partial / "errata.html").find(id="beyond-1")


def test_the_licences_of_what_is_carried_lie_beside_the_pages(partial):
    text = (partial / "_static/licences.txt").read_text(encoding="utf-8")
    for said in ("Bootstrap v", "Font Awesome Free", "DEJAVU", "Redistribution and use in source"):
        assert said in text
    link = report_crawler.soup(partial / "claims.html").select_one("footer a[href*=licences]")
    assert link["href"] == "_static/licences.txt"


def test_nothing_is_left_beside_the_report(partial):
    assert not list(partial.parent.glob(".report-*"))
    assert not list(partial.rglob("*.map"))


@pytest.mark.parametrize(
    ("reasons", "scale"),
    [
        ((), None),
        (("settings: runs 2 → 3", "code: npf/figures/fig6.py"), OTHER_SETTINGS),
        (("code: npf/figures/fig6.py",), OTHER_RUN),
    ],
)
def test_a_figure_made_otherwise_says_so_and_keeps_its_own_line(tmp_path, reasons, scale):
    settings = settings_in(tmp_path)
    line = "preset quick · 2 runs"
    told = "preset quick · 3 runs"
    job = {"log": "", "benchmark": "", "footer": line, "paper": "npf", "inputs": [], "outputs": []}
    settings["jobs"] = dict.fromkeys(("npf_fig6", "npf_fig7"), job)
    settings["outdated"] = {"npf_fig6": reasons} if reasons else {}
    folder = tmp_path / "provenance/npf"
    folder.mkdir(parents=True)
    stamp = provenance("npf_fig6", {}, parameters={"footer": told})
    (folder / "npf_fig6.json").write_text(json.dumps(stamp))
    (paper,) = (each for each in read_findings(settings, ROOT).papers if each.name == "npf")
    six, seven = (each for each in paper.artifacts if each.artifact in settings["jobs"])
    assert six.footer == told
    assert (six.scale == scale) is bool(reasons)
    assert (six.grade == "") is bool(reasons)
    assert seven.footer == line
    assert seven.scale not in (OTHER_SETTINGS, OTHER_RUN)


@pytest.mark.parametrize(
    "wrong",
    [
        {"wall_seconds": None},
        {"git": "x"},
        {"code": {}},
        {"code": {"modules": {"a": 1}, "files": {}}},
        {"job": 3},
    ],
)
def test_a_provenance_of_wrong_types_is_left_out(tmp_path, wrong):
    folder = tmp_path / "provenance/npf"
    folder.mkdir(parents=True)
    (folder / "npf_fig6.json").write_text(json.dumps(provenance("npf_fig6", {}) | wrong))
    (folder / "npf_fig7.json").write_text("[" * 100_000)
    findings = read_findings(settings_in(tmp_path), ROOT)
    assert findings.records == ()
    assert len(findings.provenances.damaged) == 2


def test_reports_at_the_same_time_are_built_one_after_another(partial, monkeypatch):
    monkeypatch.chdir(ROOT)
    results = partial.parent
    order = []

    def build(name):
        with alone(results):
            order.append(name)
            build_report(partial, settings_in(results))
            order.append(name)

    threads = [threading.Thread(target=build, args=(name,)) for name in ("one", "other")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert order[0] == order[1]
    assert order[2] == order[3]
    assert report_crawler.faults(partial) == []


def test_an_altered_table_of_verdicts_is_named_and_not_shown(partial, monkeypatch):
    monkeypatch.chdir(ROOT)
    results = partial.parent
    table = results / "claims/beyond_verdicts.csv"
    before = table.read_bytes()
    table.write_bytes(before.replace(b"contradicted", b"supported"))
    claims = read_findings(settings_in(results), ROOT).claims
    claim = next(claim for claim in claims if claim["paper"] == "beyond")
    assert claim["verdict"] == verdicts.NOT_RUN
    assert claim["reason"] == (
        f"{table} was altered after its job had written it; delete it and run again"
    )
    table.write_bytes(before)


def test_an_unreadable_table_is_named_and_the_old_report_stays(partial, monkeypatch):
    monkeypatch.chdir(ROOT)
    results = partial.parent
    table = results / "claims/npf_verdicts.csv"
    table.write_text("claim,paper\nN04")
    write_provenance(results)
    with pytest.raises(ResultError, match=r"npf_verdicts\.csv is damaged"):
        build_report(partial, settings_in(results))
    table.unlink()
    assert (partial / "index.html").is_file()
