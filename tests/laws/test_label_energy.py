"""Laws of the energy of labels along the eigenvectors of a kernel."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from finitewidth.kernels.npk import nu
from finitewidth.measures.kernels import label_energy

CASES = st.tuples(st.integers(2, 12), st.integers(0, 2**32 - 1))


def case(size, seed):
    """Return a well-conditioned kernel, its eigenvalues and eigenvectors, and labels."""
    rng = np.random.default_rng(seed)
    vectors = np.linalg.qr(rng.normal(size=(size, size)))[0]
    values = np.sort(rng.uniform(0.1, 1, size) + np.arange(size))[::-1]
    return (vectors * values) @ vectors.T, values, vectors, rng.normal(size=size)


@settings(max_examples=60, deadline=None)
@given(CASES)
def test_energies_are_those_a_kernel_was_made_with(drawn):
    kernel, values, vectors, y = case(*drawn)
    found, energy = label_energy(y, kernel)
    np.testing.assert_allclose(found, values)
    np.testing.assert_allclose(energy, (vectors.T @ y) ** 2 / (y @ y), atol=1e-9)
    assert energy.sum() == pytest.approx(1)
    np.testing.assert_allclose(label_energy(-3 * y, 5 * kernel)[1], energy, atol=1e-9)


@settings(max_examples=60, deadline=None)
@given(CASES)
def test_nu_is_the_sum_of_energies_over_eigenvalues(drawn):
    kernel, _, _, y = case(*drawn)
    values, energy = label_energy(y, kernel / np.trace(kernel))
    wanted = float(nu(torch.from_numpy(y), torch.from_numpy(kernel)).nu)
    assert y @ y * (energy / values).sum() == pytest.approx(wanted)


def test_stacked_kernels_are_the_kernels_one_by_one():
    kernels = [case(5, seed)[0] for seed in range(3)]
    y = case(5, 9)[3]
    stacked = label_energy(y, np.stack(kernels))
    for place, kernel in enumerate(kernels):
        for whole, single in zip(stacked, label_energy(y, kernel), strict=True):
            np.testing.assert_allclose(whole[place], single)
