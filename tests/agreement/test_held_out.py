"""Samplers, moments and limits on networks that are drawn anew for each version of the project.

Widths, depths, variances, activations, inputs and their cosines follow from the version (see
held_out.py); the reference is plain autograd. ``FINITEWIDTH_HELD_OUT=0.7.0 pytest
tests/agreement/test_held_out.py`` repeats the draws of version 0.7.0; a failure shows what was
drawn. With --full there are five times as many networks, the first ones being those of the short
version.

Error rates: with correct code, the probability that any test of this file fails is at most 1e-3
per version, also with --full. Each of at most 10,000 comparisons raises an alarm at a p-value of
1e-7. The p-values are bounds that hold for finite samples and all tails (see error_rates.py), apart
from at most 150 comparisons of wide networks, for which the normal approximation can be wrong by a
factor of about 4. test_error_rates.py checks rates and power. Identities without random error are
in test_held_out_identities.py.
"""

import numpy as np
import pytest
import torch
from tests.helpers.error_rates import has_mean, near_mean
from tests.helpers.held_out_networks import (
    ERF,
    PHASES,
    RELU,
    TANH,
    law,
    numbers,
    one_input,
    other_activation,
    seed,
    shown,
    stream,
    weight_variance,
)
from tests.helpers.held_out_networks import inputs as drawn_inputs
from tests.helpers.held_out_statistics import (
    CHAIN,
    DRAWS,
    LEDGER,
    MATRICES,
    compared,
    directions,
    extrapolated,
    grown,
    kernel_statistics,
    pair_statistics,
    scalar_statistics,
)
from tests.helpers.plain_autograd import drawn_kernels, image_kernels

from finitewidth.kernels.cntk import cntk
from finitewidth.kernels.ntk_init.brute_force import sample_by_brute_force
from finitewidth.kernels.ntk_init.depth_sweep import sample_depths
from finitewidth.kernels.ntk_init.draws import concatenated
from finitewidth.kernels.ntk_init.infinite_width import infinite_width
from finitewidth.kernels.ntk_init.initialisation import Initialisation, constant_width
from finitewidth.kernels.ntk_init.moment_recursion import log_kernel_moments, log_theta_moment
from finitewidth.kernels.ntk_init.moments import log_moments
from finitewidth.kernels.ntk_init.pair_chain import sample_pairs
from finitewidth.kernels.ntk_init.samplers import sample_kernels, sample_vectors
from finitewidth.kernels.ntk_init.scalar_chain import sample_scalar_chain
from finitewidth.kernels.ntk_init.vector_sweep import sweep_vectors
from finitewidth.networks.architecture import Architecture


def assert_scalar_law(samplers, plain, axes):
    """Compare {name: draws} of samplers at one input with networks drawn in full."""
    expected = scalar_statistics(plain, axes)
    for name, draws in samplers.items():
        found = compared(scalar_statistics(grown(draws), axes), expected)
        LEDGER.check({f"{name}: {word}": p for word, p in found.items()})


@pytest.mark.parametrize("number", numbers(6, 30))
def test_samplers_of_relu_networks(number):
    rng = stream("relu", number)
    init = law(rng, number, RELU)
    x = one_input(rng, init.widths[0])
    axes = directions(rng, 3)
    norm2 = float((x**2).sum())
    key = seed("relu", number, "sampler")
    with shown(init=init, x=x):
        samplers = {
            "scalar chain": sample_scalar_chain(init, DRAWS, key, input_norm2=norm2),
            "vectors": sample_vectors(init, DRAWS, key, activation="relu", input_norm2=norm2),
            "matrices": sample_kernels(init, x, DRAWS, key, activation="relu"),
            "brute force": sample_by_brute_force(init, x, DRAWS, key, activation="relu"),
        }
        assert_scalar_law(samplers, drawn_kernels(init, RELU.plain, x, DRAWS, rng), axes)


@pytest.mark.parametrize("number", numbers(6, 45))
def test_samplers_of_other_networks(number):
    rng = stream("other", number)
    # every third network has the same activation, and phases change places with them
    phi = (TANH, ERF, other_activation(rng))[number % 3]
    init = law(rng, number // 3 + number, phi)
    x = one_input(rng, init.widths[0])
    axes = directions(rng, 3)
    norm2 = float((x**2).sum())
    key = seed("other", number, "sampler")
    options = {"activation": phi.accepted}
    with shown(activation=phi, init=init, x=x):
        samplers = {
            "vectors": sample_vectors(init, DRAWS, key, input_norm2=norm2, **options),
            "matrices": sample_kernels(init, x, DRAWS, key, **options),
            "brute force": sample_by_brute_force(init, x, DRAWS, key, **options),
        }
        assert_scalar_law(samplers, drawn_kernels(init, phi.plain, x, DRAWS, rng), axes)


@pytest.mark.parametrize("number", numbers(4, 30))
def test_sweeps_over_depths_and_variances(number):
    rng = stream("sweeps", number)
    phi = (RELU, TANH, ERF, RELU, other_activation(rng), RELU)[number % 6]
    init = law(rng, number, phi, equal=number % 2 == 0)  # both forms of the depth sweep
    variances = [weight_variance(rng, phase, phi, init.sigma_b2) for phase in PHASES]
    x = one_input(rng, init.widths[0])
    axes = directions(rng, 3)
    depths = sorted({int(rng.integers(1, init.depth)), init.depth})
    grid = {"sigma_w2": variances, "input_norm2": float((x**2).sum())}
    key = seed("sweeps", number, "sampler")
    ways = {"vectors": sweep_vectors(init, depths, DRAWS, key, activation=phi.accepted, **grid)}
    if phi is RELU:
        ways["scalar chain"] = sample_depths(init, depths, DRAWS, key, **grid)
    with shown(activation=phi, init=init, depths=depths, variances=variances, x=x):
        blocks = {name: list(way) for name, way in ways.items()}
        for depth in depths:
            variance = variances[rng.integers(3)]
            one = Initialisation(
                widths=init.widths[:depth],
                sigma_w2=variance,
                sigma_b2=init.sigma_b2,
                parametrisation=init.parametrisation,
            )
            samplers = {}
            for name, way in blocks.items():
                samplers[f"{name}, depth {depth}, sigma_w2 {variance}"] = concatenated(
                    [block[depth, variance] for block in way]
                )
            assert_scalar_law(samplers, drawn_kernels(one, phi.plain, x, DRAWS, rng), axes)


@pytest.mark.parametrize("number", numbers(6, 40))
def test_kernels_of_several_inputs_and_outputs(number):
    rng = stream("kernels", number)
    phi = (RELU, TANH, ERF, other_activation(rng))[number % 4]
    init = law(rng, number, phi, outputs=int(rng.integers(1, 4)))
    x = drawn_inputs(rng, 2 + number % 2, init.widths[0])
    size = len(x) * init.outputs
    axes = directions(rng, size * (size + 2))
    key = seed("kernels", number, "sampler")
    with shown(activation=phi, init=init, inputs=x):
        fast = grown(sample_kernels(init, x, MATRICES, key, activation=phi.accepted))
        slow = drawn_kernels(init, phi.plain, x, MATRICES, rng)
        LEDGER.check(compared(*(kernel_statistics(draws, axes) for draws in (fast, slow))))


@pytest.mark.parametrize("number", numbers(3, 30))
def test_pair_chain(number):
    rng = stream("pairs", number)
    width = int(rng.integers(1, 13))
    first = int(rng.integers(2, 13))
    depths = sorted({int(depth) for depth in rng.integers(2, 7, 2)})
    cosines = [float(cosine) for cosine in rng.uniform(-0.98, 0.98, 2)]
    variance = weight_variance(rng, PHASES[number % 3], RELU, 0.0)
    axes = directions(rng, 2)
    drawn = {
        "width": width,
        "input_width": first,
        "depths": depths,
        "cosines": cosines,
        "sigma_w2": variance,
    }
    with shown(**drawn):
        blocks = list(sample_pairs(width, depths, cosines, DRAWS, seed("pairs", number, "sampler")))
        for depth, cosine in zip(depths, cosines, strict=False):
            cells = [block[depth, cosine].scaled_theta(variance, first) for block in blocks]
            init = constant_width(depth, width, sigma_w2=variance, input_width=first)
            x = np.zeros((2, first))
            x[0, 0], x[1, :2] = 1.0, (cosine, (1 - cosine**2) ** 0.5)
            growth = max(1.0, variance / 2) ** (depth - 1)
            theta = drawn_kernels(init, RELU.plain, x, DRAWS, rng).theta[:, 0].T / growth
            found = compared(
                pair_statistics(np.concatenate(cells, axis=1), axes), pair_statistics(theta, axes)
            )
            where = f"depth {depth}, cosine {cosine}"
            LEDGER.check({f"{where}: {name}": p for name, p in found.items()})


@pytest.mark.parametrize("number", numbers(3, 30))
def test_exact_moments(number):
    """Compare means, second moments and dispersion with networks drawn in full and the sampler."""
    rng = stream("moments", number)
    init = law(rng, number, RELU, biased=False, widest=10)
    x = one_input(rng, init.widths[0])
    norm2 = float((x**2).sum())
    with shown(init=init, x=x):
        exact = log_moments(init, input_norm2=norm2)
        higher = log_kernel_moments(init, 4, input_norm2=norm2)
        fourth = log_theta_moment(init, 4, input_norm2=norm2)
        chain = sample_scalar_chain(init, CHAIN, seed("moments", number), input_norm2=norm2)
        for way, draws in (
            ("networks", drawn_kernels(init, RELU.plain, x, 100_000, rng)),
            ("scalar chain", grown(chain)),
        ):
            w = np.ravel(draws.theta_w)
            b = np.ravel(draws.theta_b)
            theta = w + b
            # a sample, and the logarithms of its exact mean and mean square
            expected = {
                "W": (w, exact.w, higher[2, 0]),
                "b": (b, exact.b, higher[0, 2]),
                "W^2": (w * w, exact.w2, higher[4, 0]),
                "b^2": (b * b, exact.b2, higher[0, 4]),
                "W b": (w * b, exact.wb, higher[2, 2]),
                "Theta": (theta, exact.mean, exact.second),
                "Theta^2": (theta**2, exact.second, fourth),
                "dispersion": (
                    (theta / np.exp(exact.mean)) ** 2,
                    np.log(exact.dispersion),
                    fourth - 4 * exact.mean,
                ),
            }
            p_values = {}
            for name, (sample, log_mean, log_square) in expected.items():
                p_value = has_mean(sample, np.exp(log_mean), np.exp(log_square))
                p_values[f"{way}: {name}"] = p_value
            LEDGER.check(p_values)


@pytest.mark.parametrize("number", numbers(3, 20))
def test_wide_networks_approach_the_infinite_width_at_the_rate_1_over_the_width(number):
    rng = stream("wide", number)
    phi = (RELU, TANH, ERF, other_activation(rng, smooth=True))[number % 4]
    drawn = law(rng, number, phi)
    drawn = Initialisation(
        widths=drawn.widths[:4],
        sigma_w2=drawn.sigma_w2,
        sigma_b2=drawn.sigma_b2,
        parametrisation=drawn.parametrisation,
    )
    hidden = rng.integers(64, 129, drawn.depth - 1)
    x = drawn_inputs(rng, 2, drawn.widths[0])
    with shown(activation=phi, law=drawn, hidden=hidden, inputs=x):
        kernels = []
        limits = []
        covariances = []
        for factor in (1, 2):
            init = Initialisation(
                widths=(drawn.widths[0], *(factor * hidden).tolist()),
                sigma_w2=drawn.sigma_w2,
                sigma_b2=drawn.sigma_b2,
                parametrisation=drawn.parametrisation,
            )
            key = seed("wide", number, factor)
            draws = grown(sample_kernels(init, x, 8000, key, activation=phi.accepted))
            field = infinite_width(init, x, activation=phi.accepted)
            kernels.append(draws.theta)
            limits.append(field.ntk)
            f = draws.output[:, :, 0]
            covariances.append(f[:, :, None] * f[:, None])
        second_order = 5 * (drawn.depth / hidden.min()) ** 2
        found = {}
        for name, pair, limit in (
            ("Theta", kernels, limits),
            ("f f", covariances, [field.nngp, field.nngp]),
        ):
            sample = extrapolated(*pair, limit)
            for s, r in ((0, 0), (0, 1), (1, 1)):
                found[f"{name} {s}{r}"] = near_mean(sample[:, s, r], 0.0, second_order)
        LEDGER.check(found)


@pytest.mark.parametrize("number", numbers(2, 10))
def test_wide_convolutional_networks_approach_the_cntk(number):
    rng = stream("images", number)
    x = rng.uniform(-0.3, 1, (2, int(rng.integers(1, 4)), *rng.integers(2, 5, 2).tolist()))
    convolutions = int(rng.integers(1, 3))
    layers = int(rng.integers(0, 2))
    width = int(rng.integers(32, 41))
    options = {
        "sigma_w2": weight_variance(rng, PHASES[number % 3], RELU, 0.0),
        "sigma_b2": float(rng.uniform(0.05, 0.5)) * (number % 2),
        "parametrisation": str(rng.choice(["ntk", "standard"])),
    }
    pooled = bool(rng.integers(2))
    with shown(
        images=x, convolutions=convolutions, dense=layers, width=width, pooled=pooled, **options
    ):
        kernels = []
        limits = []
        for factor in (1, 2):
            architecture = Architecture(
                channels=(factor * width,) * convolutions,
                dense=(factor * width,) * layers,
                global_average_pooling=pooled,
            )
            images = torch.from_numpy(x)
            limits.append(cntk(images, architecture=architecture, **options).numpy())
            kernels.append(image_kernels(architecture, options, images, 1000, rng))
        sample = extrapolated(*kernels, limits)
        second_order = 2 * ((convolutions + layers + 1) / width) ** 2
        LEDGER.check(
            {
                f"Theta {s}{r}": near_mean(sample[:, s, r], 0.0, second_order)
                for s, r in ((0, 0), (0, 1), (1, 1))
            }
        )
