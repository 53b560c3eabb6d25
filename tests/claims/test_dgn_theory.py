"""The variance of the neural path kernel beside the sum of the cases of its proof."""

import pytest
from tests.claims.synthetic.dgn import variances

from finitewidth.papers.dgn.judges import theory


def test_a_variance_that_is_the_sum_of_the_cases_has_the_ratio_of_the_first_alone():
    """32 d^2/w + 128 d^2/w^2 + 16 d^3/w^2, over which only the first cases are multiplied."""
    rows = variances(2)["variance"]
    width, depth = theory.WIDE[0], theory.VARIANCE_DEPTHS[-1]
    here = (rows["form"] == "exact") & (rows["entry"] == "open") & (rows["width"] == width)
    rows.loc[here & (rows["depth"] == depth), "per_d2"] = 32 + (128 + 16 * depth) / width
    part = theory._beside_the_proof({"variance": rows}, width)
    assert part.value == pytest.approx(1 - 4 * depth / width**2)
