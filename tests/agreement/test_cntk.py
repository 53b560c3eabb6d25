"""The CNTK compared with its definition and with the fully connected limit."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.helpers.cntk_by_definition import cntk_by_definition

from finitewidth.common.errors import ConfigError
from finitewidth.kernels.cntk import box_sum, cntk
from finitewidth.kernels.ntk_init.infinite_width import infinite_width
from finitewidth.kernels.ntk_init.initialisation import Initialisation
from finitewidth.networks.architecture import Architecture


def network(pooled=True, channels=(4, 6), dense=(5,)):
    return Architecture(channels=tuple(channels), dense=tuple(dense), global_average_pooling=pooled)


def images(count, *shape, seed=0):
    return torch.from_numpy(np.random.default_rng(seed).uniform(size=(count, *shape)))


@pytest.mark.parametrize("parametrisation", ["ntk", "standard"])
@pytest.mark.parametrize("sigma_b2", [0.0, 0.3])
@pytest.mark.parametrize("pooled", [True, False])
@pytest.mark.parametrize("dense", [(), (5, 3)])
def test_the_kernel_is_its_definition(parametrisation, sigma_b2, pooled, dense):
    x = images(3, 2, 3, 4)
    y = images(2, 2, 3, 4, seed=1)
    law = {
        "architecture": network(pooled, (4, 6), dense),
        "sigma_w2": 1.7,
        "sigma_b2": sigma_b2,
        "parametrisation": parametrisation,
    }

    def wanted(first, second):
        return [[cntk_by_definition(a, b, **law) for b in second.numpy()] for a in first.numpy()]

    np.testing.assert_allclose(cntk(x, y, **law).numpy(), wanted(x, y), rtol=1e-10)
    # for an image and its copy the definition rounds cosines of 1, so their angles err by 1e-8
    np.testing.assert_allclose(cntk(x, **law).numpy(), wanted(x, x), rtol=1e-7)


@pytest.mark.parametrize("pooled", [True, False])
def test_blocks_and_float32_change_nothing_but_rounding(pooled, monkeypatch):
    x = images(15, 2, 5, 5)
    whole = cntk(x, architecture=network(pooled))
    monkeypatch.setattr("finitewidth.kernels.cntk.BLOCK_BYTES", 1)  # 8 pairs a block
    torch.testing.assert_close(cntk(x, architecture=network(pooled)), whole, rtol=1e-13, atol=0)
    single = cntk(x, architecture=network(pooled), dtype=torch.float32)
    # 1 - cos is rounded, so angles near 0 err by sqrt(2^-24); few pairs have such angles
    torch.testing.assert_close(single, whole, rtol=1e-5, atol=0)


def test_images_of_one_pixel_have_the_kernel_of_a_fully_connected_network():
    x = images(4, 6, 1, 1)
    law = Initialisation(widths=(6, 8, 8, 8), sigma_w2=2.0, parametrisation="ntk")
    wanted = infinite_width(law, x[:, :, 0, 0].numpy(), activation="relu").ntk
    for pooled in (True, False):
        # eight of the nine weights of both convolutions are multiplied by zeros
        found = 81 * cntk(x, architecture=network(pooled))
        np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-7)


shapes = st.tuples(st.integers(1, 3), st.integers(1, 4), st.integers(1, 4))


@settings(max_examples=25, deadline=None)
@given(shape=shapes, count=st.integers(1, 4), pooled=st.booleans(), seed=st.integers(0, 10**6))
def test_laws(shape, count, pooled, seed):
    x = images(count, *shape, seed=seed) - 0.3
    law = {"architecture": network(pooled)}
    kernel = cntk(x, **law)
    assert (kernel == kernel.T).all()
    top = float(kernel.diagonal().max())
    assert float(torch.linalg.eigvalsh(kernel).min()) > -1e-6 * top
    close = {"rtol": 1e-6, "atol": 1e-6 * top}  # cosines of 1 of parallel patches are rounded
    order = torch.randperm(count, generator=torch.Generator().manual_seed(seed))
    torch.testing.assert_close(cntk(x[order], **law), kernel[order][:, order], **close)
    torch.testing.assert_close(cntk(x, x.clone(), **law), kernel, **close)
    torch.testing.assert_close(cntk(x.flip(3), **law), kernel, **close)
    torch.testing.assert_close(cntk(3 * x, **law), 9 * kernel, **close)
    torch.testing.assert_close(cntk(x, sigma_w2=4.0, **law), 2.0**4 * kernel, **close)


def test_black_images_and_black_corners_have_a_kernel():
    x = images(3, 1, 6, 6)
    x[0], x[1, :, :, 2:] = 0, 0
    kernel = cntk(x, architecture=network(channels=(4,)))
    assert torch.isfinite(kernel).all()
    assert float(kernel[0].abs().max()) < 1e-15
    assert float(kernel[1, 1]) > 0


def test_sums_over_neighbours_are_those_of_a_convolution():
    z = images(1, 1, 4, 5).float()
    wanted = torch.nn.functional.conv2d(z, torch.ones(1, 1, 3, 3), padding=1)
    torch.testing.assert_close(box_sum(z[0, 0][..., None, None])[..., 0, 0], wanted[0, 0])


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"x": torch.ones(2, 3)}, "x = "),
        ({"x": torch.full((1, 1, 2, 2), math.nan)}, "finite"),
        ({"other": torch.ones(1, 2, 2, 2)}, "other"),
        ({"architecture": Architecture(dense=(4,))}, "architecture"),
        ({"architecture": Architecture(channels=(4,), stride=2)}, "stride"),
        ({"sigma_w2": 0}, "sigma_w2"),
        ({"sigma_b2": -1}, "sigma_b2"),
        ({"parametrisation": "mean field"}, "parametrisation"),
    ],
)
def test_bad_arguments_are_refused_by_name(change, word):
    good = {"x": torch.ones(1, 1, 2, 2), "architecture": network()}
    with pytest.raises(ConfigError, match=word):
        cntk(**(good | change))
