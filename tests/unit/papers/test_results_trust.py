"""What the figures of trust show, in a sentence: every branch of its rule."""

import math
from itertools import product
from types import SimpleNamespace

import pandas as pd
import pytest

from finitewidth.papers.trust.results import (
    change,
    change_panels,
    fig2,
    heat,
    kappa,
    scaled,
    words,
)


@pytest.mark.parametrize(
    ("values", "text"),
    [([0.0218, 0.19], "0.022 to 0.19"), ([240.4], "240"), ([math.nan], "an unknown number")],
)
def test_ranges_have_two_digits(values, text):
    assert words.span(values) == text


def test_shares_are_in_percent():
    assert words.percent([0.0089, 1.253]) == "0.9 to 125 %"
    assert words.percent([0.001, 0.001]) == "0.1 %"


# ---- Figures 1 and 7: the border lies at 2


def heat_map(width, ratios, bias=1.0, error=0.1):
    rows = []
    for variance, ratio in zip((1.0, 2.0, 3.0), ratios, strict=True):
        for depth, dispersion in ((5, 1.0), (9, ratio)):
            cell = {"series": "cell", "depth": depth, "dispersion": dispersion}
            rows.append(cell | {"sigma_w2": variance, "standard_error": error})
    rows.append({"series": "border", "sigma_w2": 2.0})
    table = pd.DataFrame(rows)
    return table.assign(activation="relu", width=width, sigma_b2=bias, source="ours")


@pytest.mark.parametrize(
    ("ratios", "sentence"),
    [
        ([(1.1, 1.5, 3)], "in 1 of 1 maps."),
        ([(1.1, 2.5, 3)], "in 0 of 1 maps."),
        ([(1.1, 1.5, 3), (1.1, 2.5, 3)], "in 1 of 2 maps (ReLU with $M$ = 10)."),
    ],
)
def test_figure_1_counts_the_borders_below_2(ratios, sentence):
    rows = pd.concat([heat_map(10 * (i + 1), values) for i, values in enumerate(ratios)])
    text = heat.result(rows, {})
    assert "At depth 9 the mean square of the kernel is 1.1 times its squared mean" in text
    assert f"above the mean in {len(ratios)} of {len(ratios)} cells; 0 of these" in text
    assert text.endswith(sentence)


@pytest.mark.parametrize(
    ("small", "large", "words_on_it"),
    [
        ((1, 10, 20), (1, 1.5, 3), ": the transition narrows, as the paper observes."),
        ((1, 1.5, 3), (1, 10, 20), ": the transition does not narrow"),
        ((1, 1.5, 3), (1, 1.1, 1.9), "is not within all of the maps."),
        ((1.5, 1.6, 3), (1, 1.1, 3), "is not within all of the maps."),
    ],
)
def test_figure_7_compares_the_bands(small, large, words_on_it):
    rows = pd.concat([heat_map(10, small, bias=0.0, error=math.nan), heat_map(10, large)])
    text = heat.result(rows, {})
    assert "1 of these have too few draws" in text
    assert words_on_it in text


def test_figure_7_tells_activations_apart():
    maps = []
    for activation, small, large in (("relu", 10, 1.5), ("tanh", 1.5, 10)):
        for bias, middle in ((0.0, small), (1.0, large)):
            maps.append(heat_map(10, (1, middle, 20), bias).assign(activation=activation))
    assert "as the paper observes, in one of them" in heat.result(pd.concat(maps), {})


# ---- Figure 2


def curves(variance, last, bias=1.0, few=None):
    """Curves of two widths, whose ratios grow exponentially, and of few draws at the end."""
    rows = []
    for width, ratio in zip((10, 20), last, strict=True):
        for depth, over_width in ((0, 0.0), (width, 1.0)):
            value = ratio**over_width
            row = {"width": width, "depth": depth, "depth_over_width": over_width}
            rows.append(row | {"series": "many draws", "dispersion": value})
            if few:
                rows.append(row | {"series": "few draws", "dispersion": few * value})
    return pd.DataFrame(rows).assign(sigma_w2=variance, sigma_b2=bias)


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        (curves(1, (1.2, 1.1)), "1.2 for $M$ = 10 and 1.1 for $M$ = 20 (falling from"),
        (curves(1, (1.1, 1.2)), "(not falling from width to width)"),
        (curves(1, (1.1, 1.2)).query("width == 10"), "it is 1.1 for $M$ = 10 at"),
        (curves(3, (4, 9)), "chaotic phase it is 2 to 3 at $L/M$ = 0.5 and 4 to 9 at $L/M$ = 1"),
        (curves(2, (4, 9)), "it is shown at the border of the phases only"),
        (curves(1, (1.2, 1.1), few=1), "No ratio is above 3."),
        (
            curves(3, (4, 9), few=0.5),
            "a smaller ratio at 2 of the 2 points where it is above 3",
        ),
        (curves(3, (4, 9), few=0.5), "in the median they give 50 % of it."),
    ],
)
def test_figure_2_says_what_the_ratio_does(rows, sentence):
    assert sentence in fig2.result(rows, {})


# ---- Figures 5 and 6


def mean_field(values, phase="border"):
    """Depth -> values at the covariances 0 and 0.5."""
    rows = []
    for depth, of_depth in values.items():
        for covariance, value in zip((0.0, 0.5), of_depth, strict=True):
            rows.append({"depth": depth, "covariance": covariance, "value": value})
        rows.append({"depth": depth, "covariance": 1.0, "value": 100.0})
    table = pd.DataFrame(rows)
    return table.assign(activation="relu", phase=phase, sigma_w2=2, sigma_b2=1, source="ours")


@pytest.mark.parametrize(
    ("show", "values", "sentence"),
    [
        ("kappa_2", {10: (1, 3), 60: (10, 10)}, "at depth 10 by 100 % at the border, and at depth"),
        ("kappa_2", {10: (1, 3), 60: (10, 10)}, "falls in 1 of 1 panels"),
        ("kappa_2", {10: (1, 3), 60: (1, 4)}, "falls in 0 of 1 panels"),
        ("kappa_ratio", {10: (1, 3), 60: (2, 2)}, "is 2 at the border; the paper's limit of"),
        ("kappa_ratio", {10: (1, 3), 60: (2, 2)}, "than at depth 10 for 1 of 2 curves."),
        ("kappa_2", {6: (1, 3)}, "Only depth 6 is there: nothing is seen of the depth."),
    ],
)
def test_figures_5_and_6_compare_two_depths(show, values, sentence):
    assert sentence in kappa.result(mean_field(values), SimpleNamespace(show=show))


def test_figure_6_has_no_curve_of_the_ordered_phase_grow():
    rows = mean_field({10: (1, 1), 60: (2, 2)}, phase="ordered")
    text = kappa.result(rows, SimpleNamespace(show="kappa_ratio"))
    assert "is 2 in the ordered phase" in text
    assert "0 of 0 curves" in text


# ---- trained networks


def cells(ordered, chaotic, quantity="change", **columns):
    """A cell of each phase at each of these depths: depth -> value."""
    rows = []
    for variance, phase, values in ((1, "ordered", ordered), (3, "chaotic", chaotic)):
        for depth, value in values.items():
            row = {"depth": depth, "value": value, "lowest": value / 2, "highest": 2 * value}
            rows.append(row | {"sigma_w2": variance, "phase": phase, "eta_lambda": variance - 1})
    facts = {"quantity": quantity, "series": "cell", "seeds": 3, "diverged": 0}
    names = {"activation": "relu", "width": 10, "time": 100}
    return pd.DataFrame(rows).assign(**facts, **(names | columns))


@pytest.mark.parametrize(
    ("changes", "losses", "sentence"),
    [
        ((0.1, 0.5), (0.9, 0.4), ": chaotic ones change more and reach a smaller loss, as the"),
        ((0.1, 0.5), (0.4, 0.9), ": chaotic ones change more, as the paper observes, but do not"),
        ((0.5, 0.1), (0.9, 0.4), ": chaotic ones reach a smaller loss, as the paper observes, but"),
        ((0.5, 0.1), (0.4, 0.9), ": chaotic ones neither change more nor reach a smaller loss"),
    ],
)
def test_figures_3_and_4_compare_the_phases(changes, losses, sentence):
    both = [
        cells({9: changes[0]}, {9: changes[1]}),
        cells({9: losses[0]}, {9: losses[1]}, "lowest_loss"),
    ]
    text = change.result(pd.concat(both), None)
    assert f"ordered ReLU networks change their kernel by {changes[0]} and" in text
    assert "(means of 3 networks, which differ by a factor of 4 in the median" in text
    assert sentence in text
    assert text.endswith("No cell comes below 0.4 of the loss of the best constant output.")


def test_figures_3_and_4_say_where_shallow_networks_are_not_trained():
    both = [cells({2: 0.1}, {2: 0.2}), cells({2: 0.9}, {2: 1.5}, "lowest_loss")]
    assert "at depth 2, 1 of 2 cells stay above it" in change.result(pd.concat(both), None)


@pytest.mark.parametrize("lost", [True, False])
def test_figures_3_and_4_without_a_phase_say_so(lost):
    value = math.nan if lost else 0.5
    both = [cells({2: 0.1}, {2: math.nan}), cells({2: value}, {2: math.nan}, "lowest_loss")]
    text = change.result(pd.concat(both), None)
    assert text.startswith("No depth has trained networks of both phases, to be compared. No ")
    assert ("No network reached a finite loss." in text) == lost


@pytest.mark.parametrize(
    ("facts", "text"),
    [
        ({"seeds": 1}, "(1 network a cell)"),
        ({"lowest": math.nan, "highest": math.nan}, "(means of 3 networks)"),
        ({"eta_lambda": 2.5}, "; the rate of 2 of 2 cells is above the largest stable one)"),
    ],
)
def test_the_networks_of_means_are_named(facts, text):
    assert words.sure(cells({2: 0.1}, {2: 0.2}).assign(**facts)).endswith(text)


@pytest.mark.parametrize(
    ("early", "late", "sentence"),
    [
        (
            (0.1, 0.5),
            (0.4, 0.6),
            ": chaotic ones change more from the first steps on, as the",
        ),
        ((0.1, 0.5), (0.4, 0.6), "made 25 % of their last change after 10 steps (median of 1"),
        ((0.5, 0.1), (0.5, 0.6), ": chaotic ones do not change more in the first steps, against"),
        ((0.0, 0.1), (0.0, 0.6), "The ordered ones do not change at all."),
    ],
)
def test_figures_8_and_9_compare_the_first_with_the_last_steps(early, late, sentence):
    rows = pd.concat(
        [
            cells({9: early[0]}, {9: early[1]}, time=10),
            cells({9: late[0]}, {9: late[1]}, time=1000),
        ]
    )
    text = change_panels.result(rows, SimpleNamespace(by="steps"))
    assert f"by {early[1]} of its norm after 10 steps and by {late[1]} after 1,000" in text
    assert sentence in text


def test_figures_10_and_11_compare_the_widths():
    rows = pd.concat([cells({9: 0.2}, {9: 0.4}), cells({9: 0.1}, {9: 0.5}, width=20)])
    text = change_panels.result(rows, SimpleNamespace(by="width"))
    assert "goes from 0.2 to 0.1 in the ordered phase and from 0.4 to 0.5 in the chaotic" in text
    assert "in 1 of 2 cells (the paper: overall)" in text
    assert text.endswith("is 2 to 5 times that of ordered ones, the least at width 10.")


@pytest.mark.parametrize(
    ("rows", "by", "sentence"),
    [
        (cells({9: 0.1}, {9: math.nan}), "steps", "No depth has trained networks of both phases"),
        (cells({9: 0.1}, {9: math.nan}), "width", "There are no trained networks of both phases"),
        (cells({9: 0.1}, {9: 0.2}), "width", "Only one width has trained networks of both"),
    ],
)
def test_figures_8_to_11_say_what_cannot_be_compared(rows, by, sentence):
    assert change_panels.result(rows, SimpleNamespace(by=by)).startswith(sentence)


def control(losses, changes):
    """(rule, activation) -> ordered and chaotic value."""
    parts = []
    for quantity, values in (("lowest_loss", losses), ("change", changes)):
        for (rule, activation), (ordered, chaotic) in values.items():
            named = {"activation": activation, "rate_rule": rule}
            parts.append(cells({9: ordered}, {9: chaotic}, quantity, **named))
    return pd.concat(parts)


KEYS = list(product(("common", "scaled"), ("tanh", "relu")))
PAPERS = (0.9, 0.4)
TURNED = (0.8, 1.2)


@pytest.mark.parametrize(
    ("losses", "sentence"),
    [
        ((PAPERS, PAPERS, TURNED, TURNED), "as the paper observes, but not at rates of their own."),
        ((PAPERS,) * 4, "ordered ones are worse at both rates, as the paper observes."),
        ((TURNED,) * 4, "ordered ones are worse at neither rate, against the paper."),
        ((PAPERS, TURNED, TURNED, TURNED), "for tanh at the common rate only."),
        ((PAPERS,) * 4, "0.9 and 0.4 for tanh at the common rate, 0.9 and 0.4 for ReLU at"),
        ((PAPERS,) * 4, "(means over cells, which do not overlap)"),
        (((1, 1), PAPERS, PAPERS, PAPERS), "which overlap for tanh at the common rate)"),
    ],
)
def test_the_control_says_whether_the_order_depends_on_the_rate(losses, sentence):
    rows = control(dict(zip(KEYS, losses, strict=True)), dict.fromkeys(KEYS, (0.1, 0.4)))
    text = scaled.result(rows, {})
    assert sentence in text
    assert text.endswith("change more, 4 times as much, at both rates.")


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (((0.4, 0.1),) * 4, "do not change more at either rate."),
        (((0.1, 0.4), *((0.4, 0.1),) * 3), "change more for tanh at the common rate only."),
    ],
)
def test_the_control_says_where_the_kernel_changes_more(changes, sentence):
    rows = control(dict.fromkeys(KEYS, PAPERS), dict(zip(KEYS, changes, strict=True)))
    assert scaled.result(rows, {}).endswith(sentence)


def test_the_control_without_a_phase_says_so():
    values = dict.fromkeys(KEYS, (0.5, math.nan))
    assert scaled.result(control(values, values), {}).startswith("No depth has trained networks")
