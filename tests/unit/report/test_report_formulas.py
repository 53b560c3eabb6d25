"""Formulas in texts: as MathML, and in the names of comparisons."""

import re

import pytest
from docutils.utils.math import MathError
from tests.helpers.project import ROOT

from finitewidth.claims import ledger
from finitewidth.declarations.papers import paper_names
from finitewidth.errata.table import errata_of
from finitewidth.report.formulas import (
    as_html,
    as_text,
    in_html,
    in_markdown,
    label_in_html,
    mathml,
)


def test_a_formula_stands_in_its_sentence_without_markup_of_the_text():
    html = in_html(r"<br> if $q_{sr} < 1/\sqrt{w}$, & so on")
    assert html.startswith('&lt;br&gt; if <span class="fw-whole"><math')
    assert "<msqrt>" in html
    assert html.endswith("</math>,</span> &amp; so on")


def test_the_name_of_a_comparison_has_letters_indices_and_powers():
    html = label_in_html("sigma_w^2 = 2 < 3: log r of n_{in} at M^-1, relu_eps alphabet")
    assert html == (
        "σ<sub>w</sub><sup>2</sup> = 2 &lt; 3: log r of n<sub>in</sub> at M<sup>-1</sup>, "
        "relu_eps alphabet"
    )


def test_a_caption_and_a_page_in_markdown_keep_formulas():
    assert "<msub>" in as_html(r"Kernel :math:`\Theta_d` of *all*.")
    assert as_text(r"Kernel :math:`\Theta_d` of *all*.") == "Kernel Θ_d of all."
    ratio = r"Dispersion :math:`\frac{\mathbb{E}[\Theta^2]}{\mathbb{E}[\Theta]^2}`"
    assert as_text(ratio) == "Dispersion E[Θ^2]/E[Θ]^2"
    assert in_markdown("$|x_0|$ of a_b") == r"$\vert x_0\vert $ of a\_b"


def test_every_formula_of_the_errata_and_of_the_claims_can_be_drawn():
    papers = list(paper_names(ROOT / "workflow/papers"))
    texts = [
        text
        for each in errata_of(papers)
        for text in (each.place, each.printed, each.corrected, each.evidence)
    ]
    claims = []
    for paper in papers:
        claims.extend(ledger.claims_of(paper))
    texts += [text for each in claims for text in (each.statement, each.rule, each.sizes)]
    for text in texts:
        assert text.count("$") % 2 == 0, text
        words = re.sub(r"\$.*?\$", "", text)
        assert not re.search(r"[\^√∑]|\\[a-z]|\b(alpha|sigma|theta)\b", words)
    assert sum(in_html(text).count("<math") for text in texts) > 700


def test_unknown_latex_is_refused():
    assert "<mfrac" in mathml(r"\Big(\tfrac12\Big)", block=True)
    assert "‡" in mathml(r"^\ddagger")
    with pytest.raises(MathError, match="nosuch"):
        mathml(r"\nosuch{x}")
