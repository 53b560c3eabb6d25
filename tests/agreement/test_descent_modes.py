"""Graded steps and gradient flow give the numbers of gradient descent step by step.

The reference is in float64, the others in float32 as in the experiments. A ReLU network is not
smooth: now and then a neuron closes on one path and not yet on another, in ordered networks for all
inputs at once, and the kernel jumps. This also happens between descents in float32 and in float64.
Single networks may therefore differ by several percent at single times, while most agree much
better.
"""

import numpy as np
import pytest
import torch
from tests.helpers.small_stacks import descended, images, stack_of

SIGMA_W2 = {"tanh": (1.0, 2.0, 3.44, 5.5), "relu": (1.0, 1.5, 2.0, 2.25)}
PLAN = {"rate": 2e-4, "steps": 2500, "times": (10, 100, 300, 1000), "stop": None}
SEEDS = (0, 1)
DEPTHS = {"tanh": 5, "relu": 10}


def doubled(stack):
    return stack.with_parameters([tensor.double() for tensor in stack.parameters])


@pytest.fixture(scope="module")
def reference():
    """Rows of steps in float64, by activation."""
    return {
        activation: descended(
            doubled(stack_of(activation, values, DEPTHS[activation], seeds=SEEDS)),
            images(dtype=torch.float64),
            mode="steps",
            **PLAN,
        )
        for activation, values in SIGMA_W2.items()
    }


def compared(reference, activation, **plan):
    """Relative errors of the change, (time -> one per network), of last losses, and the result."""
    found = descended(
        stack_of(activation, SIGMA_W2[activation], DEPTHS[activation], seeds=SEEDS),
        images(),
        **{**PLAN, **plan},
    )
    expected = reference[activation]
    errors = {time: [] for time in (*PLAN["times"], PLAN["steps"])}
    for one, two in zip(found.snapshots, expected.snapshots, strict=True):
        assert (one["replica"], one["time"]) == (two["replica"], two["time"])
        if one["time"]:
            errors[one["time"]].append(abs(one["change"] / two["change"] - 1))
    losses = [
        abs(one["last_loss"] / two["last_loss"] - 1)
        for one, two in zip(found.ends, expected.ends, strict=True)
    ]
    return errors, losses, found


def largest(errors):
    return max(max(values) for values in errors.values())


def test_graded_steps_of_tanh_networks(reference):
    """They are within 0.2 %, with large steps."""
    plan = {"mode": "graded", "cap": 0.5, "share": 32}
    errors, losses, found = compared(reference, "tanh", **plan)
    assert max(errors[10]) < 1e-5  # the first steps are single
    assert largest(errors) < 2e-3
    assert max(losses) < 5e-4
    assert max(row["gradients"] for row in found.ends) < 0.3 * PLAN["steps"]
    assert {row["method"] for row in found.ends} == {"graded"}


def test_graded_steps_of_relu_networks(reference):
    """Most are within 1 %, three of four within 3 % at every time; losses are all within 0.5 %."""
    errors, losses, found = compared(reference, "relu", mode="graded")
    assert max(errors[10]) < 1e-5
    for values in errors.values():
        assert np.median(values) < 0.01
        assert np.quantile(values, 0.75) < 0.03
    assert max(losses) < 5e-3
    assert min(row["gradients"] for row in found.ends) < 0.25 * PLAN["steps"]
    steep = [row for row in found.ends if row["eta_lambda_max"] > 0.3]
    assert steep
    assert all(row["gradients"] > 0.5 * row["steps_taken"] for row in steep)


def test_flow_of_tanh_networks(reference):
    """It is within 1 %."""
    plan = {"mode": "flow", "share": 32, "cap": 0.5}
    errors, losses, found = compared(reference, "tanh", **plan)
    assert max(errors[10]) < 1e-5
    assert largest(errors) < 0.01
    assert max(losses) < 5e-3
    assert {row["method"] for row in found.ends} == {"flow"}
    assert max(row["gradients"] for row in found.ends) < 0.15 * PLAN["steps"]


def test_single_steps_in_float32_lose_nothing(reference):
    """Small steps add up, also those below the last digit of a weight."""
    errors, losses, _ = compared(reference, "tanh", mode="steps")
    assert largest(errors) < 1e-4
    assert max(losses) < 1e-5
