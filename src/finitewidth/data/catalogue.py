"""The list of datasets, what each may replace, and how a figure names them.

A role (``mnist``) is a dataset that a paper uses. A source (``digits``) is the dataset that a run
uses for this role. This module imports only the standard library, because the workflow imports it
at every start.
"""

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from finitewidth.common.errors import ConfigError

ROLES = {"mnist": "MNIST", "fashion_mnist": "FashionMNIST", "cifar10": "CIFAR-10"}


@dataclass(frozen=True)
class Source:
    """One dataset.

    Attributes:
        name: the key used in the settings and the name of the file.
        title: the name shown in figures.
        stands_in_for: title of the dataset that it may replace, or None.
        shape: (H, W, C); None if it is known only after the image folder has been read.
        classes: number of classes, or None as for ``shape``.
        images: numbers of training and of test images, or None as for ``shape``.
        origin: reference, and how the images were made.
    """

    name: str
    title: str
    stands_in_for: str | None
    shape: tuple[int, int, int] | None
    classes: int | None
    images: tuple[int, int] | None
    origin: str


_UCI = "UCI optical digits as shipped with scikit-learn (Alpaydin & Kaynak 1998)"

SOURCES: dict[str, Source] = {
    source.name: source
    for source in (
        Source("digits", "digits 8×8", "MNIST", (8, 8, 1), 10, (1438, 359), _UCI),
        Source(
            "warped_digits",
            "warped digits 8×8",
            "FashionMNIST",
            (8, 8, 1),
            10,
            (1438, 359),
            f"{_UCI}, each rotated, scaled, sheared and shifted at random",
        ),
        Source(
            "digits_on_patches",
            "digits on photo patches 16×16",
            "CIFAR-10",
            (16, 16, 3),
            10,
            (2876, 718),
            f"{_UCI}, in light colours over dark patches of scikit-learn's two sample photographs",
        ),
        Source(
            "mnist",
            "MNIST",
            None,
            (28, 28, 1),
            10,
            (60_000, 10_000),
            "LeCun, Cortes & Burges (1998), read with torchvision",
        ),
        Source(
            "fashion_mnist",
            "FashionMNIST",
            None,
            (28, 28, 1),
            10,
            (60_000, 10_000),
            "Xiao, Rasul & Vollgraf (2017), read with torchvision",
        ),
        Source(
            "cifar10",
            "CIFAR-10",
            None,
            (32, 32, 3),
            10,
            (50_000, 10_000),
            "Krizhevsky (2009), read with torchvision",
        ),
        Source(
            "cifar10_jpeg",
            "CIFAR-10 (JPEG re-encoded)",
            "CIFAR-10",
            (32, 32, 3),
            10,
            (50_000, 10_000),
            "Krizhevsky (2009), pictures re-encoded as JPEG: the same photographs, not bit-exact",
        ),
    )
}
IMAGE_FOLDERS = ("cifar10_jpeg",)
_OWN = " (your images"  # in the title of a folder of images that a user named


def find_source(name: str, imagefolder: Mapping[str, str] | None = None) -> Source:
    """Return the source called ``name``.

    Args:
        name: a key of `SOURCES` or of ``imagefolder``.
        imagefolder: the setting ``data.imagefolder``, name -> folder. Its keys are sources too.

    Raises:
        ConfigError: there is no such source (the message suggests the closest name), or an image
            folder has the name of a dataset that is bundled or downloaded.
    """
    trees = imagefolder or {}
    for tree in trees:
        _check_tree_name(tree)
    if name in SOURCES:
        return SOURCES[name]
    if name in trees:
        return Source(name, f"{name}{_OWN})", None, None, None, None, f"image folder {name}")
    raise ConfigError(unknown("dataset", name, [*SOURCES, *trees]))


def source_for(role: str, data_config: Mapping[str, Any]) -> Source:
    """Return the source that the settings assign to a role.

    Args:
        role: a key of `ROLES`.
        data_config: the ``data:`` section of the settings.

    Raises:
        ConfigError: the role or the source is unknown, or the settings assign no source to the
            role.
    """
    _check_role(role)
    if role not in data_config:
        raise ConfigError(f"data.{role} is missing; give it a dataset, one of {sorted(SOURCES)}")
    name, trees = data_config[role], data_config.get("imagefolder") or {}
    if name not in (known := [*SOURCES, *trees]):
        raise ConfigError(
            f"data.{role}: {name!r} is unknown{_nearest(name, known)}; for images of your own, "
            "name a folder below data.root that contains train/<class>/* and test/<class>/*"
        )
    return find_source(name, trees)


def describe(
    source_name: str, role: str | None = None, imagefolder: Mapping[str, str] | None = None
) -> str:
    """Return the text for the footer of a figure, e.g. "digits 8×8 (stand-in for MNIST)".

    A folder of images that a user named is told as "mytree (your images, for MNIST)".

    Args:
        source_name: the source that was used.
        role: the dataset that the paper uses; None for the one that the source was made to replace.
        imagefolder: as for `find_source`.

    Raises:
        ConfigError: the source or the role is unknown.
    """
    source = find_source(source_name, imagefolder)
    if role is not None:
        _check_role(role)
    wanted = source.stands_in_for if role is None else ROLES[role]
    # the title "CIFAR-10 (JPEG re-encoded)" needs no addition
    if wanted is None or source.title == wanted or source.title.startswith(f"{wanted} ("):
        return source.title
    if source.title.endswith(f"{_OWN})"):
        return f"{source.title.removesuffix(')')}, for {wanted})"
    return f"{source.title} (stand-in for {wanted})"


def unknown(what: str, name: object, known: list[str]) -> str:
    """Return a message that ``name`` is unknown, with the closest name and all known names."""
    return f"there is no {what} {name!r}{_nearest(name, known)}"


def _nearest(name: object, known: list[str]) -> str:
    near = difflib.get_close_matches(str(name), known, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    return f"{hint} (known: {', '.join(dict.fromkeys(known))})"


def _check_role(role: str) -> None:
    if role not in ROLES:
        raise ConfigError(unknown("dataset role", role, list(ROLES)))


def _check_tree_name(name: str) -> None:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]*", name):
        raise ConfigError(
            f"data.imagefolder: {name!r} is used as a file name; use letters, digits, '_' and '-'"
        )
    if re.fullmatch(r"seed[0-9]+", name):
        raise ConfigError(
            f"data.imagefolder: {name!r} would share its folder of results with a base seed; "
            "choose another name"
        )
    if name in SOURCES and name not in IMAGE_FOLDERS:
        raise ConfigError(
            f"data.imagefolder: {name!r} already names {SOURCES[name].title}; "
            f"choose another name, or figures would say that they show {SOURCES[name].title}"
        )
