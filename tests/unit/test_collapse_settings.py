"""Settings of collapse that contradict each other are refused, and the message names them."""

import pytest

from finitewidth.common import settings
from finitewidth.common.errors import ConfigError
from finitewidth.common.settings import replaced
from finitewidth.experiments.collapse.settings import check

PAIR = ("pairs", "vgg_mnist")


@pytest.mark.parametrize("preset", ["smoke", "quick", "laptop", "paper"])
def test_presets_are_accepted(preset):
    check(settings.preset_only(preset, "config")["collapse"])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({(*PAIR, "pair"): "vgg_cifar"}, r"vgg_mnist\.pair: 'vgg_cifar' must be 'vgg_mnist'"),
        ({(*PAIR, "network", "dense"): []}, r"vgg_mnist\.network\.dense"),
        ({(*PAIR, "rates", "indices"): [30]}, r"rates\.indices: must be below points = 30"),
        ({(*PAIR, "keep"): ["he"], (*PAIR, "inits"): ["lecun"]}, r"keep: \['he'\]"),
        ({(*PAIR, "measure_every"): 401}, "measure_every: 401 is above epochs = 400"),
        ({(*PAIR, "kernel_per_class"): 13}, "kernel_per_class"),
        ({(*PAIR, "images", "per_class"): 11}, r"images\.per_class: 11"),
        ({("maps", "vgg_mnist", "init"): "he"}, r"add it to collapse\.pairs\.vgg_mnist\.keep"),
        ({("models", "smoothing", "window"): 12}, "window = 12 must be odd"),
        ({("models", "smoothing", "fewest"): 9}, "fewest = 9 at least as large"),
        ({("flow", "features"): 9}, r"collapse\.flow\.features: 9 is refused"),
    ],
)
def test_contradictions_are_named(changes, message):
    collapse = settings.preset_only("paper", "config")["collapse"]
    with pytest.raises(ConfigError, match=message):
        check(replaced(collapse, changes))
