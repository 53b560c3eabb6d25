from itertools import product

import numpy as np
import pytest
from PIL import Image

from finitewidth.common.errors import ConfigError, DataError
from finitewidth.data import build
from finitewidth.data.build import build_dataset
from finitewidth.data.catalogue import SOURCES
from finitewidth.data.original import load_original
from finitewidth.data.places import data_root
from finitewidth.data.store import read_dataset, write_dataset

CONFIG = {
    "root": None,
    "download": False,
    "mnist": "digits",
    "imagefolder": {"cifar10_jpeg": "cifar10", "insects": "my/insects"},
}


@pytest.fixture
def insects(tmp_path, monkeypatch):
    monkeypatch.setenv("FINITEWIDTH_DATA", str(tmp_path))
    for split, label, number in product(("train", "test"), ("ant", "bee"), range(2)):
        folder = tmp_path / "my" / "insects" / split / label
        folder.mkdir(parents=True, exist_ok=True)
        Image.fromarray(np.zeros((4, 4, 3), np.uint8)).save(folder / f"{number}.png")
    return tmp_path


def test_bundled_sets_need_no_settings():
    assert build_dataset("digits", {}).title == "digits 8×8"


def test_the_root_of_the_settings_goes_before_the_environment(monkeypatch, tmp_path):
    asked = []
    monkeypatch.setattr(build, "load_original", lambda *words: asked.append(words))
    monkeypatch.setenv("FINITEWIDTH_DATA", str(tmp_path))
    build_dataset("mnist", CONFIG)
    build_dataset("cifar10", CONFIG | {"root": "here", "download": True})
    monkeypatch.delenv("FINITEWIDTH_DATA")
    build_dataset("mnist", {})
    assert [(name, str(root), fetch) for name, root, fetch in asked] == [
        ("mnist", str(tmp_path), False),
        ("cifar10", "here", True),
        ("mnist", "resources", True),
    ]


def test_any_image_folder_can_be_configured(insects, tmp_path):
    dataset = build_dataset("insects", CONFIG)
    assert (dataset.name, dataset.title) == ("insects", "insects (your images)")
    write_dataset(tmp_path / "insects.npz", dataset)
    assert read_dataset(tmp_path / "insects.npz").class_names == ("ant", "bee")


def test_another_tree_does_not_pass_for_a_known_dataset(insects):
    with pytest.raises(DataError, match=r"CIFAR-10 \(JPEG re-encoded\) has \(32, 32, 3\) of 10"):
        build_dataset("cifar10_jpeg", {"imagefolder": {"cifar10_jpeg": "my/insects"}})


def test_bad_requests():
    with pytest.raises(ConfigError, match=r"data\.imagefolder: {cifar10_jpeg: <tree>}"):
        build_dataset("cifar10_jpeg", {"imagefolder": None})
    with pytest.raises(ConfigError, match="did you mean insects"):
        build_dataset("insect", CONFIG)


def real(folder):
    root = data_root({})
    if not (root / folder).is_dir():
        pytest.skip(f"set FINITEWIDTH_DATA to a folder that holds {folder}")
    return root


@pytest.mark.realdata
def test_real_mnist():
    dataset = load_original("mnist", real("MNIST/raw"), download=False)
    assert (dataset.train_images.shape, dataset.test_images.shape) == (
        (60000, 28, 28, 1),
        (10000, 28, 28, 1),
    )
    assert dataset.train_labels[:10].tolist() == [5, 0, 4, 1, 9, 2, 1, 3, 1, 4]
    assert dataset.test_labels[:5].tolist() == [7, 2, 1, 0, 4]
    np.testing.assert_allclose(dataset.train_images.mean() / 255, 0.1307, atol=1e-4)


@pytest.mark.realdata
@pytest.mark.parametrize("name", ["fashion_mnist", "cifar10"])
def test_real_originals(name):
    folders = {"fashion_mnist": "FashionMNIST/raw", "cifar10": "cifar-10-batches-py"}
    dataset = load_original(name, real(folders[name]), download=False)
    assert dataset.shape == SOURCES[name].shape
    assert len(np.unique(dataset.train_labels)) == 10


@pytest.mark.realdata
def test_real_mnist_is_not_taken_for_fashion_mnist(tmp_path):
    (tmp_path / "FashionMNIST").mkdir()
    (tmp_path / "FashionMNIST" / "raw").symlink_to(real("MNIST/raw").absolute() / "MNIST" / "raw")
    with pytest.raises(DataError, match="which is train-images-idx3-ubyte of MNIST"):
        load_original("fashion_mnist", tmp_path, download=False)


@pytest.mark.realdata
def test_real_cifar10_as_jpeg(tmp_path):
    config = {"root": str(real("cifar10")), "imagefolder": {"cifar10_jpeg": "cifar10"}}
    dataset = build_dataset("cifar10_jpeg", config)
    assert np.bincount(dataset.train_labels).tolist() == [5000] * 10
    assert np.bincount(dataset.test_labels).tolist() == [1000] * 10
    assert dataset.class_names[:2] == ("airplane", "automobile")
    means = dataset.train_images.mean(axis=(0, 1, 2)) / 255
    np.testing.assert_allclose(means, [0.4914, 0.4822, 0.4465], atol=3e-3)
    write_dataset(tmp_path / "cifar10_jpeg.npz", dataset)
    again = read_dataset(tmp_path / "cifar10_jpeg.npz")
    np.testing.assert_array_equal(again.test_images, dataset.test_images)
