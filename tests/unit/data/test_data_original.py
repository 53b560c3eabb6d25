import hashlib
import pickle
from pathlib import Path
from urllib.error import URLError

import numpy as np
import pytest

from finitewidth.common.errors import DataError
from finitewidth.data import original
from finitewidth.data.original import load_original

COUNTS = {"train": 40, "t10k": 20}


def peer(name):
    """A class of torchvision, whose import takes seconds."""
    from torchvision import datasets

    return getattr(datasets, name)


def md5(content):
    return hashlib.md5(content).hexdigest()


def idx_bytes():
    """Small files in the format of MNIST, with their names."""
    generator = np.random.default_rng(0)
    files = {}
    for prefix, count in COUNTS.items():
        images = generator.integers(0, 256, (count, 28, 28), dtype=np.uint8)
        labels = generator.permutation(np.arange(count, dtype=np.uint8) % 10)
        for kind, array in (("images-idx3", images), ("labels-idx1", labels)):
            sizes = b"".join(size.to_bytes(4, "big") for size in array.shape)
            header = bytes([0, 0, 8, array.ndim]) + sizes
            files[f"{prefix}-{kind}-ubyte"] = header + array.tobytes()
    return files


def write_idx(root, name):
    raw = root / name / "raw"
    raw.mkdir(parents=True)
    for file, content in idx_bytes().items():
        (raw / file).write_bytes(content)
    return raw


@pytest.fixture
def small(monkeypatch):
    """Small files pass for the originals."""
    files = idx_bytes()
    monkeypatch.setattr(original, "MNIST_MD5", {file: md5(files[file]) for file in files})


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


@pytest.mark.parametrize(
    ("name", "folder"), [("mnist", "MNIST"), ("fashion_mnist", "FashionMNIST")]
)
@pytest.mark.usefixtures("small")
def test_reads_idx_files(tmp_path, name, folder):
    write_idx(tmp_path, folder)
    dataset = load_original(name, tmp_path, download=False)
    assert dataset.train_images.shape == (40, 28, 28, 1)
    assert dataset.test_images.tobytes() == idx_bytes()["t10k-images-idx3-ubyte"][16:]
    assert bytes(dataset.train_labels.tolist()) == idx_bytes()["train-labels-idx1-ubyte"][8:]
    assert dataset.class_names[0] == ("0" if name == "mnist" else "T-shirt/top")


@pytest.mark.parametrize("file", list(idx_bytes()))
@pytest.mark.parametrize("damage", ["empty", "cut", "longer", "flipped"])
@pytest.mark.usefixtures("small")
def test_damaged_mnist_is_found(tmp_path, file, damage):
    path = write_idx(tmp_path, "MNIST") / file
    spoil(path, damage)
    with pytest.raises(DataError) as caught:
        load_original("mnist", tmp_path, download=True)  # a damaged file is never replaced silently
    found = md5(path.read_bytes())
    for part in (str(path), original.MNIST_MD5[file], found, "delete it"):
        assert part in str(caught.value)


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
    with pytest.raises(DataError, match="md5 expected") as caught:
        load_original("cifar10", cifar.parent, download=False)
    assert str(cifar / file) in str(caught.value)


@pytest.mark.parametrize("name", list(original.CLASSES))
def test_missing_and_not_to_be_fetched(tmp_path, name):
    with pytest.raises(DataError) as caught:
        load_original(name, tmp_path / "nowhere", download=False)
    for part in ("missing", str(tmp_path / "nowhere"), "FINITEWIDTH_DATA", "download", "quick"):
        assert part in str(caught.value)
    assert not (tmp_path / "nowhere").exists()


def fetching(monkeypatch, kind, action):
    """Let torchvision's download be ``action``, called with the folder to fill."""
    monkeypatch.setattr(kind, "download", lambda self: action(Path(self.root)))


def half_then_fail(error):
    def action(folder):
        raw = write_idx(folder, "MNIST")
        (raw / "t10k-labels-idx1-ubyte").unlink()
        raise error

    return action


def wrong_content(folder):
    spoil(write_idx(folder, "MNIST") / "t10k-labels-idx1-ubyte", "cut")


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
