"""Our counterparts of beyond's printed numbers, and a rise from end to end, from made-up rows."""

import pandas as pd
import pytest
from tests.claims.synthetic import beyond

from finitewidth.papers.beyond.judges import lemmas, pairs


def test_numbers_of_the_lemmas_follow_from_their_moments():
    moments = [("backward", "tied", 0.5, 0.01), ("forward_square", "tied", 1.3, 0.02),
               ("forward_square", "independent", 9.0, 0.02)]  # fmt: skip
    columns = ["quantity", "weights", "value", "error"]
    tables = {"moments": pd.DataFrame(moments, columns=columns).assign(width=10)}
    variance, deviation = lemmas.edge_of_chaos(tables)
    assert (variance.value, variance.standard_error) == pytest.approx((4.0, 0.08))
    assert (deviation.value, deviation.standard_error) == pytest.approx((2.0, 0.02))
    (constant,) = lemmas.lemma_constant(tables)
    assert (constant.value, constant.standard_error) == pytest.approx((3.0, 0.2))


def test_the_rise_of_a_ratio_is_that_from_the_smallest_depth_to_the_largest():
    parts = [part for part in pairs.b13(beyond.ratios()) if "smallest depth" in part.name]
    assert len(parts) == 4
    for part in parts:
        assert part.value == pytest.approx(0.5 - 0.5 * (100 / 3) ** -0.9)
