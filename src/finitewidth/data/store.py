"""The file format of a dataset: an ``.npz`` file, which plain numpy can read.

The checksums of the zip format reveal a changed byte of an image or a label.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from finitewidth.common.errors import DataError
from finitewidth.data.catalogue import SOURCES
from finitewidth.records.result_files import atomic

FORMAT = 1
_ARRAYS = ("train_images", "train_labels", "test_images", "test_labels")
_TEXTS = ("name", "title", "origin")


@dataclass(frozen=True, eq=False)
class Dataset:
    """Images and labels of one dataset."""

    name: str  # the key used in the settings
    title: str  # shown in figures
    train_images: np.ndarray  # uint8 in 0..255, (n, H, W, C)
    train_labels: np.ndarray  # int64 (n,), indices into class_names
    test_images: np.ndarray
    test_labels: np.ndarray
    class_names: tuple[str, ...]
    origin: str  # reference, and how the images were made

    @property
    def shape(self) -> tuple[int, int, int]:
        """(H, W, C) of one image."""
        return tuple(self.train_images.shape[1:])


def from_catalogue(name: str, classes: Iterable[str], arrays: Mapping[str, np.ndarray]) -> Dataset:
    """Return a dataset of `finitewidth.data.catalogue.SOURCES`, with its title and its origin."""
    source = SOURCES[name]
    return Dataset(
        name=name, title=source.title, origin=source.origin, class_names=tuple(classes), **arrays
    )


def write_dataset(path: str | Path, dataset: Dataset) -> None:
    """Write ``dataset`` as uncompressed ``.npz``; equal datasets give equal bytes."""
    texts = {key: getattr(dataset, key) for key in _TEXTS}
    about = {"format": FORMAT, **texts, "class_names": list(dataset.class_names)}
    about_bytes = json.dumps(about, ensure_ascii=False).encode()
    arrays = {key: np.ascontiguousarray(getattr(dataset, key)) for key in _ARRAYS}
    with atomic(path) as temporary:
        np.savez(
            temporary, about=np.frombuffer(about_bytes, np.uint8), allow_pickle=False, **arrays
        )


def read_dataset(path: str | Path) -> Dataset:
    """Read a file that ``write_dataset`` wrote.

    Raises:
        DataError: the file is missing, truncated or altered. The message names it and the remedy.
    """
    path = Path(path)
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as pack:
            arrays = {key: pack[key] for key in _ARRAYS}
            about = json.loads(pack["about"].tobytes())
        if about["format"] != FORMAT:
            raise ValueError(f"format {about['format']}, this version reads format {FORMAT}")
        texts = {key: about[key] for key in _TEXTS}
        return Dataset(class_names=tuple(about["class_names"]), **texts, **arrays)
    except Exception as error:  # bytes that are damaged raise many kinds of errors
        raise DataError(
            f"{path} is damaged ({error}); delete it and build it again: snakemake --cores 1 {path}"
        ) from error
