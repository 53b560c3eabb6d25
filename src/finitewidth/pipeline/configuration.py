"""The model of all settings: what all papers share, and a section of each paper.

This module does not import torch.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, reduce
from importlib import import_module
from importlib.util import find_spec
from operator import getitem
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, ValidationError, create_model
from pydantic.fields import FieldInfo
from pydantic_core import PydanticCustomError

from finitewidth.common.errors import ConfigError, nearest
from finitewidth.declarations.papers import paper_names
from finitewidth.settings import sections as types
from finitewidth.settings.presets import LARGEST_SEED, LONGEST_SHOWN, PRESETS
from finitewidth.settings.sections import Section, Source, fields_of, general

EXPONENT = re.compile(r"[-+.\d]+e[-+]?\d+", re.IGNORECASE)  # of a number that is text to YAML
ALLOWED = {  # where pydantic's own words are those of Python
    "dict_type": "it must be a mapping",
    "float_type": "it must be a number",
    "int_type": "it must be a whole number",
    "model_type": "it must be a mapping",
    "none_required": "it must be null",
}


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
    modules = {paper: f"finitewidth.papers.{paper}.settings" for paper in papers}
    sections: dict[str, Any] = {
        paper: (import_module(module).Settings, ...)
        for paper, module in modules.items()
        if find_spec(f"finitewidth.papers.{paper}") and find_spec(module)
    }
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
        lines = sorted(dict(_mistakes(error, model, config)).items())
        text = "\n  ".join(f"{key}: {mistake}" for key, mistake in lines)
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
            if source := setting.pop("source", None):
                setting["description"] += f" [{Source(**source)}]"
    # a preset does not repeat the kind of a network, so that several kinds may suit
    return json.dumps(schema, indent=1, ensure_ascii=False).replace('"oneOf"', '"anyOf"')


# --- what is wrong with settings -----------------------------------------------------------------


def _mistakes(
    error: ValidationError, model: type[Section], values: Mapping[str, Any]
) -> Iterator[tuple[str, str]]:
    """Yield key and mistake, of which a later one replaces an earlier one of the same key."""
    unions: dict[str, list[str]] = {}
    for each in error.errors(include_url=False):
        kind, context = each["type"], each.get("ctx", {})
        path = _path(each["loc"], values, new=kind in ("missing", "extra_forbidden"))
        key = ".".join(map(str, path))
        if kind == "missing":
            yield key, "is missing"
        elif kind in ("extra_forbidden", "invalid_key"):
            known = list(fields_of(_at(model, values, path[:-1])[0]))
            yield key, f"unknown key{nearest(path[-1], known)}; known keys are {', '.join(known)}"
        elif kind == "refused":  # by a validator of a section
            key = ".".join([*map(str, path), context["key"]])
            yield key, f"{_cut(context['value'])} is refused; {context['allowed']}"
        else:
            field, value = _at(model, values, path)[1], reduce(getitem, path, values)
            allowed = ALLOWED.get(kind, each["msg"].replace("Input should be", "it must be"))
            if kind == "too_short":
                allowed = f"it must have at least {context['min_length']} entries"
            if kind == "too_long":
                allowed = f"it must have at most {context['max_length']} entries"
            if kind.startswith("union_tag"):
                key, value = f"{key}.kind", value.get("kind")
                allowed = f"it must be one of {context['expected_tags']}"
            words = unions.setdefault(key, [])
            words += [allowed] * (allowed not in words)
            meaning = f" ({field.description})" if field and field.description else ""
            text = each["input"] if kind in ("int_type", "float_type") else None
            if isinstance(text, str) and EXPONENT.fullmatch(text):
                meaning += "; in YAML write 0.001, not 1e-3, which is text"
            yield key, f"{_cut(repr(value))} is refused; {', or '.join(words)}{meaning}"


def _path(loc: Sequence[Any], values: Any, new: bool) -> list[Any]:
    """The keys of an error's place; pydantic names members of unions as well."""
    path, here = [], values
    for index, part in enumerate(loc):
        last = index == len(loc) - 1
        if isinstance(here, Mapping) and (part in here or (last and new)):
            here = here.get(part)
        elif isinstance(here, list) and isinstance(part, int):
            here = here[part]
        else:
            continue
        path.append(part)
    return path


def _at(
    model: type[Section], values: Any, path: Sequence[Any]
) -> tuple[type[Section], FieldInfo | None]:
    field = None
    for key in path:
        known = fields_of(model)
        if key not in known or not isinstance(values, Mapping):
            break
        field, values = known[key], values.get(key)
        model = types.section_of(field.annotation, values) or model
    return model, field


def _cut(text: str) -> str:
    """A value as code, of which `LONGEST_SHOWN` characters are shown."""
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…"


if __name__ == "__main__":
    print(json_schema(paper_names()))
