"""A stack of networks with batch normalisation computes what its plain networks compute."""

import pytest
import torch
from tests.helpers.normalised_networks import SMALL, network_of, random_state

from finitewidth.networks.normalised.plain import build
from finitewidth.networks.normalised.stacked import StackedNetwork

CLASSES, REPLICAS, BATCH = 4, 3, 6
M = "M"
# name -> settings, shape of an image
CASES = {
    "vgg": (SMALL["vgg"], (1, 8, 8)),
    "resnet": (SMALL["resnet"], (1, 8, 8)),
    "densenet": (SMALL["densenet"], (1, 8, 8)),
    "fully_connected": ({"kind": "fully_connected", "dense": [16, 8]}, (1, 8, 8)),
    # several channels, odd sides, several positions left, few channels
    "vgg, flat": ({"kind": "vgg", "convolutions": [5, 6, M, 7], "dense": [9]}, (3, 7, 6)),
    "resnet, deep": ({"kind": "resnet", "channels": [3, 3, 6], "blocks": [2, 3, 1]}, (3, 7, 5)),
    "densenet, deep": (
        {
            "kind": "densenet",
            "growth": 3,
            "blocks": [3, 1, 2],
            "stem": 5,
            "bottleneck": 4,
            "compression": 0.7,
            "batch_momentum": 0.3,
        },
        (3, 9, 7),
    ),
}
BOTH = pytest.mark.parametrize("training", [True, False], ids=["train", "eval"])
EACH = pytest.mark.parametrize("case", CASES)


def made(case, replicas=REPLICAS):
    """A stack, the plain networks with the same states, and images."""
    settings, shape = CASES[case]
    network = network_of(settings)
    states = [random_state(network, shape, CLASSES, seed) for seed in range(replicas)]
    modules = [build(network, shape, CLASSES).double() for _ in states]
    for module, state in zip(modules, states, strict=True):
        module.load_state_dict(state)
    return StackedNetwork(network, shape, CLASSES, states), modules, images(shape)


def images(shape, seed=0):
    stream = torch.Generator().manual_seed(seed)
    return torch.randn(BATCH, *shape, generator=stream, dtype=torch.float64)


def close(ours, theirs):
    torch.testing.assert_close(ours, theirs, rtol=1e-10, atol=1e-10)


def loss(features, outputs):
    """A function of features and outputs of one or many networks; a sum over networks."""
    return (outputs.sin() + outputs.square()).sum() + (3 * features).cos().sum()


@EACH
@BOTH
def test_outputs_statistics_and_gradients_are_those_of_the_plain_networks(case, training):
    stack, modules, x = made(case)
    assert stack.replicas == REPLICAS
    for factor in (1, 2):  # the second time with updated statistics and added gradients
        features, outputs = stack.forward(factor * x, training=training)
        loss(features, outputs).backward()
        assert outputs.shape == (REPLICAS, BATCH, CLASSES)
        for r, module in enumerate(modules):
            theirs = module.train(training).features(factor * x)
            close(features[r], theirs)
            close(outputs[r], module.head(theirs))
            loss(theirs, module.head(theirs)).backward()
    assert set(stack.parameters) == set(dict(modules[0].named_parameters()))
    assert set(stack.buffers) == set(dict(modules[0].named_buffers()))
    assert all(parameter.grad.any() for parameter in stack.parameters.values())
    for r, module in enumerate(modules):
        for name, parameter in module.named_parameters():
            close(stack.parameters[name].grad[r], parameter.grad)
        for name, buffer in module.named_buffers():
            close(stack.buffers[name][r], buffer)


@EACH
@BOTH
def test_a_replica_removed_or_diverged_changes_no_other(case, training):
    settings, shape = CASES[case]
    stack, _, x = made(case)
    states = [stack.state(r) for r in range(REPLICAS)]
    some = StackedNetwork(network_of(settings), shape, CLASSES, states[::2])
    with torch.no_grad():
        for parameter in stack.parameters.values():
            parameter[1] = torch.nan
    found = [each.forward(x, training=training) for each in (stack, some)]
    for each in found:
        loss(*each).backward()
    assert found[0][1][1].isnan().all()
    for ours, theirs in zip(*found, strict=True):
        close(ours[::2], theirs)
    for name, parameter in some.parameters.items():
        close(stack.parameters[name].grad[::2], parameter.grad)
    for name, buffer in some.buffers.items():
        close(stack.buffers[name][::2], buffer)


@EACH
def test_states_are_copied_in_and_out(case):
    settings, shape = CASES[case]
    states = [random_state(network_of(settings), shape, CLASSES, seed) for seed in range(2)]
    stack = StackedNetwork(network_of(settings), shape, CLASSES, states)
    taken = stack.state(1)
    assert list(taken) == list(states[1])
    assert all(torch.equal(taken[name], states[1][name]) for name in taken)
    stack.forward(images(shape), training=True)
    with torch.no_grad():
        for parameter in stack.parameters.values():
            parameter += 1
    assert all(torch.equal(taken[name], states[1][name]) for name in taken)
    assert not any(torch.equal(stack.state(1)[name], tensor) for name, tensor in taken.items())
    build(network_of(settings), shape, CLASSES).load_state_dict(stack.state(1))
