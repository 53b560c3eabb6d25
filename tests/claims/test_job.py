"""The job that judges a paper."""

import pytest

from finitewidth.claims.job import refuse_equal_names


def test_comparisons_that_share_a_name_are_refused():
    with pytest.raises(ValueError, match="K12: 2 comparisons have the name 'slope'"):
        refuse_equal_names("K12", ["slope", "mean", "slope"])
    refuse_equal_names("K12", ["slope", "mean"])
