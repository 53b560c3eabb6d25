"""What is wrong with settings, a line for each mistake: key, value, and what is allowed.

This module does not import torch.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from operator import getitem
from typing import Any

from pydantic import ValidationError
from pydantic.fields import FieldInfo

from finitewidth.common.errors import ConfigError
from finitewidth.common.setting_types import Section, fields_of, section_of
from finitewidth.common.settings import LONGEST_SHOWN, nearest

EXPONENT = re.compile(r"[-+.\d]+e[-+]?\d+", re.IGNORECASE)  # of a number that is text to YAML
ALLOWED = {  # where pydantic's own words are those of Python
    "dict_type": "it must be a mapping",
    "float_type": "it must be a number",
    "int_type": "it must be a whole number",
    "model_type": "it must be a mapping",
    "none_required": "it must be null",
}


def validated(model: type[Section], values: Mapping[str, Any]) -> Section:
    """Return settings, as YAML gives them, as a model.

    Raises:
        ConfigError: with a line for each mistake.
    """
    try:
        return model.model_validate(values)
    except ValidationError as error:
        lines = sorted(dict(_mistakes(error, model, values)).items())
        text = "\n  ".join(f"{key}: {mistake}" for key, mistake in lines)
        raise ConfigError(f"the configuration is refused:\n  {text}") from None


def _mistakes(
    error: ValidationError, model: type[Section], values: Mapping[str, Any]
) -> Iterator[tuple[str, str]]:
    """Yield key and mistake, of which a later one replaces an earlier one of the same key."""
    unions: dict[str, list[str]] = {}
    for each in error.errors(include_url=False):
        kind, context = each["type"], each.get("ctx", {})
        path = _path(each["loc"], values, new=kind in ("missing", "extra_forbidden"))
        key = ".".join(map(str, path))
        if not key.isprintable() or len(key) > LONGEST_SHOWN:
            key = _shown(key)
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
            if kind.startswith("union_tag"):
                key, value = f"{key}.kind", value.get("kind")
                allowed = f"it must be one of {context['expected_tags']}"
            words = unions.setdefault(key, [])
            words += [allowed] * (allowed not in words)
            meaning = f" ({field.description})" if field and field.description else ""
            text = each["input"] if kind in ("int_type", "float_type") else None
            if isinstance(text, str) and EXPONENT.fullmatch(text):
                meaning += "; in YAML write 0.001, not 1e-3, which is text"
            yield key, f"{_shown(value)} is refused; {', or '.join(words)}{meaning}"


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
    """The innermost section and field at a path."""
    field = None
    for key in path:
        known = fields_of(model)
        if key not in known or not isinstance(values, Mapping):
            break
        field, values = known[key], values.get(key)
        model = section_of(field.annotation, values) or model
    return model, field


def _shown(value: Any) -> str:
    """The value as code, cut after `LONGEST_SHOWN` characters."""
    try:
        return _cut(repr(value))
    except (RecursionError, ValueError):  # ValueError of a number of many digits
        return "a value that is nested too deeply or too long"


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…"
