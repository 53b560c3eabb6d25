"""Panels with one curve for each depth."""

import pandas as pd
import pytest

from finitewidth.figures import by_depth, style


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
