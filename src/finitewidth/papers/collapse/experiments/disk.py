"""How much the trainings of ``collapse`` write. No job imports it, so that it reruns nothing."""

import torch

from finitewidth.data.catalogue import Source
from finitewidth.networks.normalised.plain import build
from finitewidth.networks.normalised.specs import Network
from finitewidth.papers.collapse.experiments.training import rates_of
from finitewidth.papers.collapse.settings.pairs import Pair
from finitewidth.training.disk import Disk


def disk(settings: Pair, source: Source) -> Disk:
    """Bytes that the training of a pair on a source writes; a checkpoint also has the momenta."""
    assert source.shape is not None
    assert source.classes is not None
    height, width, channels = source.shape
    images = settings.images
    shape = (channels, height // images.pool, width // images.pool)
    if images.size:
        shape = (channels, images.size, images.size)
    with torch.device("meta"):  # sizes only
        module = build(Network.from_mapping(dict(settings.network)), shape, source.classes)
    state = sum(tensor.nbytes for tensor in module.state_dict().values())
    rates = len(rates_of(settings.rates))
    inits = settings.inits
    saved_inits = [init for init in inits if init in settings.keep]
    return Disk(
        weights=state * rates * len(saved_inits),
        checkpoint=2 * state * rates * len(inits),
    )
