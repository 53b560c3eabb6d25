"""Sweeps over depths and weight variances have the law of networks that are drawn one by one."""

import numpy as np
import pytest
import torch
from ntk_two_sample import assert_same_law

from finitewidth.kernels.ntk_init.brute_force import sample_by_brute_force
from finitewidth.kernels.ntk_init.depth_sweep import sample_depths
from finitewidth.kernels.ntk_init.draws import joined
from finitewidth.kernels.ntk_init.initialisation import Initialisation, constant_width
from finitewidth.kernels.ntk_init.vector_sweep import sweep_vectors

DRAWS = 6000
NORM2 = 1.69
VARIANCES = [0.8, 2.0, 3.5]


def statistics(fast, slow):
    fast, slow = (
        [np.broadcast_to(np.ravel(part), DRAWS) for part in (d.theta_w, d.theta_b, d.output)]
        for d in (fast, slow)
    )
    return {
        "theta_w": (fast[0], slow[0]),
        "theta_b": (fast[1], slow[1]),
        "output": (fast[2], slow[2]),
        "theta + f^2": (fast[0] + fast[1] + fast[2] ** 2, slow[0] + slow[1] + slow[2] ** 2),
    }


def assert_sweep_has_the_law_of_networks(init, blocks, activation, depths):
    blocks = list(blocks)
    assert set(blocks[0]) == {(depth, variance) for depth in depths for variance in VARIANCES}
    for cell in blocks[0]:
        one = Initialisation(
            widths=init.widths[: cell[0]],
            sigma_w2=cell[1],
            sigma_b2=init.sigma_b2,
            parametrisation=init.parametrisation,
        )
        x = np.zeros((1, one.widths[0]))
        x[0, 0] = NORM2**0.5
        slow = sample_by_brute_force(one, x, DRAWS, 5, activation=activation)
        assert_same_law(statistics(joined([block[cell] for block in blocks]), slow))


@pytest.mark.parametrize("activation", ["tanh", "erf", "relu"])
@pytest.mark.parametrize(
    "init",
    [
        Initialisation(widths=(4, 6, 3, 7), sigma_w2=1.0, sigma_b2=0.0),
        Initialisation(widths=(3, 5, 2, 4, 4), sigma_w2=1.0, sigma_b2=0.5),
        Initialisation(widths=(2, 5, 4), sigma_w2=1.0, sigma_b2=0.2, parametrisation="ntk"),
    ],
    ids=["no biases", "biases", "ntk"],
)
def test_vector_sweep(activation, init):
    depths = [1, 3, init.depth]
    blocks = sweep_vectors(
        init, sorted(set(depths)), DRAWS, 3,
        activation=activation, sigma_w2=VARIANCES, input_norm2=NORM2,
    )  # fmt: skip
    assert_sweep_has_the_law_of_networks(init, blocks, activation, set(depths))


@pytest.mark.parametrize(
    "init",
    [
        Initialisation(widths=(4, 1, 2, 3, 2), sigma_w2=1.0, sigma_b2=0.0),  # dead layers
        Initialisation(widths=(3, 5, 2, 4, 4), sigma_w2=1.0, sigma_b2=0.5),
        Initialisation(widths=(3, 1, 2, 4), sigma_w2=1.0, sigma_b2=0.3, parametrisation="ntk"),
    ],
    ids=["no biases", "biases", "ntk"],
)
def test_depth_sweep_of_the_scalar_chain(init):
    depths = {1, 3, init.depth}
    blocks = sample_depths(init, sorted(depths), DRAWS, 4, sigma_w2=VARIANCES, input_norm2=NORM2)
    assert_sweep_has_the_law_of_networks(init, blocks, "relu", depths)


def test_fewer_draws_are_a_prefix_of_more():
    init = constant_width(6, 8, sigma_w2=2.0, sigma_b2=0.3)
    few, many = (
        joined([b[4, 2.0] for b in sweep_vectors(init, [4, 6], n, 1, activation="tanh")])
        for n in (50, 3000)
    )
    assert np.array_equal(few.theta, many.theta[:50])


def test_float32_changes_draws_by_far_less_than_their_error():
    init = constant_width(40, 60, sigma_w2=1.0, sigma_b2=1.0)
    variances, depths = [1.0, 3.5, 7.0], [2, 20, 40]
    single, double = (
        list(
            sweep_vectors(
                init, depths, 30, 1,
                activation="tanh", sigma_w2=variances, input_norm2=60.0, dtype=dtype,
            )
        )
        for dtype in (torch.float32, torch.float64)
    )  # fmt: skip
    for few, many in zip(single, double, strict=True):
        for cell, draws in many.items():
            np.testing.assert_allclose(few[cell].theta, draws.theta, rtol=2e-4)
            assert not np.array_equal(few[cell].theta, draws.theta) or cell[0] == 1
