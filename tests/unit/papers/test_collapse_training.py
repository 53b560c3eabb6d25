"""Trainings of ``collapse`` at a small size, and what is measured during them."""

import re

import numpy as np
import pytest
import torch
from tests.helpers.collapse_trainings import TRAINING
from tests.helpers.kernels_by_jacobian import jacobian_kernel
from tests.helpers.measuring import measured

from finitewidth.common.errors import ConfigError
from finitewidth.data.bundled import digits
from finitewidth.data.catalogue import SOURCES
from finitewidth.measures import collapse
from finitewidth.networks.normalised.plain import build, initial_state
from finitewidth.networks.normalised.specs import Network
from finitewidth.networks.normalised.stacked import StackedNetwork
from finitewidth.papers.collapse.experiments import training
from finitewidth.papers.collapse.experiments.disk import disk
from finitewidth.papers.collapse.experiments.heat_maps import trained_network
from finitewidth.papers.collapse.experiments.images import chosen_images
from finitewidth.papers.collapse.experiments.training import kernels_of
from finitewidth.papers.collapse.settings.pairs import Pair, Rates
from finitewidth.records.provenance import base_seed
from finitewidth.settings.typed import section_from

NETWORKS = [
    {"kind": "vgg", "convolutions": [4, "M", 8, "M"], "dense": [8, 6]},
    {"kind": "resnet", "channels": [4, 6], "blocks": [1, 1]},
    {"kind": "densenet", "growth": 3, "blocks": [1, 1], "stem": 4},
]
PAIR = section_from(Pair, TRAINING)


def trained(**changes):
    with base_seed(0):
        return measured(training.measure, {"data": digits()}, TRAINING | changes)


@pytest.fixture(scope="module")
def tables():
    return trained()


def test_every_network_is_there_at_every_epoch(tables):
    history = tables["history"]
    measures = tables["measures"]
    assert list(history["epoch"]) == [1] * 4 + [2] * 4 + [3] * 4
    assert list(measures["epoch"]) == [2] * 4 + [3] * 4
    assert list(measures["replica"]) == [0, 1, 2, 3] * 2
    assert list(measures["init"][:4]) == ["lecun", "lecun", "he", "he"]
    assert list(measures["rate"][:4]) == [0.02, 0.2] * 2
    assert list(measures["rate_index"][:4]) == [0, 1] * 2
    assert np.isfinite(measures.select_dtypes("number")).all(axis=None)
    assert list(tables["weights"]["replica"]) == [0, 1]


def test_the_kept_weights_take_as_much_disk_as_the_settings_say(tables):
    written = sum(a.nbytes for name, a in tables["weights"].items() if name != training.REPLICA)
    assert disk(PAIR, SOURCES["digits"]).weights == written


def test_networks_of_one_initialisation_start_alike():
    rates = TRAINING["rates"] | {"values": [1e-9, 2e-9]}
    found = trained(rates=rates, epochs=1, keep=["lecun", "he"])
    weights = found["weights"]["features.conv1.weight"]
    np.testing.assert_allclose(weights[1], weights[0], atol=1e-6)
    np.testing.assert_allclose(weights[3], weights[2], atol=1e-6)
    assert np.abs(weights[2] - weights[0]).max() > 0.1


def test_a_network_does_not_depend_on_the_others_in_its_stack(tables):
    """Nor on how many are trained at once; a replica is the same up to rounding."""
    alone = trained(inits=["he"], rates=TRAINING["rates"] | {"values": [0.02]}, keep=["he"])
    pieces = trained(stack=3)
    for found, replica in ((alone, 0), (pieces, 2)):
        measures = found["measures"]
        row = measures[(measures["replica"] == replica) & (measures["epoch"] == 2)]
        expected = tables["measures"].query("replica == 2 and epoch == 2")
        columns = ["nc3", "kappa_c", "alignment_theta", "test_accuracy", "tau"]
        np.testing.assert_allclose(row[columns], expected[columns], rtol=1e-3)
    assert list(pieces["measures"]["replica"]) == [0, 1, 2, 3] * 2
    assert list(pieces["weights"]["replica"]) == [0, 1]


def test_rates_are_those_that_the_captions_print():
    settings = TRAINING["rates"] | {"values": None, "indices": [19, 20, 21, 22]}
    found = training.rates_of(section_from(Rates, settings))
    assert [index for index, _ in found] == [19, 20, 21, 22]
    assert [round(rate, 3) for _, rate in found] == [0.049, 0.068, 0.094, 0.131]


def stack_of(network):
    """A stack in float64 with statistics of one batch, and a batch of 3 images of 10 classes."""
    spec = Network.from_mapping(network)
    module = build(spec, (1, 8, 8), 10).double()
    states = [initial_state(module, init, "test") for init in ("lecun", "he")]
    stack = StackedNetwork(spec, (1, 8, 8), 10, states)
    images = torch.rand(30, 1, 8, 8, generator=torch.Generator().manual_seed(0)).double()
    stack.forward(images, training=True)
    return spec, stack, images, torch.arange(10).repeat(3)


@pytest.mark.parametrize("network", NETWORKS, ids=lambda network: network["kind"])
def test_measures_of_a_stack_are_those_of_plain_networks(network):
    spec, stack, images, labels = stack_of(network)
    before = {name: tensor.clone() for name, tensor in stack.buffers.items()}
    with torch.no_grad():
        found = training.measured(build(spec, (1, 8, 8), 10), PAIR, stack, images, labels, 1)
    for name, tensor in stack.buffers.items():
        assert torch.equal(before[name], tensor)
    for replica, row in enumerate(found):
        module = build(spec, (1, 8, 8), 10).double()
        module.load_state_dict(stack.state(replica))
        module.eval()
        chosen = labels.argsort(stable=True).view(10, 3)[:, :2].flatten()
        theta = torch.einsum("kikj->ij", jacobian_kernel(module, images[chosen], module)).numpy()
        theta_h = torch.einsum(
            "kikj->ij", jacobian_kernel(module, images[chosen], module.features)
        ).numpy()
        features = module.features(images).detach().numpy()
        kernels = collapse.kernel_measures(
            theta, theta_h, labels[chosen], outputs=10, features=features.shape[1]
        )
        weight, bias = (part.detach().numpy() for part in module.head.parameters())
        kappa = [kernels[f"kappa_{kind}"] for kind in "dcn"]
        expected = kernels | collapse.collapse_measures(features, labels, weight, bias, kappa)
        assert row == pytest.approx(expected, rel=1e-8)


def test_a_network_that_diverged_has_no_measures():
    spec, stack, images, labels = stack_of(NETWORKS[0])
    with torch.no_grad():
        stack.parameters["head.weight"][1, 0, 0] = float("nan")
        module = build(spec, (1, 8, 8), 10)
        whole, broken = training.measured(module, PAIR, stack, images, labels, 1)
    assert np.isnan(list(broken.values())).all()
    assert np.isfinite(list(whole.values())).all()


def test_kept_weights_give_the_measured_features(tables):
    """The state in the table, with its running statistics, is that of the last measurement."""
    weights = tables["weights"]
    images = chosen_images(digits(), PAIR.images)
    module = trained_network(PAIR.network, weights, 1, images.test_x)
    with torch.no_grad():
        right = (module(images.test_x).argmax(dim=1) == images.test_y).double().mean()
    last = tables["measures"].query("epoch == 3 and replica == 1").iloc[0]
    assert float(right) == pytest.approx(last["test_accuracy"], abs=1.5 / len(images.test_y))


class Mixing(torch.nn.Module):
    """A network whose features depend on the whole batch."""

    def __init__(self, network):
        super().__init__()
        self.network = network

    def features(self, x):
        return self.network.features(x - x.mean(0))

    def forward(self, x):
        return self.network(x - x.mean(0))


def test_too_little_memory_for_the_kernels_names_the_setting():
    module = build(Network.from_mapping(TRAINING["network"]), (1, 8, 8), 10).eval()
    x = torch.rand(4, 1, 8, 8)
    with pytest.raises(ConfigError, match="kernel_gib = 1e-06: too little memory") as refused:
        kernels_of(module, x, 1e-6)
    named = float(re.search(r"set at least ([\d.]+)", str(refused.value))[1])
    assert kernels_of(module, x, named)[0].shape == (4, 4)
    with pytest.raises(ConfigError, match="mixes inputs"):  # what is no matter of memory
        kernels_of(Mixing(module), x, 0.5)
