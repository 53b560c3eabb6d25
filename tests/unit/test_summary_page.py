"""The run in one Markdown file: sums of times, and words that Markdown shows as they are."""

import json
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from finitewidth.report import sources, summary_page
from finitewidth.report.summary_page import Spent

JOBS = sources.read_jobs({
    name: {"log": f"logs/{name.removesuffix('_now')}.log", "benchmark": "", "footer": "",
           "paper": "npf", "inputs": inputs, "outputs": outputs}
    for name, inputs, outputs in (
        ("npf_fig3", ["nu.csv", "kvf.csv"], ["npf_fig3.png"]),
        ("npf_nu", ["w.npz"], ["nu.csv", "nu_provenance.json"]),
        ("npf_kvf", ["w.npz"], ["kvf.csv", "kvf_provenance.json"]),
        ("train npf/nu", ["data.npz"], ["w.npz", "provenance.json"]),
        ("npf_fig7", ["other.csv"], ["npf_fig7.png"]),
        ("report", ["npf_fig3.png"], ["report"]),
        ("report_now", [], []),
    )
})  # fmt: skip


def test_the_time_of_an_artifact_counts_each_job_that_it_needs_once():
    spent = {name: Spent(jobs=1, wall=10**place, cpu=2 * 10**place)
             for place, name in enumerate(JOBS)}  # fmt: skip
    figure = SimpleNamespace(artifact="npf_fig3")
    assert summary_page.cost_of(figure, JOBS, spent) == Spent(jobs=4, wall=1111, cpu=2222)
    del spent["npf_kvf"]  # not run
    assert summary_page.cost_of(figure, JOBS, spent) == Spent(jobs=3, wall=1011, cpu=2022)
    planned = SimpleNamespace(artifact="npf_fig9")
    assert summary_page.cost_of(planned, JOBS, spent) == Spent()


def test_times_come_from_the_provenance_of_all_jobs_but_the_report(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "provenance").mkdir()
    files = ("nu_provenance.json", "provenance/npf_fig3.json", "provenance/report.json")
    for place, file in enumerate(files):
        (tmp_path / file).write_text(json.dumps({"wall_seconds": 1 + place, "cpu_seconds": 7}))
    stamps = summary_page.read_stamps(JOBS)
    spent = {name: summary_page.spent_by(stamp) for name, stamp in stamps.items()}
    assert spent == {"npf_nu": Spent(jobs=1, wall=1, cpu=7),
                     "npf_fig3": Spent(jobs=1, wall=2, cpu=7)}  # fmt: skip


def test_a_time_that_was_not_recorded_is_not_shown_as_zero():
    old = summary_page.spent_by({"wall_seconds": 61.0})
    assert summary_page.duration(old.wall) == "1 min 01 s"
    assert summary_page.duration((old + Spent(jobs=1, wall=1, cpu=1)).cpu) == "not recorded"


@given(st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=30))
def test_a_cell_shows_its_text_as_it_is(text):
    cells = f"| a | b |\n|---|---|\n| {summary_page.escaped(text)} | end |\n"
    shown = MarkdownIt("commonmark").enable("table").parse(cells)
    inline = [token for token in shown if token.type == "inline"]
    assert len(inline) == 4
    plain = "".join(child.content for child in inline[2].children)
    assert {child.type for child in inline[2].children} <= {"text", "text_special"}
    assert plain == text
    assert inline[3].content == "end"


@pytest.mark.parametrize("text", ["two\nlines", "  two   lines "])
def test_a_cell_is_one_line(text):
    assert summary_page.escaped(text) == "two lines"
