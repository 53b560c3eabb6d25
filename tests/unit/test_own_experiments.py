"""Experiments on a network of the user: closed forms, training, gates, and figures."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from tests import artwork, redrawn
from torch.func import functional_call, jacrev

import finitewidth as fw
from finitewidth.common.errors import ConfigError
from finitewidth.data.bundled import digits
from finitewidth.experiments.own import dispersion, gates, training
from finitewidth.experiments.own.drawn import Networks, few
from finitewidth.figures import style
from finitewidth.figures.own import extra_dispersion, extra_gates, extra_training

MLP = "kind: fully_connected\nwidths: [12, 10]\ninit: {sigma_w2: 2.0}\n"
CONV = "kind: convolutional\nchannels: [3]\ndense: [6]\nactivation: gelu\n"
TRAINING = {
    "train": 60, "test": 40, "per_class": 2, "runs": 2, "optimiser": "adam", "rate": 0.005,
    "batch_size": 16, "loss": "squared", "times": [0, 1, 4], "maps": [0, 4],
}  # fmt: skip
DISPERSION = {"per_class": 1, "draws": 5, "resamples": 50}


@pytest.fixture(scope="module")
def data():
    return digits()


def network(folder, text=MLP, name="net.yaml"):
    (folder / name).write_text(text, encoding="utf-8")
    return {"file": f"{folder / name}{':make' * name.endswith('.py')}", "digest": "0"}


def few_classes(data, classes):
    """The first classes only."""
    found = {}
    for split in ("train", "test"):
        labels = getattr(data, f"{split}_labels")
        found |= {f"{split}_images": getattr(data, f"{split}_images")[labels < classes],
                  f"{split}_labels": labels[labels < classes]}  # fmt: skip
    return replace(data, class_names=data.class_names[:classes], **found)


def test_the_dispersion_of_a_two_layer_network_is_that_of_the_exact_sampler(
    data, tmp_path, one_thread
):
    file = network(tmp_path, "kind: fully_connected\nwidths: [5]\ninit: {sigma_w2: 2.0}\n")
    own = few_classes(data, 2)
    found = dispersion.measure(
        {"data": own}, {"network": file, "per_class": 1, "draws": 1000, "resamples": 200}
    )
    x, _ = few(own, 1)
    init = fw.network([64, 5, 1], sigma_w2=2.0)
    exact = [fw.ntk_moments(init, input_norm2=float(row @ row)).dispersion for row in x.flatten(1)]
    drawn = fw.draw_ntk(init, draws=1000, input_norm2=float(x[0].square().sum()), seed=1)
    one = found["summary"].set_index("outputs").loc["one output"]
    assert abs(one["r"] - np.mean(exact)) < 4 * one["standard_error"]
    assert abs(fw.dispersion(drawn).value - exact[0]) < 4 * fw.dispersion(drawn).standard_error
    # the bootstrap of whole draws agrees with that of one image
    alone = dispersion.dispersion(drawn[:, None], 1000, "test")
    assert alone["r"] == pytest.approx(fw.dispersion(drawn).value)
    assert alone["standard_error"] == pytest.approx(fw.dispersion(drawn).standard_error, rel=0.2)
    ratios = found["draws"].query("outputs == 'one output'").groupby("image")["ratio"]
    assert (ratios.apply(lambda v: (v**2).mean()).mean()) == pytest.approx(one["r"])


def test_the_kernels_are_those_of_autograd(data, tmp_path):
    own, file = few_classes(data, 2), network(tmp_path, CONV)
    found = dispersion.measure({"data": own}, {**DISPERSION, "network": file})
    x, _ = few(own, 1)
    networks, theta = Networks(file, own), []
    for draw in range(DISPERSION["draws"]):
        module = networks.draw("dispersion", draw).double()
        weights = dict(module.named_parameters())
        rows = jacrev(lambda w, m=module: functional_call(m, w, (x.double(),)))(weights)
        theta.append(sum(torch.einsum("ik...,jk...->ij", row, row) for row in rows.values()))
    mean = torch.stack(theta).detach().mean(0).numpy()
    deviation = torch.stack(theta).detach().std(0).numpy()
    scale = np.diag(mean).mean()
    for name, wanted in (("mean", mean), ("deviation", deviation)):
        entries = found["kernels"][found["kernels"]["quantity"] == name]
        np.testing.assert_allclose(
            entries["share"], wanted[entries["row"], entries["column"]] / scale, rtol=1e-4
        )


def test_other_words_give_other_weights_and_the_same_words_the_same(data, tmp_path):
    networks = Networks(network(tmp_path), data)
    one, same, other = (networks.draw("training", run)[1].weight for run in (0, 0, 1))
    assert torch.equal(one, same)
    assert not torch.equal(one, other)


FIXED = """
import torch
from torch import nn

def make(input_shape, classes):
    torch.manual_seed(0)
    return nn.Sequential(nn.Flatten(), nn.Linear(64, classes))
"""


def test_a_factory_that_is_not_random_is_refused(data, tmp_path):
    file = network(tmp_path, FIXED, "fixed.py")
    with pytest.raises(ConfigError, match=r"fixed.py:make has the same weights at every call"):
        dispersion.measure({"data": data}, {**DISPERSION, "network": file})


BATCHES = """
from torch import nn

class Net(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.last = nn.Linear(64, classes)

    def forward(self, x):
        x = x.flatten(1)
        return self.last(x - x.mean(0))

def make(input_shape, classes):
    return Net(classes)
"""


def test_a_network_that_mixes_inputs_has_no_kernel(data, tmp_path):
    file = network(tmp_path, BATCHES, "mixing.py")
    with pytest.raises(ConfigError, match="mixes inputs"):
        dispersion.measure({"data": data}, {**DISPERSION, "network": file})


def test_training_follows_plain_torch(data, tmp_path):
    file = network(tmp_path)
    settings = {**TRAINING, "network": file, "batch_size": 1000, "optimiser": "sgd", "runs": 1}
    found = training.measure({"data": data}, settings)
    module = Networks(file, data).draw("training", 0)
    # a batch of all images does not depend on their order
    images = training.Images(
        training.stratified_subset(data, 60, 40, ("own", "training")), settings["per_class"]
    )
    x, y = images.train
    for _ in range(4):
        loss = 0.5 * (module(x) - torch.eye(10)[y]).square().sum(1).mean()
        gradients = torch.autograd.grad(loss, list(module.parameters()))
        with torch.no_grad():
            for parameter, gradient in zip(module.parameters(), gradients, strict=True):
                parameter -= settings["rate"] * gradient
    for name, value in module.state_dict().items():
        np.testing.assert_allclose(found["weights"][f"run0/step4/{name}"], value, atol=1e-5)
    last = found["rows"].iloc[-1]
    kernel = fw.traced_kernel(module, images.kernel)
    assert last["diagonal"] == pytest.approx(float(kernel.diagonal().mean()), rel=1e-4)
    full = fw.full_kernel(module, images.kernel).flatten(2).flatten(0, 1)
    largest = float(torch.linalg.eigvalsh(full).max()) / len(images.kernel)
    assert last["eigenvalue"] == pytest.approx(largest, rel=1e-4)


def test_a_rate_that_diverges_is_named(data, tmp_path):
    settings = {**TRAINING, "network": network(tmp_path), "optimiser": "sgd", "rate": 1e30}
    with pytest.raises(ConfigError, match=r"own.training.rate: the loss is not finite"):
        training.measure({"data": data}, settings)


def observed(data, folder, text=MLP, **changes):
    """Tables of all three experiments."""
    file = network(folder, text)
    settings = {**TRAINING, "network": file, **changes}
    first = dispersion.measure({"data": data}, {**DISPERSION, "network": file})
    second = training.measure({"data": data}, settings)
    third = gates.measure({"data": data, "weights": second["weights"]}, settings)
    return {"own_extra_dispersion": first, "own_extra_training": second, "own_extra_gates": third}


def test_gates_are_counted_as_by_hand(data, tmp_path):
    tables = observed(data, tmp_path, runs=1)
    found, weights = tables["own_extra_gates"], tables["own_extra_training"]["weights"]
    x, labels = few(training.stratified_subset(data, 60, 40, ("own", "training")), 2)
    module = Networks(network(tmp_path), data).draw("training", 0)
    on = {}
    for step in (0, 4):
        module.load_state_dict(gates.state(weights, 0, step))
        first = module[:2](x)
        on[step] = first > 0, module[2:4](first) > 0
    rows = found["rows"].query("step == 4")
    changed = [
        float((now != before).double().mean()) for now, before in zip(*on.values(), strict=True)
    ]
    np.testing.assert_allclose(rows["changed"], changed)
    shared = [layer.double() @ layer.double().T for layer in on[4]]
    kernel = (x.flatten(1).double() @ x.flatten(1).double().T) * shared[0] * shared[1]
    entries = found["kernels"].query("step == 4")
    wanted = (kernel / kernel.diagonal().mean()).numpy()
    np.testing.assert_allclose(
        entries["share"], wanted[entries["row"], entries["column"]], rtol=1e-4, atol=1e-6
    )
    assert set(found["paths"]["kernel"]) == {"neural path kernel"}
    assert len(labels) == 20


@pytest.mark.parametrize("text", [MLP, CONV], ids=["paths", "overlap"])
def test_figures(text, data, tmp_path):
    style.apply()
    tables = observed(data, tmp_path, text)
    renderers = {"own_extra_dispersion": extra_dispersion, "own_extra_training": extra_training,
                 "own_extra_gates": extra_gates}  # fmt: skip
    for name, renderer in renderers.items():
        frames = {key: table for key, table in tables[name].items() if key != "weights"}
        _, figure = redrawn.redrawn(renderer, frames, {}, tmp_path)
        style.add_mark(figure, "your network: net.yaml · digits 8×8")
        assert not artwork.faults(figure), name
