"""Captions as a job: settings, verdicts on claims and footer, in files that docutils reads."""

import io

import pytest
from docutils.core import publish_doctree

from finitewidth.captions import job
from finitewidth.captions.template import filled, settings_of
from finitewidth.captions.written import Caption, read_caption
from finitewidth.common import result_files
from finitewidth.common.errors import ResultError


def test_a_template_names_its_settings_and_shows_their_values():
    template = "Drawn from {{ trust.depth.draws }}\nnetworks, {{\ntrust.depth.draws }}.\n\nMore."
    assert settings_of(template) == ["trust.depth.draws"]
    text = filled(template, {"trust.depth.draws": 20000})
    assert text == "Drawn from 20,000 networks, 20,000.\n\nMore."


CAPTION = Caption(
    text="Ratio r over L.\n\nSecond paragraph.",
    claims=(
        rf"Claim T02: |x|* of K_0 is `1` \ 2, $\sigma_w^2$ ($|x_0|$), $k$th. {'More. ' * 20}End.",
        "Claim T03.",
    ),
    footer="preset quick · 3 runs.",
)


@pytest.mark.parametrize("caption", [CAPTION, Caption(text="Alone.", footer="preset quick.")])
def test_a_caption_is_read_as_it_was_written(caption, tmp_path):
    file = tmp_path / "caption.rst"
    file.write_text(caption.as_file(), encoding="utf-8")
    found = read_caption(file)
    assert (found.text, found.footer) == (caption.text, caption.footer)
    assert found.claims == tuple(map(str.strip, caption.claims))


def test_what_is_shown_of_a_file_is_what_is_drawn_then_claims_then_the_footer():
    heard = io.StringIO()
    settings = {"warning_stream": heard, "report_level": 1}
    document = publish_doctree(CAPTION.as_file(), settings_overrides=settings)
    assert not heard.getvalue()
    shown = [part.astext() for part in document if part.tagname != "comment"]
    assert shown[:2] == ["Ratio r over L.", "Second paragraph."]
    assert shown[2].startswith(r"Claim T02: |x|* of K_0 is `1` \ 2, \sigma_w^2 (|x_0|), kth.")
    assert shown[3:] == ["Claim T03.", "preset quick · 3 runs."]


ROW = {
    "claim": "T02", "paper": "trust", "place": "section 3", "statement": "r grows with K_0.",
    "artifacts": "trust_fig1 trust_fig2", "verdict": "contradicted in part", "reason": "",
    "comparisons": "12", "failing": "1", "undecided": "0", "outcome": "fails",
    "statistic": "M = 100: growth", "value": "0.5", "low": "0.25", "high": "0.75",
    "threshold": "above 1", "threshold_of": "the paper",
}  # fmt: skip


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A template, and the verdicts of two papers."""
    monkeypatch.chdir(tmp_path)
    result_files.write_text("one.rst", "Drawn {{ trust.depth.draws }} times.\n")
    for paper, row in (("trust", ROW), ("beyond", ROW | {"claim": "B20", "paper": "beyond",
                                                         "artifacts": "trust_fig1"})):  # fmt: skip
        lines = [",".join(row), ",".join(f'"{value}"' for value in row.values())]
        result_files.write_text(f"{paper}.csv", "\n".join(lines) + "\n")
    return tmp_path


def wanted(*artifacts):
    return {
        artifact: {"template": "one.rst", "settings": {"trust.depth.draws": 5},
                   "footer": "preset test", "output": f"captions/{artifact}.rst"}
        for artifact in artifacts
    }  # fmt: skip


def test_below_a_caption_stand_the_claims_that_the_artifact_carries(folder):
    job.write_captions(
        wanted("trust_fig1", "trust_fig2", "trust_fig3"), ["trust.csv", "beyond.csv"]
    )
    first, second, third = (read_caption(f"captions/trust_fig{n}.rst") for n in (1, 2, 3))
    assert {first.text, second.text, third.text} == {"Drawn 5 times."}
    assert first.footer == "preset test."
    assert [claim[:9] for claim in first.claims] == ["Claim T02", "Claim B20"]
    assert third.claims == ()
    (claim,) = second.claims
    assert claim.startswith(
        "Claim T02 (trust, section 3): r grows with K_0. Verdict: contradicted in part."
    )
    for part in ("M = 100: growth", "0.5", "0.25", "0.75", "above 1"):
        assert part in claim


@pytest.mark.parametrize(("lost", "message"), [
    ("trust.csv", "trust.csv is missing; run the rule that makes it"),
    ("one.rst", "the template one.rst cannot be read"),
])  # fmt: skip
def test_a_missing_file_is_named(folder, lost, message):
    (folder / lost).unlink()
    with pytest.raises(ResultError, match=message):
        job.write_captions(wanted("trust_fig1"), ["trust.csv"])
    assert not (folder / "captions").exists()
