"""The model of all settings: what all papers share, and a section of each paper.

This module does not import torch.
"""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, ValidationError, create_model
from pydantic_core import PydanticCustomError

from finitewidth.common.errors import ConfigError
from finitewidth.declarations.papers import paper_names
from finitewidth.pipeline.setting_mistakes import mistakes
from finitewidth.settings import sections as types
from finitewidth.settings.presets import LARGEST_SEED, PRESETS
from finitewidth.settings.sections import Section, Source, general


def _below(folder: str) -> str:
    """Check that a folder lies below the data root."""
    if folder.startswith(("/", "~")) or ".." in folder.split("/"):
        raise PydanticCustomError("below", "write a path below data.root, without ..")
    return folder


def _free(name: str) -> str:
    """Check that a name of a run is not that of other results."""
    if name in (*PRESETS, "data"):
        raise PydanticCustomError("free", "write a name other than data and those of the presets")
    return name


Folder = Annotated[types.Path, Field(max_length=500), AfterValidator(_below)]


class Errata(Section):
    """How misprints of the papers are checked."""

    networks: int = general(
        "number of small networks that a check of a misprint draws; wide ones are fewer",
        ge=200,
        le=100_000_000,
    )


class Data(Section):
    """Where datasets come from, and which source plays the part of each of the papers."""

    root: types.Path | None = general(
        "folder of the original datasets; null: $FINITEWIDTH_DATA, else resources/"
    )
    download: bool = general(
        "whether missing datasets are fetched; false: the run stops and names them"
    )
    images: types.Path | None = general(
        "folder of images, {train,test}/<class>/*, that takes the place of all datasets; null: none"
    )
    mnist: types.Name = general("source that plays the part of MNIST")
    fashion_mnist: types.Name = general("source that plays the part of FashionMNIST")
    cifar10: types.Name = general("source that plays the part of CIFAR-10")
    imagefolder: dict[types.Name, Folder] = general(
        "folder below data.root of each further source, by the source's name"
    )


class General(Section):
    """What all papers share."""

    preset: types.Name = general(
        "name of the preset, a file of config/preset with the sizes of a run"
    )
    name: Annotated[types.Name, AfterValidator(_free)] | None = general(
        "folder of the results of a run, below results/; null: that of its preset"
    )
    seed: int = general(
        "base seed, from which all random numbers of trainings and experiments are derived",
        ge=0,
        le=LARGEST_SEED,
    )
    device: Literal["cpu", "cuda", "auto"] = general(
        "device on which networks train; auto: a GPU if there is one"
    )
    checkpoint_seconds: float = general(
        "seconds between two checkpoints of a training", gt=0, le=1_000_000
    )
    rerun: Literal["changes", "packages"] = general(
        "changes that make a result again: those of code, settings and inputs; packages: "
        "also other versions of packages"
    )
    training_minutes: int = general(
        "longest wall time, in minutes, that a job which can resume asks a cluster for",
        ge=15,
        le=1_000_000,
    )
    errata: Errata
    data: Data


@cache
def settings_model(papers: tuple[str, ...]) -> type[Section]:
    """Return the model of the settings of some papers, of which not all have settings."""
    sections: dict[str, Any] = {}
    for paper in papers:
        package = f"finitewidth.papers.{paper}"
        if find_spec(package) and find_spec(f"{package}.settings"):
            sections[paper] = (import_module(f"{package}.settings").Settings, ...)
    return create_model("Configuration", __base__=General, **sections)


def check(config: Mapping[str, Any], papers: Sequence[str]) -> Section:
    """Return the settings of all papers as a model.

    Raises:
        ConfigError: a setting is unknown, impossible or contradicts another. The message has a line
            for each mistake, with the key, its value and what is allowed.
    """
    model = settings_model(tuple(papers))
    try:
        return model.model_validate(config)
    except ValidationError as error:
        lines = [f"{key}: {mistake}" for key, mistake in mistakes(error, model, config).items()]
        text = "\n  ".join(lines)
        raise ConfigError(f"the configuration is refused:\n  {text}") from None


def sources_of(config: Mapping[str, Any], papers: Sequence[str]) -> dict[tuple[str, ...], Source]:
    """Return path -> source of every setting of the papers."""
    model = settings_model(tuple(papers))
    return {path: source for path, _, source in types.settings_in(model, config) if source}


def json_schema(papers: Sequence[str]) -> str:
    """Return the JSON Schema of the settings, with which an editor completes and checks YAML."""
    schema = settings_model(tuple(papers)).model_json_schema()
    for part in (schema, *schema["$defs"].values()):
        part.pop("required", None)  # a preset has some of the settings only
        for setting in part["properties"].values():
            setting.pop("sources", None)  # of what lies below
            source = setting.pop("source", None)
            if source:
                setting["description"] += f" [{Source(**source)}]"
    # a preset does not repeat the kind of a network, so that several kinds may suit
    return json.dumps(schema, indent=1, ensure_ascii=False).replace('"oneOf"', '"anyOf"')


if __name__ == "__main__":
    print(json_schema(paper_names()))
