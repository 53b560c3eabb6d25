"""MNIST, FashionMNIST and CIFAR-10: found on disk or downloaded with torchvision, then verified."""

import contextlib
import gzip
import hashlib
import math
import os
import socket
import tempfile
import warnings
import zlib
from collections.abc import Iterable
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
# Of the unpacked files. torchvision knows those of the packed ones, and compares them only when it
# downloads. Two sources agree on those of FashionMNIST: the git-annex keys of torchvision's folder
# in github.com/datasets-mila/datasets--fashionmnist, and a tutorial that lists md5sum of the files
# after gunzip beside those before it, which are the ones that Zalando publishes.
IDX_MD5 = {
    "mnist": {
        "train-images-idx3-ubyte": "6bbc9ace898e44ae57da46a324031adb",
        "train-labels-idx1-ubyte": "a25bea736e30d166cdddb491f175f624",
        "t10k-images-idx3-ubyte": "2646ac647ad5339dbf082846283269ea",
        "t10k-labels-idx1-ubyte": "27ae3e4e09519cfbb04c329615203637",
    },
    "fashion_mnist": {
        "train-images-idx3-ubyte": "f4a8712d7a061bf5bd6d2ca38dc4d50a",
        "train-labels-idx1-ubyte": "9018921c3c673c538a1fc5bad174d6f9",
        "t10k-images-idx3-ubyte": "8181f5470baa50b63fa0f6fddb340f0a",
        "t10k-labels-idx1-ubyte": "15d484375f8d13e6eb1aabb0c3f46965",
    },
}
IDX_OF_BYTES = b"\0\0\x08"  # how an idx file of bytes begins; the number of dimensions follows
AGAIN = "delete it and run again with data.download: true, or copy it again"


def load_original(name: str, root: str | Path, download: bool) -> Dataset:
    """Read ``mnist``, ``fashion_mnist`` or ``cifar10`` below ``root``, downloading it if allowed.

    The files are laid out as torchvision does it: MNIST and FashionMNIST (60,000 + 10,000 images of
    shape (28, 28, 1)) in ``<Name>/raw``, CIFAR-10 (50,000 + 10,000 of shape (32, 32, 3)) in
    ``cifar-10-batches-py``.

    A file of the first two that is there only packed, as ``<file>.gz``, is unpacked in memory.

    Raises:
        DataError: a file is missing and may not or cannot be downloaded, cannot be read, or is not
            the original. The message names the file, what was found and the remedy.
    """
    root = Path(root)
    torchvision_operators.install()
    from torchvision import datasets  # takes seconds

    torchvision_class = getattr(datasets, CLASSES[name])
    try:
        checksums = _checksums(name, torchvision_class)
        missing = [file for file in checksums if _stored_file(root / file) is None]
        if missing and not download:
            raise DataError(_missing_text(name, torchvision_class, root, missing, None))
        if missing:
            _fetch(name, torchvision_class, root, missing)
        return _read(name, torchvision_class, root)
    except OSError as error:
        raise DataError(
            f"{error.filename or root} cannot be read ({error.strerror or error}); change its "
            "owner or mode"
        ) from error


def _checksums(name: str, torchvision_class: Any) -> dict[str, str]:
    """Return the md5 of each file by its path below the root."""
    if name == "cifar10":
        meta = torchvision_class.meta
        files = [*torchvision_class.train_list, *torchvision_class.test_list]
        files.append([meta["filename"], meta["md5"]])
        return {f"{CIFAR_FOLDER}/{file}": md5 for file, md5 in files}
    return {f"{CLASSES[name]}/raw/{file}": md5 for file, md5 in IDX_MD5[name].items()}


def _stored_file(file: Path) -> Path | None:
    """Return the file that has the content: itself or, of an idx file, the packed one."""
    if file.is_file():
        return file
    packed = file.with_name(f"{file.name}.gz")
    return packed if "-idx" in file.name and packed.is_file() else None


def _missing_text(
    name: str, torchvision_class: Any, root: Path, missing: list[str], failure: str | None
) -> str:
    """Return the message for missing files; ``failure`` is that of a download, if it was tried."""
    more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
    if failure is None:
        reason = "downloading is switched off"
        allow = ", allow the download (data.download: true)"
    else:
        reason = f"the download failed: {' '.join(failure.split())}"
        allow = ""
    remedy = f"set {VARIABLE} or data.root to a folder that contains it"
    if name == "cifar10" and (root / torchvision_class.filename).is_file():
        remedy = f"unpack {root / torchvision_class.filename} there (tar -xzf)"
    return (
        f"{SOURCES[name].title} is missing: {root} was searched for {missing[0]}{more} ({reason}); "
        f"{remedy}{allow}, or use the preset quick, which needs no downloads"
    )


def _fetch(name: str, torchvision_class: Any, root: Path, missing: list[str]) -> None:
    """Download to a temporary folder below ``root`` and move the missing files into place.

    An interrupted download leaves no incomplete file in the place of a complete one, and one that
    fails leaves no new folder.
    """
    new_folders = [folder for folder in (root, *root.parents) if not folder.exists()]
    try:
        root.mkdir(parents=True, exist_ok=True)
        socket.setdefaulttimeout(TIMEOUT)
        with tempfile.TemporaryDirectory(prefix=".finitewidth-fetch-", dir=root) as temporary:
            torchvision_class(temporary, train=True, download=True)
            _read(name, torchvision_class, Path(temporary))  # fails unless they are the originals
            for file in missing:
                (root / file).parent.mkdir(parents=True, exist_ok=True)
                os.replace(Path(temporary, file), root / file)
    except Exception as error:  # downloads fail in many ways; the remedy is the same for all
        for folder in new_folders:
            with contextlib.suppress(OSError):
                folder.rmdir()
        message = _missing_text(name, torchvision_class, root, missing, str(error))
        raise DataError(message) from error


def _read(name: str, torchvision_class: Any, root: Path) -> Dataset:
    """Verify and read the files."""
    if name == "cifar10":
        return _read_cifar(torchvision_class, root)
    # torchvision itself would prefer an unverified processed/*.pt file to the raw files
    raw = root / CLASSES[name] / "raw"
    arrays = {}
    for split, prefix in (("train", "train"), ("test", "t10k")):
        images = _read_idx(name, raw / f"{prefix}-images-idx3-ubyte")
        labels = _read_idx(name, raw / f"{prefix}-labels-idx1-ubyte")
        arrays[f"{split}_images"] = images[..., None]
        arrays[f"{split}_labels"] = labels.astype(np.int64)
    classes = [str(digit) for digit in range(10)] if name == "mnist" else torchvision_class.classes
    return from_catalogue(name, classes, arrays)


def _read_idx(name: str, file: Path) -> np.ndarray:
    """Return the array of bytes in an idx file, which must be the original."""
    sizes = _idx_sizes(name, file.name)
    header_length = 4 + 4 * len(sizes)
    length = header_length + math.prod(sizes)
    stored = _stored_file(file) or file
    content = _read_bytes(stored, length + 1)
    expected_md5 = IDX_MD5[name][file.name]
    md5 = hashlib.md5(content, usedforsecurity=False).hexdigest()
    if md5 != expected_md5:
        subject = f"{stored}, unpacked," if stored.suffix == ".gz" else stored
        more = "more than " if len(content) > length else ""
        count = min(len(content), length)
        expected = f"{_written(sizes)} in {length:,} bytes, md5 {expected_md5}"
        actual = f"{_header(content)} in {more}{count:,} bytes, md5 {md5}{_owner(md5)}"
        raise _altered(name, subject, expected, actual)
    return np.frombuffer(content, np.uint8, offset=header_length).reshape(sizes)


def _idx_sizes(name: str, file_name: str) -> tuple[int, ...]:
    """Return the shape of the array in an idx file: images (n, H, W), or labels (n,)."""
    source = SOURCES[name]
    assert source.images is not None
    assert source.shape is not None
    train, test = source.images
    count = train if file_name.startswith("train") else test
    if "images" not in file_name:
        return (count,)
    height, width, _ = source.shape
    return count, height, width


def _read_bytes(file: Path, most: int) -> bytes:
    """Return at most ``most`` bytes of a file, unpacked."""
    if file.suffix != ".gz":
        with file.open("rb") as stream:
            return stream.read(most)
    try:
        with gzip.open(file) as stream:
            return stream.read(most)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise DataError(f"{file} is no complete gzip file ({error}); {AGAIN}") from error


def _header(content: bytes) -> str:
    """Return the shape that the header of an idx file of bytes states, such as 60000×28×28."""
    dimensions = int.from_bytes(content[3:4], "big")
    if not content.startswith(IDX_OF_BYTES) or dimensions > 3:
        return "no idx file of bytes"
    words = content[4 : 4 + 4 * dimensions]
    sizes = []
    for start in range(0, len(words), 4):
        sizes.append(int.from_bytes(words[start : start + 4], "big"))
    return _written(sizes)


def _written(sizes: Iterable[int]) -> str:
    return "×".join(map(str, sizes))


def _owner(md5: str) -> str:
    """Return which other known file has an md5, as an addition to a message; empty for none."""
    for name, files in IDX_MD5.items():
        for file, known_md5 in files.items():
            if md5 == known_md5:
                return f", which is {file} of {SOURCES[name].title}"
    return ""


def _altered(name: str, file: str | Path, expected: str, actual: str) -> DataError:
    """Return the error for a file that is not the original."""
    return DataError(
        f"{file} is not the original of {SOURCES[name].title}: expected {expected}; found "
        f"{actual}; {AGAIN}"
    )


def _read_cifar(torchvision_class: Any, root: Path) -> Dataset:
    """Verify and read the files of CIFAR-10."""
    for file, expected_md5 in _checksums("cifar10", torchvision_class).items():
        with (root / file).open("rb") as stream:
            md5 = hashlib.file_digest(stream, "md5").hexdigest()
        if md5 != expected_md5:
            raise _altered("cifar10", root / file, f"md5 {expected_md5}", f"md5 {md5}")
    arrays: dict[str, np.ndarray] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # numpy warns about the old pickle format of these files
        for split in ("train", "test"):
            part = torchvision_class(str(root), train=split == "train")
            arrays[f"{split}_images"] = np.ascontiguousarray(part.data)
            arrays[f"{split}_labels"] = np.array(part.targets, np.int64)
    return from_catalogue("cifar10", part.classes, arrays)
