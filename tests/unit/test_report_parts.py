"""The parts of the report: reading results, formatting, citations, downloads."""

import gzip
import math
import shlex
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from finitewidth.claims import grades, reported, verdicts
from finitewidth.common import number_words, result_files
from finitewidth.common.declarations import paper_names
from finitewidth.common.errors import ConfigError, ResultError
from finitewidth.common.settings import overrides, preset_only
from finitewidth.report import captions, formatting, pages, search_index, sources
from finitewidth.report.citations import read_citations
from finitewidth.report.downloads import LARGE, THUMBNAIL, Downloads
from finitewidth.report.findings import OTHER_RUN, OTHER_SETTINGS

ROOT = Path(__file__).parents[2]
JOBS = sources.read_jobs({
    name: {"log": "", "benchmark": "", "footer": "", "paper": paper, "inputs": inputs,
           "outputs": outputs}
    for name, paper, inputs, outputs in (
        ("npf_fig3", "npf", ["nu.csv", "kvf.csv"], ["npf_fig3.png"]),
        ("npf_nu", "npf", ["data.npz", "w.npz"], ["nu.csv", "nu_provenance.json"]),
        ("npf_kvf", "npf", ["nu.csv"], ["kvf.csv", "kvf_provenance.json"]),
        ("train npf/nu", "npf", ["data.npz"], ["w.npz", "provenance.json"]),
        ("errata", "", [], ["errata.csv", "errata_provenance.json"]),
    )
})  # fmt: skip


def test_what_feeds_an_artifact_is_found_through_all_jobs_and_nothing_else():
    fed = [job.name for job in sources.feeding(JOBS["npf_fig3"], JOBS)]
    assert fed == ["npf_nu", "npf_kvf", "train npf/nu"]
    assert sources.feeding(JOBS["errata"], JOBS) == []


def test_a_job_stands_on_the_page_of_its_paper():
    assert pages.job_href(JOBS["train npf/nu"]) == "npf.html#job-train-npf-nu"
    assert pages.job_href(JOBS["npf_nu"]) == "npf.html#job-npf-nu"
    assert pages.job_href(JOBS["errata"]) == "runs.html#job-errata"


@pytest.mark.parametrize(
    "setting", ["npf={nu: {runs: 2}}", "data={root: \"a 'b' $(c)\"}", "device=cuda", "x=~root;y"]
)
def test_a_command_can_be_pasted_into_a_shell(setting):
    findings = SimpleNamespace(preset="quick", overrides=[setting])
    words = shlex.split(pages.command("npf_fig3", findings))
    assert words[-2:] == ["preset=quick", setting]
    said = subprocess.run(["sh", "-c", pages.command("npf_fig3", findings).replace(
        "snakemake", "printf '%s\\n'", 1)], capture_output=True, text=True, check=True)  # fmt: skip
    assert said.stdout.splitlines()[-1] == setting


def test_a_damaged_stamp_is_named(tmp_path):
    job = sources.Job(name="npf_nu", outputs=(str(tmp_path / "nu_provenance.json"),))
    assert sources.read_stamp(job) is None
    (tmp_path / "nu_provenance.json").write_text("[]")
    with pytest.raises(ResultError, match=r"nu_provenance\.json is damaged"):
        sources.read_stamp(job)


def test_every_verdict_and_outcome_has_a_colour_and_a_sign():
    every = (*verdicts.VERDICTS, *verdicts.OUTCOMES, *reported.OUTCOMES, *grades.STATUSES,
             "not judged", "planned", "made", "not made yet", "misprint confirmed",
             "not confirmed", "not computed", OTHER_SETTINGS, OTHER_RUN)  # fmt: skip
    assert {formatting.tone(word) for word in every} == set(formatting.TONES)
    assert all(formatting.sign(word) for word in every)


@pytest.mark.parametrize(
    ("value", "text"),
    [("-0.0123456", "−0.01235"), ("", "–"), (None, "–"), ("nan", "–"), ("inf", "∞"),
     ("-inf", "−∞"), (77.0123, "77.01"), (3e-7, "3·10⁻⁷"), (6.02e23, "6.02·10²³")],
)  # fmt: skip
def test_numbers_as_the_pages_write_them(value, text):
    assert number_words.number(value) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (math.nan, "not recorded"),
        (0.44, "0.4 s"),
        (59.7, "1 min 00 s"),
        (75, "1 min 15 s"),
        (7500, "2 h 05 min"),
        (274_000, "3 d 4 h"),
    ],
)
def test_times_as_the_pages_write_them(seconds, text):
    assert number_words.duration(seconds) == text


def test_a_caption_as_html_and_as_plain_text():
    caption = "Left: ``nu`` falls,\nas *expected*."
    assert captions.as_text(caption) == "Left: nu falls, as expected."
    assert "<em>expected</em>" in captions.as_html(caption)


@pytest.mark.parametrize(
    ("caption", "first"),
    [
        ("Test accuracy of networks whose gates are fixed. Bars: errors.",
         "Test accuracy of networks whose gates are fixed."),
        ("Spectra of kernels at depths of 2.5 and more. (a) Width 25.",
         "Spectra of kernels at depths of 2.5 and more."),
        ("Words in *italics that go on. Until here* and further on.", ""),
        ("One sentence that is long enough to be cut somewhere.", ""),
    ],
)  # fmt: skip
def test_a_caption_is_cut_behind_its_first_sentence(caption, first):
    cut, rest = captions.first_sentence(caption)
    assert (cut, bool(rest)) == ((first, True) if first else (caption, False))
    assert " ".join(filter(None, (cut, rest))) == caption


def test_every_paper_is_cited():
    found = read_citations(ROOT / "CITATION.cff", paper_names(ROOT / "workflow/papers"))
    assert "Neural Path Features" in found["npf0"].title
    assert found["dgn"].url == "https://arxiv.org/abs/2002.03996"


def test_a_paper_that_is_not_cited_is_named(tmp_path):
    (tmp_path / "CITATION.cff").write_text("references: []")
    with pytest.raises(ConfigError, match="no reference has beyond"):
        read_citations(tmp_path / "CITATION.cff", ["beyond"])


def test_the_shelf_copies_once_compresses_large_text_and_shows_logs(tmp_path):
    results, folder = tmp_path / "results", tmp_path / "report"
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
    assert downloads.put(results / "large.svg").href == "files/large.svgz"


def test_a_data_file_keeps_its_name_and_a_thumbnail_is_small(tmp_path):
    from PIL import Image

    (tmp_path / "a.csv").write_text("0,1\n" * LARGE)
    Image.effect_noise((2000, 1000), 50).save(tmp_path / "a.png")
    downloads = Downloads(tmp_path, tmp_path / "report")
    assert downloads.put(tmp_path / "a.csv", compress=False).href == "files/a.csv"
    small = downloads.thumbnail(tmp_path / "a.png")
    assert (small.width, small.height) == (THUMBNAIL, THUMBNAIL // 2)
    with Image.open(tmp_path / "report" / small.href) as picture:
        assert picture.size == (small.width, small.height)


@pytest.mark.parametrize(
    ("value", "text"), [("1234.56", "1234.56"), (1.1e3, "1100.0"), ("", ""), ("O(1)", ""),
                        ("nan", ""), (None, ""), ("-2e-7", "-2e-07")],
)  # fmt: skip
def test_what_a_column_is_sorted_by(value, text):
    assert formatting.order(value) == text


def test_large_numbers_and_thresholds_as_the_pages_write_them():
    assert formatting.thousands(12345.4) == "12\u202f345"
    assert formatting.thousands(math.nan) == "–"
    assert number_words.threshold("1 to 1") == "1"
    assert number_words.threshold("0.99 to 1.01") == "0.99 to 1.01"
    assert number_words.threshold("at most 2") == "at most 2"


def test_text_for_the_search_is_cut_at_articles_and_keeps_formulas_as_text():
    html = ('<p>before</p><article id="N1" aria-label="Claim N1"><p>in <math alttext="x^2"><mi>x'
            "</mi></math> <b>K</b><code>a</code>b,</p><pre>no</pre></article>"
            "<p>after</p>")  # fmt: skip
    assert search_index.pieces(html) == [
        ("", "", "before after"), ("N1", "Claim N1", "in x^2 K a b,"),
    ]  # fmt: skip


def test_what_the_command_line_changed_is_told_as_it_was_typed():
    config = preset_only("quick", ROOT / "config")
    assert overrides(config, ROOT / "config") == []
    config["npf"]["nu"]["runs"] = 2
    config["device"] = "cuda"
    changed = overrides(config, ROOT / "config")
    assert sorted(changed) == ["device=cuda", "npf={nu: {runs: 2}}"]


def test_a_table_without_rows_is_read_only_where_that_may_be(tmp_path):
    (tmp_path / "parts.csv").write_text("claim,part\n")
    assert result_files.read_rows(tmp_path / "parts.csv", empty=True) == []
    with pytest.raises(ResultError, match="damaged"):
        result_files.read_rows(tmp_path / "parts.csv")
