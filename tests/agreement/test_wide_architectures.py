"""Kernels in the limit of infinite width of random architectures."""

from math import log
from random import Random

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.helpers.random_architectures import (
    SIGMA_B2,
    SIGMA_W2,
    drawn_kernels,
    is_kinked,
    least_budget,
    made,
    plan,
    shape_of,
)

import finitewidth as fw

VARIANCES = {"sigma_w2": SIGMA_W2, "sigma_b2": SIGMA_B2}
NARROW, WIDE, DRAWS, ARCHITECTURES = 16, 128, 8, 24
PLANS = st.randoms(use_true_random=False).map(plan)
PARAMETRISATIONS = st.sampled_from(["ntk", "standard"])
KINDS = st.sampled_from(["ntk", "nngp"])


def inputs(steps, count):
    stream = torch.Generator().manual_seed(0)
    return torch.randn(count, *shape_of(steps), dtype=torch.float64, generator=stream)


@settings(max_examples=25, deadline=None)
@given(PLANS, KINDS, PARAMETRISATIONS)
def test_kernels_are_symmetric_and_positive_and_their_blocks_agree(steps, kind, parametrisation):
    """Blocks hold equal inputs in rows and columns, whose cosine of 1 is rounded; see duals."""
    x = inputs(steps, 4)
    network = made(steps, 4)
    options = {"kind": kind, "parametrisation": parametrisation, **VARIANCES}
    whole = fw.wide_kernel(network, x, **options)
    assert torch.equal(whole, whole.mT)
    values = torch.linalg.eigvalsh(whole)
    assert values[0] > -1e-12 * values[-1]
    close = {"rtol": 0, "atol": (1e-6 if is_kinked(steps) else 1e-11) * float(whole.abs().max())}
    block = fw.wide_kernel(network, x[1:], x[:2], **options)
    torch.testing.assert_close(block, whole[1:, :2], **close)
    one_by_one = fw.wide_kernel(network, x, budget=least_budget(network, x, **options), **options)
    torch.testing.assert_close(one_by_one, whole, **close)
    order = torch.tensor([2, 0, 3, 1])
    permuted = fw.wide_kernel(network, x[order], **options)
    torch.testing.assert_close(permuted, whole[order][:, order], **close)


def deviations(steps, width, parametrisation):
    """Distances of drawn kernels from their limits, by the largest entry, (2, draws, N, N)."""
    x = inputs(steps, 2)
    options = {"parametrisation": parametrisation, **VARIANCES}
    limits = torch.stack(
        [fw.wide_kernel(made(steps, width), x, kind=kind, **options) for kind in ("ntk", "nngp")]
    )
    torch.manual_seed(0)
    draws = [
        torch.stack(drawn_kernels(made(steps, width), x, parametrisation == "ntk"))
        for _ in range(DRAWS)
    ]
    scale = limits.abs().amax((1, 2))[:, None, None, None]
    return (torch.stack(draws, dim=1) - limits[:, None]) / scale


def test_drawn_kernels_come_near_as_one_over_the_width():
    """At 8 times the width, mean squared distances are an eighth, and the mean deviation is small.

    With 8 draws, the logarithm of the ratio has a standard deviation of about 0.65 for one
    architecture, and 0.13 in the mean over 24. The mean deviation of one architecture is about 0.04
    of the largest entry, and 0.01 in the mean over 24. A right kernel leaves the bounds, 3 standard
    errors each, once in 100 seeds; the seeds are fixed.
    """
    ratios = []
    means = []
    for seed in range(ARCHITECTURES):
        steps = plan(Random(seed))
        parametrisation = ("ntk", "standard")[seed % 2]
        narrow = deviations(steps, NARROW, parametrisation)
        wide = deviations(steps, WIDE, parametrisation)
        ratio = narrow.square().mean((1, 2, 3)) / wide.square().mean((1, 2, 3))
        ratios.append(ratio.log())  # of the NTK and the NNGP kernel
        means.append(wide.mean((1, 2, 3)))
    assert (torch.stack(ratios).mean(0) - log(WIDE / NARROW)).abs().max() < 0.4
    assert torch.stack(means).mean(0).abs().max() < 0.03
