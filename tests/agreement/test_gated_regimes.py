"""Training in the regimes of the deep gated networks paper compared with plain torch.

The regimes are those of its Table 3 and its experiments 3 to 7: trained gates, soft gates of
different slopes, and altered images.
"""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

from finitewidth.networks import forward
from finitewidth.networks.architecture import Architecture
from finitewidth.networks.weights import generator
from finitewidth.training.gated import train
from finitewidth.training.gated_stack import build_stack
from finitewidth.training.images import Images
from finitewidth.training.run import Replica, TrainingRun

FC = Architecture(dense=(32, 16, 48))
CONV = Architecture(channels=(16, 16), dense=(16,))
GATES = ((1.0, 0.1), (4.0, 0.1), (8.0, 0.4), (24.0, 0.4))
LEARNT = {
    "soft_galu": {"value", "feature"},
    "gates_only": {"feature"},
    "gates_and_output": {"feature", "output"},
}


def images(architecture, count=72, variants=("original",)):
    stream = torch.Generator().manual_seed(3)
    shape = (3, 6, 5) if architecture.channels else (16,)
    x = torch.rand(count * len(variants), *shape, generator=stream)
    y = torch.randint(0, 10, (len(x),), generator=stream)
    return Images(train_x=x, train_y=y, test_x=x[:16], test_y=y[:16], outputs=10, variants=variants)


def soft(regime, gates=GATES):
    return tuple(
        Replica(name=f"run {n}", regime=regime, seed=n, step_size=0.1, beta=beta, eps=eps)
        for n, (beta, eps) in enumerate(gates)
    )


def run_of(replicas, architecture=FC, **changes):
    usual = {"row": "row", "optimiser": "sgd", "epochs": 3, "keep": ("last",), "batch_size": 32}
    return TrainingRun(replicas=replicas, architecture=architecture, **{**usual, **changes})


@pytest.mark.parametrize("optimiser", ["sgd", "adam"])
@pytest.mark.parametrize("architecture", [FC, CONV], ids=["fc", "conv"])
@pytest.mark.parametrize("regime", ["soft_relu", "soft_galu"])
def test_soft_gates_of_unequal_slope_in_one_stack_are_those_of_separate_runs(
    regime, architecture, optimiser, monkeypatch
):
    """Bit for bit, because the slope of each replica is the same float32.

    Convolutional networks are computed one after the other; joined, they are equal to rounding,
    which test_networks.py and test_stacked_training.py test.
    """
    monkeypatch.setattr(forward, "NUMBERS_AT_ONCE", 1)
    replicas = tuple(replace(r, step_size=0.01) for r in soft(regime))
    together = train(run_of(replicas, architecture, optimiser=optimiser), images(architecture))
    for place, replica in enumerate(replicas):
        alone = train(run_of((replica,), architecture, optimiser=optimiser), images(architecture))
        for name, weights in alone.weights.items():
            np.testing.assert_array_equal(together.weights[name][[place]], weights, err_msg=name)
        assert together.history[place :: len(replicas)] == alone.history


def plain_steps(stack, place, replica, data, steps):
    """Train one soft gated network with explicit SGD; return value weights, then gating weights."""
    value = {name: w[place].detach().clone() for name, w in stack.value.items()}
    gating = {name: w[place].detach().clone() for name, w in stack.feature.items()}
    learnt, last = LEARNT[replica.regime], f"{len(FC.dense)}."
    moving = [w for name, w in value.items()
              if "value" in learnt or ("output" in learnt and name.startswith(last))]  # fmt: skip
    moving += gating.values()
    for tensor in moving:
        tensor.requires_grad_()
    order = torch.randperm(len(data.train_x), generator=generator(replica.name, "order", 1))
    for batch in order.split(32)[:steps]:
        z_gate = z = data.train_x[batch]
        for layer in range(len(FC.dense)):
            q_gate = z_gate @ gating[f"{layer}.weight"] + gating[f"{layer}.bias"]
            gate = (1 + replica.eps) / (1 + torch.exp(-replica.beta * q_gate))
            z_gate = q_gate * gate  # the gating network uses its own soft gates (DGN Table 2)
            z = (z @ value[f"{layer}.weight"] + value[f"{layer}.bias"]) * gate
        loss = nn.functional.cross_entropy(
            z @ value[f"{last}weight"] + value[f"{last}bias"], data.train_y[batch]
        )
        gradients = torch.autograd.grad(loss, moving)
        with torch.no_grad():
            for tensor, gradient in zip(moving, gradients, strict=True):
                tensor -= replica.step_size * gradient
    return value, gating


@pytest.mark.parametrize("regime", LEARNT)
def test_an_epoch_of_soft_gated_networks_is_that_of_plain_torch(regime):
    run, data = run_of(soft(regime), epochs=1), images(FC)
    stack = build_stack(run, data)
    found = train(run, data).weights
    for place, replica in enumerate(run.replicas):
        for part, weights in zip(
            ("value", "feature"), plain_steps(stack, place, replica, data, 3), strict=True
        ):
            for name, wanted in weights.items():
                mine = torch.from_numpy(found[f"last/{part}/{name}"][place])
                torch.testing.assert_close(mine, wanted.detach(), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("optimiser", ["sgd", "adam", "rmsprop"])
@pytest.mark.parametrize("regime", ["gates_only", "gates_and_output"])
def test_what_does_not_learn_stays_bit_for_bit(regime, optimiser):
    weights = train(run_of(soft(regime), optimiser=optimiser, snapshots=(0, 3)), images(FC)).weights
    changed = {
        name.removeprefix("epoch3/")
        for name in weights
        if name.startswith("epoch3/")
        and not np.array_equal(weights[name], weights[name.replace("epoch3", "epoch0")])
    }
    gating = {f"feature/{layer}.{kind}" for layer in range(3) for kind in ("weight", "bias")}
    output = {"value/3.weight", "value/3.bias"}
    assert changed == gating | (output if regime == "gates_and_output" else set())


def test_replicas_on_images_of_their_own_variant_are_those_of_separate_runs():
    variants = ("original", "random_labels", "random_pixels")
    data = images(FC, variants=variants)
    replicas = tuple(
        Replica(name=f"run {seed}", regime="relu", seed=seed, step_size=0.1, variant=variant)
        for variant in variants
        for seed in range(2)
    )
    together = train(run_of(replicas), data)
    for number, variant in enumerate(variants):
        part = slice(72 * number, 72 * (number + 1))
        alone = train(
            run_of(replicas[2 * number : 2 * number + 2]),
            replace(data, train_x=data.train_x[part], train_y=data.train_y[part],
                    variants=(variant,)),
        )  # fmt: skip
        for name, weights in alone.weights.items():
            np.testing.assert_array_equal(
                together.weights[name][2 * number : 2 * number + 2], weights, err_msg=name
            )
    assert {row["variant"] for row in together.history} == set(variants)
