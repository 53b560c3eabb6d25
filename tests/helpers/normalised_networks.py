"""Networks with batch normalisation for tests: as published and small."""

import torch

from finitewidth.networks.normalised.plain import build, initial_state
from finitewidth.networks.normalised.specs import Network

M = "M"
VGG11 = [64, M, 128, M, 256, 256, M, 512, 512, M, 512, 512, M]
VGG16 = [64, 64, M, 128, 128, M, 256, 256, 256, M, 512, 512, 512, M, 512, 512, 512, M]
PUBLISHED = {
    "vgg11": {"kind": "vgg", "convolutions": VGG11, "dense": [512, 256]},
    "vgg16": {"kind": "vgg", "convolutions": VGG16, "dense": [512, 256]},
    "resnet20": {"kind": "resnet", "channels": [16, 32, 64], "blocks": [3, 3, 3]},
    "densenet40": {"kind": "densenet", "growth": 12, "blocks": [6, 6, 6], "stem": 24},
}
SMALL = {
    "vgg": {"kind": "vgg", "convolutions": [8, M, 16, M, 32, M], "dense": [64, 32]},
    "resnet": {"kind": "resnet", "channels": [8, 16, 32], "blocks": [1, 1, 1]},
    "densenet": {
        "kind": "densenet",
        "growth": 8,
        "blocks": [2, 2],
        "stem": 16,
        "pooled_stem": True,
    },
}


def network_of(settings, **changes):
    return Network.from_mapping({**settings, **changes})


def random_state(network, shape, classes, seed):
    """A state in float64 in which no tensor has a special value; some scales are negative."""
    module = build(network, shape, classes).double()
    state = initial_state(module, "torch", f"test {seed}")
    stream = torch.Generator().manual_seed(seed)
    for name, tensor in state.items():
        if "running_var" in name:
            tensor.uniform_(0.5, 2, generator=stream)
        elif tensor.is_floating_point() and tensor.dim() < 2:
            spread = 1.0 if name.endswith("weight") else 0.3
            tensor.add_(torch.randn(tensor.shape, generator=stream, dtype=tensor.dtype) * spread)
    return state
