"""The kernels of the heat maps of ``collapse`` fit the memory that each preset gives them.

A job that runs out of it fails after its networks were trained.
"""

import pytest
import torch
from tests.helpers.project import ROOT

from finitewidth.kernels.trained.batches import Batch
from finitewidth.kernels.trained.budget import ShortageError
from finitewidth.kernels.trained.recording import Request, record
from finitewidth.kernels.trained.sweeps import structured_units
from finitewidth.networks.normalised.plain import build
from finitewidth.networks.normalised.specs import Network
from finitewidth.papers.collapse.experiments.training import GIB
from finitewidth.settings.presets import preset_only

CLASSES, FEW = 10, 6  # what is kept is proportional to the number of images
SIDES = {"mnist": (1, 28), "fashion": (1, 28), "cifar": (3, 32)}  # of the original datasets


def kept_fits(training: dict, maps: dict, data: str) -> None:
    """Choose how to keep the Jacobian of the features, as the kernel does; refuse if it cannot."""
    channels, side = SIDES[data]
    side = training["images"]["size"] or side // training["images"]["pool"]
    shape = (channels, side, side)
    module = build(Network.from_mapping(training["network"]), shape, CLASSES).eval()
    inputs = torch.randn(FEW, *shape, generator=torch.Generator().manual_seed(0))
    counted = dict(module.named_parameters())
    images = Batch((inputs,))
    recording = record(Request(module, module.features, images, counted, False, 0, check=False))
    quarter = int(training["kernel_gib"] * GIB) // 4
    share = 2 * quarter * FEW // (maps["per_class"] * CLASSES)
    structured_units(recording, share, quarter)


@pytest.mark.parametrize("preset", ["laptop", "paper"])  # smoke and quick are run as a whole
def test_heat_maps_fit_their_memory(preset):
    settings = preset_only(preset, ROOT / "config")["collapse"]
    made = {pair: maps for pair, maps in settings["maps"].items() if maps}
    assert len(made) == 9
    for pair, maps in made.items():
        kept_fits(settings["pairs"][pair], maps, pair.split("_")[1])


def test_a_map_that_does_not_fit_is_found():
    training = preset_only("laptop", ROOT / "config")["collapse"]["pairs"]["densenet_cifar"]
    with pytest.raises(ShortageError, match="what the full kernel keeps"):
        kept_fits({**training, "kernel_gib": 2.0}, {"per_class": 4}, "cifar")
