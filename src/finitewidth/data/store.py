"""The file format of a dataset: an ``.npz`` file, which plain numpy can read.

The checksums of the zip format reveal a changed byte of an image or a label.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from finitewidth.common.errors import DataError
from finitewidth.common.result_files import atomic
from finitewidth.data.catalogue import SOURCES

FORMAT = 1
_ARRAYS = ("train_images", "train_labels", "test_images", "test_labels")
_TEXTS = ("name", "title", "origin")


@dataclass(frozen=True, eq=False)
class Dataset:
    """Images and labels of one dataset.

    Attributes:
        name: key of the dataset.
        title: name shown in figures.
        train_images, test_images: uint8 in 0..255, (n, H, W, C).
        train_labels, test_labels: int64 (n,), indices into ``class_names``.
        class_names: one per class, all different.
        origin: reference, and how the images were made.
    """

    name: str
    title: str
    train_images: np.ndarray
    train_labels: np.ndarray
    test_images: np.ndarray
    test_labels: np.ndarray
    class_names: tuple[str, ...]
    origin: str

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
    """Write ``dataset`` as uncompressed ``.npz``; equal datasets give equal bytes.

    Raises:
        DataError: the dataset is inconsistent (see ``problem_of``).
        ResultError: the file cannot be written.
    """
    problem = problem_of(dataset)
    if problem:
        raise DataError(f"dataset {dataset.name!r} is not written to {path}: {problem}")
    about = {"format": FORMAT, **{key: getattr(dataset, key) for key in _TEXTS}}
    about["class_names"] = list(dataset.class_names)
    text = json.dumps(about, ensure_ascii=False).encode()
    arrays = {key: np.ascontiguousarray(getattr(dataset, key)) for key in _ARRAYS}
    with atomic(path) as temporary:
        np.savez(temporary, about=np.frombuffer(text, np.uint8), allow_pickle=False, **arrays)


def read_dataset(path: str | Path) -> Dataset:
    """Read a file that ``write_dataset`` wrote.

    Raises:
        DataError: the file is missing, truncated, altered or malformed, or it holds another dataset
            than its name says. The message names the file and the remedy.
    """
    path = Path(path)
    remedy = f"delete it and build it again: snakemake --cores 1 {path}"
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as pack:
            arrays = {key: pack[key] for key in _ARRAYS}
            about = json.loads(pack["about"].tobytes())
        if about["format"] != FORMAT:
            raise ValueError(f"format {about['format']}, this version reads format {FORMAT}")
        texts = {key: about[key] for key in _TEXTS}
        dataset = Dataset(class_names=tuple(about["class_names"]), **texts, **arrays)
        problem = problem_of(dataset)
    except OSError as error:
        raise DataError(f"{path} cannot be opened ({error.strerror}); {remedy}") from error
    except Exception as error:  # bytes that are damaged raise many kinds of errors
        raise DataError(f"{path} is damaged ({error}); {remedy}") from error
    if problem:
        raise DataError(f"{path} is malformed: {problem}; {remedy}")
    if dataset.name != path.stem:
        raise DataError(f"{path} holds the dataset {dataset.name!r}; {remedy}")
    return dataset


def problem_of(dataset: Dataset) -> str | None:
    """Describe the first problem with types, shapes, lengths or labels; None if there is none."""
    classes = len(dataset.class_names)
    for split in ("train", "test"):
        images, labels = getattr(dataset, f"{split}_images"), getattr(dataset, f"{split}_labels")
        if images.dtype != np.uint8 or images.ndim != 4 or 0 in images.shape:
            return f"{split}_images is {images.dtype} {images.shape}, not uint8 (n, H, W, C)"
        if labels.dtype != np.int64 or labels.shape != (len(images),):
            return f"{split}_labels is {labels.dtype} {labels.shape}, not int64 ({len(images)},)"
        if labels.min() < 0 or labels.max() >= classes:
            span = f"{labels.min()}..{labels.max()}"
            return f"{split}_labels has labels {span} for {classes} classes"
    if dataset.train_images.shape[1:] != dataset.test_images.shape[1:]:
        shapes = dataset.train_images.shape[1:], dataset.test_images.shape[1:]
        return f"training images are {shapes[0]}, test images {shapes[1]}"
    texts = [getattr(dataset, key) for key in _TEXTS] + list(dataset.class_names)
    if not all(isinstance(text, str) for text in texts) or len(set(dataset.class_names)) < classes:
        return "names must be text and class names differ"
    return None
