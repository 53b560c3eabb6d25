"""Where datasets lie: the data root, and the folders of the user's own images.

A folder of images is named once. ``data.images`` gives a folder that plays the part of every
dataset of the papers; ``data.mnist: mytree`` gives the folder ``mytree`` below the data root for
one of them. `registered` adds such folders to the setting ``data.imagefolder``.

This module imports only the standard library, because the workflow imports it at every start.
"""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from finitewidth.common.errors import ConfigError
from finitewidth.data.catalogue import IMAGE_FOLDERS, ROLES, SOURCES

VARIABLE = "FINITEWIDTH_DATA"
DEFAULT_ROOT = Path("resources")  # relative to the working directory
SPLITS = ("train", "test")
SUFFIXES = (
    ".bmp", ".gif", ".jpeg", ".jpg", ".pgm", ".png", ".ppm", ".tif", ".tiff", ".webp",
)  # fmt: skip
LONGEST_NAME = 24
_LAYOUT = "a folder of images contains train/<class>/* and test/<class>/*"


def data_root(configured: str | None) -> Path | None:
    """Return the folder of the original datasets.

    This is the setting ``data.root`` if it is given, otherwise the environment variable
    FINITEWIDTH_DATA, otherwise None.

    Raises:
        ConfigError: the path begins with ``~`` and a user that does not exist.
    """
    place = configured or os.environ.get(VARIABLE)
    return _expanded(place, "data.root" if configured else VARIABLE) if place else None


def _expanded(place: str, key: str) -> Path:
    try:
        return Path(place).expanduser()
    except RuntimeError as error:
        raise ConfigError(f"{key}: {place!r}: {error}; write the whole path") from error


def folder_of(tree: str, data_config: Mapping[str, Any]) -> Path:
    """Return the folder of an entry of ``data.imagefolder``, or of ``data.images``.

    An absolute path, or one that begins with ``~``, is taken as it is; others begin at the data
    root.
    """
    root = data_root(data_config.get("root")) or DEFAULT_ROOT
    return root / _expanded(tree, "data.images")


def name_of(folder: Path) -> str:
    """Return the name of the source that a folder of images becomes.

    It is the folder's name in lower case, with ``_`` in place of all characters but letters and
    digits. ``_images`` is added to the names of known datasets, so that no figure says that it
    shows them, and to names such as ``seed3``, which name the results of a base seed.
    """
    name = re.sub("[^a-z0-9]+", "_", folder.name.lower()).strip("_")[:LONGEST_NAME]
    name = name if name[:1].isalpha() else f"images_{name}".strip("_")
    known = name in SOURCES or re.fullmatch("seed[0-9]+", name)
    return f"{name}_images" if known else name


def registered(data_config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the ``data:`` section with the user's folders of images among ``imagefolder``.

    Args:
        data_config: the section as it is given. It may have been registered before.

    Raises:
        ConfigError: ``images``, or the folder below the data root that a dataset names, does not
            contain ``train`` and ``test``; or the name of ``images`` is taken.
    """
    trees = dict(data_config.get("imagefolder") or {})
    if images := data_config.get("images"):
        folder = folder_of(images, data_config)
        if not folder.is_dir():
            raise ConfigError(f"data.images: {folder} is no folder; {_LAYOUT}")
        _check_layout("data.images", folder)
        name = name_of(folder.absolute())
        if trees.setdefault(name, images) != images:
            raise ConfigError(f"data.images: {name!r} is an entry of data.imagefolder already; "
                              "rename one of the two")  # fmt: skip
        return {**data_config, **dict.fromkeys(ROLES, name), "imagefolder": trees}
    for role in ROLES:
        name = data_config.get(role)
        if isinstance(name, str) and name not in SOURCES and name not in trees:
            folder = folder_of(name, data_config)
            if folder.is_dir():
                _check_layout(f"data.{role}", folder)
                trees[name] = name
    return {**data_config, "imagefolder": trees}


def _check_layout(key: str, folder: Path) -> None:
    for split in SPLITS:
        if not (folder / split).is_dir():
            raise ConfigError(f"{key}: {folder} has no folder {split}; {_LAYOUT}")


def own_images(data_config: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the sources of the user that play a part, each once; the settings are registered."""
    trees = data_config.get("imagefolder") or {}
    parts = (data_config.get(role) for role in ROLES)
    return tuple(dict.fromkeys(name for name in parts if is_own(name, trees)))


def is_own(source: Any, trees: Mapping[str, str]) -> bool:
    """Whether a source is a folder of images that a user named."""
    return source in trees and source not in IMAGE_FOLDERS


def entries(folder: Path) -> list[os.DirEntry[str]]:
    """Return what a folder contains, by name; nothing if it cannot be listed."""
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:  # no folder, or not readable: reading the dataset says so
        return []
