"""The gates of a torch module."""

import pytest
import torch
from torch import nn
from torch.nn import functional

from finitewidth.common.errors import ConfigError
from finitewidth.kernels.trained.batches import Batch
from finitewidth.measures.gates import gates_of


class Mixed(nn.Module):
    """Activations as modules, as functions, in place, as a clamp, and one that is smooth."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(4, 4) for _ in range(5))
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x):
        x = self.relu(self.layers[0](x))
        x = functional.relu(self.layers[1](x))
        x = self.layers[2](x).clamp(min=0)
        x = torch.relu(self.layers[3](x))
        return functional.gelu(self.layers[4](x))


def test_gates_are_the_signs_of_what_is_given_to_activations():
    network = Mixed()
    x = torch.randn(6, 4)
    gates = gates_of(network, Batch((x,)))
    assert [layer.activation for layer in gates] == ["relu", "relu", "relu", "relu", "gelu"]
    for layer, one in zip(network.layers, gates, strict=True):
        before = layer(x)
        assert torch.equal(one.on, before > 0)
        x = functional.relu(before)


def test_a_network_without_gates_is_refused():
    with pytest.raises(ConfigError, match="no activation that has gates"):
        gates_of(nn.Linear(4, 2), Batch((torch.randn(3, 4),)))


def test_gates_need_the_axis_of_the_inputs():
    network = nn.Sequential(nn.Flatten(0), nn.ReLU())
    with pytest.raises(ConfigError, match=r"activation 1 .relu. is given 12 rows for 3 inputs"):
        gates_of(network, Batch((torch.randn(3, 4),)))
