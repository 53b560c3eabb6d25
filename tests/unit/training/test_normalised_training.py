"""Training of stacked networks with BatchNorm: steps, batches, rows, divergence and resuming."""

from dataclasses import replace

import numpy as np
import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from tests.helpers.killing import KilledError, killing

from finitewidth.common.errors import ConfigError
from finitewidth.data.bundled import digits
from finitewidth.networks.normalised.plain import build, initial_state
from finitewidth.networks.normalised.specs import Network
from finitewidth.networks.normalised.stacked import StackedNetwork
from finitewidth.training.checkpoints import CheckpointStore
from finitewidth.training.images import (
    Images,
    balanced_images,
    batch_labels,
    epoch_batches,
    resized,
)
from finitewidth.training.normalised import NormalisedPlan, train
from finitewidth.training.optimisers import NesterovSGD, Schedule

SHAPE = (2, 8, 8)
CLASSES = 3
NETWORKS = {
    "vgg": Network(kind="vgg", convolutions=(4, "M", 5, "M"), dense=(7, 6)),
    "resnet": Network(kind="resnet", channels=(4, 6), blocks=(1, 1)),
    "densenet": Network(kind="densenet", growth=3, blocks=(1, 1), stem=4, pooled_stem=True),
}
RATES = (0.02, 0.1, 0.4)
PLAN = NormalisedPlan(
    rates=RATES,
    epochs=5,
    batch_per_class=2,
    order="digits of a test",
    decay=0.02,
    measure_at=(1, 3, 5),
)


def images(per_class=9, tested=14, dtype=torch.float32):
    """Images of three classes in mixed order, with means that depend on the class."""
    stream = torch.Generator().manual_seed(2)
    labels = torch.arange(CLASSES).repeat(per_class)[torch.randperm(27, generator=stream)]
    test = torch.randint(0, CLASSES, (tested,), generator=stream)
    centres = torch.rand(CLASSES, *SHAPE, generator=stream, dtype=dtype)

    def near(y):
        return (centres[y] + torch.rand(len(y), *SHAPE, generator=stream, dtype=dtype)) / 2

    return Images(near(labels), labels, near(test), test, CLASSES)


def modules(kind, count=3, dtype=torch.float32):
    made = [build(NETWORKS[kind], SHAPE, CLASSES).to(dtype) for _ in range(count)]
    for number, module in enumerate(made):
        module.load_state_dict(initial_state(module, "lecun", f"network {number}"))
    return made


def stack(kind, count=3, dtype=torch.float32):
    states = [module.state_dict() for module in modules(kind, count, dtype)]
    return StackedNetwork(NETWORKS[kind], SHAPE, CLASSES, states)


def nothing(network, x, y, epoch):
    return [{} for _ in range(network.replicas)]


def seen(network, x, y, epoch):
    """What a network makes of the batch; the number of the epoch, as numpy gives numbers."""
    features, outputs = network.forward(x, training=False)
    assert features.shape[:2] == outputs.shape[:2] == (network.replicas, len(y))
    return [
        {"norm": feature.norm(), "label": int(y[-1]), "of": np.float64(epoch), "text": "a"}
        for feature in features
    ]


def numbers(network):
    return {**network.parameters, **network.buffers}


def plain_training(module, data, plan, rate):
    """The definition: a module under torch.optim.SGD, on batches put together image by image."""
    decayed = [p for p in module.parameters() if p.dim() > 1]
    others = [p for p in module.parameters() if p.dim() <= 1]
    decay = plan.decays[plan.rates.index(rate)]
    optimiser = torch.optim.SGD(
        [{"params": decayed, "weight_decay": decay}, {"params": others}],
        lr=rate,
        momentum=plan.momentum,
        nesterov=True,
    )
    steps = data.per_class // plan.batch_per_class
    for epoch in range(plan.epochs):
        words = (plan.order, "batches", epoch + 1)
        for step, batch in enumerate(epoch_batches(data.by_class(), plan.batch_per_class, words)):
            done = (epoch * steps + step) / (plan.epochs * steps)
            for group in optimiser.param_groups:
                group["lr"] = rate / 10 ** sum(done >= at - 1e-9 for at in plan.decay_rate_at)
            outputs = module(data.train_x[batch])
            labels = data.train_y[batch]
            if plan.loss == "cross_entropy":
                loss = F.cross_entropy(outputs, labels)
            else:
                loss = F.mse_loss(outputs, torch.eye(CLASSES, dtype=outputs.dtype)[labels]) / 2
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
    return module


@pytest.mark.parametrize(
    ("loss", "decay"), [("squared", 0.02), ("cross_entropy", (0.1, 0.0, 0.02))]
)
@pytest.mark.parametrize("kind", NETWORKS)
def test_a_stack_is_trained_as_plain_modules_under_torchs_sgd(kind, loss, decay):
    """20 steps in float64. The differences come from rounding alone."""
    data = images(dtype=torch.float64)
    plan = replace(PLAN, loss=loss, decay=decay)
    network = stack(kind, dtype=torch.float64)
    train(network, data, plan, nothing)
    for number, module in enumerate(modules(kind, dtype=torch.float64)):
        before = {name: tensor.clone() for name, tensor in module.state_dict().items()}
        expected = plain_training(module, data, plan, RATES[number]).state_dict()
        found = network.state(number)
        for name, tensor in expected.items():
            # biases before a normalisation have gradient 0, up to rounding
            scale = tensor.double().abs().max().clamp(min=1e-4)
            assert (found[name] - tensor).abs().max() <= 1e-9 * scale, name
        assert (found["head.weight"] - before["head.weight"]).abs().max() > 1e-3


@pytest.mark.parametrize(
    ("fractions", "steps"), [((0.3, 0.6, 0.9), 400), ((0.7,), 10), ((0.3, 0.6), 7), ((), 5)]
)
def test_rates_are_divided_by_ten_at_the_fractions(fractions, steps):
    schedule = Schedule(fractions, steps)
    total = 0.0
    for done in range(steps + 1):
        assert schedule.total(done) == pytest.approx(total, rel=1e-12)
        passed = sum(done / steps >= f - 1e-9 for f in fractions)
        assert schedule.factor(done) == pytest.approx(10.0**-passed)
        total += schedule.factor(done)


def test_batches_are_balanced_and_interleaved_and_repeat_no_image():
    data = images()
    batches = epoch_batches(data.by_class(), 2, ("stream", 1))
    assert batches.shape == (4, 6)  # nine images of a class: one is left out
    assert batches.flatten().unique().numel() == 24
    for batch in batches:
        assert torch.equal(data.train_y[batch], batch_labels(CLASSES, 2))
    assert torch.equal(batches, epoch_batches(data.by_class(), 2, ("stream", 1)))
    assert not torch.equal(batches, epoch_batches(data.by_class(), 2, ("stream", 2)))


def test_the_left_out_images_change_from_epoch_to_epoch():
    data = images()
    used = set()
    for epoch in range(6):
        used |= set(epoch_batches(data.by_class(), 2, ("stream", epoch)).flatten().tolist())
    assert used == set(range(27))


@pytest.mark.parametrize("per_class", [None, 20])
def test_equal_numbers_of_a_dataset(per_class):
    dataset = digits()
    data = balanced_images(dataset, per_class=per_class, pool=2)
    smallest = np.bincount(dataset.train_labels).min()
    assert torch.bincount(data.train_y).tolist() == [per_class or smallest] * 10
    assert data.per_class == (per_class or smallest)
    assert data.shape == (1, 4, 4)
    assert len(data.test_x) == len(dataset.test_labels)
    assert data.test_y.tolist() == dataset.test_labels.tolist()
    assert 0 <= data.train_x.min() < data.train_x.max() <= 1
    pooled = dataset.test_images[0, :2, 2:4].mean() / 255
    assert data.test_x[0, 0, 0, 1] == pytest.approx(pooled, abs=1e-6)
    known = {
        image.tobytes(): label
        for image, label in zip(dataset.train_images, dataset.train_labels, strict=True)
    }
    whole = balanced_images(dataset, per_class=per_class)
    for image, label in zip(whole.train_x, whole.train_y, strict=True):
        pixels = np.round(image.numpy() * 255).astype(np.uint8).transpose(1, 2, 0)
        assert known[pixels.tobytes()] == label


def test_a_smaller_choice_is_part_of_a_larger_one():
    few = balanced_images(digits(), per_class=10).train_x.flatten(1)
    many = balanced_images(digits(), per_class=30).train_x.flatten(1)
    assert {tuple(x) for x in few.tolist()} < {tuple(x) for x in many.tolist()}


def test_resized():
    ramp = torch.arange(4.0).div(3).expand(1, 2, 4, 4)
    larger = resized(ramp, 8)
    # the centre of a new pixel lies a quarter of an old one from the centre of an old one
    expected = torch.tensor([0, 0.25, 0.75, 1.25, 1.75, 2.25, 2.75, 3]) / 3
    torch.testing.assert_close(larger, expected.expand(1, 2, 8, 8))
    noise = torch.rand(1, 1, 64, 64, generator=torch.Generator().manual_seed(0))
    assert resized(noise, 8).std() < 0.3 * noise.std()  # averaged, not picked out
    assert balanced_images(digits(), per_class=2, size=12).shape == (1, 12, 12)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"per_class": 10_000}, "per_class = 10000"),
        ({"per_class": 0}, "per_class = 0"),
        ({"pool": 3}, "pool = 3"),
    ],
)
def test_impossible_choices_are_refused(words, message):
    with pytest.raises(ConfigError, match=message):
        balanced_images(digits(), **words)


def test_rows():
    data = images()
    network = stack("vgg")
    result = train(network, data, PLAN, seen)
    keys = [(row["epoch"], row["replica"]) for row in result.history]
    assert keys == [(epoch, r) for epoch in range(1, 6) for r in range(3)]
    assert {tuple(row) for row in result.history} == {
        (
            "replica",
            "rate",
            "epoch",
            "train_loss",
            "train_accuracy",
            "train_accuracy_last10",
            "diverged",
        )
    }
    assert all(row["rate"] == RATES[row["replica"]] for row in result.history + result.measures)
    assert [(row["epoch"], row["of"]) for row in result.measures[::3]] == [(1, 1), (3, 3), (5, 5)]
    assert {row["label"] for row in result.measures} == {2}
    for row in result.measures:
        # 4 steps an epoch; rates change after 6, 12 and 18 steps
        sums = {1: 4, 3: 6 + 0.6, 5: 6 + 0.6 + 0.06 + 0.002}
        assert row["tau"] == pytest.approx(row["rate"] * sums[row["epoch"]] * 0.02 / 0.1)
    with torch.no_grad():
        _, outputs = network.forward(data.test_x, training=False)
    for row in result.measures[-3:]:
        found = outputs[row["replica"]]
        loss = F.mse_loss(found, F.one_hot(data.test_y, CLASSES).float()) / 2
        assert row["test_loss"] == pytest.approx(loss.item(), rel=1e-5)
        right = (found.argmax(1) == data.test_y).float().mean()
        assert row["test_accuracy"] == pytest.approx(right.item())


def test_losses_and_accuracies_are_those_of_the_batches_as_they_were_seen():
    """Of a module in train mode, before each step; 4 steps an epoch, so the last 10 overlap."""
    data = images(dtype=torch.float64)
    rows = []
    plan = replace(PLAN, rates=(0.1,), measure_at=())
    network = stack("vgg", 1, torch.float64)
    result = train(network, data, plan, nothing)
    module = modules("vgg", 1, torch.float64)[0].train()
    seen_by_module = []
    module.register_forward_hook(lambda _, __, outputs: seen_by_module.append(outputs.detach()))
    plain_training(module, data, plan, 0.1)
    labels = batch_labels(CLASSES, 2)
    losses = [(F.mse_loss(o, F.one_hot(labels, 3).double()) / 2).item() for o in seen_by_module]
    right = [(o.argmax(1) == labels).double().mean().item() for o in seen_by_module]
    assert len(losses) == 20
    for epoch in range(1, 6):
        row = result.history[epoch - 1]
        part = slice(4 * epoch - 4, 4 * epoch)
        rows.append(row)
        assert row["train_loss"] == pytest.approx(np.mean(losses[part]), rel=1e-8)
        assert row["train_accuracy"] == pytest.approx(np.mean(right[part]))
        last = right[max(0, 4 * epoch - 10) : 4 * epoch]
        assert row["train_accuracy_last10"] == pytest.approx(np.mean(last))


def test_a_network_with_one_infinite_loss_stays_out():
    """Squares of outputs overflow, but weights and gradients are finite."""
    network = stack("vgg")
    with torch.no_grad():
        network.parameters["head.bias"][1] = 1e30
    result = train(network, images(), PLAN, nothing)
    assert [row["diverged"] for row in result.history[-3:]] == [0, 1, 0]
    assert network.parameters["features.conv1.weight"][1].isnan().all()


def killed(network, data, plan, store, at):
    """Train with a checkpoint after every step, and be killed after number ``at`` of them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CheckpointStore, "save", killing(CheckpointStore.save, at, after=True))
        with pytest.raises(KilledError):
            train(network, data, plan, seen, store)


@pytest.mark.parametrize("kind", NETWORKS)
def test_an_interrupted_training_ends_with_the_bits_of_one_that_was_not(kind, tmp_path):
    """It is killed in the middle and at the end of epochs; one network diverges on the way."""
    data = images()
    plan = replace(PLAN, rates=(0.02, 0.4, 1e38))
    whole = stack(kind)
    expected = train(whole, data, plan, seen)
    store = CheckpointStore(tmp_path, "a", -1.0)
    for at in (1, 5, 4, 0):  # after 2, 8, 13 and 14 steps; an epoch has 4
        killed(stack(kind), data, plan, store, at)
    network = stack(kind)
    result = train(network, data, plan, seen, CheckpointStore(tmp_path, "a"))
    for name, tensor in numbers(whole).items():
        torch.testing.assert_close(numbers(network)[name], tensor, rtol=0, atol=0, equal_nan=True)
    assert repr(result) == repr(expected)
    # the last network must have started anew from the checkpoint, not from its first weights
    assert store.latest()["done"] == 14


def left_by_decay(plan, rate, decay, steps):
    """Share of a sum of weights that is left where the gradient of the loss is 0 for the sum."""
    schedule = Schedule(plan.decay_rate_at, steps)
    left = 1.0
    velocity = 0.0
    for step in range(steps):
        velocity = plan.momentum * velocity + decay * left
        left -= rate * schedule.factor(step) * (decay * left + plan.momentum * velocity)
    return left


@pytest.mark.parametrize("momentum", [0.0, 0.9])
def test_with_cross_entropy_decay_alone_shrinks_the_sum_over_classes_of_the_last_layer(momentum):
    """The errors p - y of a softmax sum to 0 over the classes, and so do the rows of dL/dW."""
    plan = replace(PLAN, loss="cross_entropy", decay=(0.1, 0.0, 0.02), momentum=momentum)
    network = stack("vgg", dtype=torch.float64)
    head = network.parameters["head.weight"]
    biases = network.parameters["head.bias"]
    weights_before = head.detach().clone()
    biases_before = biases.detach().clone()
    train(network, images(dtype=torch.float64), plan, lambda *_: [{}] * 3)
    steps = plan.epochs * 4
    exact = {"rtol": 1e-10, "atol": 1e-13}
    sums = head.detach().sum(dim=1)
    sums_before = weights_before.sum(dim=1)
    for number, (rate, decay) in enumerate(zip(RATES, plan.decay, strict=True)):
        left = left_by_decay(plan, rate, decay, steps)
        torch.testing.assert_close(sums[number], left * sums_before[number], **exact)
        if not momentum:
            schedule = Schedule(plan.decay_rate_at, steps)
            factors = [1 - rate * decay * schedule.factor(step) for step in range(steps)]
            assert left == pytest.approx(np.prod(factors), rel=1e-12)
    # biases do not decay
    torch.testing.assert_close(biases.detach().sum(dim=1), biases_before.sum(dim=1), **exact)
    assert (head.detach() - weights_before).abs().max() > 0.1  # the weights themselves learn


def test_with_the_squared_error_the_sum_over_classes_learns():
    plan = replace(PLAN, decay=0.02)
    network = stack("vgg", dtype=torch.float64)
    start = network.parameters["head.weight"].detach()[2].sum(dim=0)
    train(network, images(dtype=torch.float64), plan, lambda *_: [{}] * 3)
    end = network.parameters["head.weight"].detach()[2].sum(dim=0)
    left = left_by_decay(plan, RATES[2], 0.02, plan.epochs * 4)
    assert (end - left * start).abs().max() > 0.01 * start.abs().max()


def test_scale_invariant_weights_exchange_rate_and_decay():
    """(rate, decay, start) and (c rate, decay / c, sqrt(c) start) give one path up to its scale.

    van Laarhoven (2017); Li and Arora (2019), with Nesterov's momentum.
    """
    stream = torch.Generator().manual_seed(5)
    start, target = torch.randn(2, 1, 3, 4, generator=stream, dtype=torch.float64)
    ends = []
    for c in (1.0, 3.0, 16.0):
        weights = (c**0.5 * start).clone().requires_grad_()
        optimiser = NesterovSGD({"weight": weights}, 0.9, 0.05 / c)
        for _ in range(40):
            loss = (torch.tanh(3 * weights / weights.norm()) - target).square().sum()
            gradients = torch.autograd.grad(loss, [weights])
            with torch.no_grad():
                optimiser.step(gradients, torch.tensor([0.02 * c], dtype=torch.float64))
        ends.append(weights.detach() / c**0.5)
    for end in ends[1:]:
        torch.testing.assert_close(end, ends[0], rtol=1e-10, atol=1e-12)
    assert (ends[0] / ends[0].norm() - start / start.norm()).norm() > 0.3  # it has moved
