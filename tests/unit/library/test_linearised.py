"""The linearised network against training of the linear model itself, step by step."""

import math

import numpy as np
import pytest
import torch
from torch import nn

import finitewidth as fw

LOSSES = ("squared", "cross_entropy", "function")


class Net(nn.Module):
    """Float64, three outputs; or one for each input, (N,)."""

    def __init__(self, outputs=3, alone=False):
        super().__init__()
        torch.manual_seed(0)
        self.first = nn.Linear(4, 12)
        self.last = nn.Linear(12, outputs)
        self.alone = alone
        self.double()

    def forward(self, x):
        outputs = self.last(torch.tanh(self.first(x)))
        return outputs[:, 0] if self.alone else outputs


def huber(outputs, targets):
    return nn.functional.smooth_l1_loss(outputs, targets, beta=0.3)


@pytest.fixture
def data():
    """Training inputs, targets for three outputs, classes, and test inputs."""
    stream = torch.Generator().manual_seed(1)
    x = torch.randn((6, 4), generator=stream, dtype=torch.float64)
    y = torch.randn((6, 3), generator=stream, dtype=torch.float64)
    test = torch.randn((5, 4), generator=stream, dtype=torch.float64)
    return x, y, torch.tensor([0, 1, 2, 2, 1, 0]), test


class LinearModel:
    """f_0(x) + J(x) (theta - theta_0) with its parameters, which descend by J^T grad L."""

    def __init__(self, network):
        self.network = network
        self.parameters = list(network.parameters())
        self.change = torch.zeros(sum(p.numel() for p in self.parameters)).double()

    def at(self, x):
        """f_0 (N, K) and J (N, K, P)."""
        start = self.network(x)
        rows = []
        for output in start.flatten():
            gradient = torch.autograd.grad(output, self.parameters, retain_graph=True)
            rows.append(torch.cat([part.flatten() for part in gradient]))
        return start.detach(), torch.stack(rows).reshape(*start.shape, -1)

    def outputs(self, start, jacobian):
        return start + jacobian @ self.change

    def descend(self, start, jacobian, loss, rate):
        outputs = self.outputs(start, jacobian).requires_grad_()
        (gradient,) = torch.autograd.grad(loss(outputs), outputs)
        self.change = self.change - rate * torch.einsum("nk,nkp->p", gradient, jacobian)


def case(name, data):
    """The arguments of fw.linearised for a loss, and the loss of outputs itself."""
    _, y, classes, _ = data
    if name == "squared":
        return y, "squared", lambda f: (f - y).square().sum() / (2 * len(y))
    if name == "cross_entropy":
        return classes, name, lambda f: nn.functional.cross_entropy(f, classes)
    return y, huber, lambda f: huber(f, y)


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("rate", [0.05, 1.0])  # the second is unstable with the squared loss
def test_descent_is_that_of_the_linear_model(data, name, rate):
    x, *_, test = data
    y, loss, value = case(name, data)
    network = Net()
    line = fw.linearised(network, x, y, loss=loss, rate=rate)
    model = LinearModel(network)
    steps = [0, 1, 7, 30]
    at_train = model.at(x)
    at_test = model.at(test)
    outputs = []
    trained = []
    losses = []
    for step in range(31):
        if step in steps:
            outputs.append(model.outputs(*at_test))
            trained.append(model.outputs(*at_train))
            losses.append(value(trained[-1]))
        model.descend(*at_train, value, rate)
    close = {"rtol": 1e-8, "atol": 1e-8}
    torch.testing.assert_close(line.outputs(test, steps), torch.stack(outputs), **close)
    torch.testing.assert_close(line.train_outputs(steps), torch.stack(trained), **close)
    torch.testing.assert_close(line.loss(steps), torch.stack(losses), **close)
    torch.testing.assert_close(line.outputs(test, 7), outputs[2], **close)
    torch.testing.assert_close(line.loss(7), losses[2], **close)


@pytest.mark.parametrize("name", LOSSES)
def test_flow_is_the_limit_of_small_steps(data, name):
    """The error of n steps is of order 1/n, so that 2 f_2n - f_n has one of order 1/n^2."""
    x, *_, test = data
    y, loss, _ = case(name, data)
    flow = fw.linearised(Net(), x, y, loss=loss).outputs(test, 2.0)
    fine = fw.linearised(Net(), x, y, loss=loss, rate=2.0 / 200).outputs(test, 200)
    finer = fw.linearised(Net(), x, y, loss=loss, rate=2.0 / 400).outputs(test, 400)
    torch.testing.assert_close(2 * finer - fine, flow, rtol=0, atol=1e-4)
    assert (finer - flow).abs().max() > 1e-5


@pytest.mark.parametrize(("kind", "from_network"), [("traced", False), ("full", True)])
def test_integration_agrees_with_the_closed_form(data, kind, from_network):
    """The squared loss as a function is integrated; times may come in any order."""
    x, y, _, test = data
    options = {"kind": kind, "from_network": from_network}
    closed = fw.linearised(Net(), x, y, **options)
    value = case("squared", data)[2]
    integrated = fw.linearised(Net(), x, y, loss=lambda f, _: value(f), **options)
    times = [3.0, 0.0, 40.0, 0.1, 3.0]
    found = integrated.outputs(test, times)
    expected = closed.outputs(test, times)
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(integrated.loss(1.0), closed.loss(1.0), rtol=1e-5, atol=1e-6)
    start = Net()(test).detach() if from_network else torch.zeros(5, 3)
    torch.testing.assert_close(closed.outputs(test, 0), start.double())


@pytest.mark.parametrize("from_network", [False, True])
@pytest.mark.parametrize("kind", ["traced", "full"])
@pytest.mark.parametrize("rate", [None, 0.1])
def test_the_end_is_kernel_regression(data, kind, from_network, rate):
    x, y, _, test = data
    options = {"kind": kind, "from_network": from_network}
    line = fw.linearised(Net(), x, y, rate=rate, **options)
    model = fw.KernelRegression(Net(), **options).fit(x, y)
    torch.testing.assert_close(line.outputs(test), model.predict(test), rtol=1e-8, atol=1e-8)
    torch.testing.assert_close(line.train_outputs(), y)
    assert line.loss() < 1e-20
    late = line.outputs(test, 10**7)
    torch.testing.assert_close(late, line.outputs(test), rtol=1e-6, atol=1e-6)


def test_what_the_kernel_does_not_see_is_not_learned(data):
    """Two equal inputs with different targets: the kernel is singular, and the mean is learned."""
    x, y, _, test = data
    twice = torch.cat([x, x[:1]])
    targets = torch.cat([y, -y[:1]])
    line = fw.linearised(Net(), twice, targets)
    merged = torch.cat([torch.zeros(1, 3), y[1:]]).double()
    at_end = torch.cat([merged, merged[:1]])
    torch.testing.assert_close(line.train_outputs(), at_end, rtol=0, atol=1e-9)
    expected = fw.linearised(Net(), x, merged).outputs(test)
    torch.testing.assert_close(line.outputs(test), expected, rtol=1e-7, atol=1e-7)
    assert int((line.eigenvalues == 0).sum()) == 3
    torch.testing.assert_close(line.outputs(test, 1e12), line.outputs(test), rtol=1e-6, atol=1e-6)


def test_the_largest_stable_rate_follows_from_the_eigenvalues(data):
    x, y, _, test = data
    largest = 2 / float(fw.linearised(Net(), x, y).eigenvalues[-1])
    fw.linearised(Net(), x, y, rate=0.99 * largest).outputs(test)
    unstable = fw.linearised(Net(), x, y, rate=1.01 * largest)
    with pytest.raises(fw.ConfigError, match=f"give a rate below {largest:g}"):
        unstable.outputs(test)
    assert unstable.loss(4000) > unstable.loss(0)


def test_targets_of_one_column_give_outputs_of_one_axis(data):
    """Outputs (N, 1) less targets (N,) would be (N, N)."""
    x, y, _, test = data
    line = fw.linearised(Net(1), x, y[:, 0])
    column = fw.linearised(Net(1), x, y[:, :1])
    alone = fw.linearised(Net(1, alone=True), x, y[:, 0])
    assert line.outputs(test, 1.0).shape == (5,)
    assert line.train_outputs([1.0, 2.0]).shape == (2, 6)
    assert column.outputs(test, 1.0).shape == (5, 1)
    torch.testing.assert_close(line.outputs(test, 1.0), column.outputs(test, 1.0)[:, 0])
    torch.testing.assert_close(alone.outputs(test, 1.0), line.outputs(test, 1.0))
    torch.testing.assert_close(line.loss(1.0), column.loss(1.0))


@pytest.mark.parametrize("as_tuple", [False, True])
def test_inputs_of_several_arguments(data, as_tuple):
    """Tokens, say, and their mask; the network takes them by name or by position."""
    x, y, _, test = data

    class Two(Net):
        def forward(self, left, right):
            return super().forward(torch.cat([left, right], dim=1))

    def halves(x):
        parts = x[:, :1], x[:, 1:]
        return parts if as_tuple else dict(zip(("left", "right"), parts, strict=True))

    expected = fw.linearised(Net(), x, y).outputs(test, 1.0)
    line = fw.linearised(Two(), halves(x), y)
    torch.testing.assert_close(line.outputs(halves(test), 1.0), expected)
    model = fw.KernelRegression(Two(), kind="full", ridge=0.1, from_network=True)
    alone = fw.KernelRegression(Net(), kind="full", ridge=0.1, from_network=True).fit(x, y)
    found = model.fit(halves(x), y).predict(halves(test), return_std=True)
    for part, one in zip(found, alone.predict(test, return_std=True), strict=True):
        torch.testing.assert_close(part, one)
    with pytest.raises(fw.ConfigError, match="X: "):
        model.predict(test)


def test_probabilities_and_classes_are_the_same_targets(data):
    x, _, classes, test = data
    one_hot = nn.functional.one_hot(classes, 3)
    found = [
        fw.linearised(Net(), x, targets, loss="cross_entropy").outputs(test, 5.0)
        for targets in (classes, classes.numpy(), one_hot, one_hot.numpy() / 1.0)
    ]
    for outputs in found[1:]:
        torch.testing.assert_close(outputs, found[0])


def test_later_changes_of_the_network_do_not_matter(data):
    x, y, _, test = data
    network = Net()
    line = fw.linearised(network, x, y)
    expected = line.outputs(test, 1.0)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(1)
    y.add_(1), x.add_(1)
    torch.testing.assert_close(line.outputs(test, 1.0), expected)
    assert line.loss() < 1e-20


def test_arrays_and_single_precision(data):
    x, y, _, test = data
    expected = fw.linearised(Net(), x, y).outputs(test, 3.0)
    line = fw.linearised(Net().float(), x.numpy(), y.numpy())
    found = line.outputs(test.numpy(), 3.0)
    assert found.dtype == torch.float64
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"kind": "precomputed"}, "kind = 'precomputed'"),
        ({"loss": "hinge"}, "loss = 'hinge'"),
        ({"rate": 0.0}, "rate = 0.0"),
        ({"tolerance": math.nan}, "tolerance = nan"),
        ({"network": "resnet"}, "network: str must be a torch module"),
        ({"y": torch.tensor([0, 1, 2, 2, 1, 0])}, "y: integers .* not taken as classes"),
        ({"y": torch.ones(6, 2)}, "y: 2 columns must be 3 with loss='squared'"),
        ({"y": torch.ones(6)}, "y: 1 columns must be 3 with loss='squared'"),
        ({"y": torch.ones(5, 3)}, r"y: shape \(5, 3\)"),
        ({"loss": "cross_entropy", "y": torch.ones(6)}, "y: classes must be integers"),
        ({"loss": "cross_entropy", "y": torch.arange(6)}, "y: classes must be 0 to 2"),
        ({"loss": "cross_entropy", "y": torch.arange(6) - 1}, "y: classes must be 0 to 2"),
        ({"loss": "cross_entropy", "network": Net(1)}, "an output for each class"),
        ({"loss": huber, "y": torch.ones(5, 3)}, r"y: shape \(5, 3\) must have 6 rows"),
        ({"widht": 3}, "widht: unknown option"),
    ],
)
def test_bad_arguments(data, changes, message):
    x, y, *_ = data
    arguments = {"network": Net(), "y": y} | changes
    with pytest.raises(fw.ConfigError, match=message):
        fw.linearised(arguments.pop("network"), x, **arguments)


@pytest.mark.parametrize(
    ("options", "t", "message"),
    [
        ({}, -1.0, "t: -1.0 must be"),
        ({}, math.nan, "t: nan must be"),
        ({}, [], r"t: \[\] must be"),
        ({}, [[1.0]], r"t: \[\[1.0\]\] must be"),
        ({"rate": 0.1}, 1.5, "whole number of steps"),
        ({"loss": huber}, math.inf, "inf is for the squared loss"),
        ({"loss": huber, "rate": 0.1}, math.inf, "inf is for the squared loss"),
        ({"loss": lambda f, y: (f - y).square()}, 1.0, "loss: it must return one number"),
        ({"loss": lambda f, y: f.detach().sum()}, 1.0, "loss: no gradient arrives"),
    ],
)
def test_bad_times_and_losses(data, options, t, message):
    x, y, *_ = data
    line = fw.linearised(Net(), x, y, **options)
    with pytest.raises(fw.ConfigError, match=message):
        line.outputs(x, t)


def test_times_are_numbers_tensors_or_arrays(data):
    x, y, *_ = data
    line = fw.linearised(Net(), x, y)
    expected = line.loss([1.0, 2.0])
    for times in (np.array([1, 2]), torch.tensor([1.0, 2.0]), (1, 2), range(1, 3)):
        assert torch.equal(line.loss(times), expected)
    assert torch.equal(line.loss(np.float32(1)), expected[0])
