"""The limit of infinite width as the kernel of regressions and of linearised networks."""

import pickle

import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from torch import nn

import finitewidth as fw

TRAIN, TEST = 10, 5
LAW = {"sigma_w2": 1.7, "sigma_b2": 0.2}
IDENTITY = torch.eye(TRAIN, dtype=torch.float64)
CLOSE = {"rtol": 1e-8, "atol": 1e-9}


def dense(outputs=2, width=24):
    return nn.Sequential(nn.Linear(3, width), nn.ReLU(), nn.Linear(width, outputs))


class Convolutional(nn.Module):
    """Sequences of three channels; the mean over time needs all pairs of positions."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv1d(3, 8, 3, padding=1)
        self.inner = nn.Conv1d(8, 8, 3, padding=1)
        self.head = nn.Linear(8, 2)

    def forward(self, x):
        h = self.first(x)
        h = h + self.inner(torch.erf(h))
        return self.head(torch.erf(h).mean(2))


NETWORKS = {"dense": (dense, (3,)), "convolutional": (Convolutional, (3, 4))}


def data_of(shape=(3,)):
    """Training inputs, targets of two columns, and test inputs."""
    stream = torch.Generator().manual_seed(0)
    sizes = ((TRAIN, *shape), (TRAIN, 2), (TEST, *shape))
    return [torch.randn(size, generator=stream, dtype=torch.float64) for size in sizes]


@pytest.fixture
def data():
    return data_of()


def kernels(network, x, test, **law):
    """Theta and K of training and test inputs together."""
    both = torch.cat([x, test])
    return [fw.wide_kernel(network, both, kind=kind, **law) for kind in ("ntk", "nngp")]


def variances(covariance, learned):
    """The variances of f_0(x) + A (y - f_0(X)), from the covariance of f_0 at all inputs."""
    combination = torch.cat([-learned, torch.eye(TEST, dtype=torch.float64)], dim=1)
    return (combination @ covariance @ combination.mT).diagonal()


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("ridge", [0.0, 0.3])
@pytest.mark.parametrize("parametrisation", ["ntk", "standard"])
def test_wide_is_the_law_of_trained_networks(name, ridge, parametrisation):
    make, shape = NETWORKS[name]
    x, y, test = data_of(shape)
    law = {**LAW, "parametrisation": parametrisation}
    theta, covariance = kernels(make(), x, test, **law)
    learned = theta[TRAIN:, :TRAIN] @ torch.linalg.inv(theta[:TRAIN, :TRAIN] + ridge * IDENTITY)
    model = fw.KernelRegression(make(), kind="wide", ridge=ridge, **law).fit(x, y)
    mean, deviation = model.predict(test, return_std=True)
    torch.testing.assert_close(mean, learned @ y, **CLOSE)
    expected = variances(covariance, learned).sqrt()[:, None].expand(TEST, 2)
    torch.testing.assert_close(deviation, expected, **CLOSE)
    torch.testing.assert_close(model.predict(test), mean)


@pytest.mark.parametrize("ridge", [0.0, 0.3])
def test_wide_nngp_is_the_conditional_normal_law(data, ridge):
    x, y, test = data
    _, covariance = kernels(dense(), x, test, **LAW)
    noisy = covariance[:TRAIN, :TRAIN] + ridge * IDENTITY
    across = covariance[TRAIN:, :TRAIN]
    left = covariance[TRAIN:, TRAIN:] - across @ torch.linalg.solve(noisy, across.mT)
    model = fw.KernelRegression(dense(), kind="wide_nngp", ridge=ridge, **LAW).fit(x, y[:, 0])
    mean, deviation = model.predict(test, return_std=True)
    torch.testing.assert_close(mean, across @ torch.linalg.solve(noisy, y[:, 0]), **CLOSE)
    torch.testing.assert_close(deviation, left.diagonal().sqrt(), **CLOSE)


def test_training_of_the_last_layer_alone_is_bayesian(data):
    """Samples of the posterior are networks of which only the last layer is trained."""
    x, y, test = data
    frozen = dense()
    frozen[0].requires_grad_(False)
    last = fw.KernelRegression(frozen, kind="wide", **LAW).fit(x, y)
    bayesian = fw.KernelRegression(dense(), kind="wide_nngp", **LAW).fit(x, y)
    pairs = zip(last.predict(test, True), bayesian.predict(test, True), strict=True)
    for trained, posterior in pairs:
        torch.testing.assert_close(trained, posterior, rtol=1e-7, atol=1e-7)
    # with noise they differ: the training has the targets themselves
    last.set_params(ridge=0.3).fit(x, y)
    bayesian.set_params(ridge=0.3).fit(x, y)
    assert (last.predict(test, True)[1] < 0.99 * bayesian.predict(test, True)[1]).all()


class Scaled(nn.Linear):
    """A layer with standard normal parameters, scaled as in the NTK parametrisation."""

    def __init__(self, fan_in, fan_out):
        super().__init__(fan_in, fan_out)
        nn.init.normal_(self.weight)
        nn.init.normal_(self.bias)

    def forward(self, x):
        weights = (LAW["sigma_w2"] / self.in_features) ** 0.5 * self.weight
        return nn.functional.linear(x, weights, LAW["sigma_b2"] ** 0.5 * self.bias)


def test_an_ensemble_of_wide_networks_has_this_law():
    """200 networks of width 500 with two outputs each, linearised exactly.

    The mean of 400 outputs has a standard error of deviation / 20, and their variance a relative
    one of sqrt(2 / 399) = .07. Each is taken 4.5 times, which a correct law exceeds at one of five
    inputs with probability 3e-5. The spread of kernels, of order 1/500, adds .1 to the variance.
    """
    x, y, test = data_of()
    y = 0.3 * y[:, :1].expand(-1, 2)
    torch.manual_seed(1)
    found = []
    for _ in range(200):
        network = nn.Sequential(Scaled(3, 500), nn.ReLU(), Scaled(500, 2)).double()
        model = fw.KernelRegression(network, kind="full", ridge=0.1, from_network=True, check=False)
        found.append(model.fit(x, y).predict(test))
    sample = torch.stack(found, dim=1).reshape(TEST, 400)
    model = fw.KernelRegression(dense(), kind="wide", ridge=0.1, **LAW).fit(x, y)
    mean, deviation = (each[:, 0] for each in model.predict(test, return_std=True))
    assert ((sample.mean(1) - mean).abs() < 4.5 / 20 * deviation).all()
    ratios = sample.var(1) / deviation.square()
    assert ((ratios - 1).abs() < 4.5 * 0.07 + 0.1).all()
    # the Gaussian process with Theta as its covariance has deviations of about twice this size
    theta, _ = kernels(dense(), x, test, **LAW)
    process = fw.KernelRegression(kind="precomputed", ridge=0.1).fit(theta[:TRAIN, :TRAIN], y)
    prior = theta.diagonal()[TRAIN:]
    _, other = process.predict(theta[TRAIN:, :TRAIN], True, prior_variance=prior)
    assert (sample.var(1) / other[:, 0].square() < 0.6).all()


@pytest.mark.parametrize("rate", [None, 0.3])
def test_the_linearised_limit_at_any_time(data, rate):
    """The matrix of what is learned, from its definition: an exponential, or a power."""
    x, y, test = data
    theta, covariance = kernels(dense(), x, test, **LAW)
    line = fw.linearised(dense(), x, y, kind="wide", rate=rate, **LAW)
    seen = theta[:TRAIN, :TRAIN] / TRAIN
    times = [0, 3, 40]
    outputs = line.outputs(test, times)
    deviations = line.deviations(test, times)
    for at, time in enumerate(times):
        left = torch.linalg.matrix_exp(-time * seen)
        if rate is not None:
            left = torch.linalg.matrix_power(IDENTITY - rate * seen, time)
        learned = theta[TRAIN:, :TRAIN] / TRAIN @ torch.linalg.solve(seen, IDENTITY - left)
        torch.testing.assert_close(outputs[at], learned @ y, **CLOSE)
        expected = variances(covariance, learned).sqrt()[:, None].expand(TEST, 2)
        torch.testing.assert_close(deviations[at], expected, **CLOSE)
    model = fw.KernelRegression(dense(), kind="wide", **LAW).fit(x, y)
    mean, deviation = model.predict(test, return_std=True)
    torch.testing.assert_close(line.outputs(test), mean, rtol=1e-7, atol=1e-7)
    torch.testing.assert_close(line.deviations(test), deviation, rtol=1e-7, atol=1e-7)
    torch.testing.assert_close(line.train_outputs(), y)


def test_the_linearised_limit_with_cross_entropy(data):
    """Descent of the outputs at all inputs themselves."""
    x, _, test = data
    classes = torch.arange(TRAIN) % 2
    theta, _ = kernels(dense(), x, test, **LAW)
    outputs = torch.zeros(TRAIN + TEST, 2, dtype=torch.float64)
    for _ in range(5):
        seen = outputs[:TRAIN].clone().requires_grad_()
        (gradient,) = torch.autograd.grad(nn.functional.cross_entropy(seen, classes), seen)
        outputs = outputs - 0.5 * theta[:, :TRAIN] @ gradient
    law = {"kind": "wide", "loss": "cross_entropy", **LAW}
    line = fw.linearised(dense(), x, classes, rate=0.5, **law)
    torch.testing.assert_close(line.outputs(test, 5), outputs[TRAIN:], **CLOSE)
    with pytest.raises(fw.ConfigError, match="other losses have no closed form"):
        line.deviations(test, 5)


def test_deviations_of_a_linearised_network_are_refused(data):
    x, y, test = data
    line = fw.linearised(dense().double(), x, y)
    with pytest.raises(fw.ConfigError, match="deviations: they are those of kind='wide'"):
        line.deviations(test)


def test_a_column_is_predicted_alone_and_shapes_follow_the_targets(data):
    x, y, test = data
    model = fw.KernelRegression(dense(), kind="wide", **LAW)
    many = torch.cat([y, y.square()], dim=1)
    together, spread = model.fit(x, many).predict(test, return_std=True)
    assert together.shape == spread.shape == (TEST, 4)
    for column in range(4):
        alone, deviation = model.fit(x, many[:, column]).predict(test, return_std=True)
        torch.testing.assert_close(alone, together[:, column])
        torch.testing.assert_close(deviation, spread[:, column])
    line = fw.linearised(dense(1), x, y[:, 0], kind="wide", **LAW)
    assert line.deviations(test, [1.0, 2.0, 3.0]).shape == (3, TEST)


def test_deviations_vanish_at_the_training_inputs(data):
    x, y, _ = data
    model = fw.KernelRegression(dense(), kind="wide", **LAW).fit(x, y)
    _, deviation = model.predict(x, return_std=True)
    assert deviation.max() < 1e-6
    assert fw.linearised(dense(), x, y, kind="wide", **LAW).deviations(x).max() < 1e-6


def test_weights_do_not_matter_and_later_changes_neither(data):
    x, y, test = data
    network = dense()
    models = [fw.KernelRegression(net, kind="wide", **LAW).fit(x, y) for net in (network, dense())]
    expected = models[0].predict(test, return_std=True)
    for one, other in zip(expected, models[1].predict(test, return_std=True), strict=True):
        assert torch.equal(one, other)
    fresh = clone(models[0]).fit(x, y)  # its deviations are computed after the changes
    line = fw.linearised(network, x, y, kind="wide", **LAW)
    network[0].requires_grad_(False)
    network[1] = nn.Tanh()
    network.append(nn.Linear(2, 2))
    pairs = *models[0].predict(test, True), *fresh.predict(test, True)
    for found, one in zip(pairs, expected * 2, strict=True):
        assert torch.equal(found, one)
    torch.testing.assert_close(line.deviations(test), expected[1], rtol=1e-7, atol=1e-7)
    assert (clone(fresh).fit(x, y).predict(test) - expected[0]).norm() > 1e-3


def test_a_change_outside_the_network_is_refused(data):
    x, y, test = data
    outside = {"factor": 1.0}

    class Scaled(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = dense()

        def forward(self, x):
            return self.layers(x) * outside["factor"]

    model = fw.KernelRegression(Scaled(), kind="wide", **LAW).fit(x, y)
    model.predict(test)
    outside["factor"] = 2.0
    with pytest.raises(fw.ConfigError, match="its limit is not what it was"):
        model.predict(test)


def test_clones_pickles_pipelines_and_searches(data):
    x, y, test = (part.numpy() for part in data)
    network = dense()
    variances_of_layers = {"0": 2.0, "2": 1.0}
    model = fw.KernelRegression(network, kind="wide", sigma_w2=variances_of_layers, sigma_b2=0.1)
    assert clone(model).get_params() == model.get_params()
    expected = model.fit(x, y).predict(test, return_std=True)
    variances_of_layers["0"] = 5.0  # the fit has a copy
    stored = pickle.loads(pickle.dumps(model))
    for fitted in (model, stored):
        for found, one in zip(fitted.predict(test, return_std=True), expected, strict=True):
            assert isinstance(found, np.ndarray)
            np.testing.assert_array_equal(found, one)
    pipeline = make_pipeline(StandardScaler(), clone(model).set_params(kind="wide_nngp"))
    grid = {"kernelregression__ridge": [0.1, 1.0], "kernelregression__sigma_w2": [1.0, 2.0]}
    search = GridSearchCV(pipeline, grid, cv=2).fit(x, y)
    assert search.predict(test).shape == (TEST, 2)
    assert search.best_params_["kernelregression__ridge"] in (0.1, 1.0)


def test_the_type_of_the_network_and_a_tiny_budget_do_not_matter(data):
    x, y, test = data
    rounded = [part.float() for part in (x, test)]
    expected = (
        fw.KernelRegression(dense(), kind="wide", **LAW).fit(rounded[0], y).predict(rounded[1])
    )
    for network in (dense(), dense().double(), dense().half()):
        model = fw.KernelRegression(network, kind="wide", budget=2000, **LAW)
        found = model.fit(rounded[0].double(), y).predict(rounded[1].double())
        torch.testing.assert_close(found, expected)


ERRORS = [
    ({"kind": "wide"}, "sigma_w2: kind='wide' needs the variance"),
    ({"kind": "wide", "sigma_w2": 0.0}, "sigma_w2 = 0.0"),
    ({"kind": "wide", "sigma_w2": {"0": 1.0}}, "sigma_w2: it has no number for the layer '2'"),
    ({"kind": "wide", "sigma_w2": 1.0, "parametrisation": "mup"}, "parametrisation = 'mup'"),
    ({"kind": "wide", "sigma_w2": 1.0, "from_network": True}, "from_network: not used with kind"),
    ({"kind": "wide", "sigma_w2": 1.0, "check": False}, "check: not used with kind='wide'"),
    (
        {"kind": "wide", "sigma_w2": 1.0, "parameters": "2"},
        r"parameters: .*requires_grad_\(False\)",
    ),
    ({"kind": "full", "sigma_w2": 1.0}, "sigma_w2: not used with kind='full'"),
    ({"kind": "traced", "parametrisation": "standard"}, "parametrisation: not used with kind='tr"),
]


@pytest.mark.parametrize(("arguments", "message"), ERRORS)
def test_arguments_are_checked(data, arguments, message):
    x, y, _ = data
    with pytest.raises(fw.ConfigError, match=message):
        fw.KernelRegression(dense().double(), **arguments).fit(x, y)
    with pytest.raises(fw.ConfigError, match=message):
        fw.linearised(dense().double(), x, y, **arguments)


def test_more_arguments_are_checked(data):
    x, y, _ = data
    with pytest.raises(fw.ConfigError, match="sigma_b2: not used with kind='precomputed'"):
        fw.KernelRegression(kind="precomputed", sigma_b2=0.1).fit(torch.eye(TRAIN), y)
    with pytest.raises(
        fw.ConfigError, match="kind = 'wide_nngp': must be one of traced, full, wide"
    ):
        fw.linearised(dense(), x, y, kind="wide_nngp", **LAW)
    pooled = nn.Sequential(nn.Unflatten(1, (1, 3)), nn.Conv1d(1, 4, 1), nn.MaxPool1d(3))
    with pytest.raises(fw.ConfigError, match="takes a maximum over positions"):
        fw.KernelRegression(pooled, kind="wide", **LAW).fit(x, y)
    twice = torch.cat([x, x[:1]])
    with pytest.raises(fw.ConfigError, match="is singular; give a larger ridge"):
        fw.KernelRegression(dense(), kind="wide", **LAW).fit(twice, torch.cat([y, y[:1]]))


def test_inputs_of_several_arguments(data):
    x, y, test = data

    class Two(nn.Module):
        def __init__(self):
            super().__init__()
            self.left = nn.Linear(1, 8)
            self.right = nn.Linear(2, 8)
            self.last = nn.Linear(8, 1)

        def forward(self, left, right):
            return self.last(torch.relu(self.left(left) + self.right(right)))

    def halves(x):
        return x[:, :1], x[:, 1:]

    theta = fw.wide_kernel(Two(), halves(torch.cat([x, test])), **LAW)
    model = fw.KernelRegression(Two(), kind="wide", **LAW).fit(halves(x), y)
    expected = theta[TRAIN:, :TRAIN] @ torch.linalg.solve(theta[:TRAIN, :TRAIN], y)
    torch.testing.assert_close(model.predict(halves(test)), expected, **CLOSE)
    mapping = dict(zip(("left", "right"), halves(x), strict=True))
    _, deviation = model.fit(mapping, y).predict(mapping, return_std=True)
    assert deviation.max() < 1e-6
