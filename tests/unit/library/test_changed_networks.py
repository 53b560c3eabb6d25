"""Predictions are those of the network at the fit, whatever becomes of it afterwards."""

import copy
import pickle

import joblib
import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from torch import nn
from torch.nn.utils import prune

import finitewidth as fw
from finitewidth.library.snapshot import Snapshot


class Net(nn.Module):
    """Convolutions with batch norm, a tensor that is no buffer, and features."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.body = nn.Sequential(
            nn.Conv1d(1, 6, 3), nn.BatchNorm1d(6), nn.Dropout(0.5), nn.Tanh(), nn.Flatten()
        )
        self.last = nn.Linear(12, 2)
        self.shift = torch.ones(2)
        self.power = 1.0

    def features(self, x):
        return self.body(x[:, None])

    def forward(self, x):
        return self.last(self.features(x)) ** self.power + self.shift


class Recurrent(nn.Module):
    """A recurrent network, which lists its weights twice."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.lstm = nn.LSTM(2, 5, batch_first=True)
        self.last = nn.Linear(5, 2)

    def forward(self, x):
        return self.last(self.lstm(x.reshape(-1, 2, 2))[0][:, -1])


def train(network):
    """Three steps in train mode, which also move the statistics of batch norm."""
    network.train()
    descent = torch.optim.SGD(network.parameters(), lr=0.5)
    for _ in range(3):
        descent.zero_grad()
        network(torch.ones(5, 4)).square().sum().backward()
        descent.step()


def add_to_parameters(network):
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(0.5)


def load_another(network):
    other = Net()
    add_to_parameters(other)
    network.load_state_dict(other.state_dict())


def replace_data(network):
    network.last.weight.data = torch.zeros(2, 12)


def replace_parameter(network):
    network.last.weight = nn.Parameter(torch.zeros(2, 12))


def change_buffers(network):
    network.body[1].running_mean.add_(3)
    network.body[1].running_var = torch.full((6,), 9.0)


def to_double(network):
    network.double()


def freeze(network):
    network.body.requires_grad_(False)


def to_train_mode(network):
    network.train()


def replace_module(network):
    network.last = nn.Linear(12, 7)


def change_order(network):
    network.body[1], network.body[3] = network.body[3], nn.Identity()


def delete_parameter(network):
    del network.last.weight


def delete_bias(network):
    network.last.bias = None


def prune_weights(network):
    prune.random_unstructured(network.last, "weight", 0.5)


def parametrise(network):
    nn.utils.parametrizations.weight_norm(network.last)
    add_to_parameters(network)


def add_hook(network):
    network.last.register_forward_hook(lambda module, inputs, outputs: outputs * 0)


def change_attributes(network):
    network.shift.add_(1)
    network.power = 2.0
    network.body[1].eps = 3.0


CHANGES = (
    train,
    add_to_parameters,
    load_another,
    replace_data,
    replace_parameter,
    change_buffers,
    to_double,
    freeze,
    to_train_mode,
    replace_module,
    change_order,
    delete_parameter,
    delete_bias,
    prune_weights,
    parametrise,
    add_hook,
    change_attributes,
)


@pytest.fixture
def data():
    """Training inputs, targets, and test inputs."""
    stream = torch.Generator().manual_seed(1)
    return [torch.randn(shape, generator=stream) for shape in ((6, 4), (6, 2), (3, 4))]


def fitted(network, x, y, **options):
    arguments = {"kind": "full", "ridge": 1e-3, "from_network": True} | options
    return fw.KernelRegression(network, **arguments).fit(x, y)


def contents(network):
    """All that a network holds, to compare with later."""
    return [
        (
            type(module),
            module.training,
            {name: id(value) for name, value in vars(module).items() if name != "training"},
            [(name, id(p), p.clone(), p.requires_grad) for name, p in module.named_parameters()],
            [(name, id(b), b.clone()) for name, b in module.named_buffers()],
            [(name, id(child)) for name, child in module.named_children()],
            list(module._forward_hooks),
        )
        for module in network.modules()
    ]


def same(one, two):
    if isinstance(one, torch.Tensor):
        return one.dtype == two.dtype and torch.equal(one, two)
    if isinstance(one, list | tuple):
        return len(one) == len(two) and all(map(same, one, two))
    return one == two


@pytest.mark.parametrize(
    ("change", "selected"),
    [*((change, False) for change in CHANGES), (train, True), (replace_module, True)],
)
def test_changes_of_the_network_do_not_change_predictions(data, change, selected):
    """Predictions and deviations stay, with of= too, and the network keeps what it has."""
    x, y, test = data
    network = Net().eval()
    options = {"of": lambda x: network(x) + network.features(x)[:, :2]} if selected else {}
    model = fitted(network, x, y, **options)
    mean, deviation = model.predict(test, return_std=True)
    change(network)
    before = contents(network)
    again, deviation_again = model.predict(test, return_std=True)
    torch.testing.assert_close(again, mean, rtol=1e-9, atol=1e-9)
    torch.testing.assert_close(deviation_again, deviation, rtol=1e-6, atol=1e-6)
    assert same(contents(network), before)


def test_a_trained_network_and_its_linearisation_beside_each_other(data):
    """The use for which the estimator is made: predictions are not a mixture of two networks."""
    x, y, test = data
    network = Net().eval()
    model = fitted(network, x, y)
    first = copy.deepcopy(network)
    train(network)
    network.eval()
    expected = fitted(first, x, y).predict(test)
    torch.testing.assert_close(model.predict(test), expected)
    assert (fitted(network, x, y).predict(test) - expected).norm() > 0.1
    with torch.no_grad():
        assert (network(test) - first(test)).norm() > 0.1


@pytest.mark.parametrize("change", [train, to_double])
@pytest.mark.parametrize("kind", ["traced", "full"])
def test_arrays_get_the_type_of_the_fit(data, change, kind):
    x, y, test = (part.numpy() for part in data)
    network = Net().eval()
    model = fitted(network, x, y, kind=kind)
    expected = model.predict(test)
    change(network)
    np.testing.assert_allclose(model.predict(test), expected, rtol=1e-9)


def test_weights_that_a_recurrent_network_lists_twice(data):
    x, y, test = data
    network = Recurrent().eval()
    model = fitted(network, x, y)
    expected = model.predict(test)
    network.lstm.weight_ih_l0 = nn.Parameter(torch.zeros(20, 2))
    add_to_parameters(network)
    torch.testing.assert_close(model.predict(test), expected)
    assert network.lstm._flat_weights[0] is network.lstm.weight_ih_l0


@pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated:DeprecationWarning")
def test_a_network_that_is_a_script(data):
    x, y, test = data
    network = torch.jit.script(nn.Sequential(nn.Linear(4, 9), nn.Dropout(), nn.Linear(9, 2)).eval())
    model = fitted(network, x, y)
    expected = model.predict(test)
    add_to_parameters(network)
    network.train()
    torch.testing.assert_close(model.predict(test), expected)
    assert network.training


def other_module(network, head):
    add_to_parameters(head)


def other_tensor(network, head):
    head.scale *= 2


def other_function(network, head):
    head.forward = lambda features: features[:, 2:4]


@pytest.mark.parametrize("change", [other_module, other_tensor, other_function])
def test_changes_outside_the_network_are_refused(data, change):
    """What of= takes from elsewhere is not kept; without a check it is not looked at."""
    x, y, test = data
    network = Net().eval()
    head = nn.Linear(12, 2)
    head.scale = torch.ones(1)

    def selected(x):
        return head(network.features(x)) * head.scale

    model = fitted(network, x, y, of=selected)
    unchecked = fitted(network, x, y, of=selected, check=False)
    change(network, head)
    with pytest.raises(fw.ConfigError, match="something else that it uses has changed"):
        model.predict(test)
    unchecked.predict(test)
    model.fit(x, y).predict(test)


def test_another_network_counts_from_the_next_fit_on(data):
    x, y, test = data
    other = Net().eval()
    add_to_parameters(other)
    model = fitted(Net().eval(), x, y)
    first = model.predict(test)
    model.set_params(network=other)
    torch.testing.assert_close(model.predict(test), first)
    torch.testing.assert_close(model.fit(x, y).predict(test), fitted(other, x, y).predict(test))


@pytest.mark.parametrize("fault", ["shape", "interrupt"])
def test_a_failed_prediction_puts_the_network_back(data, fault, monkeypatch):
    x, y, _ = data
    network = Net().eval()
    model = fitted(network, x, y)
    train(network)
    before = contents(network)
    if fault == "shape":
        with pytest.raises(fw.ConfigError):
            model.predict(torch.ones(3, 5))
    else:

        def interrupted(*arguments, **options):
            raise KeyboardInterrupt

        monkeypatch.setattr("finitewidth.library.fixed_kernel.cross_kernel", interrupted)
        with pytest.raises(KeyboardInterrupt):
            model.predict(x)
    assert same(contents(network), before)


@pytest.mark.parametrize("network", [Net, Recurrent])
@pytest.mark.parametrize("way", ["pickle", "joblib", "deepcopy"])
def test_a_stored_estimator_keeps_the_network_of_the_fit(data, network, way, tmp_path):
    x, y, test = data
    network = network().eval()
    model = fitted(network, x, y)
    expected = model.predict(test)
    add_to_parameters(network)
    network.train()
    if way == "pickle":
        stored = pickle.loads(pickle.dumps(model))
    elif way == "joblib":
        joblib.dump(model, tmp_path / "model")
        stored = joblib.load(tmp_path / "model")
    else:
        stored = copy.deepcopy(model)
    torch.testing.assert_close(stored.predict(test), expected)
    assert stored.network is not network
    assert torch.equal(stored.network.last.weight, network.last.weight)  # the present ones
    add_to_parameters(stored.network)
    torch.testing.assert_close(stored.predict(test), expected)


def test_a_clone_takes_the_network_as_it_is_at_its_own_fit(data):
    x, y, test = data
    network = Net().eval()
    model = fitted(network, x, y)
    first = model.predict(test)
    add_to_parameters(network)
    second = clone(model).fit(x, y).predict(test)
    torch.testing.assert_close(second, fitted(network, x, y).predict(test))
    assert (second - first).norm() > 0.1
    torch.testing.assert_close(model.predict(test), first)


def test_a_search_over_ridges_and_a_training_afterwards(data):
    x, y, test = data
    network = Net().eval()
    model = fw.KernelRegression(network, kind="full", from_network=True)
    search = GridSearchCV(model, {"ridge": [1e-3, 1e-1]}, cv=2).fit(x.numpy(), y.numpy())
    expected = search.predict(test.numpy())
    train(network)
    np.testing.assert_allclose(search.predict(test.numpy()), expected, rtol=1e-6)


def test_fits_and_predictions_in_inference_mode(data):
    x, y, test = data
    network = Net().eval()
    expected = fitted(network, x, y).predict(test)
    with torch.inference_mode():
        model = fitted(network, x, y)
        torch.testing.assert_close(model.predict(test), expected)
    add_to_parameters(network)
    torch.testing.assert_close(model.predict(test), expected)


def test_a_live_graph_of_a_training_survives_a_prediction(data):
    """A prediction between forward and backward pass leaves the gradients as they are."""
    x, y, test = data
    network = Net().eval()
    model = fitted(network, x, y)
    add_to_parameters(network)
    expected = torch.autograd.grad(network(x).square().sum(), [*network.parameters()])
    loss = network(x).square().sum()
    model.predict(test)
    loss.backward()
    for parameter, gradient in zip(network.parameters(), expected, strict=True):
        torch.testing.assert_close(parameter.grad, gradient)


def test_a_tied_parameter_is_copied_once():
    network = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))
    network[1].weight = network[0].weight
    snapshot = Snapshot(network)
    assert len(snapshot._values) == 3
    with snapshot.restored():
        assert network[1].weight is network[0].weight
