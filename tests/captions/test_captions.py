"""Captions as a job: settings, verdicts on claims and footer, in files that docutils reads."""

import io

import pytest
from docutils.core import publish_doctree

from finitewidth.claims import captions
from finitewidth.common.errors import ResultError
from finitewidth.records import result_files


def test_a_template_names_its_settings_and_shows_their_values():
    template = "Drawn from {{ trust.depth.draws }}\nnetworks, {{\ntrust.depth.draws }}.\n\nMore."
    assert captions.settings_of(template) == ["trust.depth.draws"]
    text = captions.filled(template, {"trust.depth.draws": 20000})
    assert text == "Drawn from 20,000 networks, 20,000.\n\nMore."


CLAIMS = [
    rf"Claim T02: |x|* of K_0 is `1` \ 2, $\sigma_w^2$ ($|x_0|$), $k$th. {'More. ' * 20}End.",
    "Claim T03.",
]
CAPTION = captions.written("Ratio r over L.\n\nSecond paragraph.", CLAIMS, "preset quick · 3 runs.")


def test_a_caption_is_read_as_it_was_written(tmp_path):
    for number, caption in enumerate((CAPTION, captions.written("Alone.", (), "preset quick."))):
        (tmp_path / f"{number}.rst").write_text(caption, encoding="utf-8")
    assert captions.what_is_drawn(tmp_path / "0.rst") == "Ratio r over L.\n\nSecond paragraph."
    assert captions.what_is_drawn(tmp_path / "1.rst") == "Alone."
    assert captions.what_is_drawn(tmp_path / "2.rst") == ""
    assert [captions.claims_below(tmp_path / f"{n}.rst") for n in range(3)] == [CLAIMS, [], []]


def test_what_is_shown_of_a_file_is_what_is_drawn_then_claims_then_the_footer():
    heard = io.StringIO()
    settings = {"warning_stream": heard, "report_level": 1}
    document = publish_doctree(CAPTION, settings_overrides=settings)
    assert not heard.getvalue()
    shown = [part.astext() for part in document if part.tagname != "comment"]
    assert shown[:2] == ["Ratio r over L.", "Second paragraph."]
    assert shown[2].startswith(r"Claim T02: |x|* of K_0 is `1` \ 2, \sigma_w^2 (|x_0|), kth.")
    assert shown[3:] == ["Claim T03.", "preset quick · 3 runs."]


ROW = {
    "claim": "T02",
    "paper": "trust",
    "place": "section 3",
    "statement": "r grows with K_0.",
    "artifacts": "trust_fig1 trust_fig2",
    "verdict": "contradicted in part",
    "reason": "",
    "comparisons": "12",
    "failing": "1",
    "undecided": "0",
    "outcome": "fails",
    "statistic": "M = 100: growth",
    "value": "0.5",
    "low": "0.25",
    "high": "0.75",
    "threshold": "above 1",
    "threshold_of": "the paper",
    "shown_in": "",
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A template, and the verdicts of two papers."""
    monkeypatch.chdir(tmp_path)
    result_files.write_text("one.rst", "Drawn {{ trust.depth.draws }} times.\n")
    for paper, row in (
        ("trust", ROW),
        ("beyond", ROW | {"claim": "B20", "paper": "beyond", "artifacts": "trust_fig1"}),
    ):
        lines = [",".join(row), ",".join(f'"{value}"' for value in row.values())]
        result_files.write_text(f"{paper}.csv", "\n".join(lines) + "\n")
    return tmp_path


def wanted(*artifacts):
    return {
        artifact: {
            "template": "one.rst",
            "settings": {"trust.depth.draws": 5},
            "footer": "preset test",
            "output": f"captions/{artifact}.rst",
        }
        for artifact in artifacts
    }


def test_below_a_caption_stand_the_claims_that_the_artifact_carries(folder):
    artifacts = wanted("trust_fig1", "trust_fig2", "trust_fig3")
    captions.write_captions(artifacts, ["trust.csv", "beyond.csv"])
    first, second, third = (
        (folder / f"captions/trust_fig{n}.rst").read_text(encoding="utf-8") for n in (1, 2, 3)
    )
    for text in (first, second, third):
        assert text.startswith("Drawn 5 times.\n\n")
        assert text.endswith("\n\npreset test.\n")
    assert first.index("Claim T02") < first.index("Claim B20")
    assert "Claim" not in third
    claim = " ".join(second.split())
    assert (
        r"Claim T02 (trust, section 3): r grows with K\_0. Verdict: contradicted in part." in claim
    )
    for part in ("M = 100: growth", "0.5", "0.25", "0.75", "above 1"):
        assert part in claim


def test_a_caption_names_no_comparison_that_its_figure_does_not_show(folder):
    row = ROW | {"shown_in": "trust_fig2"}
    lines = [",".join(row), ",".join(f'"{value}"' for value in row.values())]
    result_files.write_text("trust.csv", "\n".join(lines) + "\n")
    captions.write_captions(wanted("trust_fig1", "trust_fig2"), ["trust.csv"])
    first, second = (
        " ".join((folder / f"captions/trust_fig{n}.rst").read_text(encoding="utf-8").split())
        for n in (1, 2)
    )
    assert "Verdict: contradicted in part. 1 of 12 comparisons fails. .. footer" in first
    assert "M = 100: growth" in second


def test_a_missing_file_is_named(folder):
    (folder / "trust.csv").unlink()
    with pytest.raises(ResultError, match=r"trust\.csv is missing; run the rule that makes it"):
        captions.write_captions(wanted("trust_fig1"), ["trust.csv"])
    assert not (folder / "captions").exists()
