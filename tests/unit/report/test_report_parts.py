"""The parts of the report: reading results, formatting, citations, downloads."""

import gzip
from types import SimpleNamespace

import pytest

from finitewidth.claims import grades, reported, verdicts
from finitewidth.common.errors import ConfigError, ResultError
from finitewidth.records import result_files
from finitewidth.records.usage import Usage
from finitewidth.report import formatting, pages, summary
from finitewidth.report.downloads import LARGE, Downloads
from finitewidth.report.findings import OTHER_RUN, OTHER_SETTINGS, read_citations
from finitewidth.report.jobs import Job, upstream

JOBS = {
    name: Job(name=name, paper=paper, inputs=inputs, outputs=outputs)
    for name, paper, inputs, outputs in (
        ("npf_fig3", "npf", ["nu.csv", "kvf.csv"], ["npf_fig3.png"]),
        ("npf_nu", "npf", ["data.npz", "w.npz"], ["nu.csv", "nu_provenance.json"]),
        ("npf_kvf", "npf", ["nu.csv"], ["kvf.csv", "kvf_provenance.json"]),
        ("train npf/nu", "npf", ["data.npz"], ["w.npz", "provenance.json"]),
        ("errata", "", [], ["errata.csv", "errata_provenance.json"]),
    )
}


def test_what_feeds_an_artifact_is_found_through_all_jobs_and_nothing_else():
    fed = [job.name for job in upstream(JOBS["npf_fig3"].inputs, JOBS)]
    assert fed == ["npf_nu", "npf_kvf", "train npf/nu"]
    assert upstream(JOBS["errata"].inputs, JOBS) == []


def test_the_time_of_an_artifact_counts_each_job_that_it_needs_once():
    usage = {
        name: Usage(jobs=1, wall=10**place, cpu=2 * 10**place) for place, name in enumerate(JOBS)
    }
    figure = SimpleNamespace(artifact="npf_fig3")
    assert pages.cost_of(figure, JOBS, usage) == Usage(jobs=4, wall=1111, cpu=2222)
    del usage["npf_kvf"]  # not run
    assert pages.cost_of(figure, JOBS, usage) == Usage(jobs=3, wall=1011, cpu=2022)
    planned = SimpleNamespace(artifact="npf_fig9")
    assert pages.cost_of(planned, JOBS, usage) == Usage()


def test_every_verdict_and_outcome_has_a_colour_and_a_sign():
    every = (
        *verdicts.VERDICTS,
        *verdicts.OUTCOMES,
        *reported.OUTCOMES,
        *grades.STATUSES,
        "not judged",
        "made",
        "not made yet",
        "misprint confirmed",
        "not confirmed",
        "not computed",
        OTHER_SETTINGS,
        OTHER_RUN,
    )
    assert {formatting.tone(word) for word in every} == set(formatting.TONES)
    assert all(formatting.sign(word) for word in every)


def supported(name, threshold, whose, grade="exact"):
    return {
        "claim": name,
        "paper": name[0],
        "verdict": verdicts.SUPPORTED,
        "grade": grade,
        "statistic": "s",
        "comparisons": "6",
        "failing": "0",
        "threshold": threshold,
        "threshold_of": whose,
    }


def test_a_count_that_is_right_is_no_clear_verdict_where_there_are_others():
    claims = [
        supported("D25", "24 to 24", verdicts.PAPER),
        supported("T09", "at most 1e-09", verdicts.PAPER_WITH_TOLERANCE),
        supported("B04", "above 0", verdicts.PAPER, "the paper's scale"),
        supported("K05", "above 0", verdicts.PAPER),
    ]
    found = summary.strongest(SimpleNamespace(claims=claims, papers=[]))["strongest"]
    assert [claim["claim"] for claim in found[verdicts.SUPPORTED]] == ["K05", "B04", "D25", "T09"]


def test_a_paper_that_is_not_cited_is_named(tmp_path):
    (tmp_path / "CITATION.cff").write_text("references: []")
    with pytest.raises(ConfigError, match="no reference has beyond"):
        read_citations(tmp_path / "CITATION.cff", ["beyond"])


def test_the_shelf_copies_once_compresses_large_text_and_shows_logs(tmp_path):
    results = tmp_path / "results"
    folder = tmp_path / "report"
    results.mkdir()
    (results / "a.log").write_text("done\n")
    (results / "large.csv").write_text("0,1\n" * LARGE)
    downloads = Downloads(results, folder)
    assert downloads.put(results / "a.log").href == "files/a.log.txt"
    large = downloads.put(results / "large.csv")
    assert large.href == "files/large.csv.gz"
    assert gzip.decompress((folder / large.href).read_bytes()).startswith(b"0,1\n")
    assert downloads.put(results / "large.csv") is large
    assert downloads.put(results / "missing.csv") is None
    (results / "large.svg").write_text("<g/>" * LARGE)
    assert downloads.put(results / "large.svg").href == "files/large.svg"


def test_a_data_file_keeps_its_name(tmp_path):
    (tmp_path / "a.csv").write_text("0,1\n" * LARGE)
    downloads = Downloads(tmp_path, tmp_path / "report")
    assert downloads.put(tmp_path / "a.csv", compress=False).href == "files/a.csv"


def test_a_table_without_rows_is_read_only_where_that_may_be(tmp_path):
    (tmp_path / "parts.csv").write_text("claim,part\n")
    assert result_files.read_rows(tmp_path / "parts.csv", empty=True) == []
    with pytest.raises(ResultError, match="damaged"):
        result_files.read_rows(tmp_path / "parts.csv")
