"""The comparison with families of public models: it sees what is wrong, and its page is current."""

from functools import partial

import pytest
import torch
from benchmarks import families, family_page
from benchmarks.family_models import INPUTS, Family, logits
from tests.helpers.project import ROOT
from torch import nn

import finitewidth as fw


class Classifier(nn.Module):
    """In place of a model of `transformers`: two arguments, and an output with a field."""

    def __init__(self, mixes):
        super().__init__()
        self.mixes = mixes
        self.table = nn.Embedding(9, 4)
        self.head = nn.Linear(4, 3)

    def forward(self, input_ids, attention_mask):
        mask = attention_mask[..., None]
        mean = (torch.tanh(self.table(input_ids)) * mask).sum(1) / mask.sum(1)
        mean = mean - mean.mean(0) if self.mixes else mean
        return Output(self.head(mean))


class Output:
    def __init__(self, values):
        self.logits = values


def text():
    stream = torch.Generator().manual_seed(0)
    mask = torch.ones(INPUTS, 5, dtype=torch.int64)
    mask[1, 3:] = 0
    return {
        "input_ids": torch.randint(9, (INPUTS, 5), generator=stream),
        "attention_mask": mask,
    }


def images():
    return torch.randn(INPUTS, 3, 4, 4, generator=torch.Generator().manual_seed(0))


def convolutions():
    return nn.Sequential(
        nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.Tanh(), nn.Flatten(), nn.Linear(16, 3)
    )


TEXT = Family("torch", "classifier", "text", partial(Classifier, False), text, logits)
IMAGES = Family(
    "torch", "convolutions", "images", convolutions, images, lambda net: None, images=True
)
MIXING = Family(
    "torch", "mixing", "text", partial(Classifier, True), text, logits, mixes="the mean is removed"
)


@pytest.mark.parametrize("family", [TEXT, IMAGES], ids=lambda family: family.name)
def test_all_functions_agree_with_a_plain_loop(family):
    in_double, in_single = families.rows_of_family(family, traces=True)
    assert in_double["agree"] == in_double["functions"] == 11 + family.images
    assert in_single["agree"] == in_single["functions"] == 11
    assert in_double["difference"] < 1e-12 < in_single["difference"] < 1e-5
    assert in_double["warned"] == in_double["refused"] == in_double["wrong"] == 0


def test_a_wrong_kernel_is_seen(monkeypatch):
    right = fw.traced_kernel
    monkeypatch.setattr(fw, "traced_kernel", lambda *x, **more: right(*x, **more) * (1 + 1e-8))
    in_double, in_single = families.rows_of_family(TEXT, traces=False)
    assert in_double["wrong"] == 1
    assert in_double["at"] == "traced_kernel"
    assert in_single["wrong"] == 0  # below the digits of its type


def test_a_network_that_mixes_inputs_is_refused_by_each_function():
    for row in families.rows_of_family(MIXING, traces=False):
        assert row["refused"] == row["functions"] == 11
        assert "mixes inputs" in row["words"]


def test_the_section_of_the_page_is_that_of_the_stored_table(tmp_path):
    written = family_page.write(ROOT, tmp_path)
    stored = (ROOT / family_page.PAGE).read_text(encoding="utf-8")
    assert written.read_text(encoding="utf-8") == stored


def test_in_the_stored_run_all_families_agree_or_are_refused_rightly():
    rows = family_page.read(ROOT)
    assert {*rows["library"]} == {"transformers", "timm"}
    listed = {(each.library, each.name) for each in families.families([], None)}
    stored = {*zip(rows["library"], rows["family"], strict=True)}
    assert stored == listed
    assert all(count >= 40 for count in rows.groupby("library")["family"].nunique())
    plain = rows[rows["mixes"] == ""]
    assert (plain["agree"] == plain["functions"]).all()
    mixing = rows[rows["mixes"] != ""]
    assert (mixing["refused"] == mixing["functions"]).all()
