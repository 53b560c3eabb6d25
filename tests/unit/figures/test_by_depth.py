"""Panels with one curve for each depth: their bands, and depths with few eigenvalues."""

import math

import pandas as pd
import pytest

from finitewidth.figures import by_depth, style
from finitewidth.papers.dgn.figures import fig4

PLACE = {"network": "relu", "depth": 2, "dynamics": by_depth.DESCENT}


def of_runs(ratios):
    rows = []
    for run, ratio in enumerate(ratios):
        for time, value in ((0, 1.0), (1, ratio)):
            rows.append(PLACE | {"run": run, "time": time, "ratio": value})
    return pd.DataFrame(rows)


@pytest.mark.parametrize(
    ("runs", "diverged", "ratios", "ends"),
    [
        (3, 0, [0.5, 0.2, 0.4], (0.2, 0.5)),
        (2, 0, [0.5, 0.2, 0.1], (0.2, 0.5)),  # the third run is not shown
        (2, 1, [0.5, math.nan, 0.4], (0.4, 0.5)),
        (1, 0, [0.3], (0.3, 0.3)),
    ],
)
def test_the_range_is_that_of_the_runs_in_the_mean(runs, diverged, ratios, ends):
    means = pd.DataFrame([PLACE | {"step": 1, "runs": runs, "diverged": diverged}])
    row = by_depth.with_ranges(means, of_runs(ratios)).iloc[0]
    assert (row["least"], row["greatest"]) == ends


def test_a_spectrum_has_no_range():
    means = pd.DataFrame([PLACE | {"step": math.nan, "runs": 2, "diverged": 0}])
    means["dynamics"] = "none"
    assert by_depth.with_ranges(means, of_runs([0.5, 0.2]))["least"].isna().all()


@pytest.mark.parametrize(
    ("sums", "note"),
    [
        ([1e-16, 2e-16, 1.0], "$d$ = 2: 1 of 3 eigenvalues are not 0"),
        ([1e-16, 0.5, 1.0], ""),
    ],
)
def test_figure_4_names_depths_with_few_eigenvalues(sums, note):
    spectra = pd.DataFrame({"depth": 2, "sum": sums})
    assert fig4.few_eigenvalues(spectra) == note


@pytest.mark.parametrize(("mean", "bands"), [("geometric_mean", 2), ("error_ratio", 0)])
def test_only_geometric_means_have_a_band(mean, bands):
    rows = []
    for depth in (4, 20):
        for step in (1, 10, 100):
            errors = {"error_ratio": 1 / step, "geometric_mean": 0.9 / step}
            interval = {"lowest": 0.8 / step, "highest": 1 / step}
            counts = {"runs": 10, "diverged": 0}
            row = {"depth": depth, "dynamics": by_depth.DESCENT, "step": step}
            rows.append({**row, **errors, **interval, **counts})
    _, axis = style.one_panel(height=2.0)
    by_depth.errors(axis, pd.DataFrame(rows), by_depth.looks([4, 20]), "log", mean=mean)
    assert len(axis.collections) == bands
