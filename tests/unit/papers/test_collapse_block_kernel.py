"""Table 1 of collapse: exact arithmetic beside numpy, what a wrong entry would show, its cells."""

import numpy as np
import pytest
from tests.helpers.measuring import measured

from finitewidth.papers.collapse.experiments import block_kernel
from finitewidth.settings.presets import preset_only

SETTINGS = preset_only("quick", "config")["collapse"]["block_kernel"]


@pytest.fixture(scope="module")
def tables():
    return measured(block_kernel.measure, {}, SETTINGS)


def test_what_is_printed_is_right_without_any_remainder(tables):
    rows = tables["rows"]
    products = tables["products"]
    assert (rows["residual"] == 0).all()
    assert (rows["symbolic"] == 0).all()
    assert rows["rank"].tolist() == rows["multiplicity"].tolist() == [16, 3, 1]
    assert rows["power"].tolist() == rows["small_stated"].tolist() == [3, 2, 1]
    assert (products["differing"] == 0).all()
    assert products["entries"].tolist() == [20, 4, 1]


@pytest.mark.parametrize("seed", range(3))
def test_eigenvalues_and_multiplicities_are_those_of_numpy(seed):
    rng = np.random.default_rng(seed)
    classes, samples = (int(value) for value in rng.integers(2, 6, 2))
    other, same, diagonal = np.cumsum(rng.uniform(0.1, 1, 3))
    values = diagonal, same, other
    matrix = np.array(block_kernel.kernel(classes, samples, values), dtype=float)
    stated = block_kernel.stated_eigenvalues(classes, samples, values)
    expected = np.repeat(stated, block_kernel.stated_multiplicities(classes, samples))
    np.testing.assert_allclose(np.linalg.eigh(matrix).eigenvalues, np.sort(expected), atol=1e-12)
    # the vectors span the eigenspaces that numpy finds
    for value, vectors in zip(stated, block_kernel.stated_vectors(classes, samples), strict=True):
        columns = np.array(vectors[0].row_join(vectors[-1]), dtype=float)
        np.testing.assert_allclose(matrix @ columns, value * columns, atol=1e-12)


def test_a_wrong_eigenvalue_or_kernel_leaves_a_remainder(monkeypatch):
    right = block_kernel.stated_eigenvalues

    def wrong(classes, samples, values):
        single, per_class, overall = right(classes, samples, values)
        return [single, per_class + values[2], overall]

    monkeypatch.setattr(block_kernel, "stated_eigenvalues", wrong)
    rows = measured(block_kernel.measure, {}, SETTINGS)["rows"].set_index("component")
    assert rows["residual"].tolist() == [0, 1, 0]
    assert rows.loc["class", "symbolic"] > 0
    assert rows["power"].tolist() == [3, 0, 1]
