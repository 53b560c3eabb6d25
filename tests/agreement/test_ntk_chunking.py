"""Draws depend on the seed and not on the number of blocks in memory.

A smaller number of draws gives the first of the same draws.
"""

import numpy as np
import pytest

from finitewidth.kernels.ntk_init import streams
from finitewidth.kernels.ntk_init.brute_force import sample_by_brute_force
from finitewidth.kernels.ntk_init.depth_sweep import sample_depths
from finitewidth.kernels.ntk_init.initialisation import Initialisation
from finitewidth.kernels.ntk_init.samplers import sample_kernels, sample_vectors
from finitewidth.kernels.ntk_init.scalar_chain import sample_scalar_chain

INIT = Initialisation(widths=(6, 50, 70, 40), sigma_w2=2.0, sigma_b2=0.1)
X = np.eye(2, 6)


def scalar(draws, seed):
    return sample_scalar_chain(INIT, draws, seed)


def vector(draws, seed):
    return sample_vectors(INIT, draws, seed, activation="tanh")


def matrix(draws, seed):
    return sample_kernels(INIT, X, draws, seed, activation="relu")


def brute(draws, seed):
    return sample_by_brute_force(INIT, X, draws, seed, activation="erf")


SAMPLERS = [scalar, vector, matrix, brute]


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Use blocks of a few draws, so that a short run has many blocks."""
    monkeypatch.setattr(streams, "NORMALS_PER_BLOCK", 20_000)


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_blocks_at_once_do_not_change_the_numbers(sampler, monkeypatch):
    ample = sampler(230, 5)
    with monkeypatch.context() as patch:
        patch.setattr(streams, "planned", lambda draws, block, *_: streams.Blocks(draws, block, 1))
        tight = sampler(230, 5)
    for part, other in zip(ample.arrays, tight.arrays, strict=True):
        np.testing.assert_allclose(part, other, rtol=1e-12)


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_fewer_draws_are_a_prefix_and_seeds_matter(sampler):
    many = sampler(230, 5)
    few = sampler(41, 5)
    np.testing.assert_allclose(many.theta[:41], few.theta, rtol=1e-12)
    assert not np.allclose(sampler(41, 6).theta, few.theta)


def test_cells_of_a_sweep_share_numbers():
    init = Initialisation(widths=(6, 30, 30, 30), sigma_w2=2.0)
    (block,) = sample_depths(init, [3, 4], 50, 3, sigma_w2=[1.0, 2.0])
    cells = ((3, 1.0), (3, 2.0), (4, 2.0))
    logs = [np.log(block[cell].scaled_theta_w) for cell in cells]
    assert (np.corrcoef(logs)[0, 1:] > 0.5).all()
