"""Python blocks of the pages run, with small networks and images in place of large ones."""

import re
import sys
from collections import OrderedDict
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from tests.helpers.python_blocks import ELSEWHERE, PAGES, blocks
from torch import nn

import finitewidth as fw
from finitewidth.library.study import Study

SHAPE = re.compile(r"^(\w+) = .*  # (\([\d, ]+\))", re.M)  # of an array, in a comment


def small_network(num_classes: int = 10) -> nn.Module:
    """In place of the ResNet-18 of torchvision, with the first names of its layers."""
    layers = OrderedDict(
        conv1=nn.Conv2d(3, 4, 3, stride=4),
        bn1=nn.BatchNorm2d(4),
        relu=nn.ReLU(),
        avgpool=nn.AdaptiveAvgPool2d(1),
        flatten=nn.Flatten(),
        fc=nn.Linear(4, num_classes),
    )
    return nn.Sequential(layers)


def make_network() -> nn.Module:
    """A network of the reader, who has not said which."""
    return nn.Sequential(nn.Flatten(), nn.Linear(16, 8), nn.ReLU(), nn.Linear(8, 3))


class SmallBert(nn.Module):
    """In place of a model of `transformers`, with the arguments and the output of BERT."""

    def __init__(self, config: SimpleNamespace):
        super().__init__()
        self.table = nn.Embedding(config.vocab_size, 8)
        self.drop = nn.Dropout(0.1)
        self.attention = nn.MultiheadAttention(8, config.num_attention_heads, batch_first=True)
        self.classifier = nn.Linear(8, 2)

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> SimpleNamespace:
        words = self.drop(self.table(input_ids))
        seen, _ = self.attention(words, words, words, key_padding_mask=attention_mask == 0)
        return SimpleNamespace(logits=self.classifier(seen[:, 0]), hidden_states=None)


TRANSFORMERS = SimpleNamespace(BertConfig=SimpleNamespace, BertForSequenceClassification=SmallBert)


@pytest.fixture
def given(tmp_path, monkeypatch):
    """What the blocks of a page have from the reader; files are in a folder of the test."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("torchvision.models", SimpleNamespace(resnet18=small_network))
    monkeypatch.setitem(sys.modules, "transformers", TRANSFORMERS)
    monkeypatch.setattr(fw, "study", partial(fw.study, draws=3, steps=20, progress=False))
    # tests/unit/library/test_study.py writes one
    monkeypatch.setattr(Study, "write", lambda study, folder: None)
    torch.manual_seed(0)
    draw = np.random.default_rng(0)
    folder = tmp_path / "my_net_mnist_kernel"
    folder.mkdir()
    np.save(folder / "kernel.npy", np.eye(1510))
    np.save(folder / "labels.npy", draw.integers(10, size=1510))
    images = torch.rand(15, 1, 4, 4)
    labels = torch.arange(15) % 3
    yield {
        "fw": fw,
        "np": np,
        "torch": torch,
        "make_network": make_network,
        "network": make_network(),
        "x": torch.rand(4, 3, 32, 32),
        "images": images,
        "labels": labels,
        "test_images": images,
        "test_labels": labels,
        "targets": torch.rand(15, 3),
    }
    torch.set_num_threads(1)


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)])
def test_python_blocks_run(page, given):
    if page in ELSEWHERE:
        pytest.skip(ELSEWHERE[page])
    for code in blocks(page):
        exec(compile(code, page, "exec"), given)
        for name, shape in SHAPE.findall(code):
            assert str(tuple(given[name].shape)) == shape, f"{page}: {name}"


@pytest.mark.parametrize("page", ["docs/howto/own_network.md", "docs/howto/kernel.md"])
def test_networks_of_the_pages_map_images_to_classes(page, given):
    (code,) = (code for code in blocks(page) if "def make(" in code)
    exec(compile(code, page, "exec"), given)
    assert given["make"]((1, 28, 28), 5)(torch.rand(2, 1, 28, 28)).shape == (2, 5)
