"""Numbers as text, characters in LaTeX, and the layout of tables; no LaTeX is needed."""

import math
import re

import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from finitewidth.tables import numbers
from finitewidth.tables.latex import NUMBER, latex
from finitewidth.tables.latex_text import escaped
from finitewidth.tables.typeset import Typeset, markdown

NAN = math.nan


@pytest.mark.parametrize(
    ("mean", "spread", "decimals", "shown"),
    [
        (97.8642, 0.0142, 2, "97.86 ± 0.01"),  # no more decimals than are resolved
        (93.686, 1.0748, 2, "93.7 ± 1.1"),
        (470.6, 306.3, 2, "471 ± 306"),
        (0.37233, 0.00249, 4, "0.3723 ± 0.0025"),  # a fraction
        (1.23, 0.0996, 4, "1.23 ± 0.10"),  # rounding adds a digit
        (-1.25, 0.5, 2, "−1.25 ± 0.50"),
        (97.21, 0.0, 2, "97.21 ± 0.00"),
        (38.4, NAN, 2, "38.40"),
        (NAN, 1.0, 2, "–"),
        (100.0, math.inf, 2, "100.00 ± inf"),
    ],
)
def test_an_uncertainty_has_two_digits_and_the_mean_as_many_decimals(mean, spread, decimals, shown):
    assert numbers.uncertain(mean, spread, decimals) == shown


@given(
    st.floats(-1e4, 1e4), st.floats(0, 1e4, exclude_min=True), st.sampled_from([0, 1, 2, 3, 4, 6])
)
def test_mean_and_spread_have_the_same_decimals_and_are_rounded_at_most_half_a_unit(
    mean, spread, decimals
):
    shown = numbers.uncertain(mean, spread, decimals).replace("−", "-")
    left, right = shown.split(" ± ")
    places = [len(part.partition(".")[2]) for part in (left, right)]
    assert places[0] == places[1] <= decimals
    half = 0.5 * 10.0 ** -places[0] * (1 + 1e-9)
    assert abs(float(left) - mean) <= half
    assert abs(float(right) - spread) <= half
    digits = len(right.replace(".", "").lstrip("0"))
    assert digits == 2 or places[0] in (0, decimals)


def test_numbers_of_a_paper_keep_their_decimals():
    assert numbers.as_printed(64.86, 1.18) == "64.86 ± 1.18"
    assert numbers.as_printed(97.85, 0.09) == "97.85 ± 0.09"
    assert numbers.as_printed(77.43, NAN) == "77.43"
    assert numbers.as_printed(NAN, NAN) == "–"


@pytest.mark.parametrize(
    ("number", "shown"),
    [
        (0.1, "0.1"),
        (1e-6, "10⁻⁶"),
        (1.86e4, "1.9 × 10⁴"),
        (-1.86e-4, "−1.9 × 10⁻⁴"),
        (439.9, "4.4 × 10²"),
        (12.34, "12"),
        (0, "0"),
        (NAN, "–"),
    ],
)
def test_powers_of_ten(number, shown):
    assert numbers.scientific(number) == shown


def test_counts_have_thin_spaces_between_thousands():
    assert numbers.whole(2048) == "2\u202f048"
    assert numbers.whole(1234567) == "1\u202f234\u202f567"
    assert numbers.whole(999) == "999"
    assert numbers.whole(NAN) == "–"
    assert numbers.plain(0.5042) == "0.5042"
    assert numbers.plain(NAN, "") == ""


def test_how_many_runs_is_said():
    assert numbers.runs_said(pd.Series([3, 3])) == "over 3 runs"
    assert numbers.runs_said(pd.Series([3, 1])) == "over 1 to 3 runs"
    assert numbers.runs_said(pd.Series([1])) == "over 1 run"


@given(st.text(st.characters(exclude_categories=("Cs", "Cc"))))
@example("".join(map(chr, range(32, 127))))
@example("qᵍₓₜ(l) = Θᵍₜ(l)ᵀ zᵍₓₜ(l−1) ⊙ 10⁻³")
def test_any_text_becomes_ascii_with_balanced_braces_and_dollars(text):
    """It also stays in its cell and in its row."""
    tex = escaped(text)
    assert tex.isascii()
    bare = re.sub(r"\\[\\{}$&%#_]", "", tex)
    assert bare.count("{") == bare.count("}")
    assert bare.count("$") % 2 == 0
    assert not set(bare) & set("&%#")
    assert r"\\" not in tex


@pytest.mark.parametrize(
    ("text", "tex"),
    [
        ("β, σ", r"$\beta$, $\sigma$"),
        ("K⁽ᵈ⁾", r"K\textsuperscript{(d)}"),
        ("dₙₑₜ", r"d\textsubscript{net}"),
        ("0.5 †", r"0.5 $^\dagger$"),
        ("2\u202f048", r"2\,048"),
        ("a--b", "a{-}{-}b"),
        ("[1]*", "{[}1]{*}"),
        ("中", r"{\ttfamily U+4E2D}"),
    ],
)
def test_forms_of_characters(text, tex):
    assert escaped(text) == tex


def test_bold_numbers_and_marks():
    cells = pd.DataFrame({"x": ["1.5 ± 0.1", "2.5 ± 0.1 †", "−1\u202f024"]})
    tex = latex(Typeset(cells, "t", bold=cells == "1.5 ± 0.1"), "f", "t")
    assert r"$\mathbf{1.5} \pm \mathbf{0.1}$ \\" in tex
    assert r"$2.5 \pm 0.1$\rlap{$^\dagger$} \\" in tex  # a mark moves no digit
    assert r"$-1\,024$ \\" in tex


@given(st.floats(-1e6, 1e6), st.floats(0, 1e6) | st.just(NAN), st.integers(0, 4))
def test_every_number_that_is_written_is_known_as_a_number(mean, spread, decimals):
    assert NUMBER.fullmatch(numbers.uncertain(mean, spread, decimals))
    assert NUMBER.fullmatch(numbers.whole(mean))


def test_bars_do_not_end_a_cell_of_markdown():
    text = markdown(Typeset(pd.DataFrame({"|x|": ["a | b"]}), "t"), "f")
    assert r"a \| b" in text
    assert r"\|x\|" in text
