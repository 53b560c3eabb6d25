"""Layers, parameter counts, initial weights and forward passes are those of the plain networks."""

import math
from dataclasses import replace
from itertools import pairwise

import pytest
import torch
from torch import nn

from finitewidth.common.errors import ConfigError
from finitewidth.networks import forward as forward_module
from finitewidth.networks.architecture import (
    Architecture,
    layers_of,
    weight_shape,
)
from finitewidth.networks.forward import forward, gate
from finitewidth.networks.regimes import Gating, regime
from finitewidth.networks.weights import initial_weights, stacked
from finitewidth.settings.presets import preset_only

CIFAR = (32, 32, 3)
PAPER = preset_only("paper", "config")["npf"]["regimes"]["networks"]["vconv"]
FC = Architecture(dense=(7, 6, 5))
VCONV = Architecture(channels=(4, 5), dense=(6,))
GCONV = Architecture(channels=(4, 5), dense=(6,), global_average_pooling=True)
STRIDED = Architecture(channels=(4, 5), dense=(6,), stride=2)
VALID = Architecture(channels=(4, 5), dense=(6,), padding="valid")
ALL = {"fc": FC, "vconv": VCONV, "gconv": GCONV, "strided": STRIDED, "valid": VALID}
SMALL = (8, 6, 3)
REGIMES = ("relu", "frnpf_ii", "frnpf_di", "dlnpf", "flnpf", "linear", "soft_relu", "soft_galu")


def parameter_count(layers):
    return sum(math.prod(weight_shape(layer)) + layer.fan_out * layer.bias for layer in layers)


def convolutional(**changes):
    return Architecture.from_mapping({**PAPER, **changes})


def small_layers(architecture, bias=True):
    architecture = Architecture(**{**vars(architecture), "bias": bias})
    return layers_of(architecture, SMALL if architecture.channels else (1, 1, 9), 4)


def random_weights(layers, seed, init="glorot_uniform"):
    """Weights with biases that are not 0."""
    stream = torch.Generator().manual_seed(seed)
    weights = initial_weights(layers, init, stream)
    for name in weights:
        if name.endswith(".bias"):
            weights[name] = torch.randn(weights[name].shape, generator=stream) / 3
    return weights


def images(layers, replicas=1, batch=5, seed=1):
    shape = (3, *SMALL[:2]) if layers[0].kind == "conv" else (9,)
    return torch.randn(replicas, batch, *shape, generator=torch.Generator().manual_seed(seed))


class PlainNetwork(nn.Module):
    """One network as anyone would write it in torch, with or without a feature network beside it.

    Padding is left to torch's own ``padding`` argument or to explicit zeros, as Keras counts them.
    """

    def __init__(self, architecture, layers, value, feature, gating):
        super().__init__()
        self.gating = gating
        self.architecture = architecture
        self.value = nn.ModuleList(self._layer(la, i, value) for i, la in enumerate(layers))
        hidden = enumerate(layers[:-1])
        self.feature = feature and nn.ModuleList(self._layer(la, i, feature) for i, la in hidden)

    def _layer(self, layer, number, weights):
        weight = weights[f"{number}.weight"]
        bias = weights.get(f"{number}.bias")
        if layer.kind == "dense":
            module = nn.Linear(layer.fan_in, layer.fan_out, bias=bias is not None)
            weight = weight.T
        else:
            module = nn.Conv2d(layer.fan_in, layer.fan_out, 3, layer.stride, bias=bias is not None)
        with torch.no_grad():
            module.weight.copy_(weight)
            if bias is not None:
                module.bias.copy_(bias)
        return module

    def _prepared(self, module, z):
        """What goes into a layer: padded as Keras does, or made a vector of."""
        if isinstance(module, nn.Conv2d):
            if self.architecture.padding == "valid":
                return z
            zeros = []
            for size in (z.shape[3], z.shape[2]):
                total = max((-(-size // module.stride[0]) - 1) * module.stride[0] + 3 - size, 0)
                zeros += [total // 2, total - total // 2]
            return nn.functional.pad(z, zeros)
        if z.dim() == 4:
            average = self.architecture.global_average_pooling
            return z.mean((2, 3)) if average else torch.flatten(z, 1)
        return z

    def forward(self, x):
        beta = self.gating.beta
        eps = self.gating.eps
        z = x
        u = x
        for number, layer in enumerate(self.value[:-1]):
            q = layer(self._prepared(layer, z))
            if self.gating.source == "open":
                z = q
                continue
            if self.gating.source == "feature":
                own = self.feature[number]
                p = own(self._prepared(own, u))
                soft = self.gating.feature_hidden == "soft"
                u = p * (1 + eps) / (1 + torch.exp(-beta * p)) if soft else torch.relu(p)
            else:
                p = q
            z = q * ((p > 0).float() if beta is None else (1 + eps) / (1 + torch.exp(-beta * p)))
        return self.value[-1](self._prepared(self.value[-1], z))


@pytest.mark.parametrize(
    ("pooling", "million"), [(False, 33.88), (True, 0.362)], ids=["vconv", "gconv"]
)
def test_parameter_counts_of_the_papers_networks(pooling, million):
    layers = layers_of(convolutional(global_average_pooling=pooling), CIFAR, 10)
    count = parameter_count(layers)
    assert count / 1e6 == pytest.approx(million, abs=0.005 if million > 1 else 0.0005)
    weights = initial_weights(layers, "glorot_uniform", torch.Generator())
    assert sum(tensor.numel() for tensor in weights.values()) == count


def test_no_room_for_a_convolution_is_refused():
    with pytest.raises(ConfigError, match=r"convolution 4 has length 1; .* at least 3"):
        layers_of(convolutional(stride=3, padding="valid"), CIFAR, 10)


def test_fully_connected_layers():
    settings = {"kind": "fully_connected", "hidden": 5, "width": 128, "bias": True}
    layers = layers_of(Architecture.from_mapping(settings | {"init": "signed"}), (28, 28, 1), 10)
    assert [weight_shape(layer) for layer in layers] == list(pairwise([784, *[128] * 5, 10]))
    bare = layers_of(Architecture(dense=(3,), bias=False), (1, 1, 2), 1)
    assert parameter_count(bare) == 2 * 3 + 3


@pytest.mark.parametrize("stride", [1, 2, 3, 4])
@pytest.mark.parametrize("side", [3, 4, 7, 8, 16])
def test_same_padding_keeps_as_many_positions_as_keras(stride, side):
    layers = layers_of(Architecture(channels=(2,), stride=stride), (side, side + 1, 3), 1)
    assert layers[1].fan_in == 2 * math.ceil(side / stride) * math.ceil((side + 1) / stride)
    left, right, top, bottom = layers[0].pad
    assert 0 <= right - left <= 1  # the odd zero goes to the right and below
    assert 0 <= bottom - top <= 1
    if stride == 1:
        assert layers[0].pad == (1, 1, 1, 1)


def test_strided_padding_against_known_positions():
    """As Keras: 4 positions, stride 2, one zero, at the end; 5 positions, one at each end."""
    assert layers_of(Architecture(channels=(1,), stride=2), (4, 5, 1), 1)[0].pad == (1, 1, 0, 1)


@pytest.mark.parametrize(
    ("init", "variance"),
    [
        ("glorot_uniform", lambda fan_in, fan_out: 2 / (fan_in + fan_out)),
        ("he_uniform", lambda fan_in, fan_out: 2 / fan_in),
    ],
)
def test_uniform_weights_have_their_limit_and_variance(init, variance):
    layers = layers_of(Architecture(channels=(48, 64), dense=(128,)), (8, 8, 3), 10)
    weights = initial_weights(layers, init, torch.Generator().manual_seed(0))
    for number, layer in enumerate(layers):
        weight = weights[f"{number}.weight"]
        window = 9 if layer.kind == "conv" else 1
        expected = variance(window * layer.fan_in, window * layer.fan_out)
        assert weight.shape == weight_shape(layer)
        assert weight.dtype == torch.float32
        # largest of n uniform numbers; the variance of their squares is 4/5 of its square
        count = weight.numel()
        limit = math.sqrt(3 * expected)
        assert limit * (1 - 10 / count) < weight.abs().max() <= limit * (1 + 1e-6)
        assert weight.var() == pytest.approx(expected, rel=5 * math.sqrt(0.8 / count))
        assert abs(weight.mean()) < 5 * math.sqrt(expected / count)
        assert not weights[f"{number}.bias"].any()


def test_signed_weights_take_two_values():
    layers = layers_of(Architecture(dense=(50, 40), bias=False), (1, 1, 200), 3)
    weights = initial_weights(layers, "signed", torch.Generator().manual_seed(0))
    sigma = torch.tensor(math.sqrt(2 / 50))
    assert list(weights) == ["0.weight", "1.weight", "2.weight"]
    for weight in weights.values():
        assert torch.equal(weight.abs(), sigma.expand(weight.shape))
        share = float((weight > 0).float().mean())
        assert abs(share - 0.5) < 5 * 0.5 / math.sqrt(weight.numel())


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("name", REGIMES)
@pytest.mark.parametrize("kind", ALL)
def test_forward_and_gradients_agree_with_a_plain_module(kind, name, bias):
    layers = small_layers(ALL[kind], bias)
    this = regime(name, beta=4.0, eps=0.1)
    value = random_weights(layers, 2)
    feature = random_weights(layers[:-1], 3) if this.gating.source == "feature" else None
    x = images(layers)
    both = [stacked([value]), feature and stacked([feature])]
    plain = PlainNetwork(ALL[kind], layers, value, feature, this.gating)
    for weights in both:
        for tensor in (weights or {}).values():
            tensor.requires_grad_()
    found = forward(layers, this.gating, *both, x)[0]
    expected = plain(x[0])
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-6)
    found.square().sum().backward()
    expected.square().sum().backward()
    parts = [(both[0], plain.value)] + ([(both[1], plain.feature)] if feature else [])
    for weights, modules in parts:
        for key, tensor in weights.items():
            number, which = key.split(".")
            gradient = getattr(modules[int(number)], which).grad
            if gradient is None:
                assert tensor.grad is None
            else:
                turned = gradient.T if tensor.dim() == 3 and which == "weight" else gradient
                torch.testing.assert_close(tensor.grad[0], turned, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("kind", [kind for kind in ALL if kind != "fc"])
@pytest.mark.parametrize("name", REGIMES)
def test_parts_of_a_stack_compute_what_the_whole_computes(kind, name, bias, monkeypatch):
    """In float64, outputs and gradients, with soft gates of a different slope for each replica."""
    layers = small_layers(ALL[kind], bias)
    gating = regime(name, beta=4.0, eps=0.1).gating
    if gating.beta is not None:
        slopes = torch.tensor([1.0, 4.0, 8.0, 24.0, 2.0], dtype=torch.float64)
        gating = replace(gating, beta=slopes, eps=slopes / 20)
    value = stacked([random_weights(layers, seed) for seed in range(5)])
    feature = stacked([random_weights(layers, 10 + seed) for seed in range(5)])
    value = {name: tensor.double().requires_grad_() for name, tensor in value.items()}
    feature = {name: tensor.double().requires_grad_() for name, tensor in feature.items()}
    x = images(layers, replicas=5).double()
    found = {}
    widest = 5 * SMALL[0] * SMALL[1] * 5  # 5 images, 5 channels
    for together in (5, 3, 2, 1):
        monkeypatch.setattr(forward_module, "NUMBERS_AT_ONCE", together * widest)
        outputs = forward(layers, gating, value, feature, x)
        used = [*value.values(), *feature.values()]
        gradients = torch.autograd.grad(outputs.square().sum(), used, allow_unused=True)
        found[together] = outputs, [g for g in gradients if g is not None]
    assert len(found[5][1]) >= len(value)
    for together in (3, 2, 1):
        torch.testing.assert_close(found[together], found[5], rtol=1e-11, atol=1e-11)


def test_gates():
    q = torch.tensor([-2.0, -0.0, 0.0, 1e-30, 3.0])
    assert gate(q, Gating(source="own")).tolist() == [0, 0, 0, 1, 1]
    soft = gate(q, Gating(source="own", beta=4.0, eps=0.1))
    torch.testing.assert_close(soft, 1.1 / (1 + torch.exp(-4 * q)))
    steep = gate(torch.tensor([-1.0, 1.0]), Gating(source="own", beta=1e4, eps=0.0))
    assert steep.tolist() == [0, 1]
