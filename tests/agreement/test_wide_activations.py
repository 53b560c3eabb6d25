"""Means over normal numbers of activations and slopes: closed forms, integrals and series."""

import pytest
import torch
from torch.nn import functional

from finitewidth.kernels.ntk_init.activations import activation_of
from finitewidth.kernels.wide import duals, hermite


def normal(*shape, seed=0):
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def leaky_relu(h):
    return functional.leaky_relu(h, 0.2)


def identity(h):
    return 1.0 * h


DUALS = {  # the closed form of an activation, and the activation
    "relu": (duals.RELU, torch.relu),
    "leaky relu": (duals.piecewise_linear(0.2, 1.0), leaky_relu),
    "absolute value": (duals.ABSOLUTE, torch.abs),
    "identity": (duals.IDENTITY, identity),
    "erf": (duals.ERF, torch.erf),
    "sin": (duals.SIN, torch.sin),
    "cos": (duals.COS, torch.cos),
    "gelu": (duals.GELU, functional.gelu),
    "tanh": (hermite.by_series("tanh"), torch.tanh),
}


@pytest.mark.parametrize("name", DUALS)
def test_means_of_activations_are_integrals(name):
    """By a sum over a fine grid of both variables; kinks make its error 1e-3."""
    dual, function = DUALS[name]
    smooth = name not in ("relu", "leaky relu", "absolute value")
    a = normal(5).square() + 0.1
    b = normal(5, seed=1).square() + 0.1
    q = 0.9 * torch.tanh(normal(5, seed=2)) * (a * b).sqrt()
    z = torch.linspace(-9, 9, 901, dtype=torch.float64)
    weights = torch.exp(-z.square() / 2)
    weights = weights / weights.sum()
    u = a.sqrt() * z[:, None]  # (m, n)
    v = (q / a * u)[:, None] + ((b - q.square() / a).sqrt() * z[:, None])[None]  # (m, m, n)
    activation = activation_of(function)
    for mean, of in ((dual.value, activation.value), (dual.slope, activation.slope)):
        expected = torch.einsum("i,j,in,ijn->n", weights, weights, of(u), of(v))
        tolerance = 1e-10 if smooth else 5e-3
        size = expected.abs().max().clamp_min(1)
        assert (mean(q, a, b) - expected).abs().max() < tolerance * size


@pytest.mark.parametrize("largest", [1.0, 10.0])
@pytest.mark.parametrize("name", ["erf", "gelu", "sin", "cos"])
def test_series_of_activations_are_their_closed_forms(name, largest):
    """Also at correlations of 1 and -1, and at a variance of 0."""
    dual, function = DUALS[name]
    a = largest * torch.sigmoid(normal(6, 1))
    b = largest * torch.sigmoid(normal(1, 7, seed=1))
    a[0] = 0
    c = torch.tanh(3 * normal(6, 7, seed=2))
    c[1], c[2] = 1, -1
    q = c * (a * b).sqrt()
    series = hermite.by_series(function).means(q, a, b)
    for mean, expected in zip(series, dual.means(q, a, b), strict=True):
        assert (mean - expected).abs().max() < 1e-12 * expected.abs().max()


def test_series_of_many_variances_are_interpolated():
    """Variances over six orders of magnitude; errors are relative to each entry's own scale."""
    dual, function = DUALS["erf"]
    a = 10 ** torch.linspace(-5, 1, 300).double()[:, None]
    b = torch.ones(1, 1).double()
    q = 0.7 * a.sqrt()
    series = hermite.by_series(function)
    for mean, expected in zip(series.means(q, a, b), dual.means(q, a, b), strict=True):
        assert (mean / expected - 1).abs().max() < 1e-12


def test_series_of_kinked_activations_end():
    """They have the error of the terms left out, which is small away from correlations of 1."""
    a = normal(5, 1).square() + 0.1
    q = 0.9 * a
    series = hermite.by_series(torch.relu)
    assert (series.value(q, a, a) - duals.RELU.value(q, a, a)).abs().max() < 1e-12
    worst = (series.value(a, a, a) / duals.RELU.value(a, a, a) - 1).abs().max()
    assert 1e-8 < worst < 1e-5
