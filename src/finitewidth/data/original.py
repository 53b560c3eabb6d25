"""MNIST, FashionMNIST and CIFAR-10: found on disk or downloaded with torchvision, then verified."""

import contextlib
import hashlib
import os
import socket
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from finitewidth.common import torchvision_operators
from finitewidth.common.errors import DataError
from finitewidth.data.catalogue import SOURCES
from finitewidth.data.places import VARIABLE
from finitewidth.data.store import Dataset, from_catalogue

CLASSES = {"mnist": "MNIST", "fashion_mnist": "FashionMNIST", "cifar10": "CIFAR10"}
CIFAR_FOLDER = "cifar-10-batches-py"
TIMEOUT = 60  # seconds; torchvision itself has no time limit
# torchvision verifies only the packed files, so the checksums of the unpacked ones are given here
MNIST_MD5 = {
    "train-images-idx3-ubyte": "6bbc9ace898e44ae57da46a324031adb",
    "train-labels-idx1-ubyte": "a25bea736e30d166cdddb491f175f624",
    "t10k-images-idx3-ubyte": "2646ac647ad5339dbf082846283269ea",
    "t10k-labels-idx1-ubyte": "27ae3e4e09519cfbb04c329615203637",
}


def load_original(name: str, root: str | Path, download: bool) -> Dataset:
    """Read ``mnist``, ``fashion_mnist`` or ``cifar10`` below ``root``, downloading it if allowed.

    The files are laid out as torchvision does it: MNIST and FashionMNIST (60,000 + 10,000 images of
    shape (28, 28, 1)) in ``<Name>/raw``, CIFAR-10 (50,000 + 10,000 of shape (32, 32, 3)) in
    ``cifar-10-batches-py``.

    Raises:
        DataError: a file is missing and may not or cannot be downloaded, or a file is altered. The
            message names the file and the remedy.
    """
    root = Path(root)
    torchvision_operators.install()
    from torchvision import datasets  # takes seconds

    kind = getattr(datasets, CLASSES[name])
    checksums = _checksums(name, kind)
    missing = [file for file in checksums if not (root / file).is_file()]
    if missing and not download:
        raise DataError(_missing_text(name, root, missing, None))
    if missing:
        _fetch(name, kind, root, missing)
    _verify(name, kind, root)
    return _read_cifar(kind, root) if name == "cifar10" else _read_idx(name, kind, root)


def _checksums(name: str, kind: Any) -> dict[str, str | None]:
    """Map each path below the root to its md5.

    The value is None for FashionMNIST: only the checksums of its packed files are published, which
    torchvision compares.
    """
    if name == "cifar10":
        listed = [*kind.train_list, *kind.test_list, [kind.meta["filename"], kind.meta["md5"]]]
        return {f"{CIFAR_FOLDER}/{file}": md5 for file, md5 in listed}
    known = MNIST_MD5 if name == "mnist" else dict.fromkeys(MNIST_MD5)
    return {f"{CLASSES[name]}/raw/{file}": md5 for file, md5 in known.items()}


def _missing_text(name: str, root: Path, missing: list[str], failure: str | None) -> str:
    rest = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
    why, allow = "downloading is switched off", ", allow the download (data.download: true)"
    if failure is not None:
        why, allow = f"the download failed: {' '.join(failure.split())}", ""
    return (
        f"{SOURCES[name].title} is missing: {root} was searched for {missing[0]}{rest} ({why}); "
        f"set {VARIABLE} or data.root to a folder that contains it{allow}, "
        "or use the preset quick, which needs no downloads"
    )


def _fetch(name: str, kind: Any, root: Path, missing: list[str]) -> None:
    """Download to a temporary folder below ``root`` and move the missing files into place.

    An interrupted download leaves no incomplete file in the place of a complete one, and one that
    fails leaves no new folder.
    """
    new = [folder for folder in (root, *root.parents) if not folder.exists()]
    try:
        root.mkdir(parents=True, exist_ok=True)
        socket.setdefaulttimeout(TIMEOUT)
        with tempfile.TemporaryDirectory(prefix=".finitewidth-fetch-", dir=root) as folder:
            kind(folder, train=True, download=True)
            _verify(name, kind, Path(folder))
            for file in missing:
                (root / file).parent.mkdir(parents=True, exist_ok=True)
                os.replace(Path(folder, file), root / file)
    except Exception as error:  # downloads fail in many ways; the remedy is the same for all
        for folder in new:
            with contextlib.suppress(OSError):
                folder.rmdir()
        raise DataError(_missing_text(name, root, missing, str(error))) from error


def _verify(name: str, kind: Any, root: Path) -> None:
    """Compare checksums where they are known."""
    for file, md5 in _checksums(name, kind).items():
        found = hashlib.md5((root / file).read_bytes(), usedforsecurity=False).hexdigest()
        if md5 not in (None, found):
            raise DataError(f"{root / file} is truncated or altered: md5 expected {md5}, found "
                            f"{found}; delete it and run again with data.download: true, or copy "
                            "it again")  # fmt: skip


def _read_idx(name: str, kind: Any, root: Path) -> Dataset:
    # kind(root) is not used: it would prefer an unverified processed/*.pt file to the raw files
    from torchvision.datasets import mnist

    raw = root / CLASSES[name] / "raw"
    arrays = {}
    for split, prefix in (("train", "train"), ("test", "t10k")):
        images = mnist.read_image_file(str(raw / f"{prefix}-images-idx3-ubyte")).numpy()
        labels = mnist.read_label_file(str(raw / f"{prefix}-labels-idx1-ubyte")).numpy()
        arrays |= {f"{split}_images": images[..., None], f"{split}_labels": labels.astype(np.int64)}
    classes = [str(digit) for digit in range(10)] if name == "mnist" else kind.classes
    return from_catalogue(name, classes, arrays)


def _read_cifar(kind: Any, root: Path) -> Dataset:
    arrays: dict[str, np.ndarray] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # numpy warns about the old pickle format of these files
        for split in ("train", "test"):
            part = kind(str(root), train=split == "train")
            arrays[f"{split}_images"] = np.ascontiguousarray(part.data)
            arrays[f"{split}_labels"] = np.array(part.targets, np.int64)
    return from_catalogue("cifar10", part.classes, arrays)
