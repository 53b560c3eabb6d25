"""Networks with batch normalisation have the published sizes and the stated first weights."""

import math

import pytest
import torch
from scipy.stats import kstest, truncnorm
from tests.helpers.normalised_networks import PUBLISHED, SMALL, network_of
from torch import nn

from finitewidth.common.errors import ConfigError
from finitewidth.networks.normalised.plain import CUT, CUT_STD, build, draw_tensor, initial_state
from finitewidth.networks.normalised.specs import feature_count
from finitewidth.records.provenance import base_seed

MNIST = (1, 28, 28)
MNIST32 = (1, 32, 32)
CIFAR = (3, 32, 32)
DIGITS = (1, 8, 8)
# Counts of the authors' networks; the small ones by hand. Each is (network, shape of an image,
# parameters, features).
SIZES = [
    ("vgg11", MNIST32, 9_622_922, 256),
    ("vgg16", CIFAR, 15_121_226, 256),
    ("resnet20", MNIST, 272_090, 64),
    ("resnet20", CIFAR, 272_378, 64),
    ("densenet40", MNIST, 96_202, 132),
    ("vgg", DIGITS, 10_714, 32),
    ("resnet", DIGITS, 19_762, 32),
    ("densenet", DIGITS, 7_290, 32),
]
# Millions of products, from the authors' networks
PRODUCTS = [
    ("vgg11", MNIST32, 152),
    ("vgg16", CIFAR, 314),
    ("resnet20", MNIST, 31.0),
    ("resnet20", CIFAR, 40.8),
    ("densenet40", MNIST, 30.1),
    ("densenet40", CIFAR, 39.8),
]
ALL = {**PUBLISHED, **SMALL}


def meta(name, shape, classes=10):
    with torch.device("meta"):
        return build(network_of(ALL[name]), shape, classes)


@pytest.mark.parametrize(("name", "shape", "parameters", "features"), SIZES)
def test_parameters_and_features_have_the_published_numbers(name, shape, parameters, features):
    module = meta(name, shape)
    assert sum(p.numel() for p in module.parameters()) == parameters
    assert feature_count(network_of(ALL[name])) == features
    x = torch.empty(2, *shape, device="meta")
    assert module.features(x).shape == (2, features)
    assert module(x).shape == (2, 10)


@pytest.mark.parametrize(("name", "shape", "millions"), PRODUCTS)
def test_numbers_of_products_are_those_of_the_published_networks(name, shape, millions):
    module = meta(name, shape).eval()
    total = []

    def count(layer, _, output):
        total.append(layer.weight[0].numel() * output.numel())

    for layer in module.modules():
        if isinstance(layer, nn.Conv2d | nn.Linear):
            layer.register_forward_hook(count)
    module(torch.empty(1, *shape, device="meta"))
    # 152 and 314 are rounded to millions, the others to tenths
    assert sum(total) / 1e6 == pytest.approx(millions, abs=0.5 if millions > 100 else 0.05)


@pytest.mark.parametrize("name", SMALL)
def test_the_momentum_of_the_statistics_is_set_everywhere(name):
    module = build(network_of(SMALL[name], batch_momentum=0.01), DIGITS, 10)
    norms = [m for m in module.modules() if isinstance(m, nn.BatchNorm1d | nn.BatchNorm2d)]
    assert norms
    assert {norm.momentum for norm in norms} == {0.01}


@pytest.mark.parametrize("name", SMALL)
def test_features_are_not_negative_and_feed_the_head(name):
    module = build(network_of(SMALL[name]), DIGITS, 10).eval()
    x = torch.randn(5, *DIGITS, generator=torch.Generator().manual_seed(0))
    features = module.features(x)
    assert (features >= 0).all()
    assert torch.equal(module(x), features @ module.head.weight.T + module.head.bias)


@pytest.mark.parametrize("name", ["vgg11", "vgg", "densenet"])
def test_images_too_small_for_the_pools_are_refused(name):
    with pytest.raises(ConfigError, match=r"^shape: images of 3×28 are too small"):
        build(network_of(ALL[name]), (1, 3, 28), 10)


def wide():
    """A network with enough weights to see variances."""
    return build(network_of(SMALL["resnet"], channels=[32, 64, 64]), DIGITS, 10)


@pytest.mark.parametrize("init", ["lecun", "he"])
def test_normal_weights_have_the_stated_variance(init):
    module = wide()
    state = initial_state(module, init, "test")
    for name, weight in state.items():
        if weight.dim() < 2:
            continue
        positions = math.prod(weight.shape[2:])
        variance = {
            "lecun": 1 / (weight.shape[1] * positions),
            "he": 2 / (weight.shape[0] * positions),
        }[init]
        ratio = weight.square().mean() / variance
        assert abs(ratio - 1) < 5 * math.sqrt(2 / weight.numel()), name
        most = weight.abs().max() / math.sqrt(variance)
        if init == "lecun":  # cut off at 2 standard deviations before the cut
            assert 2.2 < most <= 2 / 0.8796256610342398 + 1e-5
        else:
            assert most > 2.4, "not normal"


def test_normals_are_cut_off_as_in_jax():
    """The variance after the cut is that of scipy, whose constant jax has copied."""
    assert truncnorm.std(-CUT, CUT) == pytest.approx(CUT_STD, rel=1e-12)
    shape = torch.Size((40_000,))
    stream = torch.manual_seed(1)
    sample = draw_tensor("lecun", torch.Size((1, 1)), shape, stream).numpy()
    found = kstest(sample * CUT_STD, truncnorm(-CUT, CUT).cdf)
    assert found.pvalue > 1e-6


def test_torch_weights_and_biases_are_uniform_in_the_interval_of_torch():
    module = wide()
    state = initial_state(module, "torch", "test")
    for prefix, layer in module.named_modules():
        if not isinstance(layer, nn.Conv2d | nn.Linear):
            continue
        weight = state[f"{prefix}.weight"]
        limit = 1 / math.sqrt(weight[0].numel())
        # torch drew the module's own weights
        for tensor in (weight, layer.weight):
            assert 0.97 * limit < tensor.abs().max() <= limit
            assert abs(tensor.mean()) < 5 * limit / math.sqrt(3 * tensor.numel())
        if layer.bias is not None:
            bias = state[f"{prefix}.bias"]
            assert 0.5 * limit < bias.abs().max() <= limit
            assert bias.min() < 0 < bias.max()


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("init", ["lecun", "torch", "he"])
def test_normalisations_start_as_the_identity_and_biases_at_0(name, init):
    module = build(network_of(SMALL[name]), DIGITS, 10)
    state = initial_state(module, init, "test")
    module.load_state_dict(state)
    for part in module.modules():
        if isinstance(part, nn.BatchNorm1d | nn.BatchNorm2d):
            assert (part.weight == 1).all()
            assert (part.running_var == 1).all()
            assert not any(
                t.any() for t in (part.bias, part.running_mean, part.num_batches_tracked)
            )
        elif getattr(part, "bias", None) is not None:
            assert bool(part.bias.any()) == (init == "torch")


def test_each_tensor_has_a_stream_of_its_own():
    first = initial_state(build(network_of(SMALL["resnet"]), DIGITS, 10), "lecun", "a")
    deeper = build(network_of(SMALL["resnet"], blocks=[1, 2, 1]), DIGITS, 10)
    second = initial_state(deeper, "lecun", "a")
    assert all(torch.equal(first[name], second[name]) for name in first)
    name = "features.stage1_block1.conv{}.weight"
    assert not torch.equal(first[name.format(1)], first[name.format(2)])
    assert not torch.equal(
        initial_state(deeper, "lecun", "b")[name.format(1)], first[name.format(1)]
    )
    with base_seed(1):
        assert not torch.equal(
            initial_state(deeper, "lecun", "a")[name.format(1)], first[name.format(1)]
        )
