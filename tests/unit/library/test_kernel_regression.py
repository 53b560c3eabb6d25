"""Kernel regression: shapes, start values, columns, precomputed kernels, scikit-learn's rules."""

import pickle

import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from sklearn.metrics import r2_score
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.utils.estimator_checks import parametrize_with_checks
from torch import nn

import finitewidth as fw
from finitewidth.kernels.trained import Options
from finitewidth.library.regression import OPTIONS

INPUTS = 12


class WithFeatures(nn.Module):
    """A network whose method ``features`` can be given as ``of``."""

    def __init__(self, outputs=3, size=4):
        super().__init__()
        torch.manual_seed(0)
        self.flatten = nn.Flatten()
        self.first = nn.Linear(size, 30)
        self.last = nn.Linear(30, outputs)

    def features(self, x):
        return torch.tanh(self.first(self.flatten(x)))

    def forward(self, x):
        return self.last(self.features(x))


class Padded(nn.Module):
    """A network for any number of features up to 32, as the checks of scikit-learn need it."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.layers = nn.Sequential(nn.Linear(32, 64), nn.Tanh(), nn.Linear(64, 1)).double()

    def forward(self, x):
        return self.layers(nn.functional.pad(x, (0, 32 - x.shape[1])))


@pytest.fixture
def network():
    return WithFeatures().double()


@pytest.fixture
def data():
    """Training inputs, targets of three columns, and test inputs."""
    stream = torch.Generator().manual_seed(1)
    shapes = ((INPUTS, 4), (INPUTS, 3), (5, 4))
    return [torch.randn(shape, generator=stream, dtype=torch.float64) for shape in shapes]


def expected_failures(model):
    if model.kind == "precomputed":
        return {
            "check_positive_only_tag_during_fit": "subtracts a number from a kernel, which then is "
            "not positive definite"
        }
    return {
        "check_estimators_overwrite_params": "compares networks by joblib.hash, which differs "
        "between a tensor and its copy; test_fit_leaves_the_network_as_it_is compares them"
    }


@parametrize_with_checks(
    [fw.KernelRegression(Padded(), ridge=1e-3), fw.KernelRegression(kind="precomputed", ridge=10)],
    expected_failed_checks=expected_failures,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_it_is_a_regressor_of_scikit_learn(estimator, check):
    check(estimator)


def test_fit_leaves_the_network_as_it_is(network, data):
    x, y, _ = data
    before = {name: value.clone() for name, value in network.state_dict().items()}
    fw.KernelRegression(network, kind="full", from_network=True).fit(x, y)
    for name, value in network.state_dict().items():
        assert torch.equal(value, before[name])
    for module in network.modules():
        assert not module._forward_hooks
        assert not module._backward_hooks
    assert all(p.grad is None and p.requires_grad for p in network.parameters())


@pytest.mark.parametrize("kind", ["traced", "full"])
def test_the_start_is_what_is_selected(network, data, kind):
    """With a large ridge the prediction stays at its start."""
    x, _, test = data
    model = fw.KernelRegression(
        network, kind=kind, ridge=1e12, from_network=True, of=network.features
    ).fit(x, torch.zeros(INPUTS, 30))
    torch.testing.assert_close(model.predict(test), network.features(test).detach())
    assert model.n_outputs_ == 30


@pytest.mark.parametrize("columns", [(), (1,), (2,), (4,)])
@pytest.mark.parametrize("options", [{"kind": "full"}, {"from_network": True}])
def test_targets_need_a_column_for_each_output(network, data, columns, options):
    x = data[0]
    with pytest.raises(fw.ConfigError, match=r"columns must be 3 with (kind='full'|from_network)"):
        fw.KernelRegression(network, **options).fit(x, torch.zeros(INPUTS, *columns))


@pytest.mark.parametrize(("ridge", "columns"), [(0.0, 3), (0.1, 3), (0.1, 2), (0.1, 5)])
def test_a_column_does_not_depend_on_the_others(network, data, ridge, columns):
    x, y, test = data
    y = torch.cat([y, y**2], dim=1)[:, :columns]
    model = fw.KernelRegression(network, ridge=ridge)
    together = model.fit(x, y).predict(test)
    assert together.shape == (5, columns)
    for k in range(columns):
        alone = model.fit(x, y[:, k]).predict(test)
        assert alone.shape == (5,)
        torch.testing.assert_close(alone, together[:, k])
        torch.testing.assert_close(model.fit(x, y[:, k : k + 1]).predict(test)[:, 0], alone)


@pytest.mark.parametrize("kind", ["traced", "full"])
def test_arrays_give_arrays_and_tensors_give_tensors(data, kind):
    x, y, test = data
    network = WithFeatures()  # float32, as torch makes it
    model = fw.KernelRegression(network, kind=kind, ridge=0.1)
    expected = model.fit(x.float(), y).predict(test.float())
    assert expected.dtype == torch.float64
    fits = (x.numpy(), y.numpy()), (x.float(), y.numpy()), (x.numpy(), y), (x.tolist(), y.tolist())
    for inputs, targets in fits:
        found = model.fit(inputs, targets).predict(test.numpy())
        assert isinstance(found, np.ndarray)
        np.testing.assert_array_equal(found, expected.numpy())
        assert torch.equal(model.predict(test.float()), expected)


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
@pytest.mark.parametrize("where", ["X", "y", "test"])
@pytest.mark.parametrize("as_array", [False, True])
def test_numbers_that_are_not_finite_are_refused(network, data, number, where, as_array):
    damaged = dict(zip(("X", "y", "test"), (part.clone() for part in data), strict=True))
    damaged[where][0, 0] = number
    x, y, test = (part.numpy() if as_array else part for part in damaged.values())
    name = "y" if where == "y" else "X"
    with pytest.raises(fw.ConfigError, match=rf"\b{name}\b"):
        fw.KernelRegression(network, ridge=1.0).fit(x, y).predict(test)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"kind": "diagonal"},
            "kind = 'diagonal': must be one of traced, full, wide, wide_nngp, precomputed",
        ),
        ({"ridge": -1.0}, "ridge = -1.0"),
        ({"ridge": float("nan")}, "ridge = nan"),
        ({"ridge": "0"}, "ridge = '0'"),
        ({"network": None}, "network: NoneType must be a torch module"),
        ({"parameters": lambda name: False}, "no parameter is counted"),
        ({"kind": "precomputed"}, "network: not used with kind='precomputed'"),
        ({"network": None, "kind": "precomputed", "from_network": True}, "from_network: not used"),
        ({"network": None, "kind": "precomputed", "budget": 5}, "budget: not used"),
    ],
)
def test_arguments_are_checked_by_fit(network, data, arguments, message):
    model = fw.KernelRegression(**{"network": network} | arguments)
    with pytest.raises(fw.ConfigError, match=message):
        model.fit(*data[:2])


def test_it_takes_every_option_of_the_kernels_of_modules(network, data):
    x, y, test = data
    assert set(OPTIONS) == set(Options.__annotations__) - {"dtype"}  # dtype is for stacks

    def counted(name):
        return name.startswith("first")

    options = {"parameters": counted, "budget": 10**6, "check": False}
    model = fw.KernelRegression(network, ridge=0.1, **options)
    theta = fw.traced_kernel(network, torch.cat([x, test]), parameters=counted) / 3
    regular = theta[:INPUTS, :INPUTS] + 0.1 * torch.eye(INPUTS)
    expected = theta[INPUTS:, :INPUTS] @ torch.linalg.solve(regular, y)
    torch.testing.assert_close(model.fit(x, y).predict(test), expected)


def test_a_clone_and_a_pickle_compute_with_their_network(network, data):
    x, y, test = data
    model = fw.KernelRegression(network, ridge=0.1, of=network.features)
    expected = model.fit(x, y).predict(test)
    copy = clone(model)
    assert copy.network is network
    assert not hasattr(copy, "coefficients_")
    torch.testing.assert_close(copy.fit(x, y).predict(test), expected)
    stored = pickle.loads(pickle.dumps(model))
    torch.testing.assert_close(stored.predict(test), expected)
    torch.testing.assert_close(stored.fit(x, y).predict(test), expected)


def test_the_score_is_r2(network, data):
    x, y, test = data
    model = fw.KernelRegression(network, ridge=0.1).fit(x, y)
    targets = y[:5]
    weights = np.arange(5.0)
    prediction = model.predict(test).numpy()
    assert model.score(test, targets) == pytest.approx(r2_score(targets.numpy(), prediction))
    expected = r2_score(targets.numpy(), prediction, sample_weight=weights)
    assert model.score(test.numpy(), targets.numpy(), weights) == pytest.approx(expected)


@pytest.mark.parametrize("form", ["tensor", "array", "file"])
def test_a_precomputed_kernel_gives_the_same(network, data, form, tmp_path):
    x, y, test = data
    expected = fw.KernelRegression(network, ridge=0.1).fit(x, y).predict(test)
    theta = fw.traced_kernel(network, torch.cat([x, test])) / 3
    if form != "tensor":
        theta = theta.numpy()
    if form == "file":
        np.save(tmp_path / "kernel.npy", theta)
        theta = np.load(tmp_path / "kernel.npy", mmap_mode="r")
    before = theta.tolist()
    model = fw.KernelRegression(kind="precomputed", ridge=0.1).fit(theta[:INPUTS, :INPUTS], y)
    found = model.predict(theta[INPUTS:, :INPUTS])
    assert isinstance(found, torch.Tensor if form == "tensor" else np.ndarray)
    np.testing.assert_allclose(np.asarray(found), expected.numpy(), rtol=1e-10)
    assert theta.tolist() == before


def test_cross_validation_splits_both_axes_of_a_precomputed_kernel(network, data):
    x = data[0].numpy()
    y = data[1].numpy()
    theta = fw.traced_kernel(network, data[0]).numpy() / 3
    folds = KFold(3)
    expected = cross_val_predict(fw.KernelRegression(network, ridge=0.1), x, y, cv=folds)
    model = fw.KernelRegression(kind="precomputed", ridge=0.1)
    np.testing.assert_allclose(cross_val_predict(model, theta, y, cv=folds), expected, rtol=1e-10)


def network_and_joint(network, data, kind):
    """The kernel of training and test inputs together, as a matrix, and the sizes of both."""
    x, _, test = data
    both = torch.cat([x, test])
    if kind == "traced":
        return fw.traced_kernel(network, both) / 3, len(x)
    theta = fw.full_kernel(network, both)
    # (input, output), so that the training inputs come first
    return theta.permute(1, 0, 3, 2).reshape(3 * len(both), -1), 3 * len(x)


@pytest.mark.parametrize("from_network", [False, True])
@pytest.mark.parametrize("kind", ["traced", "full"])
def test_deviations_are_those_of_the_joint_normal_law(network, data, kind, from_network):
    """The conditional covariance of the joint law of training and test outputs."""
    x, y, test = data
    theta, size = network_and_joint(network, data, kind)
    noisy = theta[:size, :size] + 0.1 * torch.eye(size)
    across = theta[size:, :size]
    covariance = theta[size:, size:] - across @ torch.linalg.solve(noisy, across.mT)
    expected = covariance.diagonal().sqrt()
    expected = expected[:, None].expand(5, 3) if kind == "traced" else expected.reshape(5, 3)
    model = fw.KernelRegression(network, kind=kind, ridge=0.1, from_network=from_network)
    mean, deviation = model.fit(x, y).predict(test, return_std=True)
    torch.testing.assert_close(deviation, expected)
    torch.testing.assert_close(mean, model.predict(test))


def test_deviations_are_those_of_a_linear_model_with_normal_parameters(network, data):
    """Weights N(0, 1), outputs J w, targets with noise 0.1: the posterior of w, and of J w."""
    x, y, test = data
    parameters = list(network.parameters())

    def jacobian(x):
        rows = []
        for output in network(x).flatten():
            gradient = torch.autograd.grad(output, parameters, retain_graph=True)
            rows.append(torch.cat([part.flatten() for part in gradient]))
        return torch.stack(rows)

    seen = jacobian(x)
    expected = jacobian(test)
    precision = torch.eye(seen.shape[1]) + seen.mT @ seen / 0.1
    variance = (expected * torch.linalg.solve(precision, expected.mT).mT).sum(1)
    model = fw.KernelRegression(network, kind="full", ridge=0.1).fit(x, y)
    _, deviation = model.predict(test, return_std=True)
    torch.testing.assert_close(deviation, variance.sqrt().reshape(5, 3))


@pytest.mark.parametrize("columns", [1, 2])
def test_it_is_the_gaussian_process_of_scikit_learn(columns):
    draw = np.random.default_rng(0)
    x = draw.normal(size=(9, 2))
    y = draw.normal(size=(9, columns))
    test = draw.normal(size=(4, 2))
    y = y[:, 0] if columns == 1 else y
    kernel = ConstantKernel(2.5) * RBF(0.7)
    process = GaussianProcessRegressor(kernel, alpha=0.2, optimizer=None).fit(x, y)
    model = fw.KernelRegression(kind="precomputed", ridge=0.2).fit(kernel(x), y)
    found = model.predict(kernel(test, x), return_std=True, prior_variance=kernel.diag(test))
    for ours, theirs in zip(found, process.predict(test, return_std=True), strict=True):
        assert ours.shape == theirs.shape
        np.testing.assert_allclose(ours, theirs, rtol=1e-9)


@pytest.mark.parametrize("kind", ["traced", "full"])
def test_deviations_vanish_at_the_training_inputs_and_are_never_nan(network, data, kind):
    x, y, test = data
    model = fw.KernelRegression(network, kind=kind, ridge=0.0).fit(x, y)
    _, deviation = model.predict(x, return_std=True)
    prior = fw.kernel_diagonal(network, x).mean().sqrt()
    assert deviation.isfinite().all()
    assert deviation.max() < 1e-4 * prior
    _, elsewhere = model.predict(test, return_std=True)
    assert elsewhere.min() > 1e-2 * prior
    _, of_array = model.predict(test.numpy(), return_std=True)
    np.testing.assert_array_equal(of_array, elsewhere.numpy())


def test_with_much_noise_deviations_are_those_of_the_prior(network, data):
    x, y, test = data
    model = fw.KernelRegression(network, kind="full", ridge=1e9).fit(x, y)
    _, deviation = model.predict(test, return_std=True)
    torch.testing.assert_close(deviation, fw.kernel_diagonal(network, test).mT.sqrt())


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        (None, "prior_variance: with kind='precomputed', return_std needs the kernel"),
        (np.ones(4), r"prior_variance: shape \(4,\) must be \(5,\)"),
        (np.ones((5, 1)), r"prior_variance: shape \(5, 1\) must be \(5,\)"),
        (-np.ones(5), "of numbers >= 0"),
        (np.full(5, np.nan), "of numbers >= 0"),
    ],
)
def test_a_precomputed_kernel_needs_the_variances_of_the_prior(prior, message):
    model = fw.KernelRegression(kind="precomputed", ridge=0.1).fit(np.eye(3), np.ones(3))
    with pytest.raises(fw.ConfigError, match=message):
        model.predict(np.ones((5, 3)), return_std=True, prior_variance=prior)


def test_variances_of_the_prior_are_for_precomputed_kernels(network, data):
    x, y, test = data
    model = fw.KernelRegression(network, ridge=0.1).fit(x, y)
    with pytest.raises(fw.ConfigError, match="it is for kind='precomputed'"):
        model.predict(test, return_std=True, prior_variance=np.ones(5))


@pytest.mark.parametrize("kind", ["traced", "full"])
@pytest.mark.parametrize("as_array", [False, True])
def test_classes_are_not_taken_for_numbers(network, data, kind, as_array):
    """Integers (N,) with several outputs; one-hot rows, or floating-point numbers, are clear."""
    x = data[0]
    classes = torch.arange(INPUTS) % 3
    model = fw.KernelRegression(network, kind=kind, ridge=0.1)
    with pytest.raises(fw.ConfigError, match="are not taken as classes; give one-hot labels"):
        model.fit(x, classes.numpy() if as_array else classes)
    model.fit(x, nn.functional.one_hot(classes))
    fw.KernelRegression(network, ridge=0.1).fit(x, classes.double())
    fw.KernelRegression(WithFeatures(1).double(), kind=kind, ridge=0.1).fit(x, classes)


def test_inputs_in_place_of_a_kernel_are_refused(data):
    """As many features as inputs have the shape of a kernel; only one half of it would be read."""
    square = torch.cat([data[0]] * 3, dim=1)
    assert square.shape == (INPUTS, INPUTS)
    with pytest.raises(fw.ConfigError, match="not symmetric"):
        fw.KernelRegression(kind="precomputed", ridge=100.0).fit(square, data[1])


@pytest.mark.parametrize("columns", [(), (1,), (2,)])
def test_a_score_needs_the_columns_of_the_fit(network, data, columns):
    x, y, test = data
    model = fw.KernelRegression(network, ridge=0.1).fit(x, y)
    with pytest.raises(fw.ConfigError, match="y: "):
        model.score(test, torch.zeros(5, *columns))
    one = fw.KernelRegression(network, ridge=0.1).fit(x, y[:, 0])
    assert one.score(test, y[:5, :1]) == one.score(test, y[:5, 0])  # as r2_score takes them
