"""The page of settings: values, ranges, sources and meanings, from the models of the settings."""

import inspect
import json
from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Annotated, Any

from pydantic import TypeAdapter
from pydantic.fields import FieldInfo

from finitewidth.declarations.papers import paper_names
from finitewidth.pipeline.configuration import settings_model
from finitewidth.settings.presets import preset_only
from finitewidth.settings.sections import Section, fields_of, section_of, settings_in

LONGEST = 60  # characters of a value
BOUNDS = {
    "minimum": "from",
    "exclusiveMinimum": "above",
    "maximum": "to",
    "exclusiveMaximum": "below",
    "multipleOf": "a multiple of",
}
INTRODUCTION = """# Settings

The value of a setting is the one of preset `paper`, which has the papers' own sizes. A preset
changes some of them (`config/preset/`). Any setting can be set for one run:
`finitewidth run npf --config npf.nu.runs=2`. The source says whether the value is the
paper's, that of the authors' public code, or ours; "or more": a larger number serves as well.
"""


def write(root: Path, folder: Path) -> None:
    """Write the page ``settings``."""
    papers = paper_names(root / "workflow/papers")
    model, values = settings_model(papers), preset_only("paper", root / "config")
    shared = {key: value for key, value in values.items() if key not in papers}
    lines = [INTRODUCTION, *_part("All papers", "", model, shared)]
    for paper in papers:
        if paper in values:
            section = section_of(fields_of(model)[paper].annotation)
            lines += [f"## {paper}", "", inspect.getdoc(section), ""]
            for key, inner in values[paper].items():
                name = f"{paper}.{key}"
                lines += _part(name, name, section_of(fields_of(section)[key].annotation), inner)
    (folder / "settings.md").write_text("\n".join(lines), encoding="utf-8")


def _part(title: str, name: str, model: type[Section], values: Mapping[str, Any]) -> list[str]:
    """The table of a section."""
    rows = [f"| {' | '.join(row)} |" for row in _rows(name, model, values)]
    about = [inspect.getdoc(model), ""] if name else []
    head = ["| setting | value | allowed | source | meaning |", "|---|---|---|---|---|"]
    return [f"{'###' if name else '##'} {title}", "", *about, *head, *rows, ""]


def _rows(name: str, model: type[Section], values: Mapping[str, Any]) -> Iterator[list[str]]:
    for path, field, source in settings_in(model, values):
        value: Any = values
        for key in path:
            value = value[key]
        text = json.dumps(value, ensure_ascii=False)
        key = ".".join(path)
        yield [
            f"`{key}`",
            f"`{text}`" if len(text) <= LONGEST else f"`{text[:LONGEST]}…`",
            _allowed(_schema(field)),
            str(source or ""),
            escape(field.description or "").replace("|", "\\|"),
        ]


def _schema(field: FieldInfo) -> dict[str, Any]:
    """The JSON Schema of a field."""
    kind = field.annotation
    return TypeAdapter(Annotated[kind, *field.metadata] if field.metadata else kind).json_schema()


def _allowed(schema: Mapping[str, Any]) -> str:
    """``whole number, 1 to 1000``, ``adam or sgd``, ``2 entries: ...``."""
    if "anyOf" in schema:
        return ", or ".join(map(_allowed, schema["anyOf"]))
    if "enum" in schema or "const" in schema:
        options = schema.get("enum", [schema.get("const")])
        return " or ".join(f"`{option}`" for option in options)
    kind = schema.get("type")
    if kind == "array":
        least, most = schema.get("minItems", 0), schema["maxItems"]
        count = f"{least}" if least == most else f"{least} to {most}"
        return f"list of {count}: {_allowed(schema['items'])}"
    if kind in ("integer", "number"):
        bounds = [f"{words} {schema[key]:,}" for key, words in BOUNDS.items() if key in schema]
        return " ".join(["whole number" if kind == "integer" else "number", " ".join(bounds)])
    names = {"boolean": "`true` or `false`", "null": "`null`", "string": "text"}
    return names.get(kind, "see its parts")
