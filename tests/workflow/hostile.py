"""Settings full of what shells interpret, which are accepted, and what they lead to."""

import os

import numpy as np
from tests.workflow.test_own_images import paint

CANARY = "canary"
ROOT = f"it's $(touch {CANARY}) `touch {CANARY}` \"{{preset}} ä"
TREE = "a b, c=1 ~ ü"
# a comment of YAML is part of what is written on the command line, but not of the settings
SETTING = f'data={{imagefolder: {{mine: "{TREE}"}}}} # $(touch {CANARY})'
TARGET = "results/data/mine.npz"
FOLDER = "a b & (ä) [1]; #"


def data_root(folder):
    """A folder of datasets, with the image folder of `SETTING`; its path for FINITEWIDTH_DATA."""
    root = folder / ROOT.replace("/", "")
    paint(root / TREE)
    return str(root)


def checked(checkout, around):
    """The job has read its pictures, and nothing was carried out."""
    with np.load(checkout.path / TARGET) as data:
        assert len(data["train_labels"]) == 36
    assert not [name for _, _, files in os.walk(around) for name in files if name == CANARY]
