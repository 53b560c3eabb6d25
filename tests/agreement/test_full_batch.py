"""Gradient descent with explicit gradients agrees with autograd and with the linear recursion."""

import math

import pytest
import torch

from finitewidth.kernels.gated_ntk import feature_gates
from finitewidth.measures.dynamics import Descent, Networks, follow
from finitewidth.networks.random_gated import bernoulli_gates, equal_variance_weights
from finitewidth.training.full_batch import error_ratios, gradient_descent

RUNS, SAMPLES, WIDTH = 3, 7, 9


def descent(rate, steps, linear_steps, precision="float64", loss_half=True):
    return Descent(
        rate=rate,
        rho="kernel",
        loss_half=loss_half,
        steps=steps,
        linear_steps=linear_steps,
        precision=precision,
    )


def networks(gates, depth=4, inputs=2, width=WIDTH):
    names = [("test", "full batch", run) for run in range(RUNS)]
    sizes = [inputs, *[width] * (depth - 1), 1]
    weights = equal_variance_weights(sizes, math.sqrt(2 / width), names, "gaussian")
    generator = torch.Generator().manual_seed(1)
    x = torch.randn(RUNS, SAMPLES, inputs, generator=generator, dtype=torch.float64)
    y = torch.rand(RUNS, SAMPLES, generator=generator, dtype=torch.float64)
    if gates == "external":
        gates = bernoulli_gates(SAMPLES, sizes[1:-1], 0.5, names)
    elif gates == "galu":
        gates = feature_gates(x, [w.flip(-1) for w in weights[:-1]], None)
    return Networks(x, y, weights, gates)


def outputs_of(found, run, weights):
    """Outputs of one network in plain torch, (S,)."""
    z = found.x[run]
    for layer, weight in enumerate(weights):
        z = z @ weight
        if layer < len(weights) - 1 and found.gates != "open":
            z = torch.relu(z) if found.gates == "own" else z * found.gates[layer][run]
    return z[:, 0]


def plain_descent(found, run, step, steps):
    """Train one network with torch autograd and torch.optim.SGD."""
    weights = [w[run].clone().requires_grad_() for w in found.weights]
    optimiser = torch.optim.SGD(weights, lr=step)
    errors = []
    for _ in range(steps + 1):
        errors.append(outputs_of(found, run, weights) - found.y[run])
        optimiser.zero_grad()
        ((errors[-1] ** 2).sum() / 2).backward()
        optimiser.step()
    return torch.stack(errors).detach(), [w.detach() for w in weights]


@pytest.mark.parametrize("gates", ["external", "galu", "own", "open"])
def test_every_replica_descends_as_plain_autograd_does(gates):
    found = networks(gates)
    times = [0, 1, 5, 12]
    before = [weight.clone() for weight in found.weights]
    step = torch.tensor([0.001, 0.002, 0.003], dtype=torch.float64)
    states = []
    for state in gradient_descent(
        found.x, found.y, found.weights, found.gates, step=step, times=times
    ):
        states.append((state.time, state.errors.clone(), [w.clone() for w in state.weights]))
    assert [time for time, _, _ in states] == times
    assert all(map(torch.equal, before, found.weights))
    for run in range(RUNS):
        errors, _ = plain_descent(found, run, float(step[run]), times[-1])
        for time, mine, _ in states:
            torch.testing.assert_close(mine[run], errors[time], rtol=1e-11, atol=1e-12)
        # the weights after the last yield, which are one step before those of plain_descent
        _, weights = plain_descent(found, run, float(step[run]), times[-1] - 1)
        for mine, theirs in zip(states[-1][2], weights, strict=True):
            torch.testing.assert_close(mine[run], theirs, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("gates", ["external", "galu", "own"])
def test_kernels_are_gram_matrices_of_autograd_gradients(gates):
    found = networks(gates)
    kernel = found.kernel()
    outputs = found.outputs()
    for run in range(RUNS):
        weights = tuple(weight[run] for weight in found.weights)
        jacobian = torch.autograd.functional.jacobian(
            lambda *weights, run=run: outputs_of(found, run, weights), weights
        )
        flat = torch.cat([part.flatten(1) for part in jacobian], 1)
        torch.testing.assert_close(kernel[run], flat @ flat.T, rtol=1e-11, atol=1e-12)
        expected = outputs_of(found, run, weights)
        torch.testing.assert_close(outputs[run], expected, rtol=1e-12, atol=1e-13)


def test_the_linear_recursion_is_the_matrix_applied_again_and_again():
    found = networks("external")
    kernel = found.kernel()
    values, vectors = torch.linalg.eigh(kernel)
    errors = found.outputs() - found.y
    step = 0.1 / values[:, -1]
    times = [0, 1, 2, 17]
    ratios = error_ratios(values, vectors, errors, step=step, times=times)
    matrix = torch.eye(SAMPLES) - step[:, None, None] * kernel
    now = errors[..., None]
    for time in range(times[-1] + 1):
        if time in times:
            expected = (now**2).sum((-2, -1)) / (errors**2).sum(-1)
            torch.testing.assert_close(ratios[times.index(time)], expected, rtol=1e-10, atol=0)
        now = matrix @ now


@pytest.mark.parametrize("loss_half", [True, False])
def test_both_dynamics_agree_to_first_order_in_the_step(loss_half):
    found = networks("external")
    gaps = []
    for rate in (1e-2, 1e-3):
        given = descent(rate, 1, 1, loss_half=loss_half)
        dynamics = follow(found, given, RUNS).ratios
        gap = dynamics["gradient descent"][1][1] - dynamics["linear recursion"][1][1]
        gaps.append(abs(gap).max())
    assert gaps[1] < gaps[0] / 50


def test_the_gradient_of_the_whole_sum_of_squares_is_twice_as_large():
    found = networks("external")
    whole = follow(found, descent(0.05, 3, 3, loss_half=False), RUNS).ratios
    half = follow(found, descent(0.1, 3, 3), RUNS).ratios
    for name, (_, ratios) in whole.items():
        assert (ratios == half[name][1]).all()


def test_adapted_precision_follows_errors_far_below_where_float32_stalls():
    found = networks("external", depth=8, width=60)
    double = follow(found, descent(0.2, 1000, 1, "float64"), RUNS).ratios["gradient descent"][1]
    single = follow(found, descent(0.2, 1000, 1, "float32"), RUNS).ratios["gradient descent"][1]
    adapted = follow(found, descent(0.2, 1000, 1, "adapted"), RUNS).ratios["gradient descent"][1]
    assert double.min() < 1e-13
    near = double > 1e-20
    assert abs(adapted / double - 1)[near].max() < 0.01
    assert abs(single / double - 1)[near].max() > 0.5


def test_a_replica_is_the_same_alone_and_beside_others():
    found = networks("external")
    given = descent(0.1, 20, 20)
    together = follow(found, given, 3)
    alone = follow(found.first(1), given, 1)
    for name in together.ratios:
        torch.testing.assert_close(
            torch.tensor(together.ratios[name][1][:, 0]), torch.tensor(alone.ratios[name][1][:, 0])
        )
