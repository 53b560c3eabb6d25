"""What the figures of beyond show, in a sentence: every branch of its rule."""

import math

import pandas as pd
import pytest

from finitewidth.papers.beyond.figures import dispersion as dispersion_figure
from finitewidth.papers.beyond.figures import ratio as ratio_figure
from finitewidth.papers.beyond.results import (
    dispersion,
    extra_shapes,
    extra_theorem31,
    fig4,
    fig5,
    fig6,
    ratio,
)
from finitewidth.papers.beyond.results.words import fixed, span, up_to
from finitewidth.settings.typed import section_from

NAN = math.nan


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([1.0, 1.072], "1.00 to 1.07"),
        ([1.001, NAN, 1.002], "1.00"),
        ([-0.001], "0.00"),
        ([-0.28], "−0.28"),
        ([NAN], "not known"),
    ],
)
def test_a_range_has_no_missing_numbers_and_no_sign_of_zero(values, words):
    assert span(values) == words


def test_large_numbers_have_commas_and_errors_may_be_unknown():
    assert fixed(1234.5, 0) == "1,234"
    assert up_to([0.1, NAN]) == "up to 0.10"
    assert up_to([NAN]) == "not known"


def looks(module, **settings):
    return section_from(module.Look, {"artifact": "beyond_fig", **settings})


def point(series, sigma_w2, depth, value, *, sample="none", **more):
    """A row of a figure of dispersions, of networks of width 10."""
    return {
        "series": series,
        "source": "ours",
        "sample": sample,
        "networks": {"paper": 500.0, "many": 2000.0}.get(sample, NAN),
        "width": 10.0,
        "alpha_0": 1.0,
        "sigma_w2": sigma_w2,
        "cosine": NAN,
        "depth": depth,
        "depth_over_width": depth / 10,
        "dispersion": value,
        "standard_error": NAN,
        "marked": 1,
        **more,
    }


def constant(series, value):
    """A number of the paper, which belongs to no network."""
    row = point(series, NAN, NAN, value)
    return row | {"source": "paper", "width": NAN, "alpha_0": NAN}


def phases(estimates):
    rows = [constant("ordered_limit", 1.0)]
    for variance, exact, printed in ((1.0, 1.02, None), (2.0, 2.2, 2.0), (3.0, 4.4, 4.0)):
        for depth in (2, 5):
            rows.append(point("exact", variance, depth, exact if depth == 5 else 1.0))
            if printed:
                rows.append(point("printed_limit", variance, depth, printed if depth == 5 else 1.0))
    return pd.DataFrame([*rows, *estimates])


def test_figures_1_and_9_compare_the_deepest_exact_dispersions_with_theorem_3_1():
    rows = phases([point("estimate", 2.0, 5, 2.3, sample="many", standard_error=0.1)])
    sentence = dispersion.result(rows, looks(dispersion_figure, group="phases", errors="bars"))
    assert "is 1.02 below the edge of chaos, 1.10 at it and 1.10 above it" in sentence
    assert "(width 10, $L/M$ = 0.5)" in sentence


@pytest.mark.parametrize(
    ("errors", "words"),
    [
        ("bars", "Of 2 marked estimates from 2,000 networks each, 1 are within two"),
        ("bands", "Of 3 estimates from 2,000 networks each, 1 are within two"),
    ],
)
def test_estimates_are_compared_where_their_errors_are_drawn(errors, words):
    estimates = [
        point("estimate", 1.0, 5, 1.1, sample="many", standard_error=0.1),
        point("estimate", 2.0, 5, 2.3, sample="many", standard_error=0.01),
        point("estimate", 3.0, 5, 9.0, sample="many", marked=0),
        point("estimate", 3.0, 5, 9.0, sample="paper"),
    ]
    settings = looks(dispersion_figure, group="phases", errors=errors)
    sentence = dispersion.result(phases(estimates), settings)
    assert words in sentence
    assert "with 500 networks the error of 1 of 1 is not known" in sentence
    assert ("the error of 1 of 3 is not known" in sentence) == (errors == "bands")


def near(ordered):
    """Networks near the edge of chaos: exact dispersions below it, and twice the sums at it."""
    rows = [point("estimate", 2.0, 5, 2.0, sample="paper", standard_error=0.1)]
    for depth, value in zip((2, 3, 5), ordered, strict=False):
        rows += [point("exact", 1.8, depth, value), point("printed_sums", 1.8, depth, value)]
    rows += [point("exact", 2.0, 5, 2.0), point("printed_sums", 2.0, 5, 1.0)]
    return pd.DataFrame(rows)


@pytest.mark.parametrize(
    ("ordered", "words"),
    [
        ([1.0, 2.0, 1.5], "to the largest depth by 25.0 per cent for $\\alpha_0$ = 1."),
        ([1.0, 1.2, 1.5], "to the largest depth by 0.0 per cent for $\\alpha_0$ = 1."),
        ([], "which the paper calls accurate at finite width. Of 1"),
    ],
)
def test_figures_2_and_10_compare_with_theorem_3_2_and_say_how_far_dispersions_fall(ordered, words):
    settings = looks(dispersion_figure, group="near", errors="bars")
    sentence = dispersion.result(near(ordered), settings)
    assert words in sentence
    factor = "1.00 to 2.00" if ordered else "2.00"
    assert f"is {factor} times the sums of Theorem 3.2" in sentence
    assert "Of 1 marked estimates from 500 networks each, 1 are within" in sentence


def pairs(*, cosines=(0.1, 0.9), error=0.1, curve="printed_limit"):
    rows = [constant("ordered_limit", 1.0), point(curve, 2.0, 5, 2.0)]
    if curve == "printed_sums":
        rows.append(point(curve, 1.0, 5, 1.1))
    for place, cosine in enumerate(cosines):
        for variance, value in ((1.0, 1.1), (2.0, 3.0 + place)):
            rows.append(
                point(
                    "estimate",
                    variance,
                    5,
                    value,
                    sample="many",
                    cosine=cosine,
                    standard_error=error,
                )
            )
    return pd.DataFrame(rows)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "over the limit of Theorem 3.1 for the diagonal is 1.10 below the edge of chaos and"),
        ({}, "1.75 at it"),
        ({}, "standard errors up to 9 per cent"),
        ({}, "1.00 to 1.33 times that at 0.1, more than two standard errors apart in 1 of 2 netw"),
        ({"curve": "printed_sums"}, "over the sums of Theorem 3.2 for the diagonal is 1.00 below"),
        ({"error": NAN}, "2,000 networks each, standard errors not known)"),
        ({"error": NAN}, "apart in 0 of 0 networks with known errors"),
        ({"cosines": (0.1,)}, "There is one angle only."),
    ],
)
def test_figures_7_and_8_compare_with_the_diagonal_and_between_angles(options, words):
    group = "near" if "curve" in options else "phases"
    settings = looks(dispersion_figure, group=group, errors="bars")
    assert words in dispersion.result(pairs(**options), settings)


def means(curves, theory):
    """Ratios of networks of width 10 at two depths, and of a curve; by weight variance."""
    rows = [constant("lower_bound", NAN), constant("upper_bound", NAN)]
    for variance, values in curves.items():
        for depth, value in zip((2, 5), values, strict=True):
            row = point("estimate", variance, depth, NAN, sample="many", cosine=0.5)
            rows.append(row | {"ratio": value, "standard_error": 0.01})
            row = point(theory, variance, depth, NAN, cosine=0.5)
            rows.append(row | {"ratio": 0.6})
    table = pd.DataFrame(rows)
    table.loc[table["series"] == "lower_bound", "ratio"] = 0.25
    table.loc[table["series"] == "upper_bound", "ratio"] = 1.0
    return table


@pytest.mark.parametrize(
    ("curves", "words"),
    [
        ({1.0: (0.5, 0.9)}, "in 1 of 1 cases; the paper"),
        ({1.0: (0.9, 0.5)}, "in 0 of 1 cases (the others have $\\sigma_w^2$ = 1)"),
        ({1.0: (0.5, 0.9)}, "0.300 at the largest depth (standard errors up to 0.010) and at leas"),
        ({1.0: (0.5, 0.9)}, "at least −0.10 at all depths; all 2 ratios lie between 0.25 and 1"),
        ({1.0: (0.5, 0.9), 2.5: (0.5, 0.2)}, "; 3 of 4 ratios lie between"),
        ({2.5: (0.5, 0.2)}, "No network lies below the edge of chaos; 1 of 2 ratios lie"),
    ],
)
def test_figure_3_says_where_the_ratio_rises_and_compares_it_with_equation_18(curves, words):
    settings = looks(ratio_figure, errors="bars")
    assert words in ratio.result(means(curves, "equation_18"), settings)


@pytest.mark.parametrize(
    ("curves", "words"),
    [
        ({1.0: (0.5, 0.9), 2.5: (0.5, 0.7)}, "is 0.30 below the edge of chaos and 0.10 from it on"),
        ({2.5: (0.5, 0.7)}, "less that at infinite width, is 0.10 from it on"),
        ({2.5: (0.5, 0.7)}, "(standard errors up to 0.01 with 2,000 networks); all 2 ratios"),
    ],
)
def test_figure_11_compares_the_deepest_ratios_with_infinite_width(curves, words):
    settings = looks(ratio_figure, errors="bands")
    assert words in ratio.result(means(curves, "infinite_width"), settings)


def training(gaps, losses, paper=0.6, steps=(0, 100)):
    """Two steps of two weight variances: gaps at the last one, and median test losses."""
    rows = []
    for variance, gap, loss in zip((1.0, 2.0), gaps, losses, strict=False):
        for step in steps:
            last = step == steps[-1]
            values = {
                "same_class": 0.5 + (gap if last else 0.0),
                "same_class_with_diagonal": 0.5,
                "other_class": 0.5,
                "test_loss": loss if last else 1.0,
            }
            for quantity, value in values.items():
                row = {"source": "ours", "data": "digits", "sigma_w2": variance, "step": step}
                row |= {"quantity": quantity, "value": value, "runs": 3.0}
                rows.append(row | {"lowest": value / 2, "highest": 2 * value})
        if paper:
            row = {"source": "paper", "data": "MNIST", "sigma_w2": variance, "step": 3000}
            row |= {"quantity": "other_class", "value": paper * variance, "reading_error": 0.03}
            rows.append(row)
    return pd.DataFrame(rows).assign(panel="curve")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            {"gaps": (0.4, 0.2), "losses": (0.1, 0.2)},
            "goes from 0.00 to 0.40 for $\\sigma_w^2$ = 1 and from 0.00 to 0.20 for $\\sigma_w^2$ "
            "= 2 in 100 steps (means of 3 runs)",
        ),
        ({"gaps": (0.4, 0.2), "losses": (0.1, 0.2)}, "performance, goes with a smaller median"),
        ({"gaps": (0.2, 0.4), "losses": (0.1, 0.2)}, "performance, does not always go with a sm"),
        ({"gaps": (0.2, 0.4), "losses": (0.1, 0.2)}, "(runs 0.050 to 0.200 and 0.100 to 0.400)"),
        ({"gaps": (0.2,), "losses": (0.1,)}, "one weight variance has no order"),
        ({"gaps": (0.2, NAN), "losses": (0.1, NAN)}, "one weight variance has no order"),
        ({"gaps": (NAN,), "losses": (NAN,)}, "All trainings diverged"),
        (
            {"gaps": (0.2, 0.4), "losses": (0.1, 0.2)},
            "is $\\Theta_n/\\Theta_d$ for $\\sigma_w^2$ = 2: 0.50 on digits, and 1.20 ± 0.03 "
            "after 3,000 steps on MNIST",
        ),
        ({"gaps": (0.2,), "losses": (0.1,), "paper": None}, "The paper has no value for these"),
        ({"gaps": (0.2,), "losses": (0.1,), "steps": (0,)}, "in 0 steps (means of 3 runs)"),
    ],
)
def test_figure_4_names_gaps_their_order_and_what_is_farthest_from_the_paper(options, words):
    settings = section_from(fig4.Look, {"artifact": "beyond_fig4"})
    assert words in fig4.result(training(**options), settings)


def limits(printed, corrected):
    """Limits of two input dimensions at the edge, 1 and 0.5, and of the chaotic phase."""
    rows = []
    for form, values in (("printed", printed), ("corrected", corrected)):
        for phase, alpha_0, value in zip(
            ("critical", "critical", "chaotic"), (1.0, 0.5, 1.0), values, strict=True
        ):
            for x in (0.0, 1.0):
                row = {"form": form, "phase": phase, "alpha_0": alpha_0, "depth_over_width": x}
                rows.append(row | {"dispersion": value if x else 1.0, "over_printed": 1.0 + x / 2})
    return pd.DataFrame(rows)


@pytest.mark.parametrize(
    ("printed", "corrected", "words"),
    [
        ((2, 3, 4), (3, 4, 5), "they do so both as printed and as corrected; at $L/M$ = 1"),
        ((2, 3, 4), (4, 3, 5), "they do so as printed only"),
        ((2, 3, 2.5), (3, 4, 5), "they do so as corrected only"),
        ((3, 2, 4), (4, 3, 5), "they do so in neither form"),
        ((3, 2, 4), (4, 3, 5), "limits are 1.50 times the printed"),
    ],
)
def test_figure_5_says_in_which_form_the_limits_rise_to_that_of_the_chaotic_phase(
    printed, corrected, words
):
    assert words in fig5.result(limits(printed, corrected), {})


def shapes(growing, shrinking=(1.0, 3.0), exact=None):
    """Dispersions of three shapes at two depths, by the sums and, if others are given, exactly."""
    rows = []
    for curve, last in (("printed_sums", growing), ("exact", exact or growing)):
        for architecture, values in (
            ("growing", (1.0, last)),
            ("constant", (1.0, 2.0)),
            ("shrinking", shrinking),
        ):
            for x, value in zip((0.1, 0.5), values, strict=True):
                row = {"panel": "dispersion", "architecture": architecture, "curve": curve}
                row |= {"sigma_w2": 1.8, "depth_over_width": x, "dispersion": value}
                rows.append(row)
    return pd.DataFrame(rows)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"growing": 1.5}, "grow for all 1 weight variances (by the sums of Theorem 3.2 as by"),
        ({"growing": 2.5}, "grow for none of 1 weight variances (by the sums of Theorem 3.2 as"),
        (
            {"growing": 1.5, "exact": 2.5},
            "all 1 weight variances by the sums of Theorem 3.2 and none",
        ),
        ({"growing": 1.5}, "it falls at some depth for 0 of 1 weight variances (by"),
        ({"growing": 1.5, "shrinking": (4.0, 3.0)}, "it falls at some depth for 1 of 1"),
    ],
)
def test_figure_6_names_the_variances_at_which_growing_networks_are_lowest(options, words):
    assert words in fig6.result(shapes(**options), {})


def test_figure_6_names_both_kinds_of_variances():
    rows = pd.concat([shapes(1.5), shapes(2.5).assign(sigma_w2=2.0)])
    assert "widths grow for $\\sigma_w^2$ = 1.8, not for 2 (by" in fig6.result(rows, {})


def theorem(bound, drawn):
    rows = []
    for x, over in ((1.0, 1.2), (2.0, 1.9)):
        for curve, value in (("corrected_limit", over), ("lower_bound", bound * x)):
            row = {"panel": "curves", "phase": "critical", "curve": curve, "depth_over_width": x}
            rows.append(row | {"over_printed": value})
        row = {"panel": "curves", "phase": "critical", "curve": "exact", "depth_over_width": x}
        rows += [row | {"width": width, "over_printed": over - 10 / width} for width in (50, 100)]
    for curve, value in (("networks", drawn), ("exact", 2.0), ("printed_sums", 1.0)):
        row = {"panel": "small", "curve": curve, "width": 8.0, "depth": 4.0, "dispersion": value}
        rows.append(row | {"standard_error": 0.2, "networks": 500.0})
    return pd.DataFrame(rows)


@pytest.mark.parametrize(
    ("bound", "drawn", "words"),
    [
        (
            0.6,
            2.1,
            "is 1.90 at the edge of chaos, and the exact dispersion at width 100 over it 1.",
        ),
        (0.6, 2.1, "exceeds the printed one from $L/M$ = 2.00 on"),
        (0.3, 2.1, "the lower bound of the limit does not exceed the printed one"),
        (0.6, 2.1, "exact value at 1 of 1 depths, and more than two above the sums of Theorem 3.2"),
        (0.6, 1.1, "exact value at 0 of 1 depths, and more than two above the sums of Theorem 3.2"),
        (0.6, 2.1, "Theorem 3.2 at 1."),
        (0.6, 1.1, "Theorem 3.2 at 0."),
    ],
)
def test_the_figure_on_theorem_3_1_says_how_far_it_is_off(bound, drawn, words):
    assert words in extra_theorem31.result(theorem(bound, drawn), {})


def compared(above):
    rows = []
    for phase, higher in (("ordered", 1), ("critical", 2), ("chaotic", 3)):
        rows.append({"panel": "counts", "phase": phase, "higher": higher, "shapes": 3})
    for size, ratio_ in ((0.1, 0.2), (0.6, 0.1 if above else -0.1)):
        rows.append({"panel": "random", "input_over_width": size, "log10_ratio": ratio_})
    pair = {"first": "growing", "second": "constant"}
    for variance, ratio_ in ((1.9, -0.1), (2.1, 0.1), (2.2, -0.1)):
        row = {"panel": "map", "input": "common", "sigma_w2": variance, "log10_ratio": ratio_}
        rows.append(row | pair)
    return pd.DataFrame(rows)


@pytest.mark.parametrize(
    ("above", "words"),
    [
        (True, "1 of 3 below the edge of chaos, 2 of 3 at it and 3 of 3 above it have"),
        (True, "at least half the mean width, 1 of 1 points do"),
        (False, "at least half the mean width, 0 of 1 points do"),
        (True, "in 50 per cent of the map above the edge of chaos and in 0 per cent of the map be"),
    ],
)
def test_the_figure_on_shapes_counts_where_growing_networks_have_the_larger_one(above, words):
    settings = section_from(extra_shapes.Look, {"artifact": "beyond_extra_shapes"})
    assert words in extra_shapes.result(compared(above), settings)
