"""Values of a kernel off its diagonal over those on it."""

import numpy as np

from finitewidth.measures.diagonal import over_smaller_diagonal


def test_values_are_compared_with_the_smaller_of_their_diagonal_ones():
    kernel = np.array([[4.0, 3.0, 1.0], [3.0, 9.0, 2.0], [1.0, 2.0, 1.0]])
    assert over_smaller_diagonal(kernel).tolist() == [0.75, 1.0, 2.0]


def test_a_kernel_of_inputs_of_different_norms_exceeds_one():
    """A positive semidefinite kernel can: that the shares are below 1 is no identity."""
    norms = np.array([1.0, 2.0, 4.0])
    shares = over_smaller_diagonal(np.outer(norms, norms))
    np.testing.assert_allclose(shares, [2.0, 4.0, 2.0])
