"""The pair chain has the law of the matrix sampler for all widths, depths and angles."""

import numpy as np

from finitewidth.kernels.ntk_init.pair_chain import sample_pairs
from finitewidth.records.provenance import seed_for

DRAWS = 20_000


def pairs(width, depths, cosines, draws=DRAWS, sigma_w2=2.0, input_width=None):
    """Return {(depth, cosine): (2, draws)}, Theta(x, x) and Theta(x, x~) divided by the growth."""
    found = {}
    for block in sample_pairs(width, depths, cosines, draws, seed_for("pairs", width)):
        for key, drawn in block.items():
            theta = drawn.scaled_theta(sigma_w2, input_width or width)
            found.setdefault(key, []).append(theta)
    return {key: np.concatenate(parts, axis=1) for key, parts in found.items()}


def test_fewer_draws_are_a_prefix_and_kernels_are_positive():
    few = pairs(10, [4], [0.5], 100)
    many = pairs(10, [4], [0.5], 9000)
    np.testing.assert_array_equal(few[4, 0.5], many[4, 0.5][:, :100])
    assert (many[4, 0.5][0] > 0).all()


def test_depth_400_in_the_chaotic_phase_stays_finite():
    theta = pairs(20, [400], [0.5], 10, sigma_w2=4.0)[400, 0.5]
    assert np.isfinite(theta).all()
