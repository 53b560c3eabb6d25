"""Exact moments of ReLU networks with random biases: plain networks, the sampler, and the limit."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from tests.helpers.plain_autograd import drawn_kernels

import finitewidth as fw
from finitewidth.kernels.ntk_init.scalar_chain import sample_scalar_chain

PARTS = ("w", "b", "w2", "b2", "wb")
CASES = {
    "varying widths": ((3, 4, 2, 3), 2.3, 0.5, "standard"),
    "single units": ((4, 1, 1, 3), 2.0, 0.4, "standard"),
    "ntk": ((6, 5, 4), 1.5, 0.7, "ntk"),
    "deep": ((30,) * 12, 2.0, 0.2, "standard"),
}


def made(name):
    widths, sigma_w2, sigma_b2, parametrisation = CASES[name]
    return fw.Initialisation(
        widths=widths, sigma_w2=sigma_w2, sigma_b2=sigma_b2, parametrisation=parametrisation
    )


def agree_with(exact, theta_w, theta_b):
    """All five moments within 4.5 standard errors: one alarm in 150,000 each."""
    products = (theta_w, theta_b, theta_w**2, theta_b**2, theta_w * theta_b)
    for name, values in zip(PARTS, products, strict=True):
        error = values.std(ddof=1) / len(values) ** 0.5
        assert abs(values.mean() - np.exp(getattr(exact, name))) < 4.5 * error, name


@pytest.mark.parametrize("name", CASES)
def test_moments_are_those_of_drawn_kernels(name):
    init = made(name)
    drawn = sample_scalar_chain(init, 150_000, 1, input_norm2=1.7)
    growth = drawn.theta / drawn.scaled_theta
    exact = fw.ntk_moments(init, input_norm2=1.7)
    agree_with(exact, growth * drawn.scaled_theta_w, growth * drawn.scaled_theta_b)


@pytest.mark.parametrize("name", ["varying widths", "ntk"])
def test_moments_are_those_of_plain_networks(name):
    init = made(name)
    x = np.full((1, init.widths[0]), 0.5)
    found = drawn_kernels(init, torch.relu, x, 10_000, np.random.default_rng(0))
    exact = fw.ntk_moments(init, input_norm2=float((x**2).sum()))
    agree_with(exact, found.theta_w[:, 0, 0], found.theta_b[:, 0, 0])


def test_tiny_biases_give_the_closed_form():
    """At these widths a layer is hardly ever dead."""
    init = fw.network([7, 40, 50, 60, 1], sigma_w2=2.2)
    closed = fw.ntk_moments(init, input_norm2=3.0)
    found = fw.ntk_moments(replace(init, sigma_b2=1e-13), input_norm2=3.0)
    for name in PARTS:
        assert getattr(found, name) == pytest.approx(getattr(closed, name), rel=1e-10), name


def test_networks_of_one_layer_and_deep_ones():
    assert fw.ntk_moments(fw.network([5, 1], sigma_w2=2.0, sigma_b2=3.0)).dispersion == 1
    deep = fw.constant_width(1000, 100, sigma_w2=3.0, sigma_b2=1.0)
    moments = fw.ntk_moments(deep)
    assert 300 < moments.mean < moments.second / 2 < 1000
