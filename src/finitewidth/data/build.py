"""Build a dataset from its name, whether it is bundled, downloaded or read from an image folder."""

from collections.abc import Mapping
from typing import Any

from finitewidth.common.errors import ConfigError, DataError
from finitewidth.data.bundled import digits, digits_on_patches, warped_digits
from finitewidth.data.catalogue import find_source
from finitewidth.data.imagefolder import load_imagefolder
from finitewidth.data.original import CLASSES, load_original
from finitewidth.data.places import data_root, folder_of, registered
from finitewidth.data.store import Dataset

BUNDLED = {
    "digits": digits,
    "warped_digits": warped_digits,
    "digits_on_patches": digits_on_patches,
}


def build_dataset(name: str, data_config: Mapping[str, Any]) -> Dataset:
    """Build the dataset ``name``.

    It is a key of `finitewidth.data.catalogue.SOURCES` or of ``data.imagefolder``, or a folder of
    images that `finitewidth.data.places.registered` adds to these. Each key of the ``data:``
    section may be missing.

    Raises:
        ConfigError: the name is unknown, or it is an image folder without a path.
        DataError: the data are missing or damaged, or they do not match the catalogue.
    """
    trees = registered(data_config)["imagefolder"]
    source = find_source(name, trees)
    if name in BUNDLED:
        return BUNDLED[name]()
    if name in CLASSES:
        return load_original(name, data_root(data_config), data_config.get("download", True))
    if name not in trees:
        raise ConfigError(
            f"{name} is read from an image folder; set its path: "
            f"data.imagefolder: {{{name}: <tree>}}"
        )
    folder = folder_of(trees[name], data_config)
    dataset = load_imagefolder(name, source.title, folder)
    shape = dataset.shape
    classes = len(dataset.class_names)
    if source.shape is not None and (shape, classes) != (source.shape, source.classes):
        raise DataError(
            f"{folder} has images {shape} of {classes} classes, {source.title} has "
            f"{source.shape} of {source.classes}; use another name for this folder in "
            "data.imagefolder"
        )
    return dataset
