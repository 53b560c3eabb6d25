"""The model of all settings: what all papers share, and a section of each paper.

This module does not import torch.
"""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from pydantic import create_model

from finitewidth.common.declarations import paper_names
from finitewidth.common.errors import ConfigError
from finitewidth.common.setting_types import Section, Source, settings_in
from finitewidth.pipeline.general_settings import General
from finitewidth.pipeline.refusals import validated


@cache
def settings_model(papers: tuple[str, ...]) -> type[Section]:
    """Return the model of the settings of some papers.

    A paper without settings has no ``finitewidth.papers.<paper>.settings``.
    """
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
    return validated(settings_model(tuple(papers)), config)


def sources_of(config: Mapping[str, Any], papers: Sequence[str]) -> dict[tuple[str, ...], Source]:
    """Return path -> source of every setting of the papers.

    Raises:
        ConfigError: the model of a paper has a setting without a source.
    """
    model = settings_model(tuple(papers))
    sources = {}
    for path, _, source in settings_in(model, config):
        if source:
            sources[path] = source
        elif path[0] in papers:
            name = ".".join(path)
            raise ConfigError(f"{name} has no source; its model says it by paper, code or ours")
    return sources


def json_schema(papers: Sequence[str]) -> str:
    """Return the JSON Schema of the settings, with which an editor completes and checks YAML.

    Nothing is required, as a preset has some of the settings only.
    """
    schema = settings_model(tuple(papers)).model_json_schema()
    for part in (schema, *schema["$defs"].values()):
        part.pop("required", None)
        for setting in part["properties"].values():
            setting.pop("sources", None)  # of what lies below
            if source := setting.pop("source", None):
                setting["description"] += f" [{Source(**source)}]"
    # a preset does not repeat the kind of a network, so that several kinds may suit
    return json.dumps(schema, indent=1, ensure_ascii=False).replace('"oneOf"', '"anyOf"')


if __name__ == "__main__":
    print(json_schema(paper_names()))
