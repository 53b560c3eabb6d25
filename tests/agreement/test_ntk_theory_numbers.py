"""Compute every number in the tables of docs/theory.md again."""

import re
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from finitewidth.kernels.gated_depth import (
    best_depth,
    best_depth_of_wide,
    effective_rank,
    scale_free_rank,
)
from finitewidth.kernels.gated_moments import (
    leading_variance,
    unit_counts,
    value_kernel_moments,
)
from finitewidth.kernels.ntk_init.brute_force import sample_by_brute_force
from finitewidth.kernels.ntk_init.depth_sweep import sample_depths
from finitewidth.kernels.ntk_init.estimators import ESTIMATORS, linearised_dispersion
from finitewidth.kernels.ntk_init.initialisation import Initialisation, constant_width
from finitewidth.kernels.ntk_init.limits import dispersion_limit
from finitewidth.kernels.ntk_init.moment_recursion import log_theta_moment
from finitewidth.kernels.ntk_init.moments import log_moments, printed_log_moments, reversal_input
from finitewidth.kernels.ntk_init.phases import phase as phase_of
from finitewidth.kernels.ntk_init.scalar_chain import sample_scalar_chain
from finitewidth.kernels.ntk_init.tail_errors import log_variance, robust_error
from finitewidth.papers.beyond.experiments.shapes import Reversal, networks
from finitewidth.papers.beyond.experiments.theory import widths_of

THEORY = Path(__file__).resolve().parents[2] / "docs" / "theory.md"
SIGMAS = 4.5
PRINTED = 400  # experiments of a printed share


def table(name):
    """Return the rows of the Markdown table after ``<!-- table: name -->``, as {heading: text}."""
    text = THEORY.read_text(encoding="utf-8")
    found = re.search(rf"<!-- table: {name} -->\n\n((?:\|.*\n)+)", text)
    assert found, f"docs/theory.md has no table {name}"
    lines = []
    for line in found.group(1).splitlines():
        lines.append([cell.strip() for cell in line.strip("|\n ").split("|")])
    return [dict(zip(lines[0], line, strict=True)) for line in lines[2:]]


def first_cells(row):
    """Return a short name for a test."""
    return "-".join(list(row.values())[:3])


def assert_printed(text, value):
    """Check that ``text`` is ``value`` rounded to the printed digits."""
    number = float(text.replace(",", "").rstrip("%"))
    digits = len(text.rstrip("%").partition(".")[2])
    assert abs(number - value) <= 0.51 * 10.0**-digits, f"printed {text}, computed {value:.6g}"


def assert_estimate(text, sample):
    """Check that ``text``, "mean ± error", agrees with the mean of the sample."""
    mean, error = (float(part) for part in text.split("±"))
    own = sample.std() / len(sample) ** 0.5
    assert abs(sample.mean() - mean) < SIGMAS * np.hypot(own, error)


def layer_products(width, layers, count, seed):
    """Draw |delta^1|^2 |x^s|^2 with s = ``layers``.

    The mean would be 1 if errors and activations were independent.
    """
    rng = np.random.default_rng(seed)
    scale = (2 / width) ** 0.5
    normal = partial(rng.standard_normal, dtype=np.float32)  # in half the time
    x = np.zeros((count, width), np.float32)
    x[:, 0] = 1.0
    weights = []
    slopes = []
    for _ in range(layers):
        weights.append(scale * normal((count, width, width)))
        h = np.matmul(weights[-1], x[:, :, None])[:, :, 0]
        slopes.append(h > 0)
        x = np.maximum(h, 0)
    delta = slopes[-1] * (scale * normal((count, width)))
    for weight, slope in zip(weights[:0:-1], slopes[-2::-1], strict=True):
        delta = slope * np.matmul(delta[:, None, :], weight)[:, 0]
    return (delta**2).sum(axis=1) * (x**2).sum(axis=1)


@pytest.mark.parametrize("row", table("products"), ids=first_cells)
def test_products_over_layers(row):
    n = int(row["n"])
    s = int(row["s"])
    assert_printed(row["exact"], (2 * (1 - 1 / n) ** s + (1 + 5 / n) ** s) / 3)
    assert_printed(row["printed"], (1 + 1 / n) ** s)
    # a few networks at a time, so that their weights stay in the cache
    sample = np.concatenate([layer_products(n, s, 2_000, seed) for seed in range(40)])
    assert_estimate(row["networks drawn in full"], sample)
    if s > 1:
        with pytest.raises(AssertionError):
            assert_estimate(row["printed"] + " ± 0", sample)


def test_moments_at_small_widths():
    init = Initialisation(widths=(5, 4, 8, 6, 5), sigma_w2=2.1)
    draws = sample_by_brute_force(init, np.eye(1, 5), 300_000, 41, activation="relu")
    w, b = (part[:, 0, 0] for part in draws.arrays[:2])
    samples = {"w2": w * w, "wb": w * b, "b2": b * b, "second": (w + b) ** 2}
    exact = log_moments(init)
    printed = printed_log_moments(init)
    for row, (name, sample) in zip(table("small"), samples.items(), strict=True):
        assert_printed(row["exact"], np.exp(getattr(exact, name)))
        assert_printed(row["printed, as proved"], np.exp(getattr(printed, name)))
        assert_estimate(row["networks drawn in full"], sample)


@pytest.mark.parametrize("row", table("limits"), ids=first_cells)
def test_exact_ratio_and_its_limits(row):
    sigma_w2 = float(row["sigma_w2"])
    lam = float(row["lambda"])
    phase = phase_of("relu", sigma_w2)
    assert row["phase"] == phase
    for width in (100, 500, 2000):
        init = constant_width(round(lam * width), width, sigma_w2=sigma_w2)
        assert_printed(row[f"M = {width}"], log_moments(init).dispersion)
    assert_printed(row["corrected limit"], dispersion_limit(lam, phase))
    assert_printed(row["printed limit"], dispersion_limit(lam, phase, form="printed"))


@pytest.mark.parametrize("alpha_0", [0.1, 1.0, 2.0])
def test_the_printed_limit_at_the_edge_falls_below_the_order_that_hanin_and_nica_prove(alpha_0):
    """E[Theta^2]/E[Theta]^2 over exp(5 sum 1/n) has bounds above 0 (arXiv 1909.05989)."""
    lambdas = (5.0, 20.0, 80.0)
    share = (1 + alpha_0) ** 2

    def over_order(form):
        limits = [dispersion_limit(x, "critical", alpha_0=alpha_0, form=form) for x in lambdas]
        return np.array(limits) * np.exp(-5 * np.array(lambdas))

    printed = over_order("printed")
    corrected = over_order("corrected")
    assert printed[-1] * 2 * lambdas[-1] * share == pytest.approx(1, rel=0.02)
    assert corrected[-1] * 3 * share == pytest.approx(1, rel=0.02)
    # exact moments at a finite width are on the side of the theorem
    width = 200
    init = constant_width(20 * width, width, sigma_w2=2.0, input_width=round(alpha_0 * width))
    exact = log_theta_moment(init, 2) - 2 * log_theta_moment(init, 1)
    order = 5 * (init.depth - 1) / width
    assert np.exp(exact - order) > 2 * printed[1]


@pytest.mark.parametrize("row", table("theorem32"), ids=first_cells)
def test_relative_errors_of_the_printed_finite_moments(row):
    sigma_w2 = float(row["sigma_w2"])
    width = int(row["M"])
    for depth in (20, 50, 100, 250):
        init = constant_width(depth, width, sigma_w2=sigma_w2)
        exact = log_moments(init)
        printed = printed_log_moments(init)
        errors = [printed.w2 - exact.w2, printed.wb - exact.wb, printed.second - exact.second]
        for text, error in zip(row[f"L = {depth}"].split(" / "), errors, strict=True):
            assert_printed(text, 100 * np.expm1(error))


@pytest.mark.parametrize("row", table("shapes"), ids=first_cells)
def test_dispersions_of_growing_and_shrinking_networks(row):
    for kind, name, init in networks(int(row["L"]), 100, 500, float(row["sigma_w2"])):
        heading = f"{name}, n_0 = 300" if kind == "common" and name != "constant" else name
        assert_printed(row[heading], log_moments(init).dispersion)


@pytest.mark.parametrize("row", table("thresholds"), ids=first_cells)
def test_input_dimensions_of_equal_dispersions(row):
    hidden = widths_of("growing", int(row["L"]), 100, 500)[1:]
    reversal = Reversal(hidden, float(row["sigma_w2"]))
    assert_printed(row["n_0* to first order"], reversal_input(hidden, reversal.sigma_w2))
    assert_printed(row["exact"], reversal.largest_input(600))


@pytest.mark.parametrize("row", table("draws"), ids=first_cells)
def test_draws_needed_for_one_per_cent(row):
    depth = int(row["L"])
    init = constant_width(depth, 100, sigma_w2=2.0)
    squared = np.exp(log_theta_moment(init, 4) - 2 * log_theta_moment(init, 2)) - 1
    assert_printed(row["relative s.e. from 500 draws"], (squared / 500) ** 0.5)
    assert float(row["draws for 1 %"]) == pytest.approx(squared * 1e4, rel=0.06)


@pytest.fixture(scope="module")
def deep_draws():
    """{L: (200 x 4,000 draws of Theta, exact dispersion)}, M = 50, sigma_w2 = 3."""
    depths = (5, 15, 25, 50)
    deepest = constant_width(50, 50, sigma_w2=3.0)
    blocks = list(sample_depths(deepest, depths, 200 * 4000, 7, input_norm2=50.0))
    return {
        depth: (
            np.concatenate([block[depth, 3.0].scaled_theta for block in blocks]),
            log_moments(deepest.cut(depth), input_norm2=50.0).dispersion,
        )
        for depth in depths
    }


@pytest.mark.parametrize("row", table("coverage"), ids=first_cells)
def test_coverage_of_errors_with_the_tail(row, deep_draws):
    draws = int(row["draws"])
    theta, truth = deep_draws[round(50 * float(row["L/M"]))]
    found = []
    experiments = min(len(theta) // draws, PRINTED)
    for sample in theta[: experiments * draws].reshape(experiments, draws):
        value, own = linearised_dispersion(sample)
        robust = robust_error(value, own, log_variance(sample), draws)
        gap = max(abs(value - truth), value * abs(np.log(value / truth)))
        found.append((gap <= 1.96 * own, gap <= 1.96 * robust, np.isnan(robust), value))
    own, robust, missing, values = np.transpose(found).astype(float)
    shares = {"errors of the samples": own, "without error": missing}
    if row["with the tail"] == "-":
        assert missing.mean() > 0.95
    else:
        shares["with the tail"] = robust[missing == 0]
    for name, marks in shares.items():
        printed = float(row[name])
        of_one = max(printed * (1 - printed), 0.01)
        spread = (of_one / PRINTED + of_one / len(marks)) ** 0.5
        assert abs(marks.mean() - printed) < SIGMAS * spread + 0.005
    logs = np.log(values / truth)
    assert abs(np.median(logs) - float(row["bias"])) < SIGMAS * logs.std() / 10 + 0.005


def test_estimators_at_five_draws():
    init = constant_width(10, 100, sigma_w2=2.0)
    samples = sample_scalar_chain(init, 50_000, 42).theta.reshape(-1, 5)
    for row in table("estimators"):
        if row["estimator"] == "exact":
            assert_printed(row["mean over experiments"], log_moments(init).dispersion)
        else:
            estimates = ESTIMATORS[row["estimator"]](samples)
            assert_estimate(row["mean over experiments"], estimates)


@pytest.mark.parametrize("row", table("gated_variance"), ids=first_cells)
def test_variances_of_networks_with_all_gates_open(row):
    depth = int(row["L"])
    assert_printed(row["first order in 1/w, times w"], leading_variance(depth, 1.0))
    times_width = {}
    for width in (64, 1024):
        counts = unit_counts(*[np.full((depth - 1, 1, 1), width)] * 3)
        variance = value_kernel_moments(np.ones((1, 1)), counts, 1 / width).variance.item()
        times_width[width] = width * variance
        assert_printed(row[f"w = {width}, times w"], times_width[width])
    for power in (2, 3):
        assert_printed(row[f"over L^{power} at w = 1024"], times_width[1024] / depth**power)


@pytest.mark.parametrize("row", table("best_depth"), ids=first_cells)
def test_best_depths_of_random_gates(row):
    samples = int(row["n"].replace(",", ""))
    width = int(row["w"].replace(",", ""))
    mu = float(row["mu"])
    depths = range(2, 61)
    best = best_depth(samples, width, mu, depths)
    ranks = [effective_rank(samples, depth, width, mu) for depth in depths]
    largest = max(ranks)
    near = [depth for depth, rank in zip(depths, ranks, strict=True) if rank >= 0.99 * largest]
    assert [int(row["best depth"]), int(row["within 1 % from"])] == [best, near[0]]
    assert int(row["to"]) == near[-1]
    assert_printed(row["effective rank"], largest)
    assert_printed(row["cube root"], best_depth_of_wide(samples, mu))


@pytest.mark.parametrize("row", table("narrow_best_depth"), ids=first_cells)
def test_best_depths_without_the_scale(row):
    network = int(row["n"]), int(row["w"]), float(row["mu"])
    depths = range(2, 61)
    assert int(row["best depth of R"]) == best_depth(*network, depths)
    assert int(row["of R_0"]) == best_depth(*network, depths, scale_free_rank)
