"""What the settings ask of a folder of images of the user, and what the folder has.

A setting can ask for more pictures than there are, for a class that does not exist, or for averages
over squares of pixels that do not divide the pictures. `refuse` names such settings; `fitted`
lowers the numbers.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from finitewidth.common.errors import ConfigError, DataError
from finitewidth.common.settings import replaced
from finitewidth.data.places import (
    SPLITS,
    SUFFIXES,
    Counts,
    counts_of,
    folder_of,
    is_own,
    own_images,
)
from finitewidth.pipeline.jobs import Jobs

_DATASET = re.compile(r"data/\{(.+)\.dataset\}")  # as declarations refer to it


@dataclass(frozen=True)
class Lack:
    """A setting that asks for more than a folder has.

    Attributes:
        path: of the setting, the paper first.
        value: of the setting.
        most: largest number allowed; of ``classes``, the number of classes; of ``pool``, the
            largest number below that divides height and width.
        source: name of the folder's source.
    """

    path: tuple[str, ...]
    value: Any
    most: int
    source: str

    @property
    def of_classes(self) -> bool:
        """Whether a class is missing, and not pictures."""
        return self.path[-1] == "classes"

    def __str__(self) -> str:
        text = f"{'.'.join(self.path)} = {self.value}: {self.source} has "
        if self.path[-1] == "pool":
            return f"{text}pictures whose sides it does not divide; {self.most} does"
        if not self.of_classes:
            return f"{text}images for {self.most} at most"
        paper, *rest = self.path
        setting = "[0, 1]"
        for part in reversed(rest):
            setting = f"{{{part}: {setting}}}"
        return (f"{text}{self.most} classes, 0 to {self.most - 1}; set two of them, such as "
                f"--config '{paper}={setting}'")  # fmt: skip


def lacks(config: Mapping[str, Any], paper: str, section: str | None = None) -> list[Lack]:
    """Return the settings of a paper that ask for more than the user's folders of images have.

    Args:
        config: settings whose folders of images are registered
            (`finitewidth.data.places.registered`).
        paper: key of the paper.
        section: only this section of its settings, such as ``nu`` or ``pairs.vgg_mnist``; None for
            all.
    """
    data, found = config["data"], {}
    trees = {
        name: (counts_of(folder := folder_of(tree, data)), _common_side(folder))
        for name, tree in data["imagefolder"].items()
        if is_own(name, data["imagefolder"])
    }
    # a folder without pictures, or without access: its dataset says so
    trees = {name: tree for name, tree in trees.items() if sum(tree[0].train)}
    for path, part, roles in _parts(config[paper], (paper,)):
        if section is not None and not ".".join((*path[1:], "")).startswith(f"{section}."):
            continue
        for source in {data.get(role) for role in roles} & set(trees):
            for keys, value, most in _demands(part, *trees[source]):
                if found.get((*path, *keys), Lack((), 0, most + 1, "")).most > most:
                    found[*path, *keys] = Lack((*path, *keys), value, most, source)
    return [one for one in found.values() if _lacking(one)]


def _lacking(one: Lack) -> bool:
    if one.of_classes:
        return max(one.value) >= one.most
    return one.value > one.most


def _parts(
    settings: Any, path: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], Mapping[str, Any], Sequence[str]]]:
    """Yield every part of the settings that chooses images: path, part, the papers' datasets."""
    if not isinstance(settings, Mapping):
        return
    rows = settings.get("rows")
    own = [settings, *(rows.values() if isinstance(rows, Mapping) else ())]
    roles = [row["dataset"] for row in own if isinstance(row, Mapping) and "dataset" in row]
    if roles:
        yield path, settings, roles
    pairs, maps = settings.get("pairs"), settings.get("maps")
    for key, value in settings.items():
        if value is maps and isinstance(pairs, Mapping) and isinstance(maps, Mapping):
            for name, shown in maps.items():
                if shown and name in pairs:
                    yield (*path, key, name), shown, [pairs[name]["dataset"]]
        else:
            yield from _parts(value, (*path, key))


@cache
def _common_side(folder: Path) -> int:
    """The largest number that divides height and width of the first picture; 0 if there is none."""
    from finitewidth.data.pictures import read_picture

    try:
        files = (file for split in SPLITS for file in sorted(folder.glob(f"{split}/*/[!.]*.*")))
        first = next(file for file in files if file.suffix.lower() in SUFFIXES)
        return math.gcd(*read_picture(first).pixels.shape[:2])
    except (StopIteration, OSError, DataError):
        return 0  # reading the dataset says what is wrong


def _demands(
    part: Mapping[str, Any], has: Counts, side: int
) -> Iterator[tuple[tuple[str, ...], Any, int]]:
    """Yield setting, value and largest value allowed, of one part of the settings."""
    for path, holder in (((), part), (("images",), part.get("images"))):
        pool = holder.get("pool") if isinstance(holder, Mapping) else None
        if isinstance(pool, int) and side:
            yield (*path, "pool"), pool, max(d for d in range(1, pool + 1) if side % d == 0)
    train, test, smallest = sum(has.train), sum(has.test), min(has.train)
    classes = part.get("classes")
    if isinstance(classes, list):
        yield ("classes",), classes, len(has.train)
        smallest = min((has.train[c] for c in classes if c < len(has.train)), default=smallest)
    images = part.get("images")
    if isinstance(images, Mapping):
        yield from _asked(images, ("images",), per_class=smallest, test=test)
        smallest = min(smallest, images.get("per_class") or smallest)
    elif isinstance(part.get("train"), int):
        smallest = smallest * min(part["train"], train) // train
    yield from _asked(
        part, (), train=train, test=test, samples=train, per_class=smallest,
        batch_per_class=smallest, kernel_per_class=smallest,
    )  # fmt: skip


def _asked(
    part: Mapping[str, Any], path: tuple[str, ...], **most: int
) -> Iterator[tuple[tuple[str, ...], int, int]]:
    for key, largest in most.items():
        if isinstance(part.get(key), int):
            yield (*path, key), part[key], largest


def refuse(jobs: Jobs, name: str) -> None:
    """Refuse settings of a training or experiment that ask for more than the user's folders have.

    Raises:
        ConfigError: a line for each such setting, with its key and the remedy.
    """
    config, job = jobs.config, jobs[name]
    if not own_images(config["data"]):
        return
    found = [one for section in _sections(jobs, name) for one in lacks(config, job.paper, section)]
    if found:
        raise ConfigError("\n  ".join([
            "a folder of images does not fit some settings; set other values (or use "
            "`finitewidth run --images`, which lowers numbers):", *map(str, found),
        ]))  # fmt: skip


def _sections(jobs: Jobs, name: str) -> list[str]:
    """The sections of the settings that choose the images of a job."""
    if name in jobs.trainings:
        paper, family = jobs.family_of[name]
        declared = next(each for each in jobs.papers if each.name == paper)
        return list(declared.trainings[family][:1])  # others describe networks
    references = (read.reference for read in jobs[name].reads)
    return [found[1] for found in map(_DATASET.fullmatch, references) if found]


def fitted(config: Mapping[str, Any], papers: Sequence[str]) -> dict[str, Any]:
    """Return settings whose numbers of images are lowered to what the user's folders have.

    Args:
        config: settings whose folders of images are registered.
        papers: whose settings are lowered.

    Raises:
        ConfigError: a class does not exist, or a class has too few images for any value.
    """
    config = dict(config)
    for paper in papers:
        found = lacks(config, paper)
        if wrong := [str(one) for one in found if one.of_classes or one.most < 1]:
            raise ConfigError("\n  ".join(["the folder of images cannot be used:", *wrong]))
        config = replaced(config, {one.path: one.most for one in found})
    return config
