"""Formulas in sentences: where they begin and end, what they say in LaTeX, and as MathML."""

import re
import unicodedata
from pathlib import Path

import pytest

from finitewidth.claims import ledger
from finitewidth.common.declarations import paper_names
from finitewidth.errata.table import errata_of
from finitewidth.report import formulas
from finitewidth.report.formula_parser import FormulaError, to_latex

ROOT = Path(__file__).parents[2]


def cut(text):
    plain = unicodedata.normalize("NFD", text)
    return [unicodedata.normalize("NFC", plain[a:b]) for a, b in formulas.formulas(plain)]


def close(latex):
    return re.sub(r"\s+", "", latex)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("tends to e^{5l} (1 - e^{-4l}) / 2l, l = L/M, whatever sigma_w^2.",
         ["e^{5l} (1 - e^{-4l}) / 2l", "l = L/M", "sigma_w^2"]),
        ("The paper's: at each L/M and in step A, see C.1", ["L/M"]),
        ("ŷ(x) = Σ_j θ_j, as in (7)", ["ŷ(x) = Σ_j θ_j"]),
        ("a least-squares fit (the x-axis), 99.9 %", []),
        ("claims K12 and N14 hold, H2 is small", ["H2"]),
        ("the term where d < w.", ["d < w"]),
        ("(the paper's sigma_b^2 = 0, at the edge)", ["sigma_b^2 = 0"]),
        ("mean |change of Theta(x,x)| / mean", ["Theta(x,x)"]),
        ("of layer d-1; they are d.", ["d-1", "d"]),
    ],
)  # fmt: skip
def test_where_formulas_begin_and_end(text, found):
    assert cut(text) == found


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("L/M", "L/M"),
        ("(1 - x)/2l", r"\dfrac{1-x}{2l}"),
        ("9e^{5λ}/(25λ²)", r"\dfrac{9e^{5\lambda}}{25\lambda^{2}}"),
        ("a b/(c + 1) d", r"a\dfrac{b}{c+1}d"),
        ("E Θ(x, x̃)/E Θ(x, x)",
         r"\dfrac{\mathbb{E}\Theta(x,\tilde{x})}{\mathbb{E}\Theta(x,x)}"),
        ("√((1+2a)² − 4b²)", r"\sqrt{(1+2a)^{2}-4b^{2}}"),
        ("sqrt(w)", r"\sqrt{w}"),
        ("σ′^{4(d−1)}", r"\sigma^{\prime4(d-1)}"),
        ("μ_class", r"\mu_{\mathrm{class}}"),
        ("p_sr^{l−1}", "p_{sr}^{l-1}"),
        ("Σ^(d)", r"\Sigma^{(d)}"),
        ("Σ_{l=1}^d a_l", r"\sum_{l=1}^{d}a_{l}"),
        ("y^T H^-1 y", "y^{T}H^{-1}y"),
        ("Σⱼ Θ(1, j) · zₓ(dᵢₙ)", r"\sum_{j}\Theta(1,j)\cdot z_{x}(d_{\mathrm{in}})"),
        ("H1 H1^T", "H_{1}H_{1}^{T}"),
        ("8e-06", r"8\cdot10^{-6}"),
    ],
)  # fmt: skip
def test_what_a_formula_says(text, latex):
    assert close(to_latex(text)) == close(latex)


@pytest.mark.parametrize("text", ["(a", "a)", "1/", "/2", "words", "|x"])
def test_what_is_no_formula_is_refused_and_stays_as_it_is(text):
    with pytest.raises(FormulaError):
        to_latex(text)
    assert formulas.mathml(text) is None


def test_a_formula_stands_in_its_sentence_with_its_text_and_without_markup_of_the_text():
    html = formulas.with_formulas("<br> if q_sr < 1/√w, & so on")
    assert "&lt;br&gt; if <span" in html
    assert 'alttext="q_sr &lt; 1/√w"' in html
    assert "<msub>" in html
    assert html.endswith("</math>,</span> &amp; so on")


def test_labels_of_panels_and_code_are_left_alone():
    html = formulas.in_html("<p>(a) x of depth p. (c) In b, <code>q_1</code> and q_1.</p>")
    assert html.count("<math") == 1
    assert "(a) " in html
    assert "In b," in html
    assert '<i class="fw-letter">p</i>' in html


def test_every_formula_of_the_errata_and_of_the_claims_can_be_read():
    papers = list(paper_names(ROOT / "workflow/papers"))
    texts = [text for each in errata_of(papers) for text in (each.printed, each.corrected)]
    claims = [claim for paper in papers for claim in ledger.claims_of(paper)]
    texts += [text for claim in claims for text in (claim.statement, claim.rule)]
    found = [f for text in texts for f in cut(text.replace("<h>", "⟨h⟩"))]
    assert [formula for formula in found if not formulas.mathml(formula)] == []
    assert len(found) > 300
