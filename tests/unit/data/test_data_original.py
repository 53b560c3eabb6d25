import gzip
import hashlib
import pickle
import re
from dataclasses import replace
from pathlib import Path
from urllib.error import URLError

import numpy as np
import pytest

from finitewidth.common.errors import DataError
from finitewidth.data import original
from finitewidth.data.original import load_original

COUNTS = {"train": 40, "t10k": 20}
FOLDERS = {"mnist": "MNIST", "fashion_mnist": "FashionMNIST"}


def peer(name):
    """A class of torchvision, whose import takes seconds."""
    from torchvision import datasets

    return getattr(datasets, name)


def md5(content):
    return hashlib.md5(content).hexdigest()


def idx(array):
    sizes = b"".join(size.to_bytes(4, "big") for size in array.shape)
    return bytes([0, 0, 8, array.ndim]) + sizes + array.tobytes()


def idx_bytes(name="mnist"):
    """Small files in the format of MNIST, with their names; other ones for each dataset."""
    generator = np.random.default_rng(list(FOLDERS).index(name))
    files = {}
    for prefix, count in COUNTS.items():
        images = generator.integers(0, 256, (count, 28, 28), dtype=np.uint8)
        labels = generator.permutation(np.arange(count, dtype=np.uint8) % 10)
        files[f"{prefix}-images-idx3-ubyte"] = idx(images)
        files[f"{prefix}-labels-idx1-ubyte"] = idx(labels)
    return files


def write_idx(root, name, folder=None):
    raw = root / (folder or FOLDERS[name]) / "raw"
    raw.mkdir(parents=True)
    for file, content in idx_bytes(name).items():
        (raw / file).write_bytes(content)
    return raw


@pytest.fixture
def small(monkeypatch):
    """Small files pass for the originals."""
    for name in FOLDERS:
        known = {file: md5(content) for file, content in idx_bytes(name).items()}
        monkeypatch.setitem(original.IDX_MD5, name, known)
        source = replace(original.SOURCES[name], images=(40, 20))
        monkeypatch.setitem(original.SOURCES, name, source)


@pytest.fixture
def cifar(monkeypatch, tmp_path):
    """A CIFAR-10 of 12 images in torchvision's layout; gives its folder."""
    folder = tmp_path / "cifar-10-batches-py"
    folder.mkdir()
    kind = peer("CIFAR10")

    def put(file, value):
        (folder / file).write_bytes(pickle.dumps(value))
        return [file, md5((folder / file).read_bytes())]

    def batch(count, seed):
        generator = np.random.default_rng(seed)
        pixels = generator.integers(0, 256, (count, 3072), dtype=np.uint8)
        return {"data": pixels, "labels": list(range(count))}

    train = [put(f"data_batch_{i}", batch(2, i)) for i in range(1, 6)]
    monkeypatch.setattr(kind, "train_list", train)
    monkeypatch.setattr(kind, "test_list", [put("test_batch", batch(2, 6))])
    names = [f"thing {i}" for i in range(10)]
    meta = put("batches.meta", {"label_names": names})
    values = {"filename": meta[0], "key": "label_names", "md5": meta[1]}
    monkeypatch.setattr(kind, "meta", values)
    return folder


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("name", FOLDERS)
@pytest.mark.usefixtures("small")
def test_reads_idx_files_and_those_that_are_only_packed(tmp_path, name, packed):
    raw = write_idx(tmp_path, name)
    if packed:
        for file in list(raw.iterdir()):
            file.with_name(f"{file.name}.gz").write_bytes(gzip.compress(file.read_bytes()))
            file.unlink()
    before = sorted(raw.iterdir())
    dataset = load_original(name, tmp_path, download=False)
    assert dataset.train_images.shape == (40, 28, 28, 1)
    assert dataset.test_images.tobytes() == idx_bytes(name)["t10k-images-idx3-ubyte"][16:]
    assert bytes(dataset.train_labels.tolist()) == idx_bytes(name)["train-labels-idx1-ubyte"][8:]
    assert dataset.class_names[0] == ("0" if name == "mnist" else "T-shirt/top")
    assert sorted(raw.iterdir()) == before


@pytest.mark.parametrize("name", FOLDERS)
@pytest.mark.parametrize("file", list(idx_bytes()))
@pytest.mark.parametrize("damage", ["empty", "cut", "longer", "flipped"])
@pytest.mark.usefixtures("small")
def test_a_damaged_idx_file_is_found(tmp_path, name, file, damage):
    path = write_idx(tmp_path, name) / file
    spoil(path, damage)
    with pytest.raises(DataError) as caught:
        load_original(name, tmp_path, download=True)  # a damaged file is never replaced silently
    found = md5(path.read_bytes())
    for part in (str(path), original.IDX_MD5[name][file], found, "delete it"):
        assert part in str(caught.value)


@pytest.mark.usefixtures("small")
def test_mnist_under_the_names_of_fashionmnist_is_refused(tmp_path):
    raw = write_idx(tmp_path, "mnist", "FashionMNIST")
    with pytest.raises(DataError) as caught:
        load_original("fashion_mnist", tmp_path, download=False)
    file = raw / "train-images-idx3-ubyte"
    assert str(caught.value).startswith(f"{file} is not the original of FashionMNIST: expected 40×")
    assert "which is train-images-idx3-ubyte of MNIST; delete it" in str(caught.value)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "no idx file of bytes in 0 bytes"),
        (b"garbage" * 9, "no idx file of bytes in 63 bytes"),
        (b"\0\0\x08", "in 3 bytes"),
        (b"\0\0\x08\xff" + bytes(5000), "no idx file of bytes in 5,004 bytes"),
        (idx(np.zeros((4, 28, 28), np.uint8)), "4×28×28 in 3,152 bytes"),
        (idx(np.zeros((40, 14, 56), np.uint8)), "40×14×56 in 31,376 bytes"),
        (idx(np.zeros((41, 28, 28), np.uint8)), "41×28×28 in more than 31,376 bytes"),
    ],
)
@pytest.mark.usefixtures("small")
def test_the_message_says_what_was_expected_and_what_was_found(tmp_path, content, words):
    file = write_idx(tmp_path, "fashion_mnist") / "train-images-idx3-ubyte"
    file.write_bytes(content)
    with pytest.raises(DataError) as caught:
        load_original("fashion_mnist", tmp_path, download=False)
    assert f"{file} is not the original of FashionMNIST: expected 40×28×28" in str(caught.value)
    assert "expected 40×28×28 in 31,376 bytes, md5 " in str(caught.value)
    assert words in str(caught.value)


@pytest.mark.usefixtures("small")
def test_a_huge_file_is_not_read_to_its_end(tmp_path):
    file = write_idx(tmp_path, "mnist") / "train-images-idx3-ubyte"
    with file.open("r+b") as stream:
        stream.truncate(2**40)
    with pytest.raises(DataError, match="in more than 31,376 bytes"):
        load_original("mnist", tmp_path, download=False)


@pytest.mark.parametrize("damage", ["empty", "cut", "flipped"])
@pytest.mark.usefixtures("small")
def test_a_damaged_packed_file_is_named(tmp_path, damage):
    file = write_idx(tmp_path, "mnist") / "t10k-images-idx3-ubyte"
    packed = file.with_name(f"{file.name}.gz")
    packed.write_bytes(gzip.compress(file.read_bytes()))
    file.unlink()
    spoil(packed, damage)
    with pytest.raises(DataError, match=f"^{packed}.* is no.*; delete it and run again"):
        load_original("mnist", tmp_path, download=False)


@pytest.mark.usefixtures("small")
def test_a_file_without_permission_is_named(tmp_path, monkeypatch):
    """Permissions do not stop root, so the system's answer is made up."""
    write_idx(tmp_path, "mnist")

    def refuse(self, *words, **options):
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "open", refuse)
    words = r"train-images-idx3-ubyte cannot be read \(Permission denied\); change its owner"
    with pytest.raises(DataError, match=words):
        load_original("mnist", tmp_path, download=False)


def spoil(path, damage):
    content = path.read_bytes()
    middle = len(content) // 2
    flipped = content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]
    kinds = {"empty": b"", "cut": content[:middle], "longer": content + b"\0", "flipped": flipped}
    path.write_bytes(kinds[damage])


def test_reads_cifar(cifar):
    dataset = load_original("cifar10", cifar.parent, download=False)
    assert dataset.train_images.shape == (10, 32, 32, 3)
    assert dataset.test_labels.tolist() == [0, 1]
    stored = pickle.loads((cifar / "test_batch").read_bytes())["data"]
    np.testing.assert_array_equal(
        dataset.test_images[1, 3, 5], stored[1].reshape(3, 32, 32)[:, 3, 5]
    )


@pytest.mark.parametrize("file", ["data_batch_3", "test_batch", "batches.meta"])
@pytest.mark.parametrize("damage", ["empty", "cut", "flipped"])
def test_damaged_cifar_is_found_before_anything_is_unpickled(cifar, file, damage, monkeypatch):
    spoil(cifar / file, damage)
    monkeypatch.setattr(pickle, "load", lambda *_, **__: pytest.fail("unpickled"))
    with pytest.raises(DataError, match="expected md5") as caught:
        load_original("cifar10", cifar.parent, download=False)
    assert str(cifar / file) in str(caught.value)


@pytest.mark.parametrize("name", list(original.CLASSES))
def test_missing_and_not_to_be_fetched(tmp_path, name):
    with pytest.raises(DataError) as caught:
        load_original(name, tmp_path / "nowhere", download=False)
    for part in ("missing", str(tmp_path / "nowhere"), "FINITEWIDTH_DATA", "download", "quick"):
        assert part in str(caught.value)
    assert not (tmp_path / "nowhere").exists()


def test_a_packed_cifar_is_told_to_be_unpacked(tmp_path):
    archive = tmp_path / "cifar-10-python.tar.gz"
    archive.write_bytes(b"packed")
    with pytest.raises(DataError, match=re.escape(f"unpack {archive} there (tar -xzf), allow the")):
        load_original("cifar10", tmp_path, download=False)


def fetching(monkeypatch, kind, action):
    """Let torchvision's download be ``action``, called with the folder to fill."""
    monkeypatch.setattr(kind, "download", lambda self: action(Path(self.root)))


def half_then_fail(error):
    def action(folder):
        raw = write_idx(folder, "mnist")
        (raw / "t10k-labels-idx1-ubyte").unlink()
        raise error

    return action


def wrong_content(folder):
    spoil(write_idx(folder, "mnist") / "t10k-labels-idx1-ubyte", "cut")


@pytest.mark.parametrize(
    "action",
    [half_then_fail(URLError("Name or service not known")), wrong_content],
)
@pytest.mark.usefixtures("small")
def test_failed_fetch_leaves_nothing_and_says_why(tmp_path, monkeypatch, action):
    fetching(monkeypatch, peer("MNIST"), action)
    with pytest.raises(DataError) as caught:
        load_original("mnist", tmp_path / "new/resources", download=True)
    for part in ("MNIST is missing", str(tmp_path), "the download failed", "FINITEWIDTH_DATA"):
        assert part in str(caught.value)
    assert "\n" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []
