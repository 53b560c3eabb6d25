"""What the figures of the thesis show, in a sentence: every branch of its rule."""

import math

import pandas as pd
import pytest

from finitewidth.papers.thesis.results import fig2_3, fig2_4, fig2_5


def polynomials(expected, training):
    rows = []
    for risk, values in (("expected", expected), ("training", training)):
        for degree, median in enumerate(values):
            row = {"risk": risk, "degree": degree, "median": median}
            rows.append({**row, "lowest": median / 2, "highest": 10 * median})
    return pd.DataFrame(rows)


@pytest.mark.parametrize(
    ("expected", "training", "words"),
    [
        (
            [3, 1, 2],
            [3, 2, 1],
            "lowest at degree 1 (1, in 80 % of the datasets 0.5 to 10) and higher at degree 2 "
            "(2, in 80 % of the datasets 1 to 20), while the "
            "training risk falls from 2 to 1",
        ),
        ([3, 1, 2], [3, 2, 2], "does not fall: from 2 to 2"),
        ([3, 2, 1], [3, 2, 1], "still falls at the largest degree, 2 (1, in 80 %"),
    ],
)
def test_figure_2_3_says_whether_the_expected_risk_rises_again(expected, training, words):
    assert words in fig2_3.result(polynomials(expected, training), {})


RISKS = "{} drawn mean risks of regression of least norm"


def regression(drawn, lowest):
    rows = []
    for ratio, risk in drawn:
        for series, value in (("mean", risk), ("exact", 1.0)):
            rows.append(
                {
                    "signal_to_noise": 4.0,
                    "series": series,
                    "ratio": ratio,
                    "risk": value,
                    "standard_error": 0.1 if series == "mean" else math.nan,
                }
            )
    if lowest:
        rows.append({"signal_to_noise": 4.0, "series": "lowest", "ratio": lowest})
    return pd.DataFrame(rows)


@pytest.mark.parametrize(
    ("drawn", "lowest", "words"),
    [
        (
            [(0.5, 1.1), (2.0, 0.9)],
            2.0,
            f"All {RISKS.format(2)} are within 3 standard errors",
        ),
        (
            [(0.5, 1.5), (2.0, 0.9)],
            2.0,
            f"1 of {RISKS.format(2)} are not within",
        ),
        ([(0.5, 1.0)], 2.0, "the limit is lowest at 2 for $r^2/\\sigma^2$ = 4."),
        ([(0.5, 1.0)], None, "the limit falls for all ratios above 1 at $r^2/\\sigma^2$ = 4."),
    ],
)
def test_figure_2_4_compares_means_and_names_the_minimum(drawn, lowest, words):
    assert words in fig2_4.result(regression(drawn, lowest), {})


def kernel(off):
    """Two classes of one image each; entries on and above the diagonal, at two steps."""
    entries = [(0, 0, 1.0), (0, 1, off), (1, 1, 1.0)]
    rows = []
    for step in (0, 7):
        for row, column, share in entries:
            rows.append(
                {
                    "step": step,
                    "row": row,
                    "column": column,
                    "class_row": row,
                    "class_column": column,
                    "share": share if step else 5.0,
                }
            )
    return pd.DataFrame(rows)


@pytest.mark.parametrize(
    ("off", "words"),
    [
        (
            0.5,
            "at step 7, the block of a class with itself has the largest mean of its row for 2",
        ),
        (
            1.5,
            "0 of 2 classes; others are brighter for class 0 (1, with 1 1.5) and 1 (1, with 0 1.5)",
        ),
    ],
)
def test_figure_2_5_counts_the_classes_whose_own_block_is_brightest(off, words):
    assert words in fig2_5.result(kernel(off), {})
