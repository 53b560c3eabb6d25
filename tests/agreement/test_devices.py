"""What may compute on a GPU, on a device that is only pretended (`tests.helpers.pretended_gpu`).

Each training and each experiment that is told of the device must give the numbers of the CPU and
mix no tensors of two devices. Whether a real GPU computes the same is not tested here.
"""

from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from tests.helpers import collapse_trainings, small_trainings
from tests.helpers.measuring import measured
from tests.helpers.pretended_gpu import DevicesDifferError, OnGpu, pretended_gpu
from tests.helpers.project import ROOT
from tests.helpers.small_settings import BEYOND_TRAINING, TRUST_DESCENT

from finitewidth.common.torch_setup import prepare_torch
from finitewidth.data.bundled import digits
from finitewidth.declarations.papers import read_papers
from finitewidth.networks.architecture import Architecture
from finitewidth.papers.beyond.experiments import training as beyond
from finitewidth.papers.collapse.experiments import training as collapse
from finitewidth.papers.trust.experiments import descent as trust
from finitewidth.records.provenance import base_seed
from finitewidth.settings.yaml_files import read_yaml
from finitewidth.training.checkpoints import CheckpointStore
from finitewidth.training.gated import train

# a stacked step treats numbers together on a GPU that it separates on a CPU, and rounds otherwise
ROUNDING = {"rtol": 1e-4, "atol": 1e-5}
ARCHITECTURES = {
    "fc": Architecture(dense=(16, 16)),
    "vconv": Architecture(channels=(3, 4), dense=(9,)),
    "gconv": Architecture(channels=(3, 4), dense=(9,), global_average_pooling=True),
    "strided": Architecture(channels=(3, 4), dense=(9,), stride=2, bias=False),
}
REGIMES = (
    "relu",
    "frnpf_ii",
    "frnpf_di",
    "dlnpf",
    "linear",
    "galu",
    "soft_relu",
    "soft_galu",
    "gates_only",
    "gates_and_output",
)
SOFT = ("dlnpf", "soft_relu", "soft_galu", "gates_only", "gates_and_output")


@pytest.fixture
def gpu(monkeypatch):
    """A context in which torch finds a GPU."""
    return lambda: pretended_gpu(monkeypatch)


def moved(images):
    """The same images on the GPU."""
    values = {f.name: getattr(images, f.name) for f in fields(images)}
    return replace(
        images, **{k: v.to("cuda") for k, v in values.items() if isinstance(v, torch.Tensor)}
    )


def assert_same(trained, expected):
    pd.testing.assert_frame_equal(
        pd.DataFrame(trained.history), pd.DataFrame(expected.history), rtol=1e-3
    )
    assert list(trained.weights) == list(expected.weights)
    for name, weights in expected.weights.items():
        np.testing.assert_allclose(trained.weights[name], weights, **ROUNDING, err_msg=name)


@pytest.mark.parametrize(
    ("kind", "regime"), [*zip(3 * [*ARCHITECTURES], REGIMES, strict=False), ("strided", "relu")]
)
def test_a_training_takes_place_on_the_device_of_its_images(kind, regime, gpu):
    more = {"beta": 4.0, "eps": 0.1} if regime in SOFT else {}
    run = small_trainings.described(
        regime,
        architecture=ARCHITECTURES[kind],
        replicas=small_trainings.replicas_of(regime, **more),
        epochs=2,
        best_so_far=(),
    )
    shape = (8,) if kind == "fc" else (3, 6, 5)
    images = small_trainings.make_images(shape=shape)
    with gpu():
        found = train(run, moved(images))
    assert_same(found, train(run, images))


@pytest.mark.parametrize("optimiser", ["sgd", "adam", "rmsprop"])
def test_a_training_goes_on_from_a_checkpoint_on_either_device(optimiser, gpu, tmp_path):
    run = small_trainings.described(
        optimiser=optimiser,
        replicas=small_trainings.replicas_of(step_sizes=(0.01, 0.01, 0.003)),
        best_so_far=(1,),
    )
    expected = train(run, small_trainings.IMAGES)
    half = replace(run, epochs=2)
    for first, second in (("cpu", "cuda"), ("cuda", "cpu")):
        store = CheckpointStore(tmp_path / first, "a training", 0.0)
        with gpu():
            on = {"cpu": small_trainings.IMAGES, "cuda": moved(small_trainings.IMAGES)}
            train(half, on[first], None, store)
            found = train(run, on[second], None, store)
        assert_same(found, expected)


def tables_on(measure, settings, device, gpu):
    """What an experiment returns on a device."""
    with gpu(), base_seed(0):
        return measured(measure, {"data": digits()}, settings, device=device)


def assert_same_tables(found, expected):
    assert set(found) == set(expected)
    for name, table in expected.items():
        if isinstance(table, pd.DataFrame):
            pd.testing.assert_frame_equal(found[name], table, rtol=2e-3, atol=1e-4)
            continue
        for key, array in table.items():
            np.testing.assert_allclose(found[name][key], array, **ROUNDING, err_msg=key)


def test_training_by_adam_with_kernels(gpu):
    found = tables_on(beyond.measure, BEYOND_TRAINING, "cuda", gpu)
    assert_same_tables(found, measured(beyond.measure, {"data": digits()}, BEYOND_TRAINING))


@pytest.mark.parametrize(
    "network",
    [
        {"kind": "vgg", "convolutions": [4, "M", 8, "M"], "dense": [8, 6]},
        {"kind": "resnet", "channels": [4, 6], "blocks": [1, 1]},
        {"kind": "densenet", "growth": 3, "blocks": [1, 1], "stem": 4},
    ],
    ids=lambda network: network["kind"],
)
def test_normalised_networks(network, gpu):
    settings = collapse_trainings.TRAINING | {"network": network, "epochs": 1}
    found = tables_on(collapse.measure, settings, "cuda", gpu)
    assert_same_tables(found, tables_on(collapse.measure, settings, "cpu", gpu))


TRUST = read_yaml(ROOT / "config/papers/trust.yaml")["trust"]


@pytest.mark.parametrize(
    ("section", "mode"),
    [("descent_relu", "steps"), ("descent_relu", "graded"), ("descent_tanh", "flow")],
)
def test_descents(section, mode, gpu):
    settings = TRUST[section] | TRUST_DESCENT | {"mode": mode, "steps": 30, "times": [20]}
    found = tables_on(trust.measure, settings, "cuda", gpu)
    assert_same_tables(found, tables_on(trust.measure, settings, "cpu", gpu))


def test_every_experiment_that_is_told_of_the_device_is_tested_here():
    papers = read_papers(Path(__file__).resolve().parents[2] / "workflow/papers")
    told = set()
    for paper in papers:
        for e in paper.experiments:
            if e.gpu:
                told.add(e.module)
    assert told == {module.__name__ for module in (beyond, collapse, trust)}


def test_the_pretended_gpu_refuses_what_a_gpu_refuses(gpu):
    with gpu():
        assert prepare_torch(1, "auto") == prepare_torch(1, "cuda") == "cuda"
        there = torch.ones(3, 4).to("cuda")
        here = torch.rand(3, 4)
        assert there.device == torch.zeros(2, device=there.device).device == torch.device("cuda:0")
        with pytest.raises(DevicesDifferError, match=r"aten\.mul"):
            there * here
        with pytest.raises(RuntimeError, match="numpy"):
            there.numpy()
        with pytest.raises(AssertionError, match="generator"):
            torch.rand(3, device="cuda", generator=torch.Generator())
        assert isinstance(there * 2 + torch.tensor(1.0), OnGpu)  # a number may be on the CPU
        there[0] += 1
        np.testing.assert_array_equal(there.cpu().numpy()[:, 0], [2, 1, 1])
