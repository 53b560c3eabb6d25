"""Folders of datasets: the data root, and the folders of the user's images and their content.

A user names a folder of images once. ``data.images`` gives a folder that is used for every dataset
of the papers; ``data.mnist: mytree`` gives the folder ``mytree`` below the data root for one of
them. `registered` adds such folders to the setting ``data.imagefolder``.

A dataset depends on the pictures in its folder. Reading many of them takes a while. A digest is
therefore stored with the state of the pictures (names, sizes, times and numbers of their files) and
computed again only when the state differs. The time of the last change of a file (``ctime``) is
part of the state: unlike the time of modification, no program can set it back.

This module imports only the standard library, because the workflow imports it at every start.
"""

import contextlib
import hashlib
import os
import re
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from finitewidth.common.errors import ConfigError
from finitewidth.data.catalogue import IMAGE_FOLDERS, ROLES, SOURCES
from finitewidth.data.picture_files import picture_files
from finitewidth.records.provenance import remembered

VARIABLE = "FINITEWIDTH_DATA"
SPLITS = ("train", "test")
LONGEST_NAME = 24
KNOWN = Path("results/data/.contents.json")
_LAYOUT = "a folder of images contains train/<class>/* and test/<class>/*"


def data_root(data_config: Mapping[str, Any]) -> Path:
    """Return the folder of the original datasets.

    This is the setting ``data.root`` if it is given, otherwise the environment variable
    FINITEWIDTH_DATA, otherwise a folder in the working directory.
    """
    configured = data_config.get("root")
    if configured:
        return _expanded(configured, "data.root")
    return _expanded(os.environ.get(VARIABLE) or "resources", VARIABLE)


def _expanded(path: str, key: str) -> Path:
    """Return a path with the home folder in place of ``~``; ``key`` is its setting."""
    try:
        return Path(path).expanduser()
    except RuntimeError as error:
        raise ConfigError(f"{key}: {path!r}: {error}; write the whole path") from error


def folder_of(tree: str, data_config: Mapping[str, Any]) -> Path:
    """Return the folder of an entry of ``data.imagefolder``, or of ``data.images``.

    An absolute path, or one that begins with ``~``, is taken as it is; others begin at the data
    root.
    """
    return data_root(data_config) / _expanded(tree, "data.images")


def name_of(folder: Path) -> str:
    """Return the name of the source that a folder of images becomes.

    It is the folder's name in lower case, with ``_`` in place of all characters but letters and
    digits. ``_images`` is added to the names of known datasets, so that no figure says that it
    shows them, and to names such as ``seed3``, which name the results of a base seed.
    """
    name = re.sub("[^a-z0-9]+", "_", folder.name.lower()).strip("_")[:LONGEST_NAME]
    if not name[:1].isalpha():
        name = f"images_{name}".strip("_")
    if name in SOURCES or re.fullmatch("seed[0-9]+", name):
        return f"{name}_images"
    return name


def registered(data_config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the ``data:`` section with the user's folders of images among ``imagefolder``.

    The section may have been registered before.

    Raises:
        ConfigError: ``images``, or the folder below the data root that a dataset names, does not
            contain ``train`` and ``test``; or the name of ``images`` is taken.
    """
    trees = dict(data_config.get("imagefolder") or {})
    images = data_config.get("images")
    if images:
        folder = folder_of(images, data_config)
        if not _is_folder("data.images", folder):
            raise ConfigError(f"data.images: {folder} is no folder; {_LAYOUT}")
        _check_layout("data.images", folder)
        name = name_of(folder.absolute())
        if trees.setdefault(name, images) != images:
            raise ConfigError(
                f"data.images: {name!r} is an entry of data.imagefolder already; "
                "rename one of the two"
            )
        return {**data_config, **dict.fromkeys(ROLES, name), "imagefolder": trees}
    for role in ROLES:
        source = data_config.get(role)
        if isinstance(source, str) and source not in SOURCES and source not in trees:
            folder = folder_of(source, data_config)
            if _is_folder(f"data.{role}", folder):
                _check_layout(f"data.{role}", folder)
                trees[source] = source
    return {**data_config, "imagefolder": trees}


def _check_layout(key: str, folder: Path) -> None:
    """Refuse a folder of images without train and test."""
    for split in SPLITS:
        if not _is_folder(key, folder / split):
            raise ConfigError(f"{key}: {folder} has no folder {split}; {_LAYOUT}")


def _is_folder(key: str, path: Path) -> bool:
    """Tell whether there is a folder at a path.

    Raises:
        ConfigError: this is unknown, because a permission is missing or links form a circle.
    """
    try:
        return stat.S_ISDIR(path.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise ConfigError(
            f"{key}: {path} cannot be read ({error.strerror}); change the owner or mode of its "
            "folder, or mend the link"
        ) from error


def own_images(data_config: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the user's folders of images that stand for a dataset, each once.

    The settings are those that `registered` returns.
    """
    trees = data_config.get("imagefolder") or {}
    sources: list[Any] = [data_config.get(role) for role in ROLES]
    return tuple(dict.fromkeys(source for source in sources if is_user_folder(source, trees)))


def is_user_folder(source: Any, trees: Mapping[str, str]) -> bool:
    """Tell whether a source is a folder of images that a user named."""
    return source in trees and source not in IMAGE_FOLDERS


def tree_of(source: str, data_config: Mapping[str, Any], known: Path | None = KNOWN) -> str | None:
    """Return the folder of images that a source is read from, and a digest of its content.

    It is None if the source is read from no folder of images; ``known`` is as for `content_of`.
    """
    tree = registered(data_config)["imagefolder"].get(source)
    if tree is None:
        return None
    return f"{tree} {content_of(folder_of(tree, data_config), known)}".strip()


def content_of(folder: Path, known: Path | None = KNOWN) -> str:
    """Return a digest (16 hex digits) of the names and bytes of the pictures of an image folder.

    It is "" if the folder contains no pictures. Of a picture that cannot be read only the name
    counts; reading the dataset then says what is wrong with it. The file ``known`` has digests of
    earlier calls; with None all pictures are read.

    Raises:
        DataError: `picture_files` refuses an entry of the folder.
    """
    files = []
    for split in SPLITS:
        for label, names in picture_files(folder / split).items():
            files += [os.path.join(split, label, name) for name in names]
    if not files:
        return ""
    if known is None:
        return _digest(folder, files)
    digests = remembered(known)
    state = _state(folder, files)
    if state not in digests:
        digests[state] = _digest(folder, files)
    return digests[state]


def _state(folder: Path, files: list[str]) -> str:
    """Return a digest of the names, sizes, times and numbers of files."""
    digest = hashlib.sha256(os.fsencode(folder.absolute()))
    for file in files:
        facts: tuple[int, ...] = ()
        with contextlib.suppress(OSError):
            state = os.stat(os.path.join(folder, file))
            facts = (state.st_size, state.st_mtime_ns, state.st_ctime_ns, state.st_ino)
        digest.update(os.fsencode(f"\0{file} {facts}"))
    return digest.hexdigest()


def _digest(folder: Path, files: list[str]) -> str:
    """Return a digest of the names and bytes of files."""
    digest = hashlib.sha256()
    for name in files:
        digest.update(os.fsencode(f"\0{name} "))
        with contextlib.suppress(OSError), (folder / name).open("rb") as stream:
            digest.update(hashlib.file_digest(stream, "sha256").digest())
    return digest.hexdigest()[:16]
