"""What the laws compared in test_held_out.py leave open of the samplers."""

import numpy as np
import torch

from finitewidth.kernels.ntk_init.initialisation import Initialisation, constant_width
from finitewidth.kernels.ntk_init.samplers import sample_kernels
from finitewidth.kernels.ntk_init.vector_sweep import sweep_vectors

COLLINEAR = np.array([[1.0, 0.5], [1.0, 0.5], [-1.0, -0.5], [2.0, 1.0], [0.3, -1.0]])


def test_duplicate_inputs_have_equal_rows_and_scaled_ones_scaled_rows():
    init = Initialisation(widths=(2, 6, 4, 5), sigma_w2=2.2)
    draws = sample_kernels(init, COLLINEAR, 500, 9, activation="relu")
    w, _, output = draws.arrays
    theta = draws.scaled_theta
    np.testing.assert_allclose(theta[:, 0], theta[:, 1], rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(w[:, 3, 3], 4 * w[:, 0, 0], rtol=1e-12)
    np.testing.assert_allclose(output[:, 3], 2 * output[:, 0], rtol=1e-10, atol=1e-12)


def test_float32_changes_draws_of_a_sweep_by_far_less_than_their_error():
    init = constant_width(40, 60, sigma_w2=1.0, sigma_b2=1.0)
    law = {"activation": "tanh", "sigma_w2": [1.0, 3.5, 7.0], "input_norm2": 60.0}
    single = list(sweep_vectors(init, [2, 20, 40], 30, 1, dtype=torch.float32, **law))
    double = list(sweep_vectors(init, [2, 20, 40], 30, 1, dtype=torch.float64, **law))
    for few, many in zip(single, double, strict=True):
        for cell, draws in many.items():
            np.testing.assert_allclose(few[cell].theta, draws.theta, rtol=2e-4)
            assert not np.array_equal(few[cell].theta, draws.theta) or cell[0] == 1
