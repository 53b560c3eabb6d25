"""Types of options that several commands share."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Group, Parameter, Token
from cyclopts.validators import LimitedChoice, Number

from finitewidth.cli.names import complete_presets
from finitewidth.common.errors import ConfigError
from finitewidth.common.machine import usable_cores
from finitewidth.data.places import own_images, registered
from finitewidth.settings.presets import LARGEST_SEED, PRESETS, preset_only, results_folder


def _numbers(kind: Any, tokens: Sequence[Token]) -> Any:
    """A whole number, or a tuple of them; cyclopts by itself rounds 1.5."""
    for token in tokens:
        if not token.value.removeprefix("-").isdecimal():
            raise ValueError(f"{token.value!r} is not a whole number")
    values = [int(token.value) for token in tokens]
    return values[0] if kind is int else tuple(values)


def _cores(kind: Any, tokens: Sequence[Token]) -> int:
    """A whole number, or ``all`` for those that this process may use."""
    value = tokens[0].value
    if value == "all":
        return usable_cores()
    if not value.removeprefix("-").isdecimal():
        raise ValueError(f"{value!r} is neither a whole number nor all")
    return int(value)


def _absolute(kind: Any, tokens: Sequence[Token]) -> Path:
    """A path from the folder of the user, who may be elsewhere than in that of the project."""
    return Path(tokens[0].value).absolute()


Whole = Annotated[int, Parameter(converter=_numbers)]
Wholes = Annotated[tuple[int, ...], Parameter(converter=_numbers, consume_multiple=True)]
Count = Annotated[Whole, Parameter(validator=Number(gte=1))]
Cores = Annotated[int, Parameter(alias="-j", converter=_cores, validator=Number(gte=1))]
Seed = Annotated[Whole, Parameter(validator=Number(gte=0, lte=LARGEST_SEED))]
File = Annotated[Path, Parameter(converter=_absolute)]
DryRun = Annotated[bool, Parameter(alias="-n")]
Preset = Annotated[str, Parameter(help="sizes of the run", completer=complete_presets)]
ONE_SOURCE = Group("Images", validator=LimitedChoice())
ImageFolder = Annotated[File | None, Parameter(group=ONE_SOURCE)]
Data = Annotated[str, Parameter(group=ONE_SOURCE)]
Settings = Annotated[tuple[str, ...], Parameter(consume_multiple=True)]
More = Annotated[tuple[str, ...], Parameter(parse=False)]  # what follows --, for Snakemake


@Parameter(name="*")
@dataclass(frozen=True)
class Results:
    """The results of one run.

    Attributes:
        seed: base seed of the run
        images: images of your own, {train,test}/<class>/*, in place of all datasets
        name: folder below results/ for a run with settings of its own (default: that of its preset)
    """

    preset: Preset = "quick"
    seed: Seed = 0
    images: File | None = None
    name: str | None = None

    @property
    def sources(self) -> tuple[str, ...]:
        """The name of the source that the folder of images becomes; nothing without one."""
        if not self.images:
            return ()
        return own_images(registered({"images": str(self.images)}))

    @property
    def folder(self) -> str:
        """Where they are, relative to the project."""
        if self.preset not in PRESETS:
            preset_only(self.preset, "config")  # refuses an unknown one
        if self.name is not None and not re.fullmatch("[a-z][a-z0-9_]*", self.name):
            raise ConfigError(f"--name {self.name}: write small letters, digits and _, as in mine")
        return results_folder(self.preset, self.seed, self.sources, self.name)
