"""What is wrong with settings: a line for each mistake, from the errors of pydantic."""

import re
from collections.abc import Mapping, Sequence
from functools import reduce
from operator import getitem
from typing import Any

from pydantic import ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from finitewidth.common.errors import nearest
from finitewidth.settings.presets import LONGEST_SHOWN
from finitewidth.settings.sections import Section, fields_of, section_of

EXPONENT = re.compile(r"[-+.\d]+e[-+]?\d+", re.IGNORECASE)  # of a number that is text to YAML
ALLOWED = {  # where pydantic's own words are those of Python
    "dict_type": "it must be a mapping",
    "float_type": "it must be a number",
    "int_type": "it must be a whole number",
    "model_type": "it must be a mapping",
    "none_required": "it must be null",
}
NUMBERS = ("int_type", "float_type")
UNKNOWN = ("extra_forbidden", "invalid_key")
WITHOUT_VALUE = ("missing", "extra_forbidden")  # errors of keys that the model or the values lack


def mistakes(
    error: ValidationError, model: type[Section], values: Mapping[str, Any]
) -> dict[str, str]:
    """Return key -> what is wrong with it, sorted by keys."""
    texts: dict[str, str] = {}
    allowed: dict[str, list[str]] = {}  # key -> what each member of a union allows
    for details in error.errors(include_url=False):
        path = _path(details["loc"], values, details["type"] in WITHOUT_VALUE)
        key = ".".join(map(str, path))
        if details["type"] == "missing":
            texts[key] = "is missing"
        elif details["type"] in UNKNOWN:
            texts[key] = _unknown_key(model, values, path)
        elif details["type"] == "refused":  # by a validator of a section
            context = details["ctx"]
            key = ".".join([*map(str, path), context["key"]])
            texts[key] = f"{_shortened(context['value'])} is refused; {context['allowed']}"
        else:
            value: Any = reduce(getitem, path, values)
            if details["type"].startswith("union_tag"):
                key = f"{key}.kind"
                value = value.get("kind")
            words = allowed.setdefault(key, [])
            if _allowed(details) not in words:
                words.append(_allowed(details))
            _, field = _at(model, values, path)
            meaning = _meaning(field) + _advice(details)
            text = _shortened(repr(value))
            texts[key] = f"{text} is refused; {', or '.join(words)}{meaning}"
    return dict(sorted(texts.items()))


def _unknown_key(model: type[Section], values: Mapping[str, Any], path: Sequence[Any]) -> str:
    section, _ = _at(model, values, path[:-1])
    known = list(fields_of(section))
    return f"unknown key{nearest(path[-1], known)}; known keys are {', '.join(known)}"


def _allowed(details: ErrorDetails) -> str:
    """What a value must be."""
    kind = details["type"]
    if kind.startswith("union_tag"):
        return f"it must be one of {details['ctx']['expected_tags']}"
    if kind == "too_short":
        return f"it must have at least {details['ctx']['min_length']} entries"
    if kind == "too_long":
        return f"it must have at most {details['ctx']['max_length']} entries"
    return ALLOWED.get(kind, details["msg"].replace("Input should be", "it must be"))


def _meaning(field: FieldInfo | None) -> str:
    return f" ({field.description})" if field and field.description else ""


def _advice(details: ErrorDetails) -> str:
    """How to write a number that is text to YAML."""
    text = details["input"]
    if details["type"] in NUMBERS and isinstance(text, str) and EXPONENT.fullmatch(text):
        return "; in YAML write 0.001, not 1e-3, which is text"
    return ""


def _path(loc: Sequence[Any], values: Any, without_value: bool) -> list[Any]:
    """The keys that lead to an error; pydantic names members of unions as well."""
    path = []
    for index, part in enumerate(loc):
        is_last = index == len(loc) - 1
        if isinstance(values, Mapping) and (part in values or (is_last and without_value)):
            values = values.get(part)
        elif isinstance(values, list) and isinstance(part, int):
            values = values[part]
        else:
            continue
        path.append(part)
    return path


def _at(
    model: type[Section], values: Any, path: Sequence[Any]
) -> tuple[type[Section], FieldInfo | None]:
    """The innermost section on a path, and the field at its end."""
    field = None
    for key in path:
        known = fields_of(model)
        if key not in known or not isinstance(values, Mapping):
            break
        field = known[key]
        values = values.get(key)
        model = section_of(field.annotation, values) or model
    return model, field


def _shortened(text: str) -> str:
    """A value as code, of which `LONGEST_SHOWN` characters are shown."""
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…"
