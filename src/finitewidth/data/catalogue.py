"""The list of datasets, what each may replace, and how a figure names them.

A role (``mnist``) is a dataset that a paper uses. A source (``digits``) is the dataset that a run
uses for this role.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from finitewidth.common.errors import ConfigError, nearest

ROLES = {"mnist": "MNIST", "fashion_mnist": "FashionMNIST", "cifar10": "CIFAR-10"}


@dataclass(frozen=True)
class Source:
    """One dataset; None stands for facts that are known only after the image folder is read."""

    name: str  # the key used in the settings and the name of the file
    title: str  # shown in figures
    shape: tuple[int, int, int] | None  # (H, W, C)
    classes: int | None
    images: tuple[int, int] | None  # numbers of training and of test images
    origin: str  # reference, and how the images were made


_UCI = "UCI optical digits as shipped with scikit-learn (Alpaydin & Kaynak 1998)"

_SOURCES = (
    Source(
        name="digits",
        title="digits 8×8",
        shape=(8, 8, 1),
        classes=10,
        images=(1438, 359),
        origin=_UCI,
    ),
    Source(
        name="warped_digits",
        title="warped digits 8×8",
        shape=(8, 8, 1),
        classes=10,
        images=(1438, 359),
        origin=f"{_UCI}, each rotated, scaled, sheared and shifted at random",
    ),
    Source(
        name="digits_on_patches",
        title="digits on photo patches 16×16",
        shape=(16, 16, 3),
        classes=10,
        images=(2876, 718),
        origin=f"{_UCI}, in light colours over dark patches of scikit-learn's two sample "
        "photographs",
    ),
    Source(
        name="mnist",
        title="MNIST",
        shape=(28, 28, 1),
        classes=10,
        images=(60_000, 10_000),
        origin="LeCun, Cortes & Burges (1998), read with torchvision",
    ),
    Source(
        name="fashion_mnist",
        title="FashionMNIST",
        shape=(28, 28, 1),
        classes=10,
        images=(60_000, 10_000),
        origin="Xiao, Rasul & Vollgraf (2017), read with torchvision",
    ),
    Source(
        name="cifar10",
        title="CIFAR-10",
        shape=(32, 32, 3),
        classes=10,
        images=(50_000, 10_000),
        origin="Krizhevsky (2009), read with torchvision",
    ),
    Source(
        name="cifar10_jpeg",
        title="CIFAR-10 (JPEG re-encoded)",
        shape=(32, 32, 3),
        classes=10,
        images=(50_000, 10_000),
        origin="Krizhevsky (2009), pictures re-encoded as JPEG: the same photographs, not "
        "bit-exact",
    ),
)
SOURCES: dict[str, Source] = {source.name: source for source in _SOURCES}
IMAGE_FOLDERS = ("cifar10_jpeg",)
_YOURS = " (your images"  # in the title of a folder of images that a user named


def find_source(
    name: str, imagefolder: Mapping[str, str] | None = None, key: str = "dataset"
) -> Source:
    """Return the source called ``name``, a key of `SOURCES` or of the setting ``data.imagefolder``.

    Raises:
        ConfigError: there is no such source (the message has the ``key`` of the setting and
            suggests the closest name), or an image folder has the name of a dataset that is bundled
            or downloaded.
    """
    trees = imagefolder or {}
    for tree in trees:
        if tree in SOURCES and tree not in IMAGE_FOLDERS:
            raise ConfigError(
                f"data.imagefolder: {tree!r} already names {SOURCES[tree].title}; choose another "
                "name, or figures would say that they show it"
            )
    if name in SOURCES:
        return SOURCES[name]
    if name in trees:
        return Source(
            name=name,
            title=f"{name}{_YOURS})",
            shape=None,
            classes=None,
            images=None,
            origin=f"image folder {name}",
        )
    known = [*SOURCES, *trees]
    raise ConfigError(
        f"{key}: {name!r} is unknown{nearest(name, known)}; known are "
        f"{', '.join(dict.fromkeys(known))}; for images of your own, name a folder below "
        "data.root that contains train/<class>/* and test/<class>/*"
    )


def source_for(role: str, data_config: Mapping[str, Any]) -> Source:
    """Return the source that the ``data:`` section of the settings assigns to a role."""
    return find_source(data_config[role], data_config.get("imagefolder"), f"data.{role}")


def describe(source_name: str, role: str, imagefolder: Mapping[str, str] | None = None) -> str:
    """Return the text for the footer of a figure, e.g. "digits 8×8 (stand-in for MNIST)".

    A folder of images that a user named is described as "mytree (your images, for MNIST)".
    """
    source = find_source(source_name, imagefolder)
    dataset = ROLES[role]
    # the title "CIFAR-10 (JPEG re-encoded)" needs no addition
    if source.title == dataset or source.title.startswith(f"{dataset} ("):
        return source.title
    if source.title.endswith(f"{_YOURS})"):
        return f"{source.title.removesuffix(')')}, for {dataset})"
    return f"{source.title} (stand-in for {dataset})"
