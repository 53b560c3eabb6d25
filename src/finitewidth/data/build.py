"""From the name of a dataset to the dataset, wherever it comes from."""

from collections.abc import Mapping
from typing import Any

from finitewidth.common.errors import ConfigError, DataError
from finitewidth.data.bundled import digits, digits_on_patches, warped_digits
from finitewidth.data.catalogue import find_source
from finitewidth.data.imagefolder import load_imagefolder
from finitewidth.data.original import CLASSES, DEFAULT_ROOT, data_root, load_original
from finitewidth.data.store import Dataset

BUNDLED = {
    "digits": digits,
    "warped_digits": warped_digits,
    "digits_on_patches": digits_on_patches,
}


def build_dataset(name: str, data_config: Mapping[str, Any]) -> Dataset:
    """Make, read or fetch the source ``name`` as the ``data:`` part of the settings says.

    Of ``data_config`` the keys ``root``, ``download`` and ``imagefolder`` count; all may be absent.

    Raises:
        ConfigError: unknown name, or an image folder without a place.
        DataError: the data are missing, damaged or not what the catalogue says.
    """
    trees = data_config.get("imagefolder") or {}
    source = find_source(name, trees)
    if name in BUNDLED:
        return BUNDLED[name]()
    root = data_root(data_config.get("root")) or DEFAULT_ROOT
    if name in CLASSES:
        return load_original(name, root, bool(data_config.get("download", True)))
    if name not in trees:
        raise ConfigError(
            f"{name} is read from an image folder; say which: data.imagefolder: {{{name}: <tree>}}"
        )
    dataset = load_imagefolder(name, source.title, root / trees[name])
    found = (dataset.shape, len(dataset.class_names))
    if source.shape is not None and found != (source.shape, source.classes):
        raise DataError(
            f"{root / trees[name]} has images {found[0]} of {found[1]} classes, {source.title} has "
            f"{source.shape} of {source.classes}; give this tree another name in data.imagefolder"
        )
    return dataset
