"""Replicas that are trained together give the same numbers as in any other stack or alone.

Fully connected networks are equal bit for bit if every matrix of a replica starts on a cache line.
This holds if the widths, and the images of a batch times the outputs, are multiples of 16, as for
the papers' networks and datasets. Otherwise they are equal up to rounding, because the matrix
products of MKL depend on the position of a matrix within a cache line.

Convolutional networks on a CPU are equal up to rounding, because the sums over positions and images
are rounded otherwise where several replicas are joined. They are equal bit for bit, under the same
conditions, where each is computed alone: `networks.forward.NUMBERS_AT_ONCE`.
"""

import itertools
from dataclasses import replace

import numpy as np
import pytest
import torch
from tests.helpers.small_trainings import make_images
from torch import nn

from finitewidth.networks import forward
from finitewidth.networks.architecture import Architecture
from finitewidth.networks.weights import generator
from finitewidth.training.gated import batch_losses, build_stack, correct, train
from finitewidth.training.optimisers import KERAS_EPSILON, KERAS_RHO, StackedOptimiser
from finitewidth.training.run import Replica, TrainingRun

ALIGNED = {
    "fc": Architecture(dense=(32, 16, 48)),
    "vconv": Architecture(channels=(16, 16), dense=(16,)),
    "gconv": Architecture(channels=(16, 16), dense=(16,), global_average_pooling=True),
    "strided": Architecture(channels=(16, 16), dense=(16,), stride=2, bias=False),
}
ODD = {
    "fc": Architecture(dense=(11, 16, 7)),
    "vconv": Architecture(channels=(3, 4), dense=(9,)),
    "gconv": Architecture(channels=(3, 4), dense=(9,), global_average_pooling=True),
    "strided": Architecture(channels=(3, 4), dense=(9,), stride=2, bias=False),
}
OPTIMISERS = {"sgd": 0.1, "adam": 0.01, "rmsprop": 0.003}
REGIMES = ("relu", "frnpf_ii", "frnpf_di", "dlnpf", "linear", "soft_relu", "gates_only")
SOFT = {"beta": 4.0, "eps": 0.1}
SOFT_REGIMES = ("dlnpf", "soft_relu", "soft_galu", "gates_only", "gates_and_output")


def images(architecture, count=72, tested=16, size=16):
    return make_images(count, tested, 10, (3, 6, 5) if architecture.channels else (size,))


def described(architecture, optimiser, replicas, **changes):
    common = {"row": "row", "epochs": 3, "keep": ("best_test", "last"), "batch_size": 32}
    return TrainingRun(
        replicas=tuple(replicas),
        architecture=architecture,
        optimiser=optimiser,
        **{**common, **changes},
    )


def replicas_of(regime, optimiser, seeds, unequal=True):
    """Return replicas with alternating step sizes, or with equal ones."""
    step_size = OPTIMISERS[optimiser]
    return [
        Replica(
            name=f"run {seed}",
            regime=regime,
            seed=seed,
            step_size=step_size * (0.5 if unequal and seed % 2 else 1),
            **(SOFT if regime in SOFT_REGIMES else {}),
        )
        for seed in seeds
    ]


def trained(architecture, optimiser, replicas, **changes):
    return train(described(architecture, optimiser, replicas, **changes), images(architecture))


def assert_same(together, places, other):
    """Check that the replicas at ``places`` of one stack equal those of another, in its order."""
    assert list(together.weights) == list(other.weights)
    for name, weights in other.weights.items():
        np.testing.assert_array_equal(together.weights[name][places], weights, err_msg=name)
    for number, place in enumerate(places):
        assert rows_of(together, place) == rows_of(other, number)


def rows_of(result, place):
    count = len({(row["seed"], row["step_size"]) for row in result.history})
    return result.history[place::count]


# every optimiser with every architecture, and every regime with the two that differ most
TRIPLES = [(kind, optimiser, "relu") for kind in ALIGNED for optimiser in OPTIMISERS] + [
    (kind, "adam", regime) for kind in ("fc", "gconv") for regime in REGIMES[1:]
]


@pytest.mark.parametrize(("kind", "optimiser", "regime"), TRIPLES)
def test_a_replica_is_bit_for_bit_the_same_in_every_stack(kind, optimiser, regime, monkeypatch):
    """Check replicas alone, in any number and order, with equal and with different step sizes.

    Convolutional networks are computed one after the other, as those with large images are.
    """
    monkeypatch.setattr(forward, "NUMBERS_AT_ONCE", 1)
    together = trained(ALIGNED[kind], optimiser, replicas_of(regime, optimiser, range(4)))
    for places in ([1], [3, 0, 2]):
        other = trained(ALIGNED[kind], optimiser, replicas_of(regime, optimiser, places))
        assert_same(together, places, other)


@pytest.fixture
def in_double():
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


@pytest.mark.parametrize("regime", REGIMES)
@pytest.mark.parametrize("optimiser", OPTIMISERS)
@pytest.mark.parametrize("kind", ODD)
def test_networks_of_odd_sizes_are_those_alone(kind, optimiser, regime, in_double):
    """Compare after 9 steps in float64: alone, in a stack of three, and in other parts of it."""
    together = trained(ODD[kind], optimiser, replicas_of(regime, optimiser, range(5)))
    assert together.weights["last/value/0.weight"].dtype == np.float64
    for places in ([1], [4, 0, 2]):
        other = trained(ODD[kind], optimiser, replicas_of(regime, optimiser, places))
        for name, weights in other.weights.items():
            np.testing.assert_allclose(
                together.weights[name][places], weights, rtol=1e-9, atol=1e-11, err_msg=name
            )
        for number, place in enumerate(places):
            for one, two in zip(rows_of(together, place), rows_of(other, number), strict=True):
                for score in ("train_loss", "test_loss", "train_accuracy", "test_accuracy"):
                    assert one[score] == pytest.approx(two[score], rel=1e-9), score


@pytest.mark.parametrize("kind", [kind for kind in ALIGNED if kind != "fc"])
def test_a_diverged_network_leaves_the_others_it_is_joined_with_alone(kind):
    """Bit for bit; torch may not multiply the weights of one by the images of another."""
    calm = replicas_of("relu", "sgd", range(3))
    wild = (calm[0], replace(calm[1], step_size=1e30), calm[2])
    together = trained(ALIGNED[kind], "sgd", calm)
    other = trained(ALIGNED[kind], "sgd", wild)
    assert not np.isfinite(other.weights["last/value/0.weight"][1]).all()
    for name, weights in together.weights.items():
        np.testing.assert_array_equal(weights[[0, 2]], other.weights[name][[0, 2]], err_msg=name)


def test_replicas_of_one_name_start_alike_and_see_the_same_order():
    pair = [Replica(name="one", regime="relu", seed=s, step_size=0.1) for s in (0, 1)]
    weights = trained(ALIGNED["fc"], "sgd", pair).weights
    for tensor in weights.values():
        np.testing.assert_array_equal(tensor[0], tensor[1])


def test_the_stack_of_two_regimes_is_that_of_each():
    mixed = [
        Replica(name=f"run {seed}", regime=regime, seed=seed, step_size=0.1)
        for seed in range(2)
        for regime in ("frnpf_ii", "frnpf_di")
    ]
    together = trained(ALIGNED["fc"], "sgd", mixed)
    for first, regime in enumerate(("frnpf_ii", "frnpf_di")):
        other = trained(ALIGNED["fc"], "sgd", replicas_of(regime, "sgd", range(2), unequal=False))
        for name, weights in other.weights.items():
            np.testing.assert_array_equal(together.weights[name][first::2], weights)


def soft(regime, step_size):
    gates = ((1.0, 0.1), (4.0, 0.1), (8.0, 0.4), (24.0, 0.4))
    return [
        Replica(name=f"run {n}", regime=regime, seed=n, step_size=step_size, beta=beta, eps=eps)
        for n, (beta, eps) in enumerate(gates)
    ]


@pytest.mark.parametrize("optimiser", ["sgd", "adam"])
@pytest.mark.parametrize("kind", ["fc", "vconv"])
@pytest.mark.parametrize("regime", ["soft_relu", "soft_galu"])
def test_soft_gates_of_unequal_slope_in_one_stack_are_those_of_separate_runs(
    regime, kind, optimiser, monkeypatch
):
    """Bit for bit, because the slope of each replica is the same float32."""
    monkeypatch.setattr(forward, "NUMBERS_AT_ONCE", 1)
    replicas = soft(regime, 0.01)
    together = trained(ALIGNED[kind], optimiser, replicas)
    for place, replica in enumerate(replicas):
        assert_same(together, [place], trained(ALIGNED[kind], optimiser, [replica]))


@pytest.mark.parametrize("optimiser", OPTIMISERS)
@pytest.mark.parametrize("regime", ["gates_only", "gates_and_output"])
def test_what_does_not_learn_stays_bit_for_bit(regime, optimiser):
    weights = trained(ALIGNED["fc"], optimiser, soft(regime, 0.1), snapshots=(0, 3)).weights
    changed = set()
    for name in weights:
        if name.startswith("epoch3/") and not np.array_equal(
            weights[name], weights[name.replace("epoch3", "epoch0")]
        ):
            changed.add(name.removeprefix("epoch3/"))
    gating = set()
    for layer in range(3):
        for kind in ("weight", "bias"):
            gating.add(f"feature/{layer}.{kind}")
    output = {"value/3.weight", "value/3.bias"}
    assert changed == gating | (output if regime == "gates_and_output" else set())


def test_replicas_on_images_of_their_own_variant_are_those_of_separate_runs():
    variants = ("original", "random_labels", "random_pixels")
    architecture = ALIGNED["fc"]
    data = replace(images(architecture, 3 * 72), variants=variants)
    replicas = [
        Replica(name=f"run {seed}", regime="relu", seed=seed, step_size=0.1, variant=variant)
        for variant in variants
        for seed in range(2)
    ]
    together = train(described(architecture, "sgd", replicas), data)
    for number, variant in enumerate(variants):
        part = slice(72 * number, 72 * (number + 1))
        pair = slice(2 * number, 2 * number + 2)
        own = {"train_x": data.train_x[part], "train_y": data.train_y[part], "variants": (variant,)}
        alone = train(described(architecture, "sgd", replicas[pair]), replace(data, **own))
        for name, weights in alone.weights.items():
            np.testing.assert_array_equal(together.weights[name][pair], weights, err_msg=name)
    assert {row["variant"] for row in together.history} == set(variants)


def random_tensors(shapes, seed, replicas):
    stream = torch.Generator().manual_seed(seed)
    return [torch.randn(replicas, *shape, generator=stream) for shape in shapes]


def plain_optimiser(kind, weights, step_size):
    if kind == "sgd":
        return torch.optim.SGD(weights, lr=step_size)
    if kind == "adam":
        return torch.optim.Adam(weights, lr=step_size, eps=1e-7)
    return torch.optim.RMSprop(weights, lr=step_size, alpha=0.9, eps=1e-7)


@pytest.mark.parametrize("step_sizes", [[0.1] * 3, [0.1, 0.01, 0.1], [0.1, 0.1, 0.01]])
@pytest.mark.parametrize("kind", OPTIMISERS)
def test_stacked_steps_are_those_of_torch_on_each_network(kind, step_sizes):
    shapes = [(4, 16), (16,), (16, 3), (3,), (2, 3, 3, 3)]
    stack = random_tensors(shapes, 0, 3)
    alone = [[tensor[r].clone().requires_grad_() for tensor in stack] for r in range(3)]
    optimiser = StackedOptimiser(kind, stack, step_sizes)
    plain = [
        plain_optimiser(kind, weights, size)
        for weights, size in zip(alone, step_sizes, strict=True)
    ]
    for step in range(20):
        gradients = random_tensors(shapes, 1 + step, 3)
        optimiser.step(gradients)
        for r in range(3):
            for weight, gradient in zip(alone[r], gradients, strict=True):
                weight.grad = gradient[r]
            plain[r].step()
    for number, tensor in enumerate(stack):
        for r in range(3):
            torch.testing.assert_close(tensor[r], alone[r][number].detach(), rtol=1e-6, atol=1e-6)


def test_constants_are_those_of_keras():
    """Check epsilon with small gradients and the decay in the second step."""
    assert (KERAS_EPSILON, KERAS_RHO) == (1e-7, 0.9)
    g, eps = 1e-7, 1e-7
    weight = torch.zeros(1, 1, dtype=torch.float64)
    adam = StackedOptimiser("adam", [weight], [0.01])
    adam.step([torch.full((1, 1), g, dtype=torch.float64)])
    first = -0.01 * g / (g + eps)
    assert weight.item() == pytest.approx(first, rel=1e-9)
    adam.step([torch.full((1, 1), 3 * g, dtype=torch.float64)])
    mean = (0.9 * 0.1 * g + 0.1 * 3 * g) / (1 - 0.9**2)
    square = (0.999 * 0.001 * g**2 + 0.001 * 9 * g**2) / (1 - 0.999**2)
    assert weight.item() == pytest.approx(first - 0.01 * mean / (square**0.5 + eps), rel=1e-9)

    weight = torch.zeros(1, 1, dtype=torch.float64)
    rmsprop = StackedOptimiser("rmsprop", [weight], [0.01])
    rmsprop.step([torch.full((1, 1), g, dtype=torch.float64)])
    first = -0.01 * g / ((0.1 * g**2) ** 0.5 + eps)
    assert weight.item() == pytest.approx(first, rel=1e-9)
    rmsprop.step([torch.full((1, 1), 2 * g, dtype=torch.float64)])
    square = 0.9 * 0.1 * g**2 + 0.1 * 4 * g**2
    assert weight.item() == pytest.approx(first - 0.01 * 2 * g / (square**0.5 + eps), rel=1e-9)


def test_one_epoch_is_that_of_a_plain_torch_loop():
    """Compare 3 steps of SGD with equal weights and order of images; the last batch is smaller."""
    architecture = ODD["fc"]
    count = 75
    data = images(architecture, count=count, tested=21, size=13)
    run = described(
        architecture, "sgd", replicas_of("relu", "sgd", range(2)), epochs=1, keep=("last",)
    )
    stack = build_stack(run, data)
    result = train(run, data)
    sizes = [13, 11, 16, 7, 10]
    for r, replica in enumerate(run.replicas):
        linear = [nn.Linear(a, b) for a, b in itertools.pairwise(sizes)]
        for number, module in enumerate(linear):
            module.weight.data = stack.value[f"{number}.weight"][r].detach().T.contiguous()
            module.bias.data = stack.value[f"{number}.bias"][r].detach().clone()
        parts = [part for module in linear for part in (module, nn.ReLU())][:-1]
        network = nn.Sequential(*parts)
        optimiser = torch.optim.SGD(network.parameters(), lr=replica.step_size)
        total = right = 0
        order = torch.randperm(count, generator=generator(replica.name, "order", 1))
        for batch in order.split(32):
            outputs = network(data.train_x[batch])
            loss = nn.functional.cross_entropy(outputs, data.train_y[batch])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            total += loss.item() * len(batch)
            right += (outputs.argmax(1) == data.train_y[batch]).sum().item()
        row = rows_of(result, r)[0]
        assert row["train_loss"] == pytest.approx(total / count, rel=1e-6)
        assert row["train_accuracy"] == pytest.approx(right / count, abs=1e-7)
        tested = (network(data.test_x).argmax(1) == data.test_y).double()
        assert row["test_accuracy"] == tested.mean().item()
        assert row["test_accuracy_first"] == tested[0::2].mean().item()
        assert row["test_accuracy_second"] == tested[1::2].mean().item()
        for number, module in enumerate(linear):
            found = torch.from_numpy(result.weights[f"last/value/{number}.weight"][r])
            torch.testing.assert_close(found, module.weight.detach().T, rtol=1e-5, atol=1e-6)


def test_losses_and_scores_per_replica():
    outputs = torch.tensor([[[2.0, 0.0], [0.0, 1.0]], [[0.0, 0.0], [3.0, 1.0]]])
    classes = torch.tensor([[0, 0], [1, 1]])
    found = batch_losses("cross_entropy", outputs, classes)
    for r in range(2):
        expected = nn.functional.cross_entropy(outputs[r], classes[r])
        torch.testing.assert_close(found[r], expected)
    assert correct("cross_entropy", outputs, classes).tolist() == [[True, False], [False, False]]
    signs = torch.tensor([[1.0, -1.0], [1.0, 1.0]])
    values = outputs[..., :1]
    assert batch_losses("squared", values, signs).tolist() == [1.0, 2.5]
    assert correct("squared", values, signs).tolist() == [[True, False], [False, True]]
